"""Confidence bounds: the inequality against exact laws, coverage where the truth is known, and how tight they are."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib.landmarks.bounds import error_and_bound, hypergeometric, mean_above, mean_below
from nystrom_lib.sources import open_data

KERNEL = nl.Gaussian(0.5)


@pytest.mark.parametrize(("N", "k", "m"), [(10, 3, 4), (30, 25, 12), (50, 0, 7), (50, 50, 7), (1000, 10, 400)])
def test_the_hypergeometric_law_is_exact(N: int, k: int, m: int) -> None:
    """Catches a wrong binomial coefficient, and a wrong first value."""
    law, first = hypergeometric(N, k, m)
    exact = [Fraction(comb(k, j) * comb(N - k, m - j), comb(N, m)) for j in range(first, first + len(law))]
    assert sum(exact) == 1
    assert law == pytest.approx([float(p) for p in exact], rel=1e-10, abs=1e-300)


@pytest.mark.parametrize(
    "numbers", [(0.0, 0.1, 0.4, 0.9, 1.0, 0.3, 0.2), (1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.5,) * 7]
)
def test_bounds_hold_over_all_draws(numbers: tuple[float, ...]) -> None:
    """Catches a bound on the wrong side: all draws are enumerated, and the share of failures is compared exactly."""
    mean, risk = float(np.mean(numbers)), 0.2
    for m in (2, 4, 6):
        sums = [sum(draw) for draw in combinations(numbers, m)]
        assert np.mean([mean_above(total, m, 7, risk) > mean + 1e-12 for total in sums]) <= risk
        assert np.mean([mean_below(total, m, 7, risk) < mean - 1e-12 for total in sums]) <= risk


def test_bounds_tighten_with_the_share_drawn_and_the_risk() -> None:
    """Catches a law with replacement, and a risk that is not used."""
    some, most, all_ = (mean_above(0.2 * m, m, 2000, 0.05) for m in (500, 1500, 2000))
    assert 0.0 < some < most < all_ <= 0.2
    assert 0.2 - all_ < 1.001 / 2000
    assert mean_above(100.0, 500, 2000, 0.01) < some < mean_above(100.0, 500, 2000, 0.2)
    gaussian = math.sqrt(0.2 * 0.8 / 500 * 0.75)
    assert 1.6 * gaussian < 0.2 - some < 2.6 * gaussian


def points(seed: int, N: int) -> np.ndarray:
    """Clusters of different sizes, and a few points far away."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((8, 3)) * 3.0
    X = centres[rng.choice(8, N, p=np.array([40, 20, 10, 10, 8, 6, 4, 2]) / 100)] + 0.7 * rng.standard_normal((N, 3))
    X[: N // 50] *= 4.0
    return X


def test_the_best_error_is_bounded_from_below_in_a_thousand_runs() -> None:
    """Catches a bound above the truth more often than it says, where the truth is known."""
    X, level = points(0, 600), 0.9
    best = nl.best_rank_errors(KERNEL, X, 15, "trace").trace / len(X)
    bounds = np.array([nl.best_error_bound(KERNEL, X, 15, level=level, points=150, seed=s) for s in range(1000)])
    assert (bounds > best).mean() <= 1.0 - level
    assert np.median(bounds) > 0.5 * best


def test_the_error_bound_holds_in_a_thousand_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches an upper bound below the truth more often than it says."""
    monkeypatch.setattr("nystrom_lib.landmarks.bounds.CERTIFIED", 150)
    X = points(1, 600)
    sample, source = X[:15], open_data(X)
    error = nl.nystrom_errors(KERNEL, X, sample, "trace").trace / len(X)
    found = np.array([error_and_bound(KERNEL, source, sample, 0.1, np.random.default_rng(s)) for s in range(1000)])
    assert (found[:, 1] < error).mean() <= 0.1
    assert np.mean(found[:, 0]) == pytest.approx(error, rel=0.02)
    assert np.median(found[:, 1]) < 1.5 * error


def test_few_points_are_all_used() -> None:
    """Catches a confidence bound where the exact number is to be had."""
    X = points(2, 200)
    best = nl.best_rank_errors(KERNEL, X, 10, "trace").trace / 200
    assert nl.best_error_bound(KERNEL, X, 10) == pytest.approx(best, rel=1e-9)
    error = nl.nystrom_errors(KERNEL, X, X[:10], "trace").trace / 200
    assert error_and_bound(KERNEL, open_data(X), X[:10], 0.05, np.random.default_rng(0)) == (error, error)


def test_half_of_the_points_give_most_of_the_best_error() -> None:
    """Catches a bound that holds but says nothing: at least 0.8 of the truth from half of 3,000 points."""
    X = nl.datasets.abalone().X[:3000]
    kernel = nl.Gaussian(1.0)
    best = nl.best_rank_errors(kernel, X, 30, "trace").trace / len(X)
    assert best > 0.1
    assert 0.8 * best < nl.best_error_bound(kernel, X, 30, points=1500) <= best


def test_a_kernel_whose_diagonal_varies() -> None:
    """Catches residuals that are scaled by a diagonal of 1."""
    X, kernel = 0.3 * points(3, 500), nl.Polynomial(degree=2, offset=1.0)
    best = nl.best_rank_errors(kernel, X, 5, "trace").trace / len(X)
    assert 0.0 <= nl.best_error_bound(kernel, X, 5, points=200) <= best


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n": 0}, "n is 0"),
        ({"level": 1.0}, "level is 1.0; it must be at least 1e-12 and below 1"),
        ({"level": -0.5}, "level is -0.5"),
        ({"points": 1}, "points is 1"),
    ],
)
def test_bad_input(arguments: dict[str, float], sentence: str) -> None:
    """Catches a foreign exception."""
    with pytest.raises(ValueError, match=sentence):
        nl.best_error_bound(KERNEL, points(0, 50), **{"n": 3, **arguments})  # type: ignore[arg-type]
