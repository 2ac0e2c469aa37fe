r"""Exact derivatives of the radial SKD: Eq. (5), (10)–(13)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _validation as check
from ._sums import PairSums
from ._threads import limit_blas_threads
from ._validation import Array
from .kernels import Kernel
from .radial_skd import validate_arguments


@check.finite_result
def radial_skd_gradient(kernel: Kernel, data: ArrayLike, sample: ArrayLike) -> Array:
    r"""The gradient of R, Eq. (5), written through :math:`c_S` as in Eq. (10); shape (n, d):

    .. math:: \partial_{[s_k]_l} R(S) = c_S^2\Big(\partial^{[d]}_{[s_k]_l}K^2(s_k,s_k)
              + 2\sum_{j\ne k}\partial^{[l]}_{[s_k]_l}K^2(s_k,s_j)\Big)
              - 2c_S\sum_{i=1}^N\partial^{[l]}_{[s_k]_l}K^2(s_k,x_i).

    O(n² + nN). Zero where :math:`\|\mathbf K_S\|_F = 0`.

    Parameters
    ----------
    kernel, data, sample
        As in :func:`radial_skd`.

    Returns
    -------
    array, (n, d)
        A row for each landmark.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> nl.radial_skd_gradient(nl.Gaussian(rho=1.0), [[0.0], [1.0]], [[0.25]]).round(4)
    array([[-0.2208]])
    """
    norm, total, over_landmarks, over_data = PairSums(*validate_arguments(kernel, data, sample)).totals_and_left()
    c = total / norm if norm > 0.0 else 0.0
    # K² is symmetric, so ∂[d]K²(s, s) = 2 ∂[l]K²(s, s): the sum over all j, k included, is half the bracket
    return 2.0 * c * c * over_landmarks - 2.0 * c * over_data


@check.finite_result
def skd_coefficient_gradient(kernel: Kernel, data: ArrayLike, sample: ArrayLike) -> Array:
    r"""The gradient of :math:`c_S`, Eq. (13); shape (n, d).

    Parameters
    ----------
    kernel, data, sample
        As in :func:`radial_skd`.

    Returns
    -------
    array, (n, d)
        A row for each landmark.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> nl.skd_coefficient_gradient(nl.Gaussian(rho=1.0), [[0.0], [1.0]], [[0.25]]).round(4)
    array([[0.0915]])
    """
    norm, total, over_landmarks, over_data = PairSums(*validate_arguments(kernel, data, sample)).totals_and_left()
    if norm <= 0.0:
        return np.zeros_like(over_data)
    return (over_data - 2.0 * total / norm * over_landmarks) / norm


@check.finite_result
@limit_blas_threads
def radial_skd_hessian(kernel: Kernel, data: ArrayLike, sample: ArrayLike) -> Array:
    r"""The Hessian of R, blocks :math:`\mathbf B^{k,k'}` of Eq. (11) and (12); shape (n·d, n·d).

    For many landmarks or coordinates, use :func:`nystrom_lib.derivatives.hessian_vector_product` instead.

    Parameters
    ----------
    kernel, data, sample
        As in :func:`radial_skd`.

    Returns
    -------
    array, (n·d, n·d)
        Symmetric; rows and columns go through the coordinates of one landmark after the other.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> nl.radial_skd_hessian(nl.Gaussian(rho=1.0), [[0.0], [1.0]], [[0.25]]).round(4)
    array([[2.4561]])
    """
    kernel, data, sample = validate_arguments(kernel, data, sample)
    n, d = sample.shape
    norm, total, over_landmarks, over_data = PairSums(kernel, data, sample).totals_and_left()
    if norm <= 0.0:
        return np.zeros((n * d, n * d))
    c = total / norm
    dc = (over_data - 2.0 * c * over_landmarks) / norm  # Eq. (13)
    # the factor of ∂c_S in Eq. (11) and (12), the same for every k'
    slope = 4.0 * c * over_landmarks - 2.0 * over_data
    blocks = slope[:, :, None, None] * dc[None, None, :, :]
    for k in range(n):
        here = sample[k : k + 1]
        others = np.delete(sample, k, axis=0)
        same = c * c * kernel.squared_diagonal_diagonal(here)[0] - 2.0 * c * _sum_left_left(kernel, here, data)
        if n > 1:
            same += 2.0 * c * c * _sum_left_left(kernel, here, others)
            cross = 2.0 * c * c * kernel.squared_left_right(here, others)[0]
            blocks[k, :, np.arange(n) != k, :] += cross
        blocks[k, :, k, :] += same
    hessian: Array = blocks.reshape(n * d, n * d)
    return hessian


def _sum_left_left(kernel: Kernel, here: Array, points: NDArray[Any]) -> Array:
    """Σ_x ∂[l]∂[l]K²(s, x) for one s, the points taken in blocks."""
    rows = max(1, 2_000_000 // here.shape[1] ** 2)
    parts = [
        kernel.squared_left_left(here, points[start : start + rows])[0].sum(axis=0)
        for start in range(0, len(points), rows)
    ]
    total: Array = np.sum(parts, axis=0)
    return total


@check.finite_result
@limit_blas_threads
def hessian_vector_product(kernel: Kernel, data: ArrayLike, sample: ArrayLike, vector: ArrayLike) -> Array:
    r""":math:`\nabla^2R(S)\,v` without the matrix, in O((n² + nN)d) time; ``vector`` and the result have shape (n, d).

    It is the derivative of Eq. (10) in the direction v.

    Parameters
    ----------
    kernel, data, sample
        As in :func:`nystrom_lib.radial_skd`.
    vector
        The vector v.

    Returns
    -------
    array, (n, d)
        The product, in the shape of the vector.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> nl.derivatives.hessian_vector_product(nl.Gaussian(rho=1.0), [[0.0], [1.0]], [[0.25]], [[2.0]]).round(4)
    array([[4.9121]])
    """
    kernel, data, sample = validate_arguments(kernel, data, sample)
    v = check.float_points("vector", vector, dimension=sample.shape[1])
    if len(v) != len(sample):
        raise ValueError(f"vector has {len(v)} rows; it must have one for each of the {len(sample)} landmarks.")
    return _HessianProduct(kernel, data, sample)(v)


class _HessianProduct:
    """∇²R(S) as an operator; sums that do not depend on the vector are computed once."""

    def __init__(self, kernel: Kernel, data: NDArray[Any], sample: Array) -> None:
        self.kernel, self.data, self.sample = kernel, data, sample
        norm, total, self.over_landmarks, self.over_data = PairSums(kernel, data, sample).totals_and_left()
        self.norm, self.c = norm, (total / norm if norm > 0.0 else 0.0)

    def __call__(self, v: Array) -> Array:
        if self.norm <= 0.0:
            return np.zeros_like(v)
        c = self.c
        direction_t1 = float(np.sum(self.over_data * v))
        direction_norm = 2.0 * float(np.sum(self.over_landmarks * v))
        dc = (direction_t1 - c * direction_norm) / self.norm
        slope = 4.0 * c * self.over_landmarks - 2.0 * self.over_data
        curvature = 2.0 * c * c * self._among_landmarks(v) - 2.0 * c * self._against_data(v)
        product: Array = dc * slope + curvature
        return product

    def _against_data(self, v: Array) -> Array:
        """Σ_i ∂[l]∂[l]K²(s_k, x_i) v_k."""
        kernel, s = self.kernel, self.sample
        rows = max(1, 4_000_000 // len(self.sample))
        total = np.zeros_like(v)
        for start in range(0, len(self.data), rows):
            x = self.data[start : start + rows].astype(np.float64, copy=False)
            second = kernel._second(s, x)
            if kernel.radial:
                first = kernel._first(s, x)
                along = second * (np.sum(s * v, axis=1)[:, None] - v @ x.T)  # φ'' ⟨s − x, v⟩
                total += 4.0 * (along.sum(axis=1)[:, None] * s - along @ x) + 2.0 * first.sum(axis=1)[:, None] * v
            else:
                total += (second * (v @ x.T)) @ x
        return total

    def _among_landmarks(self, v: Array) -> Array:
        """Σ_j (∂[l]∂[l]K²(s_k, s_j) v_k + ∂[l]∂[r]K²(s_k, s_j) v_j)."""
        kernel, s = self.kernel, self.sample
        first, second = kernel._first(s, s), kernel._second(s, s)
        if kernel.radial:
            projections = s @ v.T  # [j, k] = ⟨s_j, v_k⟩
            own = np.diag(projections)
            along = second * (own[:, None] - projections.T - projections + own[None, :])  # φ'' ⟨s_k − s_j, v_k − v_j⟩
            bent = 4.0 * (along.sum(axis=1)[:, None] * s - along @ s)
            product: Array = bent + 2.0 * (first.sum(axis=1)[:, None] * v - first @ v)
        else:
            product = (second * (v @ s.T + s @ v.T)) @ s + first @ v
        return product


@limit_blas_threads
def largest_hessian_eigenvalue(kernel: Kernel, data: ArrayLike, sample: ArrayLike, *, tolerance: float = 1e-8) -> float:
    r"""The largest eigenvalue of :math:`\nabla^2R(S)`, by a Lanczos iteration on Hessian–vector products.

    Near S, a gradient descent is stable for steps below 2 over this number; compare with the L of
    :func:`lipschitz_bound`.

    Parameters
    ----------
    kernel, data, sample
        As in :func:`radial_skd`.
    tolerance
        The relative accuracy of the iteration.

    Returns
    -------
    float
        The eigenvalue; it may be negative.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> round(nl.largest_hessian_eigenvalue(nl.Gaussian(rho=1.0), [[0.0], [1.0]], [[0.25]]), 4)
    2.4561
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    kernel, data, sample = validate_arguments(kernel, data, sample)
    tolerance = check.positive("tolerance", tolerance)
    if sample.size <= 8:  # ARPACK wants more than a few dimensions
        return float(np.linalg.eigvalsh(radial_skd_hessian(kernel, data, sample))[-1])
    product = _HessianProduct(kernel, data, sample)
    operator = LinearOperator(
        (sample.size, sample.size),
        matvec=lambda v: product(np.asarray(v).reshape(sample.shape)).ravel(),
        dtype=np.float64,
    )
    start = np.random.default_rng(0).standard_normal(sample.size)
    if not np.any(operator @ start):
        return 0.0  # landmarks so far from the data, and from each other, that the Hessian underflows
    values = eigsh(operator, k=1, which="LA", v0=start, tol=tolerance, return_eigenvectors=False)
    return float(values[0])
