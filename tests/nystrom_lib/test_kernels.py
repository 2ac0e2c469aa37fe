"""Kernels: values, derivatives in the paper's three senses (Eq. 4), constants of Theorem 2.1."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib.kernels import LARGEST_ALPHA, LARGEST_LENGTH, LARGEST_RHO
from tests import oracle
from tests.cases import CONSTRUCTORS, DIMENSIONS, EVERY, RADIAL, SMOOTH, close, cloud, pair

DERIVATIVES = ("left", "right", "left_left", "left_right")


@pytest.mark.parametrize("name", [*RADIAL, "user_radial"])
def test_width_is_where_the_kernel_has_fallen(name: str) -> None:
    kernel = pair(name)[0]
    values = kernel.matrix([[0.0]], [[0.0], [kernel._width]])[0]
    assert values[1] == pytest.approx(math.exp(-0.5) * values[0], rel=1e-9)
    assert nl.Polynomial()._width == nl.RationalQuadratic(1e-8)._width == math.inf


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("name", EVERY)
def test_values_and_derivatives_agree_with_the_oracle(name: str, d: int) -> None:
    """Catches a wrong constant, sign, factor of two or transposition in any kernel at any dimension."""
    kernel, reference = pair(name)
    X, S = cloud(d, 3, 2)
    exact = oracle.squared_kernel(reference, S, X)
    squared = kernel.squared(S, X)
    assert squared == pytest.approx(exact.value, rel=1e-13)
    assert kernel.matrix(S, X) ** 2 == pytest.approx(exact.value, rel=1e-13)
    for sense in DERIVATIVES:
        assert close(getattr(kernel, f"squared_{sense}")(S, X), getattr(exact, sense), 1e-12), sense
    assert kernel.squared_diagonal(S) == pytest.approx(exact.diagonal, rel=1e-12)
    assert kernel.squared_diagonal_diagonal(S) == pytest.approx(exact.diagonal_diagonal, rel=1e-12)


@pytest.mark.parametrize("name", EVERY)
def test_matrix_and_diagonal_are_consistent(name: str) -> None:
    """Catches a matrix that is not symmetric, a diagonal that is not its diagonal, or a lost sign of K."""
    kernel, reference = pair(name)
    X, S = cloud(2, 40, 5)
    K = kernel.matrix(X)
    assert np.array_equal(K, K.T)
    assert K == pytest.approx(kernel.matrix(X, X), rel=1e-14)
    assert kernel.diagonal(X) == pytest.approx(np.diag(K), rel=1e-14)
    assert kernel.squared(X) == pytest.approx(K**2, rel=1e-14)
    assert kernel.matrix(S, X) == pytest.approx(kernel.matrix(X, S).T, rel=1e-14)
    with oracle.precision():
        s, x = oracle.points(S[:1])[0], oracle.points(X[:1])[0]
        assert K[0, 0] == pytest.approx(float(reference(x, x)), rel=1e-14)
        assert kernel.matrix(S, X)[0, 0] == pytest.approx(float(reference(s, x)), rel=1e-13)


@pytest.mark.parametrize("name", [*SMOOTH, "user_radial"])
def test_coinciding_points_take_the_limit(name: str) -> None:
    """Catches 0/0 or φ″ = ∞ at r = 0: initial landmarks are data points, so this happens at every start."""
    kernel, reference = pair(name)
    S = np.array([[0.3, -0.2], [0.1, 0.5]])
    exact = oracle.squared_kernel(reference, S, S)
    for sense in DERIVATIVES:
        actual = getattr(kernel, f"squared_{sense}")(S, S)
        assert actual == pytest.approx(getattr(exact, sense), rel=1e-12, abs=1e-15), sense


def test_matern_half_at_coinciding_points() -> None:
    """Catches NaN where the kernel has no derivative: the convention is 0."""
    kernel, _ = pair("matern12")
    S = np.array([[0.3, -0.2]])
    assert not kernel.squared_left(S, S).any() and not kernel.squared_right(S, S).any()
    assert np.all(np.isfinite(kernel.squared_left_left(S, S)))


def test_user_defined_kernels_keep_their_constants() -> None:
    """Catches lost constants, and kernels of different functions that compare equal."""
    plain, _ = pair("user_radial")
    assert plain.constants is None and plain.why_no_constants and plain.name == "two Gaussians"
    known = nl.radial_kernel(
        lambda q, p: math.exp(-q),
        lambda q, p: -math.exp(-q),
        lambda q, p: math.exp(-q),
        constants=(1.0, 2 * np.exp(-0.5), 4.0),
    )
    assert known.constants is not None
    assert tuple(known.constants) == (1.0, 2 * np.exp(-0.5), 4.0)
    X, _ = cloud(2, 20, 3)
    assert nl.lipschitz_bound(known, X, 3).L == pytest.approx(
        nl.lipschitz_bound(nl.Gaussian(rho=1.0), X, 3).L, rel=1e-12
    )
    assert known != plain and hash(plain) == hash(plain)


@pytest.mark.parametrize("name", [*SMOOTH, "user_radial"])
@pytest.mark.parametrize("r", [1e-160, 1e-9, 1e-4])
def test_nearly_coinciding_points(name: str, r: float) -> None:
    """Catches cancellation, or a division by an underflowing r², near r = 0."""
    kernel, reference = pair(name)
    S, X = np.zeros((1, 2)), np.array([[r, 0.5 * r]])
    exact = oracle.squared_kernel(reference, S, X, bits=4000)  # powers of 1/r cancel in the oracle
    assert kernel.squared_left(S, X) == pytest.approx(exact.left, rel=1e-11, abs=1e-300)
    assert kernel.squared_left_left(S, X) == pytest.approx(exact.left_left, rel=1e-11, abs=1e-9)
    assert kernel.squared_left_right(S, X) == pytest.approx(exact.left_right, rel=1e-11, abs=1e-9)


@pytest.mark.parametrize("name", RADIAL)
def test_far_points_underflow_to_zero(name: str) -> None:
    """Catches ∞·0 = NaN in a derivative where K² has underflowed."""
    kernel, _ = pair(name)
    S, X = np.zeros((1, 2)), np.array([[1e8, -3e8], [1e160, 1e160]])
    for sense in ("", *(f"_{s}" for s in DERIVATIVES)):
        values = getattr(kernel, f"squared{sense}")(S, X)
        assert np.all(np.isfinite(values)) and np.all(np.abs(values) < 1e-20), sense


@pytest.mark.parametrize("name", SMOOTH)
def test_constants_are_the_suprema(name: str) -> None:
    """Catches a constant that fails to bound K²'s derivatives, or bounds them needlessly loosely."""
    kernel, reference = pair(name)
    M1, M2 = oracle.radial_constants(reference, reach=4.0)
    assert kernel.constants.alpha == 1.0
    assert M1 * (1 - 1e-12) <= kernel.constants.M1 <= M1 * (1 + 1e-5)
    assert M2 * (1 - 1e-12) <= kernel.constants.M2 <= M2 * (1 + 1e-5)


def test_kernels_are_values() -> None:
    """Catches kernels that cannot key a dictionary, or that are equal although their parameters differ."""
    assert nl.Gaussian(rho=2.0) == nl.Gaussian(rho=2.0) != nl.Gaussian(rho=3.0)
    assert nl.Matern(1.5, lengthscale=2.0) != nl.Matern(2.5, lengthscale=2.0)
    assert len({nl.Gaussian(rho=2.0), nl.Gaussian(rho=2), nl.Polynomial(), nl.RationalQuadratic()}) == 3
    assert nl.Gaussian(rho=2.0).parameters == {"rho": 2.0}
    with pytest.raises((AttributeError, TypeError)):
        nl.Gaussian(rho=2.0).rho = 3.0  # type: ignore[misc]


def test_exponential_is_accurate_over_its_whole_range() -> None:
    """Catches a home-made exp that is wrong near a range boundary, in the subnormals or at exact zero."""
    t = np.concatenate([np.linspace(0, 26.0, 4001), np.linspace(26.0, 30.0, 101)])[:, None]
    K = nl.Gaussian(rho=1.0).matrix(np.zeros((1, 1)), t)[0]
    exact = np.exp(-(t[:, 0].astype(np.longdouble) ** 2)).astype(np.float64)
    normal = exact > 1e-305
    assert np.max(np.abs(K[normal] / exact[normal] - 1)) < 2e-13  # 700 ε of it from rounding t²
    assert np.all(np.isfinite(K)) and np.all(K[~normal] < 1e-300) and K[0] == 1.0


def test_values_that_double_precision_cannot_hold_are_refused() -> None:
    """Catches an infinity, or a NaN made of two, that is returned silently."""
    far = np.array([[1e200, 0.0], [-1e200, 1.0]])
    for kernel in (nl.Polynomial(degree=2), nl.Polynomial(degree=3, offset=0.0)):
        for call in (kernel.matrix, kernel.squared, kernel.diagonal, kernel.squared_diagonal):
            with pytest.raises(ValueError, match="is not finite: the kernel's values are too large here"):
                call(far)
        for two in (kernel.squared_left, kernel.squared_left_left, kernel.squared_left_right):
            with pytest.raises(ValueError, match="is not finite: the kernel's values are too large here"):
                two(far, far)


EXTREMES: dict[str, Callable[[int], nl.Kernel]] = {
    "Gaussian": lambda end: nl.Gaussian(LARGEST_RHO**end),
    "Matérn 1/2": lambda end: nl.Matern(0.5, LARGEST_LENGTH**end),
    "Matérn 3/2": lambda end: nl.Matern(1.5, LARGEST_LENGTH**end),
    "Matérn 5/2": lambda end: nl.Matern(2.5, LARGEST_LENGTH**end),
    "rational quadratic": lambda end: nl.RationalQuadratic(LARGEST_ALPHA**end, LARGEST_LENGTH**end),
    "rational quadratic, α the other way": lambda end: nl.RationalQuadratic(LARGEST_ALPHA**-end, LARGEST_LENGTH**end),
}


@pytest.mark.parametrize("end", [-1, 1])
@pytest.mark.parametrize("name", EXTREMES)
def test_the_narrowest_and_the_widest_kernels_have_every_derivative(name: str, end: int) -> None:
    """Catches a range of widths at whose ends a power overflows: NaN where two points meet, or a foreign error."""
    kernel = EXTREMES[name](end)
    X = np.array([[0.0, 0.0], [1e-9, 0.0], [0.3, -0.4], [1e9, 1.0]])
    for call in (kernel.matrix, kernel.squared):
        assert np.isfinite(call(X)).all() and (call(X).diagonal() == 1.0).all()
    for two in (kernel.squared_left, kernel.squared_right, kernel.squared_left_left, kernel.squared_left_right):
        assert np.isfinite(two(X, X)).all()
    assert kernel.constants is None or np.isfinite(kernel.constants).all()


def test_every_kernel_of_the_library_is_covered() -> None:
    """Catches a kernel that is missing in tests/cases.py, and so in all other tests."""
    kernels = {kind.__name__ for kind in nl.Kernel.__subclasses__() if kind.__module__ == "nystrom_lib.kernels"}
    assert kernels - {"CustomKernel"} == CONSTRUCTORS


# --- kernels of the user's own that fail ------------------------------------------------------------------------


def exp_of_distance(q: float, p: np.ndarray) -> float:
    return math.exp(-math.sqrt(q))


def dividing_by_zero(q: float, p: np.ndarray) -> float:
    return -0.5 * math.exp(-math.sqrt(q)) / math.sqrt(q)


def raising_in_between(q: float, p: np.ndarray) -> float:
    if 2.0 < q < 90.0:
        raise ValueError("not here")
    return math.exp(-q)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_derivative_that_fails_at_zero_is_refused_when_the_kernel_is_made(compiled: bool) -> None:
    """Catches R = 0.0 and a gradient of 0 where κ' divides by zero, with only a message on standard error."""
    functions = [exp_of_distance, dividing_by_zero, dividing_by_zero]
    if compiled:
        functions = [numba.njit(function) for function in functions]
    with pytest.raises(ValueError, match=r"^first (gives -inf|raises ZeroDivisionError).* at the squared distance 0;"):
        nl.radial_kernel(*functions)


#: (1 + cq)^(-3/2) and its derivatives, then wrong ones.
POWER: dict[str, Callable[[float, Any], float]] = {
    "value": lambda q, p: (1.0 + p[0] * q) ** (-1.5),
    "first": lambda q, p: -1.5 * p[0] * (1.0 + p[0] * q) ** (-2.5),
    "second": lambda q, p: 3.75 * p[0] ** 2 * (1.0 + p[0] * q) ** (-3.5),
    "first without its sign": lambda q, p: 1.5 * p[0] * (1.0 + p[0] * q) ** (-2.5),
    "second without a factor": lambda q, p: 3.75 * p[0] * (1.0 + p[0] * q) ** (-3.5),
}


@pytest.mark.parametrize("scale", [1e-6, 1e8])
def test_derivatives_are_checked_at_every_scale(scale: float) -> None:
    """Catches rounding that is taken for a wrong derivative, and a kernel whose gradients would be wrong."""
    value, first, second = POWER["value"], POWER["first"], POWER["second"]
    nl.radial_kernel(value, first, second, [scale])
    wrong = "^{} gives .* at the squared distance .*; it must be the derivative of"
    with pytest.raises(ValueError, match=wrong.format("first")):
        nl.radial_kernel(value, POWER["first without its sign"], second, [scale])
    with pytest.raises(ValueError, match=wrong.format("second")):
        nl.radial_kernel(value, first, POWER["second without a factor"], [scale])


def test_derivatives_of_a_kink_and_of_a_dot_product() -> None:
    """Catches a kink that is taken for a wrong derivative, and dot-product kernels that are not checked."""
    nl.radial_kernel(lambda q, p: max(1.0 - q, 0.0), lambda q, p: -1.0 if q < 1.0 else 0.0, lambda q, p: 0.0)
    with pytest.raises(ValueError, match=r"^second gives 0 at the inner product 0\.31"):
        nl.dot_product_kernel(lambda t, p: t**3, lambda t, p: 3.0 * t**2, lambda t, p: 0.0)


def test_functions_that_fail_later_raise_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    """Catches a callback whose error is printed and ignored: squared distances came back as kernel values."""
    jitted = numba.njit(raising_in_between)
    kernel = nl.radial_kernel(jitted, lambda q, p: -jitted(q, p), jitted, name="mine")
    X = np.random.default_rng(0).normal(size=(200, 2))
    S = X[:10] + 0.1
    calls: list[Callable[[], object]] = [
        lambda: kernel.matrix(X, S),
        lambda: kernel.squared_left(X, S),
        lambda: kernel.squared_left_left(X, S),
        lambda: nl.radial_skd(kernel, X, S),
        lambda: nl.radial_skd_gradient(kernel, X, S),
        lambda: nl.gradient_descent(kernel, X, S, step=1e-4, iterations=2),
        lambda: nl.nystrom_errors(kernel, X, S),
        lambda: nl.NystromApproximation(kernel, S[:1]).residuals(X),
        lambda: nl.find_landmarks(kernel, X, 5, iterations=2),
    ]
    for objective in (nl.RadialSKD, nl.TraceError, nl.WeightedSKD, nl.LocalTraceError):
        calls += [
            lambda objective=objective: objective(kernel, X).value(S),
            lambda objective=objective: objective(kernel, X).gradient(S),
        ]
    calls.append(lambda: nl.descend(nl.TraceError(kernel, X), S, nl.Adam(), iterations=2))
    nan = numba.njit(lambda q, p: math.nan if 2.0 < q < 90.0 else math.exp(-q))
    other = nl.radial_kernel(nan, lambda q, p: -nan(q, p), nan, name="mine")
    calls.append(lambda: other.matrix(X, S))
    for call in calls:
        with pytest.raises(ValueError, match=r"^The kernel 'mine' raised an error, or gave what is not a finite"):
            call()
    assert capfd.readouterr() == ("", "")
    assert kernel.matrix(X[:1]) == [[1.0]], "one failure must not affect the next call"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda q, p: unknown(q), "value cannot be compiled by numba"),  # type: ignore[name-defined]  # noqa: F821
        (lambda q: q, "value raises TypeError"),
        (lambda q, p: 1j * q, "value gives 0j at the squared distance 0"),
        (5, "value is 5; it must be a function"),
    ],
    ids=["unknown name", "one argument", "complex", "a number"],
)
def test_invalid_profiles_are_refused_in_one_sentence(value: Any, words: str) -> None:
    """Catches numba's forty lines about what it could not infer."""
    with pytest.raises((TypeError, ValueError), match=words) as caught:
        nl.radial_kernel(value, exp_of_distance, exp_of_distance)
    assert len(str(caught.value)) < 300 and "\n" not in str(caught.value)
