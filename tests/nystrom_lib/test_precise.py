"""Double-double arithmetic, and the exponential."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb

import nystrom_lib as nl
from nystrom_lib._core import precise, profiles
from tests import oracle
from tests.cases import BUILT_IN, Floats, cloud, pair, paired


def exactly(high: Floats, low: Floats) -> list[Any]:
    """The exact sums of pairs of doubles."""
    return [arb(float(h)) + arb(float(l)) for h, l in zip(high, low, strict=True)]


@pytest.mark.parametrize("m", [1, 255, 256])
def test_double_double_exponentials(m: int) -> None:
    """Catches a constant of the series, or of ln 2, that is right in its first sixteen digits only."""
    a = -np.concatenate([[0.0], np.geomspace(1e-20, 690.0, 255)])[-m:]
    a_ = a * 2.0**-54 / 3
    with oracle.precision():
        expected = [x.exp() for x in exactly(a, a_)]
        precise.exponentials(a, a_, np.empty((6, precise.BLOCK)))
        # 2^-104 is where a pair of doubles ends; six squarings double the error of a 64th six times. Below e^-650
        # the second double falls short of its digits: it nears the smallest numbers there are.
        for x, y, e in zip(exactly(a, a_), expected, a, strict=True):
            assert float(abs(x / y - 1)) < (3e-30 if e > 1e-280 else 1e-20)


def test_double_double_exponential_of_the_very_small() -> None:
    """Catches a series that overflows far beyond its range: ∞ times the 0 it should become is NaN."""
    a, a_ = np.array([-701.0, -1551.0, -1e5, -1e300]), np.zeros(4)
    precise.exponentials(a, a_, np.empty((6, precise.BLOCK)))
    assert not a.any() and not a_.any()


@pytest.mark.parametrize("far", [3.0, 11.0, 1e3])
def test_a_far_point_in_extended_precision(far: float) -> None:
    """Catches a kernel that is NaN, not 0, beyond e^−1550: one such point, and no norm was to be had."""
    X, S = cloud(2, 30, 10)
    kernel, outside = nl.Gaussian(rho=8.0), np.full((1, 2), far)
    plain = nl.nystrom_errors(kernel, X, S, precision="extended")
    for data, sample in ((np.vstack([X, outside]), np.vstack([S, outside])), (X, np.vstack([S, outside]))):
        found = nl.nystrom_errors(kernel, data, sample, precision="extended")
        assert found.rank == 11
        values = (found.trace, found.frobenius, found.spectral)
        assert values == pytest.approx((plain.trace, plain.frobenius, plain.spectral), rel=1e-12)
    alone = nl.nystrom_errors(kernel, np.vstack([X, outside]), S, precision="extended")
    assert alone.trace == pytest.approx(plain.trace + 1.0, rel=1e-12)  # nothing of it is explained


@pytest.mark.parametrize("name, m", paired([name for name in BUILT_IN if name != "linear"], [17, 257]))
def test_double_double_kernels(name: str, m: int) -> None:
    """Catches a kernel that is right to sixteen digits only, or a second block that is not like the first."""
    kernel, _ = pair(name)
    points = np.random.default_rng(m).normal(size=(m, 3))
    column, column_ = np.empty(m), np.empty(m)
    precise.column_of(kernel.radial, points, 1, kernel._p, column, column_, np.empty((6, precise.BLOCK)))
    with oracle.precision():
        exact, p = oracle.points(points), [arb(float(number)) for number in kernel._p[1:4]]
        found = exactly(column, column_)
        for i in range(0, m, max(1, m // 16)):
            factors = [(a - b) ** 2 if kernel.radial else a * b for a, b in zip(exact[i], exact[1], strict=True)]
            assert float(abs(found[i] / in_arb(name, sum(factors, arb(0)), p) - 1)) < 1e-29


@pytest.mark.parametrize("alpha", [0.01, 1e4, 1e8])
@pytest.mark.parametrize("extended", [False, True])
def test_rational_quadratic_of_any_alpha(alpha: float, extended: bool) -> None:
    """Catches a power of the rounded 1 + cq, whose relative error is α times that of the base."""
    kernel = nl.RationalQuadratic(alpha, 2.0)
    points = np.geomspace(1e-9, 1e9 if alpha < 1 else 10.0, 60)[:, None]
    column, column_ = kernel.matrix(points)[1], np.zeros(60)
    if extended:
        precise.column_of(True, points, 1, kernel._p, column, column_, np.empty((6, precise.BLOCK)))
    with oracle.precision():
        p = [arb(float(number)) for number in kernel._p[1:3]]
        for (x,), found in zip(oracle.points(points), exactly(column, column_), strict=True):
            expected = in_arb("rational_quadratic", (x - arb(float(points[1, 0]))) ** 2, p)
            allowed = 1e-29 if extended else 4e-16
            assert float(abs(found / expected - 1)) < allowed * (2.0 - float(expected.log()))


def test_a_kernel_without_extended_values_is_refused() -> None:
    """Catches a kernel that is computed as another because nobody has added it."""
    column, column_ = np.empty(2), np.empty(2)
    with pytest.raises(ValueError, match="double-double"):
        precise.column_of(True, np.zeros((2, 1)), 0, np.full(8, 99.0), column, column_, np.empty((6, precise.BLOCK)))


def in_arb(name: str, t: Any, p: list[Any]) -> Any:
    """κ(t) from the very parameters that the loops get: those are rounded to double, and all digits follow them."""
    if name == "gaussian":
        return (-p[0] * t).exp()
    if name == "rational_quadratic":
        return (1 + p[1] * t) ** (-p[0])
    if name == "polynomial":
        return (p[0] * t + p[1]) ** p[2]
    u = p[0] * t.sqrt()
    factor = {"matern12": arb(1), "matern32": 1 + u, "matern52": 1 + u + u * u / 3}[name]
    return factor * (-u).exp()


def test_exponential() -> None:
    """Catches a coefficient of the polynomial, or an exponent, that is off by more than a unit in the last place."""
    x = np.concatenate([np.linspace(0.0, 1.0, 501), np.linspace(1.0, 700.0, 501), np.geomspace(1e-300, 1.0, 99)])
    for rate in (-1.0, -0.3, -1e-3):
        found = np.array([profiles.exp(value, rate) for value in x])
        allowed = 2.0**-52 * (1.5 + 2.0 * np.abs(rate * x))  # a unit, and the rounding of the exponent
        assert np.all(np.abs(found / np.exp(rate * x) - 1) <= allowed)
    assert [profiles.exp(value, -1.0) for value in (800.0, 1e300, np.inf)] == [0.0, 0.0, 0.0]
    assert np.isnan(profiles.exp(np.nan, -1.0))
