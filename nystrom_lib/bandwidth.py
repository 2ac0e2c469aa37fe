"""The kernel parameter ρ by the median rule."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist

from . import _validation as check
from ._validation import Array
from .kernels import LARGEST_RHO
from .sources import Source, open_data

_MAX_POINTS = 1_000  # their pairwise distances are computed

# Key of a random stream that nothing else draws from. Do not change it: results depend on it.
_POINTS = (2**31,)


def median_rho(data: ArrayLike | Source, seed: int | None = 0) -> float:
    """ρ by the median rule: 1 over the median of ‖x − t‖² among the data, so that K is e⁻¹ at a typical distance.

    Pairs of equal points do not count. More than a thousand points are represented by a thousand of them.

    Parameters
    ----------
    data
        The points, a row each, or what :func:`open_data` gives.
    seed
        Decides which thousand points; None for fresh entropy.

    Returns
    -------
    float
        ρ, to three digits.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> nl.median_rho([[0.0], [2.0]])
    0.25
    """
    rho = unchecked_rho(data if isinstance(data, Source) else check.points("data", data), seed)
    if not 1.0 / LARGEST_RHO <= rho <= LARGEST_RHO:
        far = "close together" if rho > 1.0 else "far apart"
        raise ValueError(f"data holds points too {far} for a kernel of their width, of ρ = {rho:g}; rescale them.")
    return rho


def unchecked_rho(data: NDArray[Any] | Source, seed: int | None = 0) -> float:
    """The same, even if it is out of the range of a kernel's ρ."""
    points = subsample(data, _MAX_POINTS, seed)
    squared = pdist(points - points.mean(axis=0), "sqeuclidean")
    positive = squared[squared > 0.0]
    if len(positive) == 0:
        raise ValueError("data holds one point only, many times over; it must hold at least two.")
    return float(f"{1.0 / float(np.median(positive)):.2e}")


def subsample(data: NDArray[Any] | Source, most: int, seed: int | None) -> Array:
    """At most ``most`` of the points as float64, drawn without replacement, in their order."""
    source, entropy = open_data(data), None if seed is None else check.integer("seed", seed, least=0, most=None)
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=_POINTS))
    return source.rows(source.choose(most, rng)).astype(np.float64)
