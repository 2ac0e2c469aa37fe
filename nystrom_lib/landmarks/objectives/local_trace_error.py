r"""An upper bound of the trace error that does not slow down with the number of landmarks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ... import _validation as check
from ..._local import NEIGHBOURS, LocalLoops, radial, search_cost
from ..._validation import Array
from ...kernels import Kernel
from .base import Evaluate, Indices, Objective
from .trace_error import TraceError


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
        radial(self.kernel)
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
        loops = self._loops(n, points)

        def evaluate(sample: Array, batch: Indices) -> tuple[float, Array]:
            N = len(self.data)
            picks = batch if len(batch) else None
            if not np.isfinite(sample).all():  # nothing is near it
                return np.nan, np.full_like(sample, np.nan)
            gradient = np.zeros_like(sample)
            blocks = loops.each(sample, self.data, picks)
            total = sum(float(loops.add_gradient(sample, *block, gradient).sum()) for block in blocks)
            scale = N / (len(batch) or N)
            return scale * total, scale * gradient

        return evaluate

    def cost(self, n: int, points: int) -> float:
        """An elimination, kernel values and forces a point, and the search."""
        k, d = min(n, self.neighbours), self.data.shape[1]
        return float(points * (k**3 / 6 + 2.0 * d * k * k + search_cost(n, d, k)))

    def _loops(self, n: int, points: int) -> LocalLoops:
        return LocalLoops(self.kernel, n, self.data.shape[1], self.neighbours, points)
