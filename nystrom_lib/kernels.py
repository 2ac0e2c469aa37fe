r"""Kernels: :math:`K`, :math:`K^2`, the derivatives of :math:`K^2`, and the constants of Theorem 2.1.

Every kernel is one scalar function of one pair scalar: :math:`K(s,x) = \kappa(\|s-x\|^2)` (*radial*) or
:math:`K(s,x) = \kappa(\langle s, x\rangle)` (*dot product*). To add one, see :func:`radial_kernel` and
:func:`dot_product_kernel`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, fields
from functools import cached_property, wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numba
import numpy as np
from numpy.typing import ArrayLike

from . import _validation as check
from ._core import pairs, profiles
from ._threads import thread_pool
from ._validation import Array, as_writable

P = ParamSpec("P")
T = TypeVar("T")

#: The largest ρ, ℓ and α; the smallest are 1 over these. Between them no derivative overflows, and each ρ has its ℓ.
#: Beyond that α, 1 + r²/(2αℓ²) has so few digits that the Gaussian is nearer to the kernel than its own formula.
LARGEST_RHO, LARGEST_LENGTH, LARGEST_ALPHA = 1e100, 1e60, 1e8

_CALL = 2e9  # multiplications of one compiled call, during which Ctrl-C has to wait: about a second

#: Where (1 + u)exp(−u) and (1 + u + u²/3)exp(−u) are exp(−1/2).
ROOT32, ROOT52 = 1.3576766739458992, 1.9262524514893138


def _finite_result(method: Callable[P, T]) -> Callable[P, T]:
    """Refuse a result that is not finite; radial kernels are bounded, so theirs are not checked."""
    checked = check.finite_result(method)

    @wraps(method)
    def wrapped(*arguments: P.args, **named: P.kwargs) -> T:
        return (method if arguments[0].radial else checked)(*arguments, **named)  # type: ignore[attr-defined]

    return wrapped


class Constants(NamedTuple):
    r"""The constants of the assumptions of Theorem 2.1, valid for all points of :math:`\mathbb R^d`."""

    alpha: float  #: :math:`K^2(x,x) \ge \alpha > 0`
    M1: float  #: bounds the first derivatives of :math:`K^2`
    M2: float  #: bounds the second derivatives of :math:`K^2`


class Kernel:
    """Base class of all kernels. Kernels are immutable, hashable, and equal if their parameters are equal.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> isinstance(nl.Gaussian(rho=2.0), nl.Kernel), nl.Gaussian(rho=2.0) == nl.Gaussian(rho=2.0)
    (True, True)
    """

    radial: bool = True  #: whether the pair scalar is ‖s − x‖² (else ⟨s, x⟩)
    _family: int

    @property
    def name(self) -> str:
        """The kernel's name."""
        return type(self).__name__

    @property
    def parameters(self) -> dict[str, float]:
        """Its parameters by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]

    @property
    def constants(self) -> Constants | None:
        """α, M₁, M₂ of Theorem 2.1, or None, for the reason in :attr:`why_no_constants`."""
        return None

    @property
    def why_no_constants(self) -> str:
        """The reason why Theorem 2.1 does not apply; empty where it does."""
        return ""

    @property
    def _width(self) -> float:
        r"""The distance at which a radial kernel has fallen to :math:`e^{-1/2}`; infinite where it never does."""
        return math.inf

    def _numbers(self) -> tuple[float, ...]:
        raise AssertionError("every kernel defines its numbers")

    @cached_property
    def _p(self) -> Array:
        """The parameters as the compiled loops read them: the code of the family, then up to seven numbers."""
        p = np.zeros(profiles.PARAMETERS)
        numbers = self._numbers()
        p[0] = self._family
        p[1 : 1 + len(numbers)] = numbers
        return p

    def _guard_user_kernel(self, descent: bool = False) -> AbstractContextManager[Array]:
        """The parameters for compiled loops; raises an error at the end if a user's functions failed in them.

        Not for a ``descent``, which may diverge and reports that itself.
        """
        return nullcontext(as_writable(self._p))  # joblib may have mapped it into read-only memory

    def _apply(self, action: int, t: Array) -> None:
        """Do ``action`` (VALUE, FIRST, SECOND) to an array of pair scalars, in place."""
        with self._guard_user_kernel() as p:
            pairs.apply(self._block(action), t, p)

    def _values_and_slopes(self, t: Array) -> tuple[Array, Array]:
        """κ and κ' at an array of pair scalars, which is overwritten; from K² and its slope 2κκ'."""
        values, slopes = t.reshape(-1), t.flatten()
        self._apply(profiles.VALUE, values)
        self._apply(profiles.FIRST, slopes)
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = np.where(values != 0.0, slopes / (2.0 * values), 0.0)
        return values.reshape(t.shape), slopes.reshape(t.shape)

    def _block(self, action: int) -> Any:
        """The compiled loop that does ``action`` to a tile of pair scalars."""
        return profiles.family_block(action, self._family)

    @_finite_result
    def matrix(self, a: ArrayLike, b: ArrayLike | None = None) -> Array:
        """The matrix of :math:`K(a_i, b_j)`; ``b`` defaults to ``a``.

        Examples
        --------
        >>> import nystrom_lib as nl
        >>> nl.Gaussian(rho=1.0).matrix([[0.0], [1.0]]).round(4)
        array([[1.    , 0.3679],
               [0.3679, 1.    ]])
        """
        return self._scalars(a, b, profiles.VALUE)

    @_finite_result
    def squared(self, a: ArrayLike, b: ArrayLike | None = None) -> Array:
        """The matrix of :math:`K^2(a_i, b_j) = (K(a_i, b_j))^2`."""
        result = self.matrix(a, b)
        squares: Array = np.square(result, out=result)
        return squares

    @_finite_result
    def diagonal(self, a: ArrayLike) -> Array:
        """The vector of :math:`K(a_i, a_i)`."""
        a = check.float_points("a", a)
        t = np.zeros(len(a)) if self.radial else np.einsum("ij,ij->i", a, a)
        self._apply(profiles.VALUE, t)
        return t

    def _scalars(self, a: ArrayLike, b: ArrayLike | None, action: int) -> Array:
        a = check.float_points("a", a)
        b = a if b is None else check.float_points("b", b, dimension=a.shape[1], like="a")
        a, b, out = as_writable(a), as_writable(b), np.empty((len(a), len(b)))
        rows = pairs.ROWS * max(16, int(_CALL / (pairs.ROWS * len(b) * (a.shape[1] + 10))))
        with thread_pool(out.size) as parallel, self._guard_user_kernel() as p:
            block = self._block(action)
            for start in range(0, len(a), rows):
                some = slice(start, start + rows)
                parallel(pairs.fill, -(-len(a[some]) // pairs.ROWS), self.radial, block, p, a[some], b, out[some])
        return out

    def _first(self, s: Array, x: Array) -> Array:
        return self._scalars(s, x, profiles.FIRST)

    def _second(self, s: Array, x: Array) -> Array:
        return self._scalars(s, x, profiles.SECOND)

    @_finite_result
    def squared_left(self, s: ArrayLike, x: ArrayLike) -> Array:
        r""":math:`\partial^{[l]}_{[s]_l} K^2(s_i, x_j)`, Eq. (4), shape (n, N, d).

        Examples
        --------
        >>> import nystrom_lib as nl
        >>> nl.Gaussian(rho=1.0).squared_left([[0.5]], [[0.0]]).round(4)
        array([[[-1.2131]]])
        """
        s, x = self._two(s, x)
        first = self._first(s, x)[:, :, None]
        left: Array = 2.0 * first * (s[:, None] - x[None]) if self.radial else first * x[None]
        return left

    @_finite_result
    def squared_right(self, s: ArrayLike, x: ArrayLike) -> Array:
        r""":math:`\partial^{[r]}_{[x]_l} K^2(s_i, x_j)`, paper §2, shape (n, N, d)."""
        s, x = self._two(s, x)
        right: Array = self.squared_left(x, s).swapaxes(0, 1)  # K² is symmetric
        return right

    @_finite_result
    def squared_diagonal(self, s: ArrayLike) -> Array:
        r""":math:`\partial^{[d]}_{[s]_l} K^2(s_i, s_i)`, Eq. (4), shape (n, d); zero for radial kernels."""
        s = check.float_points("s", s)
        if self.radial:
            return np.zeros_like(s)
        t = np.einsum("ij,ij->i", s, s)
        self._apply(profiles.FIRST, t)
        derivative: Array = 2.0 * t[:, None] * s
        return derivative

    @_finite_result
    def squared_left_left(self, s: ArrayLike, x: ArrayLike) -> Array:
        r""":math:`\partial^{[l]}_{[s]_l}\partial^{[l]}_{[s]_{l'}} K^2(s_i, x_j)`, shape (n, N, d, d)."""
        s, x = self._two(s, x)
        second = self._second(s, x)[:, :, None, None]
        if not self.radial:
            return second * x[None, :, :, None] * x[None, :, None, :]
        delta = s[:, None] - x[None]
        outer = 4.0 * second * delta[..., :, None] * delta[..., None, :]
        return outer + 2.0 * self._first(s, x)[:, :, None, None] * np.eye(s.shape[1])

    @_finite_result
    def squared_left_right(self, s: ArrayLike, x: ArrayLike) -> Array:
        r""":math:`\partial^{[l]}_{[s]_l}\partial^{[r]}_{[x]_{l'}} K^2(s_i, x_j)`, shape (n, N, d, d)."""
        s, x = self._two(s, x)
        if self.radial:
            return -self.squared_left_left(s, x)
        second = self._second(s, x)[:, :, None, None]
        outer = second * x[None, :, :, None] * s[:, None, None, :]
        return outer + self._first(s, x)[:, :, None, None] * np.eye(s.shape[1])

    @_finite_result
    def squared_diagonal_diagonal(self, s: ArrayLike) -> Array:
        r""":math:`\partial^{[d]}_{[s]_l}\partial^{[d]}_{[s]_{l'}} K^2(s_i, s_i)`, shape (n, d, d)."""
        s = check.float_points("s", s)
        d = s.shape[1]
        if self.radial:
            return np.zeros((len(s), d, d))
        first = np.einsum("ij,ij->i", s, s)
        second = first.copy()
        self._apply(profiles.FIRST, first)
        self._apply(profiles.SECOND, second)
        outer = s[:, :, None] * s[:, None, :]
        derivative: Array = 4.0 * second[:, None, None] * outer + 2.0 * first[:, None, None] * np.eye(d)
        return derivative

    @staticmethod
    def _two(s: ArrayLike, x: ArrayLike) -> tuple[Array, Array]:
        s = check.float_points("s", s)
        return s, check.float_points("x", x, dimension=s.shape[1], like="s")


def _set(kernel: Kernel, **values: Any) -> None:
    """Store validated values in a frozen dataclass."""
    for name, value in values.items():
        object.__setattr__(kernel, name, value)


@dataclass(frozen=True)
class Gaussian(Kernel):
    r"""The Gaussian kernel of paper §4, :math:`K(x,t) = e^{-\rho\|x-t\|^2}`.

    :math:`\alpha = 1`, :math:`M_1 = 2\sqrt{\rho}\,e^{-1/2}`, :math:`M_2 = 4\rho`.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> kernel = nl.Gaussian(rho=1.0)
    >>> kernel.constants.M2
    4.0
    """

    rho: float = 1.0
    _family = profiles.GAUSSIAN

    def __post_init__(self) -> None:
        _set(self, rho=check.magnitude("rho", self.rho, LARGEST_RHO))

    def _numbers(self) -> tuple[float, ...]:
        return (self.rho,)

    @property
    def _width(self) -> float:
        return math.sqrt(0.5 / self.rho)

    def _values_and_slopes(self, t: Array) -> tuple[Array, Array]:
        self._apply(profiles.VALUE, t.reshape(-1))
        return t, -self.rho * t

    @property
    def constants(self) -> Constants:
        """2ρ-scaled Gaussian: the slope peaks at ‖x − t‖ = 1/(2√ρ), the curvature at x = t."""
        return Constants(1.0, 2.0 * math.sqrt(self.rho) * math.exp(-0.5), 4.0 * self.rho)


@dataclass(frozen=True)
class Matern(Kernel):
    r"""Matérn kernels of order ``nu`` 1/2, 3/2 and 5/2, with :math:`r = \|x-t\|`:

    :math:`e^{-r/\ell}`, :math:`(1+u)e^{-u}` with :math:`u=\sqrt3 r/\ell`, and
    :math:`(1+u+u^2/3)e^{-u}` with :math:`u=\sqrt5 r/\ell`.

    The first is not differentiable where its arguments meet: its derivative there is set to 0, and it has no
    constants.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> nl.Matern(1.5, lengthscale=2.0).constants.M2
    1.4999999999999998
    >>> nl.Matern(0.5).why_no_constants
    'The squared Matérn 1/2 kernel is not differentiable where its arguments meet.'
    """

    nu: float = 1.5
    lengthscale: float = 1.0

    def __post_init__(self) -> None:
        nu = check.positive("nu", self.nu)
        if nu not in (0.5, 1.5, 2.5):
            raise ValueError(f"nu is {self.nu!r}; it must be 0.5, 1.5 or 2.5.")
        _set(self, nu=nu, lengthscale=check.magnitude("lengthscale", self.lengthscale, LARGEST_LENGTH))

    @property
    def _family(self) -> int:  # type: ignore[override]
        return {0.5: profiles.MATERN12, 1.5: profiles.MATERN32, 2.5: profiles.MATERN52}[self.nu]

    def _numbers(self) -> tuple[float, ...]:
        return (math.sqrt(2.0 * self.nu) / self.lengthscale,)

    @property
    def _width(self) -> float:
        return {0.5: 0.5, 1.5: ROOT32, 2.5: ROOT52}[self.nu] / self._numbers()[0]

    @property
    def constants(self) -> Constants | None:
        """The slope of K² along an axis is b·h(u): its peak solves a polynomial; M₂ = −2φ'(0)."""
        b = self._numbers()[0]
        if self.nu == 1.5:
            u = math.sqrt(0.5)
            return Constants(1.0, 2.0 * b * u * (1.0 + u) * math.exp(-2.0 * u), 2.0 * b * b)
        if self.nu == 2.5:
            roots = np.roots([-2.0 / 3.0, -4.0 / 3.0, 0.0, 2.0, 1.0])
            u = float(max(root.real for root in roots if abs(root.imag) < 1e-9))
            peak = u * (1.0 + u) * (1.0 + u + u * u / 3.0) * math.exp(-2.0 * u)
            return Constants(1.0, 2.0 / 3.0 * b * peak, 2.0 / 3.0 * b * b)
        return None

    @property
    def why_no_constants(self) -> str:
        """Only the order 1/2 has none."""
        if self.nu == 0.5:
            return "The squared Matérn 1/2 kernel is not differentiable where its arguments meet."
        return ""


@dataclass(frozen=True)
class RationalQuadratic(Kernel):
    r"""The rational quadratic kernel :math:`K(x,t) = \big(1 + \|x-t\|^2/(2\alpha\ell^2)\big)^{-\alpha}`.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> nl.RationalQuadratic(alpha=1.0, lengthscale=1.0).constants.M2
    2.0
    """

    alpha: float = 1.0
    lengthscale: float = 1.0
    _family = profiles.RATIONAL_QUADRATIC

    def __post_init__(self) -> None:
        _set(
            self,
            alpha=check.magnitude("alpha", self.alpha, LARGEST_ALPHA),
            lengthscale=check.magnitude("lengthscale", self.lengthscale, LARGEST_LENGTH),
        )

    def _numbers(self) -> tuple[float, ...]:
        return (self.alpha, 0.5 / (self.alpha * self.lengthscale**2))

    @property
    def _width(self) -> float:
        try:
            return self.lengthscale * math.sqrt(2.0 * self.alpha * math.expm1(0.5 / self.alpha))
        except OverflowError:
            return math.inf

    @property
    def constants(self) -> Constants:
        """The slope peaks where c r² = 1/(4α + 1), with c = 1/(2αℓ²)."""
        alpha, c = self._numbers()
        r = 1.0 / math.sqrt(c * (4.0 * alpha + 1.0))
        slope = 4.0 * alpha * c * r * (1.0 + c * r * r) ** (-2.0 * alpha - 1.0)
        return Constants(1.0, slope, 4.0 * alpha * c)


@dataclass(frozen=True)
class Polynomial(Kernel):
    r"""The polynomial kernel :math:`K(x,t) = (a\langle x,t\rangle + c)^D`; ``degree=1, offset=0`` is the linear one.

    Its diagonal derivative is not zero, and neither its derivatives nor its diagonal are bounded as Theorem 2.1
    asks: it has no constants.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> nl.Polynomial(degree=2, offset=1.0).matrix([[2.0]], [[3.0]])
    array([[49.]])
    """

    degree: int = 2
    offset: float = 1.0
    scale: float = 1.0
    radial = False
    _family = profiles.POLYNOMIAL

    def __post_init__(self) -> None:
        offset = check.real("offset", self.offset)
        if offset < 0.0:
            raise ValueError(f"offset is {self.offset!r}; it must be 0 or more for the kernel to be positive.")
        _set(
            self,
            degree=check.integer("degree", self.degree, least=1),
            offset=offset,
            scale=check.positive("scale", self.scale),
        )

    def _numbers(self) -> tuple[float, ...]:
        return (self.scale, self.offset, float(self.degree))

    @property
    def why_no_constants(self) -> str:
        """Its derivatives grow without bound."""
        return "The derivatives of a squared polynomial kernel are not bounded on the whole space."


@dataclass(frozen=True)
class CustomKernel(Kernel):
    """A kernel from the user's own scalar functions.

    Made by :func:`~nystrom_lib.radial_kernel` or :func:`~nystrom_lib.dot_product_kernel`.
    """

    value: Callable[[float, Array], float] = field(repr=False)
    first: Callable[[float, Array], float] = field(repr=False)
    second: Callable[[float, Array], float] = field(repr=False)
    numbers: tuple[float, ...] = ()
    label: str = "custom"
    radial: bool = True
    bounds: Constants | None = None
    _family = profiles.CUSTOM

    def _numbers(self) -> tuple[float, ...]:
        return self.numbers

    def _block(self, action: int) -> Any:
        return profiles.custom_block(action, self.value, self.first, self.second)

    @contextmanager
    def _guard_user_kernel(self, descent: bool = False) -> Iterator[Array]:
        p = self._p.copy()  # for this call only: other threads may use this kernel at the same time
        yield p
        if p[0] == profiles.FAILED and not descent:
            raise ValueError(
                f"The kernel {self.label!r} raised an error, or gave what is not a finite number, at some "
                f"{self._scalar} that occurs here; its functions must give a finite number at each."
            )

    @cached_property
    def _width(self) -> float:
        """Computed by bisection."""
        squares = np.concatenate([[0.0], np.geomspace(1e-300, 1e300, 6001)])
        values = squares.copy()
        pairs.apply(self._block(profiles.VALUE), values, self._p.copy())
        fallen = np.flatnonzero(~(values[1:] > math.exp(-0.5) * values[0]))
        if not self.radial or len(fallen) == 0 or not values[0] > 0.0:
            return math.inf
        low, high = squares[max(fallen[0], 1)], squares[fallen[0] + 1]
        for _ in range(60):
            between = math.sqrt(low) * math.sqrt(high)
            above = float(self.value(between, self._p[1:])) > math.exp(-0.5) * values[0]
            low, high = (between, high) if above else (low, between)
        return math.sqrt(high)

    @property
    def _scalar(self) -> str:
        return "squared distance" if self.radial else "inner product"

    @property
    def name(self) -> str:
        """The label given by the user."""
        return self.label

    @property
    def parameters(self) -> dict[str, float]:
        """The numbers that its functions receive, as p0, p1, …"""
        return {f"p{i}": number for i, number in enumerate(self.numbers)}

    @property
    def constants(self) -> Constants | None:
        """The constants stated by the user."""
        return self.bounds

    @property
    def why_no_constants(self) -> str:
        """Not empty unless the user stated constants."""
        return "" if self.bounds else f"No constants were given for the kernel {self.label!r}."


#: Where a user's functions are tried when the kernel is made: squared distances, and inner products (few of them, since
#: the domain is not known).
_TRIED = {True: (0.0, 1e-4, 1e-2, 1.0, 1e2), False: (0.25, 0.5)}
#: Where derivatives are compared with differences: not at round numbers, where a function may have a kink.
_COMPARED = {True: (1.3e-4, 1.7e-2, 0.23, 0.83, 1.9), False: (0.31, 0.47)}
_APART = 1e-4  # relative distance between the two points of a difference
_WRONG = 0.01  # relative error from which on a derivative is refused


def _custom(radial: bool, functions: tuple[Any, Any, Any], parameters: Any, name: str, constants: Any) -> CustomKernel:
    numbers = tuple(check.real("parameters", value) for value in check.sequence("parameters", parameters))
    if len(numbers) >= profiles.PARAMETERS:
        raise ValueError(f"parameters holds {len(numbers)} numbers; at most {profiles.PARAMETERS - 1} are allowed.")
    compiled = {}
    for label, function in zip(("value", "first", "second"), functions, strict=True):
        check.instance(label, function, Callable, "a function (t, p) -> float that numba can compile")
        jitted = function if numba.extending.is_jitted(function) else numba.njit(error_model="numpy")(function)
        compiled[label] = jitted
    bounds = None
    if constants is not None:
        stated = check.sequence("constants", constants, length=3)
        bounds = Constants(*(check.positive("constants", c) for c in stated))
    check.instance("name", name, str, "a text")
    kernel = CustomKernel(**compiled, numbers=numbers, label=name, radial=radial, bounds=bounds)
    for function in compiled:
        for t in _TRIED[radial]:
            _try(kernel, function, t)
    for t in _COMPARED[radial]:
        _compare(kernel, "first", "value", t)
        _compare(kernel, "second", "first", t)
    return kernel


def _try(kernel: CustomKernel, label: str, t: float) -> float:
    """Evaluate a user's function, which must compile and return a finite number."""
    where = f"at the {kernel._scalar} {t:g}"
    try:
        result = getattr(kernel, label)(t, kernel._p[1:])
    except numba.errors.NumbaError as error:
        raise ValueError(f"{label} cannot be compiled by numba; it must be a scalar function of t and p.") from error
    except Exception as error:
        raise ValueError(
            f"{label} raises {type(error).__name__} ({error}) {where}; it must give a finite number."
        ) from error
    if not isinstance(result, float | int) or not math.isfinite(result):
        hint = ", 0 where there is no derivative" if label != "value" else ""
        raise ValueError(f"{label} gives {check.quoted(result)} {where}; it must give a finite number{hint}.")
    return result


def _compare(kernel: CustomKernel, label: str, of: str, t: float) -> None:
    """Refuse a derivative that differs from the differences of its function by more than their error."""

    def difference(h: float) -> float:
        return (_try(kernel, of, t + h) - _try(kernel, of, t - h)) / (2.0 * h)

    coarse, fine = difference(_APART * t), difference(0.5 * _APART * t)
    rounding = 100.0 * np.finfo(float).eps * abs(_try(kernel, of, t)) / (_APART * t)
    given = _try(kernel, label, t)
    allowed = _WRONG * max(abs(fine), abs(given)) + 10.0 * abs(coarse - fine) + rounding
    if abs(given - fine) > allowed:
        raise ValueError(
            f"{label} gives {given:.6g} at the {kernel._scalar} {t:g}; it must be the derivative of {of}, which is "
            f"about {fine:.6g} there."
        )


def radial_kernel(
    value: Callable[[float, Array], float],
    first: Callable[[float, Array], float],
    second: Callable[[float, Array], float],
    parameters: tuple[float, ...] = (),
    *,
    name: str = "custom",
    constants: tuple[float, float, float] | None = None,
) -> CustomKernel:
    r"""A kernel :math:`K(s,x) = \kappa(q)`, :math:`q = \|s-x\|^2`, from :math:`\kappa, \kappa', \kappa''`.

    Parameters
    ----------
    value, first, second
        Scalar functions ``(q, p) -> float`` of the squared distance and the parameters, which numba can compile:
        :math:`\kappa` and its first two derivatives with respect to :math:`q`. They must return finite numbers for
        all :math:`q \ge 0`, and 0 where a derivative does not exist. This is tried at once, and the derivatives are
        compared with finite differences.
    parameters
        Up to seven numbers, which the functions receive as the array ``p``.
    name
        A name for results and errors.
    constants
        (α, M₁, M₂) of Theorem 2.1 for :math:`K^2`, if known.

    Returns
    -------
    CustomKernel
        The kernel, as fast as the built-in ones.

    Examples
    --------
    >>> import math, nystrom_lib as nl
    >>> mine = nl.radial_kernel(
    ...     lambda q, p: math.exp(-p[0] * q),
    ...     lambda q, p: -p[0] * math.exp(-p[0] * q),
    ...     lambda q, p: p[0] ** 2 * math.exp(-p[0] * q),
    ...     parameters=(2.0,), name="my Gaussian",
    ... )
    >>> mine.matrix([[0.0]], [[1.0]]).round(4)
    array([[0.1353]])
    """
    return _custom(True, (value, first, second), parameters, name, constants)


def dot_product_kernel(
    value: Callable[[float, Array], float],
    first: Callable[[float, Array], float],
    second: Callable[[float, Array], float],
    parameters: tuple[float, ...] = (),
    *,
    name: str = "custom",
    constants: tuple[float, float, float] | None = None,
) -> CustomKernel:
    r"""A kernel :math:`K(s,x) = \kappa(t)`, :math:`t = \langle s,x\rangle`, from :math:`\kappa, \kappa', \kappa''`.

    Parameters
    ----------
    value, first, second, parameters, name, constants
        As in :func:`radial_kernel`, but functions of the inner product :math:`t`.

    Returns
    -------
    CustomKernel
        The kernel, as fast as the built-in ones.

    Examples
    --------
    >>> import math, nystrom_lib as nl
    >>> mine = nl.dot_product_kernel(lambda t, p: math.exp(t), lambda t, p: math.exp(t), lambda t, p: math.exp(t))
    >>> mine.matrix([[0.0]], [[1.0]])
    array([[1.]])
    """
    return _custom(False, (value, first, second), parameters, name, constants)


def require(kernel: Any) -> Kernel:
    """Validate that an argument is a kernel."""
    check.instance("kernel", kernel, Kernel, "a kernel of nystrom_lib, such as Gaussian(rho=1.0)")
    known: Kernel = kernel
    return known


def require_radial(kernel: Any) -> Kernel:
    """Validate that an argument is a radial kernel."""
    if not require(kernel).radial:
        raise ValueError(f"kernel is {kernel!r}; it must be radial, a function of the distance.")
    known: Kernel = kernel
    return known
