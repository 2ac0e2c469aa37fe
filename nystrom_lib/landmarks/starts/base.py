"""The contract of a start: a function that returns n points, from kernel, data and a generator of random numbers.

A member is a module with a function ``draw(kernel, data, n, rng) -> Drawn``. Its arguments are valid already: data of
N rows, float32 or float64, and 1 ≤ n ≤ N. It leaves the data as they are, makes no N × N array, and gives the same
points for the same seed on any number of threads. Whatever the data, copies of one point included, it returns n
points; those that are data points have different indices, and no point comes twice while there is another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._validation import Array
from ...kernels import Kernel

Indices = NDArray[np.int64]


class Drawn(NamedTuple):
    """An initial sample."""

    points: Array  #: shape (n, d), a new array
    indices: Indices | None  #: where the points are in the data, or None: they are no data points


class Start(NamedTuple):
    """A member and its properties."""

    draw: Callable[[Kernel, NDArray[Any], int, np.random.Generator], Drawn]
    subset: bool = True  #: whether its points are data points
    by_distance: bool = False  #: whether it measures distances itself, so that a kernel matrix would not do


def at(data: NDArray[Any], indices: Indices) -> Drawn:
    """The data points with these indices."""
    return Drawn(data[indices].astype(np.float64), indices)


def originals(data: NDArray[Any]) -> Indices:
    """For each point the index of the first point that it is a copy of: its own, unless one before it is the same."""
    order = np.lexsort(data.T)
    new = np.ones(len(data), bool)
    for start in range(1, len(data), 10_000):
        rows = data[order[start - 1 : start + 10_000]]
        new[start : start + 10_000] = (rows[1:] != rows[:-1]).any(axis=1)
    original = np.empty(len(data), np.int64)
    original[order] = order[new][np.cumsum(new) - 1]
    return original


def fill_up(data: NDArray[Any], indices: Indices, n: int, rng: np.random.Generator | None = None) -> Indices:
    """``indices`` and as many others as n asks for, first of points not yet there, then of their copies.

    The others come at random, or without ``rng`` in their order.
    """
    if len(indices) >= n:
        return indices[:n]
    original = originals(data)
    new = np.setdiff1d(original, original[indices])
    rest = np.setdiff1d(np.arange(len(data)), np.concatenate([indices, new]))
    if rng is not None:
        new, rest = rng.permutation(new), rng.permutation(rest)
    return np.concatenate([indices, new, rest])[:n]
