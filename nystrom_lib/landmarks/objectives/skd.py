r"""The squared-kernel discrepancies: with equal weights, the paper's objective, and with the best ones."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotrs

from ... import _sums
from ... import _validation as check
from ..._core.trace import FIRST_RIDGE, LEAST_PIVOT
from ..._sums import PairSums
from ..._threads import limit_blas_threads
from ..._validation import Array
from ...approximation import pivoted_cholesky
from .base import Evaluate, Indices, Objective


class Discrepancy(Objective):
    """What the squared-kernel discrepancies share. Their estimates square an estimate, and are biased."""

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
    first_part = 0  # how many indices of a batch are X of Eq. (7); 0 for Eq. (6)

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
            sums = sums or PairSums(self.kernel, self.data, sample, len(batch))
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


class WeightedSKD(Discrepancy):
    r"""The squared-kernel discrepancy of Remark 1.2, least over all weights of the landmarks.

    In the Hilbert space whose kernel is :math:`K^2` the data have the embedding :math:`\sum_i K^2(x_i,\cdot)`, and a
    sample with weights :math:`w\in\mathbb R^n` has :math:`\sum_k w_k K^2(s_k,\cdot)`. With
    :math:`g_k = \sum_i K^2(x_i, s_k)` and :math:`\mathbf B = \mathbf K_S\circ\mathbf K_S` their squared distance is
    :math:`\|\mathbf K\|_F^2 - 2w^Tg + w^T\mathbf Bw`, least for :math:`a = \mathbf B^{-1}g`, where it is

    .. math:: \|\mathbf K\|_F^2 - g^T\mathbf B^{-1}g.

    Since it is stationary in the weights, only the kernels move as a landmark does:
    :math:`-2a^Tdg + a^T(d\mathbf B)a`, that is

    .. math:: \partial_{[s_k]_l} = -2a_k\sum_i \partial^{[l]}_{[s_k]_l}K^2(s_k, x_i)
              + 2a_k\sum_j a_j\,\partial^{[l]}_{[s_k]_l}K^2(s_k, s_j),

    where the sum includes j = k: the diagonal entry of :math:`\mathbf B` changes by
    :math:`\partial^{[d]}K^2(s_k,s_k) = 2\,\partial^{[l]}K^2(s_k,s_k)`, which is 0 for a radial kernel only.

    It is never above the radial SKD, whose weights are all the same. A gradient costs O(n³/3 + n² + nb). From a batch,
    g and its derivatives are estimated by N/b times sums over its points, and the gradient is made of products of
    these estimates: it is biased. Where the pivots of :math:`\mathbf B` fall below 1e-9 of the largest entry of its
    diagonal, the gradient is that with 1e-10 of that entry, or as much more as Cholesky needs, added to the diagonal;
    value and weights come from a pivoted factor with nothing added.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> objective = nl.WeightedSKD(nl.Gaussian(rho=1.0), [[0.0], [1.0]])
    >>> round(objective.value([[0.25], [1.0]]), 6)
    0.195655
    >>> objective.weights([[0.25], [1.0]]).round(4)
    array([0.9374, 0.831 ])
    >>> objective.gradient([[0.25], [1.0]]).round(4)
    array([[ 1.3459],
           [-0.6176]])
    """

    name = "weighted-skd"

    @check.finite_result
    def value(self, sample: ArrayLike) -> float:
        """The discrepancy, its constant included."""
        half, _, _ = self._half(self.checked(sample))
        return self.constant - float(half @ half)

    def weights(self, sample: ArrayLike) -> Array:
        """The best weights; of landmarks that say the same, all but one have weight 0."""
        sample = self.checked(sample)
        half, factor, pivots = self._half(sample)
        a = np.zeros(len(sample))
        if len(pivots):
            a[pivots] = solve_triangular(factor, half, lower=True, trans=1)
        return a

    @limit_blas_threads
    def _half(self, sample: Array) -> tuple[Array, Array, NDArray[np.int64]]:
        """L⁻¹g for the pivoted factor L of B, and that factor."""
        g, _ = self._sums_of_each(sample).of_each()
        factor, pivots = pivoted_cholesky(self.kernel.squared(sample))
        check.finite("Σ K²(x, s)", g)
        half: Array = solve_triangular(factor, g[pivots], lower=True) if len(pivots) else np.empty(0)
        return half, factor, pivots

    def _sums_of_each(self, sample: Array, batch_size: int = 0) -> PairSums:
        return PairSums(self.kernel, self.data, sample, batch_size, among=False)

    def prepare(self, n: int, points: int) -> Evaluate:
        """The values are short of ‖K‖_F²."""
        sums: PairSums | None = None
        scale = len(self.data) / points

        @limit_blas_threads
        @np.errstate(over="ignore", invalid="ignore")  # the caller checks that the gradient is finite
        def evaluate(sample: Array, batch: Indices) -> tuple[float, Array]:
            nonlocal sums
            sums = sums or self._sums_of_each(sample, len(batch))
            sums.place(sample)
            g, over_data = sums.of_each(batch)
            g *= scale
            try:
                a = solve(self.kernel.squared(sample), g)
            except check.NotFinite:
                return np.nan, np.full_like(sample, np.nan)
            _, over_landmarks = PairSums(self.kernel, sample, sample, among=False).of_each(weights=a)
            return -float(g @ a), 2.0 * a[:, None] * (over_landmarks - scale * over_data)

        return evaluate

    def cost(self, n: int, points: int) -> float:
        """A factor of B, distances and sums of slopes."""
        return float(n**3 / 6 + 2 * self.data.shape[1] * n * (n + points))


def solve(B: Array, g: Array) -> Array:
    """B⁻¹g, with as much added to the diagonal as double precision needs; NaN where nothing helps."""
    largest, ridge = float(B.diagonal().max()), 0.0
    if largest == 0.0:
        return np.zeros_like(g)
    while ridge < 1.0:
        factor, info = dpotrf(B + ridge * largest * np.eye(len(B)), lower=1)
        if info == 0 and factor.diagonal().min() ** 2 > largest * (LEAST_PIVOT if ridge == 0.0 else 0.1 * ridge):
            solution: Array = dpotrs(factor, g, lower=1)[0]
            return solution
        ridge = FIRST_RIDGE if ridge == 0.0 else 10.0 * ridge
    return np.full_like(g, np.nan)
