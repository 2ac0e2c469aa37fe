r"""The paper's own objective: the radial squared-kernel discrepancy, Eq. (3)."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ... import _sums
from ... import _validation as check
from ..._sums import PairSums
from ..._validation import Array
from .base import Evaluate, Indices, Objective


class Discrepancy(Objective):
    """What the squared-kernel discrepancies share: a constant, and estimates that square an estimate."""

    unbiased = False

    @cached_property
    def constant(self) -> float:
        """‖K‖_F², which costs O(N²), once."""
        return _sums.squared_frobenius_norm(self.kernel, self.data)


class RadialSKD(Discrepancy):
    r"""The radial SKD :math:`R(S)` of Eq. (3), with the gradient of Eq. (5), and of Eq. (6) from a batch.

    A gradient costs O(n² + nb) and needs no factor of :math:`\mathbf K_S`, the advantage that the paper states. The
    estimate of Eq. (6) squares an estimate and is biased.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> objective = nl.RadialSKD(nl.Gaussian(rho=1.0), [[0.0], [1.0]])
    >>> round(objective.value([[0.25]]), 6)
    0.813461
    >>> objective.gradient([[0.25]]).round(4)
    array([[-0.2208]])
    """

    name = "radial-skd"

    @check.finite_result
    def value(self, sample: ArrayLike) -> float:
        """R, its constant included."""
        norm, total = PairSums(self.kernel, self.data, self.checked(sample)).totals()
        return self.constant - (total * (total / norm) if norm > 0.0 else 0.0)

    def prepare(self, n: int, points: int) -> Evaluate:
        """The values are short of ‖K‖_F²."""
        sums: PairSums | None = None

        @np.errstate(over="ignore", invalid="ignore")  # the caller checks that the gradient is finite
        def evaluate(sample: Array, batch: Indices) -> tuple[float, Array]:
            nonlocal sums
            if sums is None:
                sums = PairSums(self.kernel, self.data, sample, len(batch))
            sums.place(sample)
            norm, total, over_landmarks, over_data = sums.totals_and_left(batch)
            if norm <= 0.0:
                return 0.0, 0.0 * over_data
            ratio = total / norm
            return -total * ratio, 2.0 * ratio * (ratio * over_landmarks - over_data)

        return evaluate

    def cost(self, n: int, points: int) -> float:
        """Distances and sums of slopes, for half of the pairs of landmarks."""
        return float(2 * self.data.shape[1] * n * (n / 2 + points))
