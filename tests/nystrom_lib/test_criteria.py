"""Criteria (C.1)-(C.3), optimal errors and the factors of Eq. (8), against 300-bit interval arithmetic."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib import criteria
from tests import oracle
from tests.cases import EVERY, cloud, notebook_data, notebook_sample, pair, paired

NORMS = ("trace", "frobenius", "spectral")


@functools.cache
def landmarks(rho: float, n: int, optimised: bool, seed: int = 456) -> np.ndarray:
    """A random sample of the notebook's data, or the same after a descent as in Figure 2."""
    S = notebook_sample(n, seed)
    if optimised:
        with nl.threads(1):
            run = nl.gradient_descent(nl.Gaussian(rho=rho), notebook_data(), S, step=1e-6, iterations=1000)
        S = run.sample
    return S


def tolerance(rho: float, S: np.ndarray) -> float:
    """What a float64 evaluation owes: 1e-6 while cond(K_S) < 1e10, 0.5 % at n = 80."""
    if oracle.condition_number(oracle.gaussian(rho), S) < 1e10:
        return 1e-6
    return 1e-4 if len(S) <= 50 else 5e-3


@pytest.mark.parametrize("optimised", [False, True], ids=["random", "optimised"])
@pytest.mark.parametrize("n", [20, 80])
@pytest.mark.parametrize("rho", [1.0, 16.0])
def test_trace_on_the_bigaussian_data(rho: float, n: int, optimised: bool) -> None:
    """Catches a cut-off, a jitter or an inverse: each changes the trace by several per cent or more."""
    X, S = notebook_data()[::3], landmarks(rho, n, optimised)
    exact = oracle.trace_error(oracle.gaussian(rho), X, S)
    errors = nl.nystrom_errors(nl.Gaussian(rho=rho), X, S, norms=("trace",))
    assert errors.trace == pytest.approx(exact, rel=tolerance(rho, S))
    assert n - 12 <= errors.rank <= n


@pytest.mark.parametrize("rho, n, optimised", [(1.0, 80, False), (1.0, 20, True), (16.0, 20, False), (16.0, 80, True)])
def test_all_norms_on_a_part_of_the_data(rho: float, n: int, optimised: bool) -> None:
    """Catches ‖K‖² - 2 tr + ‖K̂‖², which loses everything at n = 80, and a Lanczos run stopped early."""
    X, S = notebook_data()[:220], landmarks(rho, n, optimised)
    exact = oracle.nystrom_errors(oracle.gaussian(rho), X, S)
    errors = nl.nystrom_errors(nl.Gaussian(rho=rho), X, S)
    for norm in NORMS:
        assert getattr(errors, norm) == pytest.approx(getattr(exact, norm), rel=tolerance(rho, S)), norm


@pytest.mark.parametrize("name", [k for k in EVERY if k != "linear"])
def test_every_kernel(name: str) -> None:
    """Catches a criterion that assumes K(x, x) = 1, or a Gaussian kernel."""
    kernel, reference = pair(name)
    X, S = cloud(4, 60, 7)
    exact, errors = oracle.nystrom_errors(reference, X, S), nl.nystrom_errors(kernel, X, S)
    for norm in NORMS:
        assert getattr(errors, norm) == pytest.approx(getattr(exact, norm), rel=1e-8), norm
    assert errors.rank == 7


CLOSE = {
    "gaussian": lambda w: (nl.Gaussian(0.5 / w**2), oracle.gaussian(0.5 / w**2)),
    "matern12": lambda w: (nl.Matern(0.5, w), oracle.matern(0.5, w)),
    "matern32": lambda w: (nl.Matern(1.5, w), oracle.matern(1.5, w)),
    "matern52": lambda w: (nl.Matern(2.5, w), oracle.matern(2.5, w)),
    "rational_quadratic": lambda w: (nl.RationalQuadratic(3.0, w), oracle.rational_quadratic(3.0, w)),
}


@pytest.mark.parametrize("name, width, gap", [
    (name, width, gap)
    for i, name in enumerate(CLOSE)
    for width, gap in paired([0.3, 1.0, 3.0, 10.0], [10.0 ** -(1 + (i + j) % 5) for j in range(5)])
])  # fmt: skip
def test_pairs_of_close_landmarks(name: str, width: float, gap: float) -> None:
    """Catches double precision where it has lost the sixth digit."""
    kernel, reference = CLOSE[name](width)
    data = np.linspace(0.0, 1.0, 30)[:, None]
    sample = np.array([[0.2], [0.2 + gap], [0.7], [0.7 + gap]])
    exact = oracle.trace_error(reference, data, sample, bits=1000)
    assert nl.nystrom_errors(kernel, data, sample, "trace").trace == pytest.approx(exact, rel=1e-6)
    assert nl.nystrom_errors(kernel, nl.open_data(data), sample, "trace").trace == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("too_many", [False, True])
def test_the_numbers_of_points_limit_extended_precision(too_many: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches hours in double-double arithmetic: the number of products is limited, also for data that are streamed."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    sample = np.linspace(0.0, 0.1, 12)[:, None] * np.ones(3)  # so close together that double precision loses digits
    monkeypatch.setattr(criteria, "_MAX_EXTENDED_PRODUCTS", (300 + 12) * 12**2 / 2 - too_many)
    for data in (X, nl.open_data(X)):
        found = nl.nystrom_errors(nl.Gaussian(rho=0.5), data, sample, "trace")
        assert found.precision == ("double" if too_many else "extended")


@pytest.mark.parametrize("norms", [("trace",), ("frobenius",), ("spectral",), ("spectral", "trace"), NORMS])
def test_only_what_is_asked_for(norms: tuple[str, ...]) -> None:
    """Catches a norm that depends on which others are computed, or on whether K was given."""
    kernel, X, S = nl.Gaussian(rho=16.0), notebook_data()[:300], notebook_sample(20)
    everything = nl.nystrom_errors(kernel, X, S)
    for matrix in (None, kernel.matrix(X)):
        some = nl.nystrom_errors(kernel, X, S, norms=norms, matrix=matrix)
        for norm in NORMS:
            if norm in norms:
                assert getattr(some, norm) == pytest.approx(getattr(everything, norm), rel=1e-9)
            else:
                assert getattr(some, norm) is None or np.isnan(getattr(some, norm))


def test_repeated_landmarks_lower_the_rank_and_nothing_else() -> None:
    """Catches a singular K_S: a sample is a multiset."""
    kernel, X, S = nl.Gaussian(rho=16.0), notebook_data()[:200], notebook_sample(20)
    once, twice = (nl.nystrom_errors(kernel, X, T) for T in (S, np.vstack([S, S[3:9], S[3:5]])))
    assert once.rank == twice.rank == 20
    for norm in NORMS:
        assert getattr(twice, norm) == pytest.approx(getattr(once, norm), rel=1e-9)


@pytest.mark.parametrize("gap", [1e-10, 1e-9, 1e-8])
def test_a_landmark_next_to_another_still_counts(gap: float) -> None:
    """Catches the near copy that double precision drops silently: together the two also span a derivative."""
    X, S = cloud(2, 60, 10)
    kernel, pair = nl.Gaussian(rho=8.0), np.vstack([S, S[:1] + gap])
    found, exact = nl.nystrom_errors(kernel, X, pair), nl.nystrom_errors(kernel, X, pair, precision="extended")
    assert found.rank == exact.rank == 11
    assert found.trace == pytest.approx(exact.trace, rel=1e-6) and found.trace < nl.nystrom_errors(kernel, X, S).trace
    copies = nl.nystrom_errors(kernel, X, np.vstack([S, S[:1]]))
    assert (copies.rank, copies.precision) == (10, "double")


def test_a_far_landmark_adds_nothing() -> None:
    """Catches 0/0 for a landmark whose whole row of K underflows."""
    kernel, X, S = nl.Gaussian(rho=16.0), notebook_data()[:200], notebook_sample(20)
    with_far = np.vstack([S[:10], [[500.0, -500.0]], S[10:]])
    plain, far = nl.nystrom_errors(kernel, X, S), nl.nystrom_errors(kernel, X, with_far)
    for norm in NORMS:
        assert getattr(far, norm) == pytest.approx(getattr(plain, norm), rel=1e-10)
    alone = nl.nystrom_errors(kernel, X, [[500.0, -500.0]])
    assert alone.trace == pytest.approx(200.0, rel=1e-14)
    assert alone.frobenius**2 == pytest.approx(nl.squared_frobenius_norm(kernel, X), rel=1e-12)


def test_sample_without_norm() -> None:
    """Catches a division by K(s, s) = 0: K̂ is then the zero matrix."""
    linear = nl.Polynomial(degree=1, offset=0.0)
    X, _ = cloud(3, 20, 1)
    errors = nl.nystrom_errors(linear, X, np.zeros((2, 3)))
    assert errors.rank == 0
    assert errors.trace == pytest.approx(np.sum(X**2), rel=1e-13)
    assert errors.spectral == pytest.approx(np.linalg.norm(X, 2) ** 2, rel=1e-10)


def test_more_landmarks_than_data_and_a_single_point() -> None:
    """Catches code that assumes n ≤ N or N > 1; landmarks that include D leave nothing."""
    kernel, X = nl.Gaussian(rho=16.0), notebook_data()[:25]
    everything = nl.nystrom_errors(kernel, X, np.vstack([notebook_sample(40), X]))
    assert 0 <= everything.trace < 1e-10 and 0 <= everything.frobenius < 1e-10
    S = notebook_sample(40)
    exact = oracle.trace_error(oracle.gaussian(16.0), X, S)
    assert nl.nystrom_errors(kernel, X, S).trace == pytest.approx(exact, rel=1e-6)
    for n in (1, 5):
        one = oracle.nystrom_errors(oracle.gaussian(16.0), X[:1], S[:n])
        errors = nl.nystrom_errors(kernel, X[:1], S[:n])
        for norm in NORMS:
            assert getattr(errors, norm) == pytest.approx(getattr(one, norm), rel=1e-12)
    assert nl.nystrom_errors(kernel, X[:1], X[:1]).trace == 0.0


@pytest.mark.parametrize("rho, n", [(16.0, 10), (1.0, 15), (0.1, 6)])
def test_best_rank_errors(rho: float, n: int) -> None:
    """Catches a tail that starts at the wrong eigenvalue, or a Frobenius norm without its square root."""
    X = notebook_data()[:60]
    exact = oracle.best_rank_errors(oracle.gaussian(rho), X, n)
    for matrix in (None, nl.Gaussian(rho=rho).matrix(X)):
        best = nl.best_rank_errors(nl.Gaussian(rho=rho), X, n, matrix=matrix)
        for norm in NORMS:
            assert getattr(best, norm) == pytest.approx(getattr(exact, norm), rel=1e-7), norm


@pytest.mark.parametrize("n", [1, 12])
def test_lanczos_and_the_whole_spectrum_give_the_same_errors(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a tail one eigenvalue too long or too short, and a Lanczos run stopped early."""
    X, _ = cloud(3, 700, 1)
    whole = nl.best_rank_errors(nl.Gaussian(rho=0.5), X, n)
    monkeypatch.setattr(criteria, "_MIN_LANCZOS_POINTS", 600)
    monkeypatch.setattr(np.linalg, "eigvalsh", None)
    some = nl.best_rank_errors(nl.Gaussian(rho=0.5), X, n)
    for norm in NORMS:
        assert getattr(some, norm) == pytest.approx(getattr(whole, norm), rel=1e-9), norm


@pytest.mark.parametrize("n", [30, 35])
def test_all_eigenvalues_are_computed_where_the_tail_is_small(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches an error with few digits, or below zero: the trace less its largest eigenvalues."""
    X, _ = cloud(3 if n == 30 else 1, 700, 1)
    whole = nl.best_rank_errors(nl.Gaussian(rho=0.5), X, n)
    monkeypatch.setattr(criteria, "_MIN_LANCZOS_POINTS", 600)
    assert nl.best_rank_errors(nl.Gaussian(rho=0.5), X, n) == whole and whole.trace >= 0.0


def test_points_too_far_apart_for_32_digits() -> None:
    """Squares of such distances overflow: 0 in double precision, NaN in the parts of a double-double."""
    data = 1e200 * np.array([[1.0], [-1.0], [1.0], [-1.0]])
    kernel = nl.Gaussian(rho=1.0)
    assert nl.best_rank_errors(kernel, data, 1).trace == pytest.approx(2.0)
    assert nl.best_rank_errors(kernel, data, 3).trace == pytest.approx(0.0, abs=1e-15)
    assert nl.nystrom_errors(kernel, data, data[:1]).trace == pytest.approx(2.0)
    with pytest.raises(ValueError, match="it must be 'double'"):
        nl.nystrom_errors(kernel, data, data[:1], precision="extended")


def test_tails_far_below_rounding() -> None:
    """Catches eigvalsh at its noise floor: these tails are a small part of N·ε·λ₁."""
    X = notebook_data()[:60]
    with oracle.precision(600):
        spectrum = [float(v) for v in oracle.eigenvalues(oracle.gaussian(0.1), X, 600)]
    floor = 60 * 2.2e-16 * spectrum[0]
    n = next(k for k in range(60) if sum(spectrum[k:]) < 0.03 * floor)
    exact = oracle.best_rank_errors(oracle.gaussian(0.1), X, n, bits=600)
    best = nl.best_rank_errors(nl.Gaussian(rho=0.1), X, n)
    assert exact.trace < 0.03 * floor
    for norm in NORMS:
        assert getattr(best, norm) == pytest.approx(getattr(exact, norm), rel=0.02), norm


def test_a_matrix_that_is_not_positive_semidefinite() -> None:
    """Catches ARPACK's own exception."""
    X, kernel = np.random.default_rng(0).normal(size=(50, 2)), nl.Gaussian(1.0)
    with pytest.raises(ValueError, match="the kernel matrix must be positive semi-definite"):
        nl.nystrom_errors(kernel, X, X[:5], "spectral", matrix=-kernel.matrix(X), precision="double")


def test_norms_far_below_rounding() -> None:
    """Catches Frobenius and spectral norms of rounding errors only, far above the trace norm, and huge factors."""
    copies = np.repeat(np.linspace(0.0, 2.0, 3), 20)[:, None]
    factors = nl.approximation_factors(nl.Matern(0.5), copies, copies[::6])
    assert factors.frobenius < 1.1 and factors.spectral < 1.1
    close = np.linspace(0.0, 1e-3, 40)[:, None]
    errors = nl.nystrom_errors(nl.Gaussian(1e-3), close, close[:2])
    assert errors.spectral <= errors.frobenius <= errors.trace == pytest.approx(1.56e-17, rel=0.01)


def test_factors_are_quotients_and_at_least_one() -> None:
    """Catches numerator and denominator exchanged, or a wrong norm below (Eq. 8)."""
    kernel, X, S = nl.Gaussian(rho=16.0), notebook_data()[:300], notebook_sample(20)
    errors, best = nl.nystrom_errors(kernel, X, S), nl.best_rank_errors(kernel, X, 20)
    for factors in (
        nl.approximation_factors(kernel, X, S),
        nl.approximation_factors(kernel, X, S, best=best),
    ):
        for norm in NORMS:
            quotient = getattr(errors, norm) / getattr(best, norm)
            assert getattr(factors, norm) == pytest.approx(quotient, rel=1e-8)
            assert getattr(factors, norm) >= 1
