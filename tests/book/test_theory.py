"""What chapters 1–4 say beyond the paper, compared with the library."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import nystrom_lib as nl
from tests.cases import cloud, pair


@pytest.mark.parametrize("name", ["gaussian", "matern32", "polynomial"])
def test_R_is_the_distance_with_the_best_mass(name: str) -> None:
    """Catches a wrong Eq. (M): min over c of ‖A − cB‖² = ‖K‖_F² − 2c T₁ + c²‖K_S‖_F², at c = c_S."""
    kernel, _ = pair(name)
    X, S = cloud(2, 30, 4)
    parts = kernel.squared(X).sum(), kernel.squared(S, X).sum(), kernel.squared(S).sum()

    def distance(c: float) -> float:
        return float(parts[0] - 2 * c * parts[1] + c * c * parts[2])

    best = nl.skd_coefficient(kernel, X, S)
    assert distance(best) == pytest.approx(nl.radial_skd(kernel, X, S), rel=1e-11)
    assert distance(best) < min(distance(0.999 * best), distance(1.001 * best))


@pytest.mark.parametrize("name", ["gaussian", "rational_quadratic"])
def test_one_sample_descends_on_another_function(name: str) -> None:
    """Catches a wrong remark on Eq. (B): its mean is the gradient of ‖K‖_F² − E[T̂₁²]/‖K_S‖_F²."""
    kernel, _ = pair(name)
    X, S = cloud(2, 4, 2)
    batches = list(itertools.product(range(4), repeat=2))

    def value(T: np.ndarray) -> float:
        squares = [nl.stochastic.estimates(kernel, X, T, batch)[0] ** 2 for batch in batches]
        return nl.squared_frobenius_norm(kernel, X) - float(np.mean(squares)) / float(kernel.squared(T).sum())

    h = 1e-5
    steps = np.eye(4).reshape(4, 2, 2) * h
    slopes = [(value(S + e) - value(S - e)) / (2 * h) for e in steps]
    mean = np.mean([nl.one_sample_gradient(kernel, X, S, batch) for batch in batches], axis=0)
    assert mean.ravel() == pytest.approx(np.array(slopes), rel=1e-6, abs=1e-7)


def test_constants_of_the_table() -> None:
    """Catches a table of M₁ and M₂ that differs from what the library uses."""
    length, a = 1.3, 1.7
    u = 1 / math.sqrt(2)
    constants = nl.Matern(1.5, lengthscale=length).constants
    assert constants is not None
    assert constants.M1 == pytest.approx(2 * math.sqrt(3) / length * u * (1 + u) * math.exp(-2 * u))
    assert constants.M2 == pytest.approx(6 / length**2)
    constants = nl.Matern(2.5, lengthscale=length).constants
    assert constants is not None
    u = max(root.real for root in np.roots([2 / 3, 4 / 3, 0, -2, -1]) if abs(root.imag) < 1e-9)
    peak = u * (1 + u) * (1 + u + u * u / 3) * math.exp(-2 * u)
    assert constants.M1 == pytest.approx(2 * math.sqrt(5) / (3 * length) * peak)
    assert constants.M2 == pytest.approx(10 / (3 * length**2))
    constants = nl.RationalQuadratic(alpha=a, lengthscale=length).constants
    c = 1 / (2 * a * length**2)
    r = math.sqrt(1 / (c * (4 * a + 1)))
    assert constants.M1 == pytest.approx(4 * a * c * r * (1 + c * r * r) ** (-2 * a - 1))
    assert constants.M2 == pytest.approx(2 / length**2)


def test_a_lost_landmark_feels_no_force() -> None:
    """Catches the remark on what Theorem 2.1 does not give: far away, R has a limit and the gradient fades."""
    kernel, _ = pair("gaussian")
    X, S = cloud(2, 30, 4)
    away = np.vstack([S, [[50.0, 50.0]]])
    norm = kernel.squared(S).sum()
    limit = nl.squared_frobenius_norm(kernel, X) - kernel.squared(S, X).sum() ** 2 / (norm + 1.0)
    assert nl.radial_skd(kernel, X, away) == pytest.approx(limit, rel=1e-12)
    gradient = np.abs(nl.radial_skd_gradient(kernel, X, away))
    assert gradient[-1].max() <= 1e-12 * gradient.max()
