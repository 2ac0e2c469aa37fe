"""Lengths in which steps are measured: how wide the kernel is, how close the landmarks lie."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from .._core import pairs, profiles
from .._validation import Array
from ..kernels import Kernel

ASKED = 4_000  #: landmarks that are asked at most how near the next one is


def width(kernel: Kernel) -> float:
    r"""The distance at which a radial kernel has fallen to :math:`e^{-1/2}`: 1/√(2ρ) for the Gaussian.

    Infinite where it never does, as for dot products.
    """
    if not kernel.radial:
        return math.inf
    distances, squares = _distances()
    values = squares.copy()
    block, p = kernel._block(profiles.VALUE), kernel._p.copy()  # not watched: it need not be finite far out
    pairs.apply(block, values, p)
    fallen = np.flatnonzero(~(values[1:] > math.exp(-0.5) * values[0]))
    if len(fallen) == 0 or not values[0] > 0.0:
        return math.inf
    low, high = distances[max(fallen[0] - 1, 0)], distances[fallen[0]]
    for _ in range(60):
        between = math.sqrt(low * high)
        probe = np.array([between * between])
        pairs.apply(block, probe, p)
        low, high = (between, high) if probe[0] > math.exp(-0.5) * values[0] else (low, between)
    return float(high)


@cache
def _distances() -> tuple[Array, Array]:
    """Distances from nearly nothing to nearly everything, and their squares after that of 0."""
    distances = np.geomspace(1e-150, 1e150, 12_001)
    return distances, np.concatenate([[0.0], np.square(distances)])


def spacing(sample: Array) -> float:
    """The median distance of a landmark to the nearest other one, of thousands from some; infinite for a single one."""
    from scipy.spatial import cKDTree

    if len(sample) < 2:
        return math.inf
    distances, _ = cKDTree(sample).query(sample[:: -(-len(sample) // ASKED)], k=2)
    return float(np.median(distances[:, 1]))


def extent(data: Array) -> float:
    """A length of the data where the kernel has none: the root mean square deviation from their mean."""
    some = np.asarray(data[: 10_000], dtype=np.float64)
    return float(np.sqrt(np.square(some - some.mean(axis=0)).sum(axis=1).mean()))
