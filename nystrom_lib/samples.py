"""Initial Nyström samples, paper §4."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _validation as check
from ._validation import Array

__all__ = ["uniform_indices", "uniform_sample"]


def uniform_indices(N: int, n: int, seed: Any = None) -> NDArray[np.int64]:
    """``n`` different indices, uniform on 0, …, N − 1.

    Returns
    -------
    array, (n,)
        The indices, in the order they were drawn.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> nl.samples.uniform_indices(2000, 3, seed=456)
    array([931, 705, 938])
    """
    N = check.integer("N", N, least=1)
    n = check.integer("n", n, least=1, most=N, why=", the number of data points: none is drawn twice")
    return check.generator("seed", seed).choice(N, n, replace=False)


def uniform_sample(data: ArrayLike, n: int, seed: Any = None) -> Array:
    """An initial sample S⁽⁰⁾: ``n`` data points drawn uniformly without replacement (paper §4), as a new array.

    Parameters
    ----------
    data
        The N points, a row each.
    n
        How many, from 1 to N.
    seed
        A whole number, a ``SeedSequence``, a ``Generator``, or None for fresh entropy.

    Returns
    -------
    array, (n, d)
        The landmarks, a row each.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> nl.uniform_sample([[0.0], [1.0], [2.0]], 2, seed=1)
    array([[0.],
           [1.]])
    """
    data = check.points("data", data)
    return data[uniform_indices(len(data), n, seed)].astype(np.float64)
