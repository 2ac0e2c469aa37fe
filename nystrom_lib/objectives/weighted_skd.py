r"""The squared-kernel discrepancy with the best weights for each sample, Remark 1.2."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _validation as check
from .._core import pairs, profiles, weighted
from .._core.trace import FIRST_RIDGE, LEAST_PIVOT
from .._sums import middle
from .._threads import one_pool, steady
from .._validation import Array
from ..approximation import pivoted_cholesky
from ..kernels import Kernel
from .base import EVERYTHING, Evaluate, Indices
from .radial_skd import Discrepancy

_EQUAL: Array = np.empty(0)  # weights, all of them 1


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

    where j = k is meant to be in the sum: the diagonal entry of :math:`\mathbf B` changes by
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
        sample = self.checked(sample)
        g, _ = WeightedSums(self.kernel, sample.shape, len(self.data)).over(sample, self.data)
        half, _, _ = self._half(sample, g)
        return self.constant - float(half @ half)

    def weights(self, sample: ArrayLike) -> Array:
        """The best weights; of landmarks that say the same, all but one have weight 0."""
        from scipy.linalg import solve_triangular

        sample = self.checked(sample)
        g, _ = WeightedSums(self.kernel, sample.shape, len(self.data)).over(sample, self.data)
        half, factor, pivots = self._half(sample, g)
        a = np.zeros(len(sample))
        if len(pivots):
            a[pivots] = solve_triangular(factor, half, lower=True, trans=1)
        return a

    @steady
    def _half(self, sample: Array, g: Array) -> tuple[Array, Array, NDArray[np.int64]]:
        """L⁻¹g for the pivoted factor L of B, and that factor."""
        from scipy.linalg import solve_triangular

        factor, pivots = pivoted_cholesky(self.kernel.squared(sample))
        check.finite("Σ K²(x, s)", g)
        half: Array = solve_triangular(factor, g[pivots], lower=True) if len(pivots) else np.empty(0)
        return half, factor, pivots

    def prepare(self, n: int, points: int) -> Evaluate:
        """The values are short of ‖K‖_F²."""
        N = len(self.data)
        sums = WeightedSums(self.kernel, (n, self.data.shape[1]), points)
        among = WeightedSums(self.kernel, (n, self.data.shape[1]), n)

        @steady
        @np.errstate(over="ignore", invalid="ignore")  # who calls looks whether the gradient is finite
        def evaluate(sample: Array, batch: Indices) -> tuple[float, Array]:
            g, over_data = sums.over(sample, self.data, batch)
            scale = N / (len(batch) or N)
            g *= scale
            try:
                a = solve(self.kernel.squared(sample), g)
            except check.NotFinite:
                return np.nan, np.full_like(sample, np.nan)
            _, over_landmarks = among.over(sample, sample, weights=a)
            return -float(g @ a), 2.0 * a[:, None] * (over_landmarks - scale * over_data)

        return evaluate

    def cost(self, n: int, points: int) -> float:
        """A factor of B, distances and sums of slopes."""
        return float(n**3 / 6 + 2 * self.data.shape[1] * n * (n + points))


def solve(B: Array, g: Array) -> Array:
    """B⁻¹g, with as much added to the diagonal as double precision needs; NaN where nothing helps."""
    from scipy.linalg.lapack import dpotrf, dpotrs

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


class WeightedSums:
    """Σ_x w_x K²(s_k, x) and Σ_x w_x ∂[l]K²(s_k, x) for each landmark, with the buffers for so many points."""

    def __init__(self, kernel: Kernel, shape: tuple[int, ...], points: int) -> None:
        self.kernel, self.points = kernel, points
        self.n, self.d = shape
        self._loop = kernel._address(profiles.TANGENT)
        size = pairs.tile_size(self.n)
        self._tiles = np.zeros((-(-self.n // size), self.d, size))
        self._work: dict[int, Any] = {}

    def over(
        self, sample: Array, points: NDArray[Any], picks: Indices = EVERYTHING, weights: Array = _EQUAL
    ) -> tuple[Array, Array]:
        """The two sums over the points, or over those that ``picks`` names."""
        kernel, (tiles, d, size) = self.kernel, self._tiles.shape
        centre = middle(sample) if kernel.radial else np.zeros(d)
        padded = np.zeros((tiles * size, d))
        padded[: self.n] = sample - centre
        self._tiles[:] = padded.reshape(tiles, size, d).transpose(0, 2, 1)
        with one_pool(self.n * self.points) as (parallel, slots), kernel._watched() as p:
            if slots not in self._work:
                self._work[slots] = weighted.make_work(slots, self.n, self.points, d)
            work = self._work[slots]
            told = (
                kernel.radial, self._loop, p, points, picks, weights, centre, self.n, self._tiles,
                np.einsum("ij,ij->i", padded, padded), work,
            )  # fmt: skip
            weighted.weighted_sums(parallel, len(work[3]), told)
        left = np.empty((self.n, d))
        pairs.left_derivatives(kernel.radial, self._tiles, work[4].sum(axis=0), left)
        return work[3].sum(axis=0).reshape(-1)[: self.n], left
