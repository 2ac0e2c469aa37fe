r"""The trace error (C.1), which paper §1.2 calls intractable to descend on, and an upper bound for many landmarks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _validation as check
from ..._core import profiles, trace
from ..._local import NEIGHBOURS, LocalLoops, search_cost
from ..._sums import middle
from ..._threads import thread_pool
from ..._validation import Array
from ...approximation import check_factor_memory
from ...criteria import nystrom_errors
from ...kernels import Kernel, require_radial
from .base import Evaluate, Indices, Objective

_CALL = 2e9  # multiplications of one compiled call, during which Ctrl-C has to wait: about a second


class TraceError(Objective):
    r"""The trace error :math:`\operatorname{tr}(\mathbf K-\hat{\mathbf K}(S))`, (C.1), and its gradient.

    With :math:`\mathbf W=\mathbf K_S`, :math:`\mathbf C=K(S,\mathcal D)` and :math:`\mathbf A=\mathbf W^{-1}\mathbf C`
    the error is :math:`\operatorname{tr}\mathbf K-\operatorname{tr}(\mathbf C^T\mathbf W^{-1}\mathbf C)`, so that

    .. math:: d\operatorname{tr}(\mathbf K-\hat{\mathbf K})
              = -2\operatorname{tr}(\mathbf A^T d\mathbf C) + \operatorname{tr}(\mathbf A\mathbf A^T d\mathbf W).

    A sum over the data, it is estimated without bias by N/b times the sum over b of them, and that gradient costs
    O(n³ + n²b) whatever N. Where the pivots of :math:`\mathbf W` fall below 1e-9 of its diagonal, the gradient is
    that of :math:`\mathbf W + \lambda\operatorname{diag}\mathbf W` with λ = 1e-10, or as much more as Cholesky needs;
    the value is always the certified one of :func:`nystrom_errors`.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> objective = nl.TraceError(nl.Gaussian(rho=1.0), [[0.0], [1.0]])
    >>> round(objective.value([[0.25]]), 6)
    0.792851
    >>> objective.gradient([[0.25]]).round(4)
    array([[-0.0915]])
    """

    name = "trace"
    unbiased = True

    @check.finite_result
    def value(self, sample: ArrayLike) -> float:
        """tr(K − K̂(S)) over all the data."""
        return nystrom_errors(self.kernel, self.data, self.checked(sample), "trace").trace

    def prepare(self, n: int, points: int) -> Evaluate:
        """Panels of at most a thousand points at a time are kept."""
        loops, scale = TraceLoops(self, n, points), len(self.data) / points
        # of a radial kernel every K(x, x) is the same
        diagonal = self.kernel.diagonal(self.data[:1] if self.kernel.radial else self.data)
        own = np.broadcast_to(diagonal, len(self.data))

        def evaluate(sample: Array, batch: Indices) -> tuple[float, Array]:
            total = float(own[batch].sum() if len(batch) else own.sum())
            gradient = np.empty_like(sample)
            return scale * (total - loops.gradient(sample, batch, gradient)), gradient

        return evaluate

    def cost(self, n: int, points: int) -> float:
        """Two triangular solves and half a product a point, a factor of K_S, distances."""
        return float(1.5 * n * n * points + n * n * n / 6 + 2.0 * self.data.shape[1] * n * (n + points))


class TraceLoops:
    """The compiled loops of one objective, with their buffers for n landmarks and batches of ``points`` points."""

    def __init__(self, objective: TraceError, n: int, points: int) -> None:
        self.kernel, self.data = objective.kernel, objective.data
        instead = "LocalTraceError" if self.kernel.radial else ""
        check_factor_memory(n, f"sample has {n:,} points; it must have", instead)
        self._work = float(n) ** 2 * points
        self._block = self.kernel._block(profiles.TANGENT)
        self.task, self.work, self._schedule = trace.prepare(self.kernel.radial, n, points, self.data.shape[1])
        # phases of one item each are done in one call
        self._calls: list[tuple[int, int, int]] = []
        for row, items in enumerate(self._schedule[:, 2].tolist()):
            if self._calls and items == self._calls[-1][2] == 1:
                self._calls[-1] = self._calls[-1][0], row + 1, 1
            else:
                self._calls.append((row, row + 1, items))

    def gradient(self, sample: Array, batch: Indices, out: Array) -> float:
        """Fill ``out``, and return Σ K̂(x, x) over the points; NaN where no ridge was enough."""
        state = self.work.state
        state[trace.RIDGE] = 0.0
        self.run(sample, batch.reshape(1, -1), self.centre(sample), out)
        if not state[trace.RIDGE] < 1.0:
            out[:] = state[trace.EXPLAINED] = np.nan
        return float(state[trace.EXPLAINED])

    def run(self, sample: Array, batches: Indices, centre: Array, out: Array, adam: Any = None) -> None:
        """A gradient from each batch, on one thread or several, and a step of Adam after it.

        ``adam`` has rates and two moments; see :func:`nystrom_lib._core.trace.run`.
        """
        descent, adam = adam is not None, adam or (np.empty(0), np.empty((0, 0)), np.empty(0))
        batches = np.ascontiguousarray(batches)
        # a step has some ten phases, between which threads wait for each other: it pays from a few milliseconds on
        with thread_pool(self._work / 1000.0) as parallel, self.kernel._guard_user_kernel(descent) as p:
            first = self._schedule, self.task, self.work, self._block, p, self.data
            if parallel.threads == 1 and self._work < _CALL:
                parallel(trace.run, 1, (0, len(self._schedule)), *first, batches, centre, sample, out, adam)
                return
            for batch in batches[:, None]:
                for start, stop, items in self._calls:
                    parallel(trace.run, items, (start, stop), *first, batch, centre, sample, out, adam)
                    if self.work.state[trace.NEXT] < 0:
                        return

    def centre(self, sample: Array) -> Array:
        """The origin of the coordinates in the loops."""
        return middle(sample) if self.kernel.radial else np.zeros(sample.shape[1])


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

    def __init__(self, kernel: Kernel, data: ArrayLike, neighbours: int = NEIGHBOURS) -> None:
        super().__init__(kernel, data)
        require_radial(kernel)
        self.neighbours = check.integer("neighbours", neighbours, least=1)

    @check.finite_result
    def value(self, sample: ArrayLike) -> float:
        """Over all the data."""
        sample = self.checked(sample)
        if len(sample) <= self.neighbours:
            return TraceError(self.kernel, self.data).value(sample)
        loops = self._loops(len(sample), len(self.data))
        return sum(float(loops.errors(sample, *block).sum()) for block in loops.each(sample, self.data))

    def prepare(self, n: int, points: int) -> Evaluate:
        """What at most some thousand points contribute is kept at a time."""
        loops, scale = self._loops(n, points), len(self.data) / points

        def evaluate(sample: Array, batch: Indices) -> tuple[float, Array]:
            if not np.isfinite(sample).all():  # nothing is near it
                return np.nan, np.full_like(sample, np.nan)
            gradient = np.zeros_like(sample)
            blocks = loops.each(sample, self.data, batch if len(batch) else None)
            total = sum(float(loops.add_gradient(sample, *block, gradient).sum()) for block in blocks)
            return scale * total, scale * gradient

        return evaluate

    def cost(self, n: int, points: int) -> float:
        """An elimination, kernel values and forces a point, and the search."""
        k, d = min(n, self.neighbours), self.data.shape[1]
        return float(points * (k**3 / 6 + 2.0 * d * k * k + search_cost(n, d, k)))

    def _loops(self, n: int, points: int) -> LocalLoops:
        return LocalLoops(self.kernel, n, self.data.shape[1], self.neighbours, points)
