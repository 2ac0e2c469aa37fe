"""Residuals from the nearest landmarks of each point, by the compiled loops of :mod:`nystrom_lib._core.local`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import local, profiles
from ._sums import middle
from ._threads import ParallelLoop, available_threads, thread_pool
from ._validation import Array, as_writable
from .approximation import NystromApproximation
from .kernels import Kernel

Indices = NDArray[np.int64]

NEIGHBOURS = 20  #: landmarks that a point uses, unless another number is given
EXACT = 4_000  #: up to this many landmarks, errors are computed with a factor of K_S
_NUMBERS = 2**21  # contributions to a gradient that are kept at a time
_TREE = 5  # up to this many coordinates a k-d tree is faster than comparing all landmarks
_LEAF = 32  # landmarks in a leaf of that tree: about as many as there are neighbours
_SPREAD = 2**15  # from this many landmarks on, points are sorted first so that the cache holds what the next one reads


def residuals_from_nearest(kernel: Kernel, sample: Array, points: Array, neighbours: int = NEIGHBOURS) -> Array:
    """K(x, x) − K̂(x, x) of each point from its nearest landmarks: its terms in :class:`LocalTraceError`."""
    loops = LocalLoops(kernel, len(sample), sample.shape[1], neighbours, len(points))
    return np.concatenate([loops.errors(sample, *block) for block in loops.each(sample, points)])


def by_nearest(kernel: Kernel, n: int) -> bool:
    """Whether the errors of n landmarks are computed from the nearest ones of each point."""
    return n > EXACT and kernel.radial


def affordable_residuals(kernel: Kernel, sample: Array, points: Array) -> Array:
    """K(x, x) − K̂(x, x) of each point from all landmarks; from thousands of them on, from the nearest."""
    if by_nearest(kernel, len(sample)):
        return residuals_from_nearest(kernel, sample, points)
    return NystromApproximation(kernel, sample).residuals(points)


def search_cost(n: int, d: int, k: int) -> float:
    """Multiplications that finding the k nearest of n landmarks takes, roughly."""
    return float(n * d if d > _TREE else 40.0 * k * np.log2(n + 1))


def _query(tree: Any, points: Array, k: int, workers: int) -> Indices:
    """The k nearest neighbours of each point, on the library's threads.

    With several workers, ``tree.query`` waits for threads that read its own arrays, and frees these arrays if a signal
    handler raises an exception meanwhile. Here each thread holds a reference to the arrays that it reads and writes.
    """
    if workers == 1:
        return np.asarray(tree.query(points, k)[1])
    near = np.empty((len(points), k), np.int64)

    def search(first: int, count: int, step: int) -> None:
        for rows in np.array_split(np.arange(len(points)), count)[first::step]:
            near[rows] = tree.query(points[rows], k)[1].reshape(len(rows), k)

    ParallelLoop(workers)(search, workers)
    return near


class LocalLoops:
    """The compiled loops for n landmarks in d dimensions, with buffers for a block of points."""

    def __init__(self, kernel: Kernel, n: int, d: int, neighbours: int, points: int) -> None:
        self.kernel, self.n, self.d, self.k = kernel, n, d, min(n, neighbours)
        self.most = min(points, max(local.W, _NUMBERS // (self.k * d)))
        self.diagonal = float(kernel.diagonal(np.zeros((1, d)))[0])

    def each(self, sample: Array, data: Any, picks: Indices | None = None) -> Iterator[tuple[Array, Indices]]:
        """Blocks of points, of all or of those at the indices ``picks``, each with their nearest landmarks."""
        search = self.tree(sample) if self.d <= _TREE else partial(self.compare_all, sample)
        for start in range(0, len(data) if picks is None else len(picks), self.most):
            rows = slice(start, start + self.most)
            points = as_writable(data[rows if picks is None else picks[rows]].astype(np.float64, copy=False))
            yield points, search(points)

    def tree(self, sample: Array) -> Callable[[Array], Indices]:
        """A search function that uses a k-d tree of the landmarks."""
        from scipy.spatial import cKDTree

        tree = cKDTree(sample, _LEAF)

        def search(points: Array) -> Indices:
            workers = available_threads() if len(points) * self.k > 5000 else 1
            order = cKDTree(points).indices if self.n > _SPREAD else np.arange(len(points))
            found = _query(tree, points[order], self.k, workers)
            near = np.empty((len(points), self.k), dtype=np.int64)
            near[order] = found.reshape(near.shape)
            return np.minimum(near, self.n - 1)  # n stands for none, where even the nearest are infinitely far away

        return search

    def compare_all(self, sample: Array, points: Array) -> Indices:
        """The nearest landmarks, by comparing all of them."""
        near = np.empty((len(points), self.k), dtype=np.int64)
        with thread_pool(len(points) * self.n) as parallel:
            tiles = -(-len(points) // local.ROWS)
            parallel(local.search, tiles, as_writable(sample), points, middle(sample), near)
        return near

    def errors(self, sample: Array, points: Array, near: Indices) -> Array:
        """K(x, x) − K̂(x, x) of each point from its own neighbours."""
        return self._run(False, sample, points, near, np.empty((0, 0, 0)))

    def add_gradient(self, sample: Array, points: Array, near: Indices, gradient: Array) -> Array:
        """The errors, and the sum of their gradients added to ``gradient``."""
        forces = self._forces[: len(points)]
        errors = self._run(True, sample, points, near, forces)
        for l in range(self.d):
            gradient[:, l] += np.bincount(near.ravel(), forces[:, :, l].ravel(), self.n)
        return errors

    @cached_property
    def _forces(self) -> Array:
        return np.empty((self.most, self.k, self.d))

    def _run(self, gradient: bool, sample: Array, points: Array, near: Indices, out: Array) -> Array:
        errors, block = np.empty(len(points)), self.kernel._block(profiles.TANGENT)
        with thread_pool(len(points) * self.k**2) as parallel, self.kernel._guard_user_kernel() as p:
            parallel(
                local.run, -(-len(points) // local.W), gradient, block, p, as_writable(sample), points, near,
                self.diagonal, errors, out,
            )  # fmt: skip
        return errors
