"""Which kernel is meant: scikit-learn's names and objects as kernels of the library, where it has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.gaussian_process import kernels as gaussian_process
from sklearn.metrics.pairwise import KERNEL_PARAMS, pairwise_kernels

from .. import _validation as check
from .._validation import Array
from ..kernels import LARGEST_LENGTH, LARGEST_RHO, Gaussian, Kernel, Matern, Polynomial, RationalQuadratic

#: Kernels of the library that scikit-learn knows as objects only, and what ``kernel_params`` may hold for them.
OWN_NAMES = {"matern": ("length_scale", "nu"), "rational_quadratic": ("length_scale", "alpha")}
NAMES = (*KERNEL_PARAMS, *OWN_NAMES)

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


class Meaning(NamedTuple):
    """K(x, t) = ``factor`` · ``kernel``(x / ``scale``, t / ``scale``)."""

    kernel: Kernel
    scale: Array | float = 1.0  #: a number for each coordinate, or one for all
    factor: float = 1.0

    def place(self, points: NDArray[Any]) -> NDArray[Any]:
        """The points where the kernel is that of the library; no copy unless there is something to scale."""
        return points if np.ndim(self.scale) == 0 else points / self.scale

    def back(self, points: Array) -> Array:
        """From there to where they came from."""
        return points if np.ndim(self.scale) == 0 else points * self.scale


def meant(
    kernel: Any, parameters: dict[str, Any], kernel_params: dict[str, Any] | None, X: Any, n_jobs: int | None
) -> Meaning:
    """The kernel of the library that a user of scikit-learn means, or scikit-learn's own, by its columns.

    ``parameters`` holds gamma, coef0 and degree, None where scikit-learn's default is meant.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    if given and (kernel == "precomputed" or not isinstance(kernel, str)):
        raise ValueError(
            "Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed kernel"
        )  # scikit-learn's own words
    features = X.shape[1]
    if not isinstance(kernel, str):
        return _of_object(kernel, kernel_params or {}, features, n_jobs)
    if kernel == "precomputed":
        return Meaning(Precomputed(X))
    given = {**(kernel_params or {}), **given}
    if kernel in OWN_NAMES:
        return _of_object(_gaussian_process(kernel, given, features), {}, features, n_jobs)
    own = None if issparse(X) else _of_name(kernel, given, features)
    return Meaning(own or Columns(kernel, given, n_jobs, _described(kernel, given)))


def _of_name(name: str, given: dict[str, Any], features: int) -> Kernel | None:
    """The library's kernel of that name and parameters, with scikit-learn's defaults; None if there is none."""
    numbers = {"gamma": 1.0 / features, "degree": 3, "coef0": 1.0} | given
    gamma, degree, offset = (numbers[key] for key in ("gamma", "degree", "coef0"))
    if not all(isinstance(number, Real) for number in (gamma, degree, offset)):
        return None  # scikit-learn will say what it thinks of it
    if name == "rbf" and gamma > 0.0:
        return Gaussian(check.magnitude("gamma", gamma, LARGEST_RHO))
    if name == "linear":
        return Polynomial(degree=1, offset=0.0)
    if name in ("poly", "polynomial"):
        if float(degree).is_integer() and offset >= 0.0 and gamma > 0.0:
            return Polynomial(degree=int(degree), offset=offset, scale=gamma)
    return None


def _gaussian_process(name: str, given: dict[str, Any], features: int) -> Any:
    """scikit-learn's object for the names it lacks; γ stands for the length scale the Gaussian of that γ has."""
    given = {key: value for key, value in given.items() if key not in ("coef0", "degree")}
    gamma = given.pop("gamma", None)
    unknown = [key for key in given if key not in OWN_NAMES[name]]
    if unknown:
        allowed = " and ".join(map(repr, OWN_NAMES[name]))
        raise ValueError(f"kernel_params holds {unknown[0]!r}; for the kernel {name!r} it may hold {allowed}.")
    if "length_scale" not in given:
        rho = 1.0 / features if gamma is None else check.magnitude("gamma", gamma, LARGEST_RHO)
        given["length_scale"] = (2.0 * rho) ** -0.5
    elif gamma is not None:
        raise ValueError("gamma and length_scale are both given; they say the same, so only one can be.")
    known = {"matern": gaussian_process.Matern, "rational_quadratic": gaussian_process.RationalQuadratic}
    return known[name](**given)


def _of_object(kernel: Any, kernel_params: dict[str, Any], features: int, n_jobs: int | None) -> Meaning:
    if isinstance(kernel, Kernel):
        return Meaning(kernel)
    meaning = None
    if isinstance(kernel, gaussian_process.Kernel):
        meaning = of_gaussian_process(kernel)
        if meaning and np.size(meaning.scale) not in (1, features):
            raise ValueError(
                "Anisotropic kernel must have the same number of dimensions as data "
                f"({np.size(meaning.scale)}!={features})"
            )  # scikit-learn's own words
    return meaning or Meaning(Columns(kernel, kernel_params, n_jobs))


def of_gaussian_process(kernel: Any) -> Meaning | None:
    """A kernel of ``sklearn.gaussian_process.kernels`` as one of the library, with constant factors, or None.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> of_gaussian_process(2.0 * RBF([1.0, 3.0]))
    Meaning(kernel=Gaussian(rho=0.5), scale=array([1., 3.]), factor=2.0)
    """
    factors = _factors(kernel)
    constants = [part.constant_value for part in factors if type(part) is gaussian_process.ConstantKernel]
    others = [part for part in factors if type(part) is not gaussian_process.ConstantKernel]
    if len(others) != 1 or not all(constant > 0.0 for constant in constants):
        return None
    (other,) = others
    own = _of_length(other)
    if own is None:
        return None
    scale, factor = np.asarray(other.length_scale, dtype=np.float64), math.prod(constants, start=1.0)
    for length in scale.flat:
        check.magnitude("length_scale", float(length), LARGEST_LENGTH)
    return Meaning(own(scale.item()), 1.0, factor) if scale.size == 1 else Meaning(own(1.0), scale, factor)


def _factors(kernel: Any) -> list[Any]:
    if type(kernel) is gaussian_process.Product:
        return _factors(kernel.k1) + _factors(kernel.k2)
    return [kernel]


def _of_length(kernel: Any) -> Callable[[float], Kernel] | None:
    """The library's kernel of each length scale that means the same as scikit-learn's; None if there is none."""
    # By exact type: Matern is a subclass of RBF there, and a subclass of a user's may mean anything.
    if type(kernel) is gaussian_process.RBF or (type(kernel) is gaussian_process.Matern and kernel.nu == math.inf):
        return lambda length: Gaussian(0.5 / check.magnitude("length_scale", length, _LARGEST_OF_GAUSSIAN) ** 2)
    if type(kernel) is gaussian_process.Matern and kernel.nu in (0.5, 1.5, 2.5):
        return lambda length: Matern(kernel.nu, length)
    if type(kernel) is gaussian_process.RationalQuadratic:
        return lambda length: RationalQuadratic(kernel.alpha, length)
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
