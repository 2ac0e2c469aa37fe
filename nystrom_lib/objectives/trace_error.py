r"""The trace error (C.1) itself, which paper §1.2 calls intractable to descend on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _validation as check
from .._core import profiles, trace
from .._sums import middle
from .._threads import one_pool
from .._validation import Array
from ..approximation import room_for
from ..criteria import nystrom_errors
from .base import Evaluate, Indices, Objective


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
    """The compiled loops of one objective, with their buffers for n landmarks."""

    def __init__(self, objective: TraceError, n: int, points: int) -> None:
        instead = "LocalTraceError" if objective.kernel.radial else ""
        room_for(n, f"sample has {n:,} points; it must have", instead)
        self.objective = objective
        self.n, self.d = n, objective.data.shape[1]
        self.points = min(points, trace.BLOCK)
        self.work_of_a_step = float(n * (n + points))
        self.loop = objective.kernel._address(profiles.TANGENT)
        self._work: dict[int, Any] = {}  # by threads

    def gradient(self, sample: Array, batch: Indices, ridge: float, out: Array) -> tuple[float, float]:
        """Fill ``out``; gives Σ K̂(x, x) over the points and the ridge that was needed."""
        kernel, data = self.objective.kernel, self.objective.data
        with one_pool(self.work_of_a_step) as (parallel, slots), kernel._watched() as p:
            stages, task = self.stages(parallel, slots, p, batch, self.centre(sample))
            explained, ridge = trace.gradient_alone(stages, task, sample, len(batch) or len(data), ridge, out)
        if ridge < 0.0:
            explained, out[:] = np.nan, np.nan
        return float(explained), float(ridge)

    def stages(self, parallel: bool, slots: int, p: Array, picks: Indices, centre: Array) -> tuple[Any, Any]:
        """What the loops are given first."""
        kernel = self.objective.kernel
        if slots not in self._work:
            self._work[slots] = trace.make_work(slots, self.n, self.points, self.d)
        task = trace.Task(kernel.radial, self.loop, p, self.n, self.objective.data, picks, centre, self._work[slots])
        return trace.stages(task, parallel), task

    def centre(self, sample: Array) -> Array:
        """Where coordinates are taken from."""
        return middle(sample) if self.objective.kernel.radial else np.zeros(self.d)
