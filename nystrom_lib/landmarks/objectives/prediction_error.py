r"""The error of ridge regression in the span of the landmarks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve

from ... import _validation as check
from ..._core import profiles
from ..._threads import limit_blas_threads
from ..._validation import Array
from ...kernels import Kernel, require_radial
from .base import Evaluate, Indices, Objective

BLOCK = 2**22  #: kernel values in memory at a time
PREDICTED = 2**18  #: the same for predictions: they stay in the cache
JITTER = 1e-13  #: of the mean diagonal, added to the normal equations where their Cholesky factorisation fails


class PredictionError(Objective):
    r"""The penalised squared error of the best prediction from the landmarks, per data point.

    With :math:`\mathbf C = K(S,\mathcal D)`, :math:`\mathbf W=\mathbf K_S` and targets :math:`\mathbf Y`, a row for
    each of the N points, kernel ridge regression in the span of the landmarks leaves

    .. math:: f(S) = \min_{\mathbf a}\ \tfrac1N\big(\|\mathbf Y-\mathbf C^T\mathbf a\|_F^2
              + \lambda\operatorname{tr}\mathbf a^T\mathbf W\mathbf a\big),\qquad
              \mathbf a(S) = (\mathbf C\mathbf C^T+\lambda\mathbf W)^{-1}\mathbf C\mathbf Y.

    Its gradient follows by variable projection (Golub and Pereyra 1973). The derivative in a vanishes at the minimum,
    so that that of a(S) drops out. What remains, with the residual :math:`\mathbf R=\mathbf Y-\mathbf C^T\mathbf a`,
    is

    .. math:: df = \tfrac1N\big(-2\operatorname{tr}(\mathbf R\,\mathbf a^T d\mathbf C)
              + \lambda\operatorname{tr}(\mathbf a\mathbf a^T d\mathbf W)\big).

    A radial kernel :math:`\kappa(\|s-x\|^2)` has :math:`\partial K(s,x)/\partial s = 2\kappa'(\|s-x\|^2)(s-x)`. With
    :math:`\mathbf P=-\tfrac2N(\mathbf a\mathbf R^T)\circ\kappa'` for pairs of a landmark and a point and
    :math:`\mathbf Q=\tfrac{2\lambda}N(\mathbf a\mathbf a^T)\circ\kappa'` for pairs of landmarks,

    .. math:: \frac{\partial f}{\partial s_i} = 2\sum_j P_{ij}(s_i-x_j) + 2\sum_j Q_{ij}(s_i-s_j).

    It costs O(n²N + n³). A batch of b points estimates it with λ b/N in place of λ; it is biased, because the
    coefficients fit the batch, and b should be several times larger than n. There is no intercept: centre the targets.

    Parameters
    ----------
    kernel
        A radial kernel.
    data
        The points, a row each.
    targets
        A number for each point, or a row of numbers.
    ridge
        λ, greater than 0.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> objective = nl.PredictionError(nl.Gaussian(rho=1.0), [[0.0], [1.0]], [1.0, -1.0], ridge=0.1)
    >>> round(objective.value([[0.25]]), 6), round(objective.value([[-0.5]]), 6)
    (0.947739, 0.684055)
    >>> objective.gradient([[0.25]]).round(4)
    array([[0.3782]])
    """

    name = "prediction"

    def __init__(self, kernel: Kernel, data: ArrayLike, targets: ArrayLike, *, ridge: float) -> None:
        super().__init__(kernel, data)
        require_radial(kernel)
        self.targets = checked_targets(targets, len(self.data))
        self.ridge = check.positive("ridge", ridge)
        self.weights: Array | None = None  #: of the points, in all sums
        self.intercept = False

    @limit_blas_threads
    @check.finite_result
    def value(self, sample: ArrayLike) -> float:
        """From all the data."""
        return self._fitted(self.checked(sample), slice(None), gradient=False).value

    def prepare(self, n: int, points: int) -> Evaluate:
        """Nothing is kept from one evaluation to the next."""

        @limit_blas_threads
        def evaluate(sample: Array, batch: Indices) -> tuple[float, Array]:
            fit = self._fitted(sample, batch if len(batch) else slice(None))
            return fit.value, fit.gradient

        return evaluate

    def cost(self, n: int, points: int) -> float:
        """Normal equations and their factor, distances and their derivatives."""
        return float(0.5 * n * n * points + n**3 / 6 + (3.0 * self.data.shape[1] + 10.0) * n * (n + points))

    @limit_blas_threads
    def coefficients(self, sample: ArrayLike) -> Array:
        """a(S), a column for each target: ``kernel.matrix(x, S) @ a`` predicts."""
        return self._fitted(self.checked(sample), slice(None), gradient=False).coefficients

    def _fitted(self, sample: Array, picks: Any, *, gradient: bool = True) -> Fit:
        points, targets = self.data[picks], self.targets[picks]
        ridge = self.ridge * len(points) / len(self.data)
        weights = None if self.weights is None else self.weights[picks]
        with np.errstate(over="ignore", invalid="ignore"):
            return fit(
                self.kernel, sample, points, targets, ridge, weights, intercept=self.intercept, gradient=gradient
            )


def checked_targets(targets: ArrayLike, size: int) -> Array:
    """Targets as a float array with a row for each of ``size`` points."""
    array = check.as_array("targets", targets)
    if array.ndim not in (1, 2) or len(array) != size:
        raise ValueError(f"targets has shape {array.shape}; it must have a number or a row for each of {size} points.")
    return check.float_points("targets", array[:, None] if array.ndim == 1 else array)


class Fit(NamedTuple):
    """Ridge regression in the span of landmarks."""

    value: float  #: f(S)
    coefficients: Array  #: a(S), (n, q)
    gradient: Array  #: in the landmarks, (n, d)
    scale_gradient: Array  #: in the logarithms of scales, (d,)
    intercept: Array  #: of each target, (q,)


def fit(
    kernel: Kernel,
    sample: Array,
    points: NDArray[Any],
    targets: Array,
    ridge: float,
    weights: Array | None = None,
    *,
    intercept: bool = False,
    gradient: bool = True,
) -> Fit:
    r"""The objective, with its derivatives in landmarks and in the logarithms of scales.

    Scales :math:`\rho_l` act as :math:`\|s-x\|^2=\sum_l\rho_l(s_l-x_l)^2`; ``sample`` and ``points`` are given with
    :math:`\sqrt{\rho_l}` multiplied in. In these coordinates

    .. math:: \frac{\partial f}{\partial\log\rho_l} = \sum_{ij} P_{ij}(s_{il}-x_{jl})^2
              + \tfrac12\sum_{ij} Q_{ij}(s_{il}-s_{jl})^2.

    ``weights`` multiply the squared residuals of the points, and N is their sum. An ``intercept`` is a constant that is
    added to the predictions without a penalty; at the best one the residuals sum to 0, which centres C and Y in the
    normal equations and changes nothing else.
    """
    centre = sample.mean(axis=0)
    S = sample - centre  # distances from inner products lose fewer digits near the origin
    roots = np.ones(len(points)) if weights is None else np.sqrt(weights)
    total = float(len(points) if weights is None else weights.sum())
    W, W_slopes = _values_and_slopes(kernel, S, S)
    n, rows = len(S), max(1, BLOCK // len(S))
    blocks = partial(_blocks, kernel, S, centre, points, targets, roots, rows)
    normal, right = ridge * W, np.zeros((n, targets.shape[1]))
    mean, target_mean = np.zeros(n), np.zeros(targets.shape[1])
    for block in blocks():
        _, Y, C, _, some_roots = block
        normal += C @ C.T
        right += C @ Y
        if intercept:
            mean += C @ some_roots / total
            target_mean += some_roots @ Y / total
    a = _solved(normal - total * np.outer(mean, mean), right - total * np.outer(mean, target_mean))
    constant = target_mean - mean @ a
    value = ridge * float(np.vdot(a, W @ a))
    in_sample, in_scales = np.zeros_like(S), np.zeros(S.shape[1])
    for X, Y, C, slopes, some_roots in [block] if len(points) <= rows else blocks():
        R = Y - C.T @ a
        if intercept:
            R -= np.outer(some_roots, constant)
        value += float(np.vdot(R, R))
        if gradient:
            P = a @ R.T
            P *= slopes
            P *= -2.0 / total
            sums, PX = P.sum(axis=1)[:, None], P @ X
            in_sample += 2.0 * (sums * S - PX)
            in_scales += (sums * S * S).sum(axis=0) - 2.0 * (S * PX).sum(axis=0) + P.sum(axis=0) @ np.square(X)
    if gradient:
        Q = (2.0 * ridge / total) * (a @ a.T) * W_slopes
        sums, QS = Q.sum(axis=1)[:, None], Q @ S
        in_sample += 2.0 * (sums * S - QS)
        in_scales += (sums * S * S).sum(axis=0) - (S * QS).sum(axis=0)
    return Fit(value / total, a, in_sample, in_scales, constant)


def _blocks(
    kernel: Kernel, S: Array, centre: Array, points: NDArray[Any], targets: Array, roots: Array, rows: int
) -> Iterator[tuple[Array, Array, Array, Array, Array]]:
    """Some points X, with Y, C and κ' multiplied by the square roots of their weights, and these roots."""
    for start in range(0, len(points), rows):
        some = slice(start, start + rows)
        X = points[some] - centre
        C, slopes = _values_and_slopes(kernel, S, X)
        C *= roots[some]
        slopes *= roots[some]
        yield X, targets[some] * roots[some, None], C, slopes, roots[some]


def _values_and_slopes(kernel: Kernel, S: Array, X: Array) -> tuple[Array, Array]:
    """κ and κ′ of the squared distances of all pairs."""
    squares = _squared_distances(S, X)
    if S is X:
        np.fill_diagonal(squares, 0.0)
    return kernel._values_and_slopes(squares)


def _squared_distances(S: Array, X: Array) -> Array:
    squares: Array = (-2.0 * S) @ X.T
    squares += np.square(S).sum(axis=1)[:, None]
    squares += np.square(X).sum(axis=1)
    return np.maximum(squares, 0.0, out=squares)


def predictions(kernel: Kernel, sample: Array, points: NDArray[Any], coefficients: Array) -> Array:
    """K(points, S) a, some points at a time."""
    centre = sample.mean(axis=0)
    S, found = sample - centre, np.empty((len(points), coefficients.shape[1]))
    rows = max(1, PREDICTED // len(S))
    for start in range(0, len(points), rows):
        values = _squared_distances(S, points[start : start + rows] - centre)
        kernel._apply(profiles.VALUE, values.reshape(-1))
        np.matmul(values.T, coefficients, out=found[start : start + rows])
    return found


def _solved(normal: Array, right: Array) -> Array:
    """The solution of the normal equations, their diagonal raised by as little as Cholesky needs."""
    if not np.isfinite(normal).all():
        return np.full_like(right, np.nan)
    jitter, mean = 0.0, float(np.trace(normal)) / len(normal)
    while jitter <= 10.0:
        raised = normal + jitter * mean * np.eye(len(normal)) if jitter else normal
        try:
            solution: Array = cho_solve(cho_factor(raised, lower=True, check_finite=False), right, check_finite=False)
            return solution
        except np.linalg.LinAlgError:
            jitter = 10.0 * jitter or JITTER
    return np.full_like(right, np.nan)
