"""Initial samples, one file for each method. The contract is in :mod:`.base`."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ... import _validation as check
from ..._threads import limit_blas_threads
from ..._validation import Array
from ...kernels import Kernel, require
from . import greedy, herding, kmeans, kmeans_plus_plus, leverage, rpcholesky, uniform
from .base import Drawn, Indices, Start

__all__ = ["STARTS", "initial_indices", "initial_sample"]

#: The starts by name.
STARTS = {
    "uniform": Start(uniform.draw),
    "kmeans++": Start(kmeans_plus_plus.draw, by_distance=True),
    "kmeans": Start(kmeans.draw, subset=False, by_distance=True),
    "rpcholesky": Start(rpcholesky.draw),
    "greedy": Start(greedy.draw),
    "herding": Start(herding.draw),
    "leverage": Start(leverage.draw),
}


def initial_sample(kernel: Kernel, data: ArrayLike, n: int, method: str = "uniform", *, seed: Any = None) -> Array:
    """An initial sample S⁽⁰⁾ of ``n`` points, as a new array.

    Parameters
    ----------
    kernel
        The kernel K; ``uniform``, ``kmeans++`` and ``kmeans`` make no use of it.
    data
        The N points, a row each.
    n
        How many, from 1 to N.
    method
        ``"uniform"``: data points, each as likely as any other.
        ``"kmeans++"``: data points far from each other.
        ``"kmeans"``: the means of n clusters, which are not data points.
        ``"rpcholesky"``: data points drawn by what those before them leave of K(x, x).
        ``"greedy"``: data points of which those before leave most.
        ``"herding"``: data points that together resemble all data.
        ``"leverage"``: data points drawn by their ridge leverage scores.
    seed
        A whole number, a ``SeedSequence``, a ``Generator``, or None for fresh entropy. ``"greedy"`` draws nothing.

    Returns
    -------
    array, (n, d)
        The landmarks, a row each.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> data = [[0.0], [0.1], [0.2], [5.0]]
    >>> nl.initial_sample(nl.Gaussian(rho=1.0), data, 2, "kmeans", seed=0)
    array([[5. ],
           [0.1]])
    """
    return _drawn(kernel, data, n, method, seed).points


def initial_indices(kernel: Kernel, data: ArrayLike, n: int, method: str = "uniform", *, seed: Any = None) -> Indices:
    """Where the points of :func:`~nystrom_lib.initial_sample` are in the data, for the methods that choose data points.

    Parameters
    ----------
    kernel, data, n, method, seed
        As in :func:`~nystrom_lib.initial_sample`.

    Returns
    -------
    array, (n,)
        The indices, in the order the points were chosen.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> nl.landmarks.starts.initial_indices(nl.Gaussian(rho=1.0), [[0.0], [0.1], [0.2], [5.0]], 2, "greedy")
    array([0, 3])
    """
    if not _start(method).subset:
        raise ValueError(f"method is {method!r}; its points are no data points and have no indices.")
    indices = _drawn(kernel, data, n, method, seed).indices
    assert indices is not None
    return indices


def _start(method: str) -> Start:
    return STARTS[check.choice("method", method, STARTS)]


@limit_blas_threads
def _drawn(kernel: Kernel, data: ArrayLike, n: int, method: str, seed: Any) -> Drawn:
    start = _start(method)
    kernel = require(kernel)
    data = check.points("data", data)
    n = check.integer("n", n, least=1, most=len(data), why=", the number of data points")
    rng = check.generator("seed", seed)
    return start.draw(kernel, data, n, rng)
