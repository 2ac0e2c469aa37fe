r"""The Nyström approximation for so many landmarks that a factor of :math:`\mathbf K_S` does not fit in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from . import _validation as check
from ._local import NEIGHBOURS, LocalLoops, radial
from ._threads import limit_blas_threads
from ._validation import Array
from .approximation import NystromApproximation
from .kernels import Kernel

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["LocalApproximation"]

EXACT = 4_000  #: up to this many landmarks, errors are computed with a factor of K_S

_PANEL = 2**22  # entries of K_S that are in memory at a time


class LocalApproximation:
    r"""The approximation in which each point uses only the landmarks nearest to it, for tens of thousands of them.

    With :math:`\mathbf W_x` and :math:`\mathbf k_x` of the ``neighbours`` landmarks nearest to x, the weights
    :math:`a_x=\mathbf W_x^{-1}\mathbf k_x` project :math:`K(x,\cdot)` onto their span, and

    .. math:: \hat K(x, y) = a_x^T\mathbf K_S\,a_y

    is the inner product of two such projections. It is positive semi-definite, its diagonal is at most that of Eq. (2),
    and it equals Eq. (2) if there are no more landmarks than neighbours. No matrix of the size of
    :math:`\mathbf K_S` is needed: a point costs a search and O(k³ + k²d).

    Parameters
    ----------
    kernel
        A radial kernel.
    sample
        The landmarks, a row each, repeats allowed.
    neighbours
        The number k of landmarks that a point uses.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> approximation = nl.LocalApproximation(nl.Gaussian(rho=1.0), [[0.0], [1.0], [5.0]], neighbours=2)
    >>> approximation.weights([[0.5], [5.0]]).toarray().round(4)
    array([[0.5693, 0.5693, 0.    ],
           [0.    , 0.    , 1.    ]])
    >>> approximation.residuals([[0.5], [5.0]]).round(4)
    array([0.1132, 0.    ])
    """

    def __init__(self, kernel: Kernel, sample: ArrayLike, neighbours: int = NEIGHBOURS) -> None:
        self.kernel = radial(kernel)
        self.sample = check.float_points("sample", sample)
        self.neighbours = check.integer("neighbours", neighbours, least=1)

    @property
    def rank(self) -> int:
        """The number of landmarks that a point uses."""
        return min(self.neighbours, len(self.sample))

    def residuals(self, x: ArrayLike) -> Array:
        """K(x_i, x_i) − K̂(x_i, x_i) of each point: its terms in :class:`LocalTraceError`."""
        x, loops = self._points(x)
        return np.concatenate([loops.errors(self.sample, *block).copy() for block in loops.each(self.sample, x)])

    def weights(self, x: ArrayLike) -> csr_array:
        r"""The weights of the landmarks, a sparse matrix of shape (m, n) with k entries a row.

        The weights are features that interpolate: :math:`\sum_i a_i(x)\,g(s_i)` approximates a function :math:`g` of
        the span of the landmarks, so that the coefficients of a linear model are its values at the landmarks. Where
        landmarks repeat each other, a ridge of about 1e-10 of the diagonal is added to :math:`\mathbf W_x`.

        Examples
        --------
        >>> import nystrom_lib as nl
        >>> approximation = nl.LocalApproximation(nl.Gaussian(rho=1.0), [[0.0], [1.0], [5.0]], neighbours=1)
        >>> (approximation.weights([[4.9], [1.0]]) @ [10.0, 20.0, 30.0]).round(1)
        array([29.7, 20. ])
        """
        from scipy.sparse import csr_array

        data, loops = self._points(x)
        m, n, done = len(data), len(self.sample), 0
        values, near = np.empty((m, loops.k)), np.empty((m, loops.k), np.int32)
        for points, nearest in loops.each(self.sample, data):
            rows = slice(done, done + len(points))
            values[rows], near[rows] = loops.weights(self.sample, points, nearest), nearest
            done = rows.stop
        return csr_array((values.ravel(), near.ravel(), loops.k * np.arange(m + 1)), shape=(m, n))

    @limit_blas_threads
    def block(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Entries K̂(x_i, y_j), shape (len(x), len(y)), from a panel of K_S at a time."""
        a, b = self.weights(x), self.weights(y)
        rows, columns = np.unique(a.indices), np.unique(b.indices)
        block, a, b = np.zeros((a.shape[0], b.shape[0])), a[:, rows], b[:, columns].T.tocsr()
        width = max(1, _PANEL // len(rows))
        for start in range(0, len(columns), width):
            part = slice(start, start + width)
            block += (a @ self.kernel.matrix(self.sample[rows], self.sample[columns[part]])) @ b[part]
        return block

    def matrix(self, x: ArrayLike) -> Array:
        """The whole matrix of K̂ for the points ``x``."""
        return self.block(x, x)

    def _points(self, x: ArrayLike) -> tuple[Any, LocalLoops]:
        d = self.sample.shape[1]
        x = check.points("x", x, dimension=d, like="sample")
        return x, LocalLoops(self.kernel, len(self.sample), d, self.neighbours, len(x))


def by_nearest(kernel: Kernel, n: int) -> bool:
    """Whether errors are computed from the nearest landmarks of each point."""
    return n > EXACT and kernel.radial


def affordable(kernel: Kernel, sample: Array) -> NystromApproximation | LocalApproximation:
    """The approximation whose errors are affordable: from all landmarks, or from the nearest of each point."""
    return (LocalApproximation if by_nearest(kernel, len(sample)) else NystromApproximation)(kernel, sample)
