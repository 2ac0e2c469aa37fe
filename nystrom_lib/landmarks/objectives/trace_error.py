r"""The trace error (C.1) itself, which paper §1.2 calls intractable to descend on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _validation as check
from ..._core import profiles, trace
from ..._sums import middle
from ..._threads import thread_pool
from ..._validation import Array
from ...approximation import check_factor_memory
from ...criteria import nystrom_errors
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
        loops = TraceLoops(self, n, points)
        # of a radial kernel every K(x, x) is the same
        diagonal = self.kernel.diagonal(self.data[:1] if self.kernel.radial else self.data)

        def evaluate(sample: Array, batch: Indices) -> tuple[float, Array]:
            N = len(self.data)
            own = np.broadcast_to(diagonal, N)
            total = float(own[batch].sum() if len(batch) else own.sum())
            gradient = np.empty_like(sample)
            explained, _ = loops.gradient(sample, batch, 0.0, gradient)
            return float(N / (len(batch) or N) * (total - explained)), gradient

        return evaluate

    def cost(self, n: int, points: int) -> float:
        """Two triangular solves and half a product a point, a factor of K_S, distances."""
        return float(1.5 * n * n * points + n * n * n / 6 + 2.0 * self.data.shape[1] * n * (n + points))


class TraceLoops:
    """The compiled loops of one objective, with their buffers for n landmarks and batches of ``points`` points."""

    def __init__(self, objective: TraceError, n: int, points: int) -> None:
        instead = "LocalTraceError" if objective.kernel.radial else ""
        check_factor_memory(n, f"sample has {n:,} points; it must have", instead)
        self.objective = objective
        self.n, self.d = n, objective.data.shape[1]
        self._block = objective.kernel._block(profiles.TANGENT)
        self._fit(points)

    def _fit(self, points: int) -> None:
        self.points = points
        self.task, self.work, self._schedule = trace.prepare(self.objective.kernel.radial, self.n, points, self.d)
        # phases of one item each are done in one call
        self._calls: list[tuple[int, int, int]] = []
        for row, items in enumerate(self._schedule[:, 2].tolist()):
            if self._calls and items == self._calls[-1][2] == 1:
                self._calls[-1] = self._calls[-1][0], row + 1, 1
            else:
                self._calls.append((row, row + 1, items))

    def gradient(self, sample: Array, batch: Indices, ridge: float, out: Array) -> tuple[float, float]:
        """Fill ``out``; returns Σ K̂(x, x) over the points and the ridge that was needed, −1 if none was enough."""
        state = self.work.state
        state[trace.RIDGE] = ridge
        self.run(sample, batch.reshape(1, -1), self.centre(sample), out)
        if not state[trace.RIDGE] < 1.0:
            out[:] = np.nan
            return np.nan, -1.0
        return float(state[trace.EXPLAINED]), float(state[trace.RIDGE])

    def run(
        self, sample: Array, batches: Indices, centre: Array, out: Array, adam: Any = None, descent: bool = False
    ) -> None:
        """A gradient from each batch, on one thread or several, and a step of Adam after it.

        ``adam`` has rates and two moments; see :func:`nystrom_lib._core.trace.run`.
        """
        data, kernel = self.objective.data, self.objective.kernel
        points = batches.shape[1] or len(data)
        if points != self.points:
            self._fit(points)
        adam = adam or (np.empty(0), np.empty((0, 0)), np.empty(0))
        # a step has some ten phases, between which threads wait for each other: it pays from a few milliseconds on
        with thread_pool(float(self.n) ** 2 * points / 1000.0) as parallel, kernel._guard_user_kernel(descent) as p:
            first = self._schedule, self.task, self.work, self._block, p, data
            if parallel.threads == 1 and float(self.n) ** 2 * points < _CALL:
                rows = 0, len(self._schedule)
                parallel(trace.run, 1, rows, *first, np.ascontiguousarray(batches), centre, sample, out, adam)
                return
            for batch in np.ascontiguousarray(batches)[:, None]:
                for start, stop, items in self._calls:
                    parallel(trace.run, items, (start, stop), *first, batch, centre, sample, out, adam)
                    if self.work.state[trace.NEXT] < 0:
                        return

    def centre(self, sample: Array) -> Array:
        """The origin of the coordinates in the loops."""
        return middle(sample) if self.objective.kernel.radial else np.zeros(self.d)
