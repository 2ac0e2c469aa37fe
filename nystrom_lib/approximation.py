r"""The Nyström approximation of a kernel matrix, paper §1 and §1.1: Eq. (1) and Eq. (2).

The pseudo-inverse of the paper is never formed. :math:`\mathbf K_S` is factored by a pivoted Cholesky decomposition,
with no ridge; landmarks that depend on others, up to rounding, lower the rank.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _validation as check
from ._core import profiles, residuals
from ._memory import gigabytes, memory
from ._sums import middle
from ._threads import limit_blas_threads, thread_pool
from ._validation import Array, as_writable
from .kernels import Kernel, require

_PART = 2e9  # multiplications between two checks for Ctrl-C: about a second
_COPIES = 4  # matrices of the size of K_S in memory while it is factored


def pivoted_cholesky(matrix: Array, precision: float = float(np.finfo(float).eps)) -> tuple[Array, NDArray[np.int64]]:
    """Lower factor and pivots with ``matrix[pivots][:, pivots] = L Lᵀ``, as many as the rank to rounding."""
    from scipy.linalg.lapack import dpstrf

    check.finite("The kernel matrix of the sample", matrix)
    largest = float(np.max(np.diag(matrix), initial=0.0))
    factor, pivots, rank, _ = dpstrf(matrix, lower=1, tol=precision * largest)
    if largest <= 0.0:
        rank = 0
    return np.ascontiguousarray(np.tril(factor[:rank, :rank])), pivots[:rank].astype(np.int64) - 1


def check_factor_memory(n: int, subject: str, instead: str = "") -> None:
    """Refuse n landmarks if a factor of their kernel matrix does not fit in memory.

    ``subject`` begins the error, and ``instead`` names an alternative that needs no factor, if there is one.
    """
    size, there = _COPIES * 8.0 * n * n, memory()
    if size > there:
        most = int((there / 8.0 / _COPIES) ** 0.5)
        raise ValueError(
            f"{subject} at most {most:,}, for a factor of K_S takes {gigabytes(size)} of {gigabytes(there)} of memory"
            + (f": {instead} does without." if instead else ".")
        )


class NystromApproximation:
    r"""The approximation :math:`\hat K(x, y) = \mathbf k^T(x)\,\mathbf K_S^\dagger\,\mathbf k(y)` of Eq. (2).

    It is the reproducing kernel of the span of the landmarks (Remark 1.1), computed from the features
    :math:`f(x) = \mathbf L^{-1}\mathbf k(x)`, with :math:`\mathbf K_S = \mathbf L\mathbf L^T`:
    :math:`\hat K(x,y) = \langle f(x), f(y)\rangle`.

    Parameters
    ----------
    kernel
        The kernel K.
    sample
        The landmarks, a row each, anywhere in :math:`\mathbb R^d`, repeats allowed.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> approximation = nl.NystromApproximation(nl.Gaussian(rho=1.0), [[0.0], [1.0], [1.0]])
    >>> approximation.rank
    2
    >>> approximation.matrix([[0.0], [0.5]]).round(4)
    array([[1.    , 0.7788],
           [0.7788, 0.8868]])
    """

    @limit_blas_threads
    def __init__(self, kernel: Kernel, sample: ArrayLike) -> None:
        self.kernel = require(kernel)
        self.sample = check.float_points("sample", sample)
        instead = "LocalTraceError" if self.kernel.radial else ""
        check_factor_memory(len(self.sample), f"sample has {len(self.sample):,} points; it must have", instead)
        self._centre = middle(self.sample) if self.kernel.radial else np.zeros(self.sample.shape[1])
        self._factor, self._pivots = pivoted_cholesky(self.kernel.matrix(self.sample))

    @property
    def rank(self) -> int:
        """The numerical rank of :math:`\\mathbf K_S`: the number of landmarks in use."""
        return len(self._pivots)

    @property
    def smallest_pivot(self) -> float:
        """The smallest squared diagonal entry of L over the largest."""
        diagonal = np.diag(self._factor)
        return float((diagonal[-1] / diagonal[0]) ** 2) if self.rank else 1.0

    def features(self, x: ArrayLike) -> Array:
        """The landmark features of new points, shape (m, rank), with ⟨f(x), f(y)⟩ = K̂(x, y).

        Examples
        --------
        >>> import nystrom_lib as nl
        >>> nl.NystromApproximation(nl.Gaussian(rho=1.0), [[0.0], [1.0]]).features([[0.0]])
        array([[1., 0.]])
        """
        x = check.points("x", x, dimension=self.sample.shape[1], like="sample")
        features = np.empty((len(x), self.rank))
        self._residuals(x, features)
        return features

    @limit_blas_threads
    def block(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Entries K̂(x_i, y_j), shape (len(x), len(y))."""
        block: Array = self.features(x) @ self.features(y).T
        return block

    @limit_blas_threads
    def matrix(self, x: ArrayLike) -> Array:
        """The whole matrix K̂(S) of Eq. (2) for the points ``x``."""
        features = self.features(x)
        matrix: Array = features @ features.T
        return matrix

    def residuals(self, x: ArrayLike) -> Array:
        """K(x_i, x_i) − K̂(x_i, x_i) of each point: O(Nn²) time, a few megabytes of memory whatever N."""
        x = check.points("x", x, dimension=self.sample.shape[1], like="sample")
        return self._residuals(x, np.empty((0, self.rank)))

    def _residuals(self, x: NDArray[Any], features: Array) -> Array:
        """Residuals, and features if ``features`` has rows, part by part, so that Ctrl-C is noticed in between."""
        if self.rank == 0:
            return _diagonal(self.kernel, x)
        residual = np.empty(len(x))
        n, size, F, K = self._packed
        S = residuals.tiles_of(self.sample[self._pivots] - self._centre)
        radial, block = self.kernel.radial, self.kernel._block(profiles.VALUE)
        rows = 256 * max(8, int(_PART / (256 * self.rank**2)))
        with thread_pool(len(x) * self.rank) as parallel, self.kernel._guard_user_kernel() as p:
            for start in range(0, len(x), rows):
                part = slice(start, start + rows)
                points = as_writable(x[part])
                parallel(
                    residuals.features, -(-len(points) // residuals.POINTS), radial, block, p, points, self._centre,
                    self.rank, n, size, S, F, K, _diagonal(self.kernel, points), features[part], residual[part],
                )  # fmt: skip
        return residual

    @cached_property
    def _packed(self) -> tuple[int, int, Array, Array]:
        return residuals.pack(self._factor)


def _diagonal(kernel: Kernel, x: NDArray[Any]) -> Array:
    """K(x_i, x_i), without a float64 copy of a large float32 data set."""
    if kernel.radial:
        return np.full(len(x), kernel.diagonal(np.zeros((1, x.shape[1])))[0])
    return check.finite("K(x, x)", kernel.diagonal(x))


@limit_blas_threads
def nystrom_from_columns(matrix: ArrayLike, indices: ArrayLike) -> Array:
    r"""The Nyström approximation from columns of a matrix, Eq. (1):

    .. math:: \hat{\mathbf K} = \mathbf C\mathbf W^\dagger\mathbf C^T.

    Parameters
    ----------
    matrix
        An N × N symmetric positive-semidefinite matrix.
    indices
        Which columns, repeats allowed.

    Returns
    -------
    array, (N, N)
        The approximation, symmetric and positive semi-definite.

    Examples
    --------
    >>> import numpy as np, nystrom_lib as nl
    >>> nl.nystrom_from_columns(np.array([[4.0, 2.0], [2.0, 3.0]]), [0, 0])
    array([[4., 2.],
           [2., 1.]])
    """
    from scipy.linalg import solve_triangular

    K = check.float_points("matrix", matrix)
    if K.shape[0] != K.shape[1] or not np.allclose(K, K.T, rtol=1e-10, atol=1e-10 * np.abs(K).max()):
        raise ValueError(f"matrix has shape {K.shape}; it must be square and symmetric.")
    columns = check.indices("indices", indices, len(K))
    factor, pivots = pivoted_cholesky(np.ascontiguousarray(K[np.ix_(columns, columns)]))
    if len(pivots) == 0:
        return np.zeros_like(K)
    half = solve_triangular(factor, K[columns[pivots]], lower=True)
    approximation: Array = half.T @ half
    return approximation
