r"""An upper bound of the trace error that does not slow down with the number of landmarks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _validation as check
from .._core import local, profiles
from .._sums import middle
from .._threads import available, one_pool
from .._validation import Array, as_writable
from ..kernels import Kernel
from .base import Evaluate, Indices, Objective
from .trace_error import TraceError

_NUMBERS = 2**21  # contributions to the gradient that are kept at a time
_TREE = 5  # up to so many coordinates a tree finds the nearest landmarks sooner than a look at all of them


class LocalTraceError(Objective):
    r"""The trace error when each point uses only its nearest landmarks: an upper bound of (C.1).

    With :math:`\mathbf W_x` and :math:`\mathbf k_x` of the ``neighbours`` landmarks nearest to x it is

    .. math:: \sum_x K(x,x) - \mathbf k_x^T\mathbf W_x^{-1}\mathbf k_x,

    each term the squared distance of :math:`K(x,\cdot)` from a smaller span than that of all landmarks. Its gradient is
    taken with the neighbours as they are, which is the gradient wherever no two landmarks tie for the last place; from
    a batch it is unbiased. A step costs O(bk³ + bk²d) and a search for neighbours, whatever the number of landmarks.
    With no more landmarks than neighbours it is the trace error.

    Where the pivots of :math:`\mathbf W_x` fall below 1e-9 of its diagonal, the gradient is that of
    :math:`\mathbf W_x + \lambda\operatorname{diag}\mathbf W_x` with λ = 1e-10, or as much more as an elimination needs,
    for each point its own; in the value nothing is added, and pivots below rounding are left out.

    Parameters
    ----------
    kernel
        A radial kernel.
    data
        The points, a row each.
    neighbours
        How many landmarks a point uses.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> objective = nl.LocalTraceError(nl.Gaussian(rho=1.0), [[0.0], [1.0]], neighbours=1)
    >>> round(objective.value([[0.25], [2.0]]), 6)
    0.792851
    >>> objective.gradient([[0.25], [2.0]]).round(4)
    array([[-0.0915],
           [ 0.    ]])
    """

    name = "local-trace"
    unbiased = True

    def __init__(self, kernel: Kernel, data: ArrayLike, neighbours: int = 20) -> None:
        super().__init__(kernel, data)
        if not self.kernel.radial:
            raise ValueError(
                f"kernel is {kernel!r}; it must be radial: under a dot product the nearest landmarks mean nothing."
            )
        self.neighbours = check.whole("neighbours", neighbours, least=1)

    @check.finite_result
    def value(self, sample: ArrayLike) -> float:
        """Over all the data."""
        sample = self.checked(sample)
        if len(sample) <= self.neighbours:
            return TraceError(self.kernel, self.data).value(sample)
        loops = LocalLoops(self, len(sample), len(self.data))
        return sum(float(loops.errors(sample, *block).sum()) for block in loops.each(sample, np.arange(len(self.data))))

    def prepare(self, n: int, points: int) -> Evaluate:
        """What at most some thousand points contribute is kept at a time."""
        loops = LocalLoops(self, n, points)

        def evaluate(sample: Array, batch: Indices) -> tuple[float, Array]:
            N = len(self.data)
            picks = batch if len(batch) else np.arange(N)
            if not np.isfinite(sample).all():  # nothing is near it
                return np.nan, np.full_like(sample, np.nan)
            gradient = np.zeros_like(sample)
            total = sum(
                float(loops.add_gradient(sample, *block, gradient).sum()) for block in loops.each(sample, picks)
            )
            scale = N / len(picks)
            return scale * total, scale * gradient

        return evaluate

    def cost(self, n: int, points: int) -> float:
        """An elimination, kernel values and forces a point, and the search."""
        k, d = min(n, self.neighbours), self.data.shape[1]
        search = n * d if d > _TREE else 40.0 * k * np.log2(n + 1)
        return float(points * (k**3 / 6 + 2.0 * d * k * k + search))


class LocalLoops:
    """The compiled loops of one objective, with their buffers for n landmarks."""

    def __init__(self, objective: LocalTraceError, n: int, points: int) -> None:
        self.kernel, self.data = objective.kernel, objective.data
        self.n, self.d, self.k = n, objective.data.shape[1], min(n, objective.neighbours)
        self.most = min(points, max(local.LANES, _NUMBERS // (self.k * self.d)))
        self.diagonal = float(self.kernel.diagonal(np.zeros((1, self.d)))[0])
        self._errors = np.empty(self.most)
        self._forces = np.empty((self.most, self.k, self.d))
        self._near = np.empty((self.most, self.k), dtype=np.int64)
        self._scratch: dict[int, Any] = {}
        self._tiles: dict[int, Any] = {}

    def each(self, sample: Array, picks: Indices) -> Iterator[tuple[Array, Indices]]:
        """The points that ``picks`` names and their nearest landmarks, as many at a time as there is room for."""
        search = self.tree(sample) if self.d <= _TREE else partial(self.look_at_all, sample)
        for start in range(0, len(picks), self.most):
            points = self.data[picks[start : start + self.most]].astype(np.float64, copy=False)
            yield points, search(points)

    def tree(self, sample: Array) -> Callable[[Array], Indices]:
        """A search by a tree of the landmarks."""
        from scipy.spatial import cKDTree

        tree = cKDTree(sample)

        def search(points: Array) -> Indices:
            workers = available() if len(points) * self.k > 5000 else 1
            near: Indices = tree.query(points, self.k, workers=workers)[1].reshape(len(points), self.k)
            return np.minimum(near, self.n - 1)  # n stands for none, where even the nearest are infinitely far away

        return search

    def look_at_all(self, sample: Array, points: Array) -> Indices:
        """A search among all landmarks."""
        near = self._near[: len(points)]
        with one_pool(len(points) * self.n) as (parallel, slots):
            run = local.nearest.parallel if parallel else local.nearest
            if slots not in self._tiles:
                self._tiles[slots] = local.make_tiles(slots, self.n, self.k, self.d)
            run(as_writable(sample), points, middle(sample), self._tiles[slots], near)
        return near

    def errors(self, sample: Array, points: Array, near: Indices) -> Array:
        """K(x, x) − K̂(x, x) of each point from its own neighbours."""
        return self._run(local.errors_only, profiles.VALUE, sample, points, near)

    def add_gradient(self, sample: Array, points: Array, near: Indices, gradient: Array) -> Array:
        """The errors, and the sum of their gradients added to ``gradient``."""
        forces = self._forces[: len(points)]
        errors = self._run(local.errors_and_forces, profiles.TANGENT, sample, points, near, forces)
        local.scatter(near, forces, gradient)
        return errors

    def _run(self, loop: Any, action: int, sample: Array, points: Array, near: Indices, *out: Array) -> Array:
        errors = self._errors[: len(points)]
        with one_pool(len(points) * self.k**2) as (parallel, slots), self.kernel._watched() as p:
            run = loop.parallel if parallel else loop
            if slots not in self._scratch:
                self._scratch[slots] = local.make_scratch(slots, self.k, self.d)
            run(
                self.kernel._address(action), p, as_writable(sample), points, near, self.diagonal,
                self._scratch[slots], errors, *out,
            )  # fmt: skip
        return errors
