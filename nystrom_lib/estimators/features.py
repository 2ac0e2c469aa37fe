"""Feature maps whose inner products are the Nyström approximation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import issparse

from .._threads import limit_blas_threads
from .._validation import Array
from ..approximation import NystromApproximation, pivoted_cholesky
from ..kernels import Kernel

EPS = float(np.finfo(float).eps)


class KernelFeatures:
    """The features of :class:`NystromApproximation`, for a kernel of the library."""

    def __init__(self, kernel: Kernel, landmarks: NDArray[Any]) -> None:
        self._approximation = NystromApproximation(kernel, landmarks)

    def __call__(self, X: Any) -> Array:
        """A row for each sample."""
        return self._approximation.features(X.toarray() if issparse(X) else X)

    def normalization(self) -> Array:
        """M with f(x) = M k(x)."""
        S = self._approximation
        return _normalization(S._factor, S._pivots, len(S.sample))


class ColumnFeatures:
    r"""Features :math:`f(x) = \mathbf L^{-1}\mathbf k(x)` for a kernel known by its columns :math:`\mathbf k(x)` alone,
    with L the pivoted Cholesky factor of :math:`\mathbf K_S`.

    Some of scikit-learn's kernels (``sigmoid``, ``additive_chi2``) and some callables are not positive, and then there
    is no such factor. As in scikit-learn the features are then those of :math:`|\mathbf K_S|`, which has the absolute
    values of the eigenvalues.

    Parameters
    ----------
    matrix
        :math:`\mathbf K_S`.
    columns
        Gives K(x_i, s_j) for samples x_i.
    precision
        How exact those are, relative to the largest.
    """

    @limit_blas_threads
    def __init__(self, matrix: Array, columns: Callable[[Any], Array], precision: float = EPS) -> None:
        self._n, self._columns = len(matrix), columns
        self._factor, self._pivots = pivoted_cholesky(matrix, precision)
        self._root = None if self._explains(matrix, precision) else _absolute_root(matrix, precision)

    def __call__(self, X: Any) -> Array:
        """A row for each sample."""
        return self._of_columns(self._columns(X))

    @limit_blas_threads
    def _of_columns(self, columns: Array) -> Array:
        return self._solve(columns) if self._root is None else columns @ self._root

    def _solve(self, columns: Array) -> Array:
        solved: Array = _solve(self._factor, columns[:, self._pivots].T).T
        return solved

    def _explains(self, matrix: Array, precision: float) -> bool:
        """Whether what the factor leaves is rounding: if not, the matrix is not positive."""
        features = self._solve(matrix)
        left = np.abs(matrix - features @ features.T).max()
        return bool(left <= math.sqrt(precision) * np.abs(matrix).max())

    def normalization(self) -> Array:
        """M with f(x) = M k(x)."""
        return _normalization(self._factor, self._pivots, self._n) if self._root is None else self._root


def _normalization(factor: Array, pivots: NDArray[np.int64], n: int) -> Array:
    """L⁻¹ in the columns of the pivots, and zeros."""
    M = np.zeros((n, n))
    M[: len(pivots), pivots] = _solve(factor, np.eye(len(pivots)))
    return M


def _solve(lower: Array, right: Array) -> Array:
    solved: Array = solve_triangular(lower, right, lower=True, check_finite=False) if len(lower) else right
    return solved


def _absolute_root(matrix: Array, precision: float) -> Array:
    """sign(λ) |λ|^(−1/2) in place of the eigenvalues λ, and 0 where they are rounding."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    size = np.abs(values)
    kept = size > precision * len(matrix) * size.max()
    weights = np.sign(values[kept]) / np.sqrt(size[kept])
    root: Array = (vectors[:, kept] * weights) @ vectors[:, kept].T
    return root
