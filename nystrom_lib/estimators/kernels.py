"""Scikit-learn's kernel names and objects as kernels of the library, where it has them."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.gaussian_process import kernels as gaussian_process
from sklearn.metrics.pairwise import KERNEL_PARAMS, pairwise_kernels

from .. import _validation as check
from .._validation import Array
from ..kernels import LARGEST_RHO, Gaussian, Kernel, Matern, Polynomial, RationalQuadratic

_ROWS = 32  # of the blocks whose diagonals are kept
_LARGEST_OF_GAUSSIAN = 1e49  # length scale, so that ρ = 1/(2ℓ²) is one a kernel may have


class Columns(Kernel):
    """A kernel known by its entries alone, which scikit-learn computes: there are no derivatives to descend by."""

    radial = False

    def __init__(self, metric: Any, parameters: dict[str, Any], n_jobs: int | None, described: str = "") -> None:
        self.metric, self.given, self.n_jobs = metric, parameters, n_jobs
        self.described = described or repr(metric)  #: for messages

    def matrix(self, a: ArrayLike, b: ArrayLike | None = None) -> Array:
        """The matrix of K(a_i, b_j), in double precision whatever the points come in."""
        K = pairwise_kernels(
            _double(a), _double(b), metric=self.metric, filter_params=True, n_jobs=self.n_jobs, **self.given
        )
        return np.array(K, dtype=np.float64)

    def diagonal(self, a: ArrayLike) -> Array:
        """The vector of K(a_i, a_i), which scikit-learn does not offer for every kernel."""
        points = _double(a)
        if isinstance(self.metric, gaussian_process.Kernel):
            return np.array(self.metric.diag(points), dtype=np.float64)
        if callable(self.metric):
            return np.array([self.metric(x, x, **self.given) for x in points], dtype=np.float64)
        starts = range(0, len(points), _ROWS)
        return np.concatenate([self.matrix(points[start : start + _ROWS]).diagonal() for start in starts])


class Precomputed(Kernel):
    """A kernel matrix as a kernel between row numbers: a point is the number of its row, in one coordinate."""

    radial = False
    described = "'precomputed'"

    def __init__(self, matrix: NDArray[Any]) -> None:
        self.entries = matrix

    def matrix(self, a: ArrayLike, b: ArrayLike | None = None) -> Array:
        """The rows and columns of these numbers."""
        rows = row_numbers(a)
        return self.entries[np.ix_(rows, rows if b is None else row_numbers(b))].astype(np.float64)

    def diagonal(self, a: ArrayLike) -> Array:
        """The diagonal at these numbers."""
        rows = row_numbers(a)
        return self.entries[rows, rows].astype(np.float64)


def row_numbers(points: ArrayLike) -> NDArray[np.int64]:
    """The numbers that points of :class:`Precomputed` stand for."""
    return np.asarray(points)[:, 0].astype(np.int64)


def resolve_kernel(
    kernel: Any, parameters: dict[str, Any], kernel_params: dict[str, Any] | None, X: Any, n_jobs: int | None
) -> Kernel:
    """The library's kernel for scikit-learn's parameters; if it has none, scikit-learn's by its columns.

    ``parameters`` holds gamma, coef0 and degree, None for scikit-learn's default.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    if given and (kernel == "precomputed" or not isinstance(kernel, str)):
        raise ValueError(
            "Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed kernel"
        )  # scikit-learn's own words
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str):
        return _of_gaussian_process(kernel) or Columns(kernel, kernel_params or {}, n_jobs)
    if kernel == "precomputed":
        return Precomputed(X)
    given = {**(kernel_params or {}), **given}
    own = None if issparse(X) else _of_name(kernel, given, X.shape[1])
    return own or Columns(kernel, given, n_jobs, _described(kernel, given))


def _of_name(name: str, given: dict[str, Any], features: int) -> Kernel | None:
    """The library's kernel of that name and parameters, with scikit-learn's defaults; None if there is none."""
    numbers = {"gamma": 1.0 / features, "degree": 3, "coef0": 1.0} | given
    gamma, degree, offset = (numbers[key] for key in ("gamma", "degree", "coef0"))
    if not all(isinstance(number, Real) for number in (gamma, degree, offset)):
        return None  # scikit-learn raises its own error
    if name == "rbf" and gamma > 0.0:
        return Gaussian(check.magnitude("gamma", gamma, LARGEST_RHO))
    if name == "linear":
        return Polynomial(degree=1, offset=0.0)
    if name in ("poly", "polynomial"):
        if float(degree).is_integer() and offset >= 0.0 and gamma > 0.0:
            return Polynomial(degree=int(degree), offset=offset, scale=gamma)
    return None


def _of_gaussian_process(kernel: Any) -> Kernel | None:
    """The library's kernel for one of ``sklearn.gaussian_process.kernels`` with one length scale, or None."""
    length = getattr(kernel, "length_scale", None)
    if length is None or np.size(length) != 1:
        return None
    length = float(np.ravel(length)[0])
    # By exact type: Matern is a subclass of RBF there, and a subclass of a user's may mean anything.
    if type(kernel) is gaussian_process.RBF or (type(kernel) is gaussian_process.Matern and kernel.nu == math.inf):
        return Gaussian(0.5 / check.magnitude("length_scale", length, _LARGEST_OF_GAUSSIAN) ** 2)
    if type(kernel) is gaussian_process.Matern and kernel.nu in (0.5, 1.5, 2.5):
        return Matern(kernel.nu, length)
    if type(kernel) is gaussian_process.RationalQuadratic:
        return RationalQuadratic(kernel.alpha, length)
    return None


def _described(name: str, given: dict[str, Any]) -> str:
    """A name with the parameters it was given, for a message."""
    used = ", ".join(f"{key}={value}" for key, value in given.items() if key in KERNEL_PARAMS[name])
    return f"{name!r}" + (f" with {used}" if used else "")


def _double(points: Any) -> Any:
    """Double precision, sparse or dense, or None."""
    if points is None:
        return None
    return points.astype(np.float64, copy=False) if hasattr(points, "astype") else np.asarray(points, np.float64)
