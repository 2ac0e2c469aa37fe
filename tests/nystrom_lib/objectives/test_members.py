"""Each objective against 300-bit arithmetic, against a dense version beyond the first tile, and in its own claims."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import nystrom_lib as nl
from nystrom_lib._core import trace
from nystrom_lib.landmarks.objectives.base import EVERYTHING
from nystrom_lib.landmarks.objectives.trace_error import TraceLoops
from tests import formulas, oracle
from tests.cases import DIMENSIONS, EVERY, RADIAL, Floats, close, cloud, pair

# Points and landmarks; the polynomial kernels span too little for more.
SHAPES = {1: (9, 3), 2: (9, 4), 8: (6, 3), 50: (5, 2)}
FEW = {("linear", 2): 1, ("polynomial", 1): 2}
# On the line the linear kernel has rank one: no error is left, and no gradient.
CASES = [(name, d) for name in EVERY for d in DIMENSIONS if (name, d) != ("linear", 1)]
NEAR = [(name, d) for name in (*RADIAL, "user_radial") for d in DIMENSIONS]


def case(name: str, d: int) -> tuple[Any, oracle.OracleKernel, Floats, Floats, float]:
    """Kernel, oracle, data, sample, and the relative rounding that a solve with K_S costs."""
    kernel, reference = pair(name)
    X, S = cloud(d, *SHAPES[d])
    S = S[: FEW.get((name, d))]
    condition = oracle.condition_number(reference, S)
    assert condition < 1e5
    return kernel, reference, X, S, 1e-14 * (10 + condition)


# --- against the oracle -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, d", CASES)
def test_trace_error_agrees_with_the_oracle(name: str, d: int) -> None:
    """Catches any slip in the gradient: the oracle eliminates jets and knows no A, P or Q."""
    kernel, reference, X, S, rounding = case(name, d)
    exact, objective = oracle.Residuals(reference, X, S), nl.TraceError(kernel, X)
    assert objective.value(S) == pytest.approx(exact.value(), rel=max(1e-12, 0.1 * rounding))
    assert close(objective.gradient(S), exact.gradient(), rounding)
    batch = [0, len(X) - 1, 1, 1]
    assert close(objective.gradient(S, batch), exact.gradient(batch), rounding)
    value, gradient = objective.prepare(len(S), 4)(S, np.array(batch))
    assert value == pytest.approx(exact.value(batch), rel=rounding) and close(gradient, exact.gradient(batch), rounding)


@pytest.mark.parametrize("name, d", NEAR)
def test_local_trace_error_agrees_with_the_oracle(name: str, d: int) -> None:
    """Catches a wrong neighbour, or a force on a landmark that the point does not look at."""
    kernel, reference, X, S, rounding = case(name, d)
    for neighbours in range(1, len(S)):  # with all of them: test_tiles_meet_without_gap_or_overlap
        exact = oracle.Residuals(reference, X, S, neighbours)
        objective = nl.LocalTraceError(kernel, X, neighbours)
        assert objective.value(S) == pytest.approx(exact.value(), rel=rounding)
        assert close(objective.gradient(S), exact.gradient(), rounding)
        batch = [len(X) - 1, 2, 2]
        assert close(objective.gradient(S, batch), exact.gradient(batch), rounding)
        assert objective.prepare(len(S), 3)(S, np.array(batch))[0] == pytest.approx(exact.value(batch), rel=rounding)


@pytest.mark.parametrize("name, d", CASES)
def test_weighted_skd_agrees_with_the_oracle(name: str, d: int) -> None:
    """Catches a lost factor 2, a diagonal derivative left out, or g and its slopes scaled unlike each other."""
    kernel, reference, X, S, rounding = case(name, d)
    rounding *= 100  # K_S∘K_S may be worse conditioned than K_S, and the two terms cancel
    exact, objective = oracle.weighted_skd(reference, X, S), nl.WeightedSKD(kernel, X)
    assert objective.value(S) == pytest.approx(exact.value, abs=rounding * objective.constant)
    assert close(objective.gradient(S), exact.gradient, rounding)
    batch = [0, len(X) - 1, 1, 1]
    estimate = oracle.weighted_skd(reference, X, S, batch)
    assert close(objective.gradient(S, batch), estimate.gradient, rounding)
    value, _ = objective.prepare(len(S), 4)(S, np.array(batch))
    assert value + objective.constant == pytest.approx(estimate.value, abs=rounding * (objective.constant - value))


@pytest.mark.parametrize("name, d", [(name, d) for name, d in CASES if d in (2, 8)])  # all in test_derivatives.py
def test_radial_skd_agrees_with_the_oracle(name: str, d: int) -> None:
    """Catches an objective that is not Eq. (3), (5) and (6)."""
    kernel, reference, X, S, _ = case(name, d)
    exact, objective = oracle.radial_skd(reference, X, S), nl.RadialSKD(kernel, X)
    assert objective.value(S) == pytest.approx(exact.value, abs=1e-13 * exact.norm2)
    assert close(objective.gradient(S), exact.gradient, 1e-11)
    batch = [0, len(X) - 1, 1, 1]
    estimate = oracle.Estimators(reference, X, S)
    assert close(objective.gradient(S, batch), estimate.one(batch), 1e-11)
    value, _ = objective.prepare(len(S), 4)(S, np.array(batch))
    assert value == pytest.approx(-(estimate.T1(batch) ** 2) / oracle.certified(estimate.norm), rel=1e-12)


@pytest.mark.parametrize("name", ("gaussian", "matern32", "matern52", "rational_quadratic"))
def test_landmarks_on_data_points(name: str) -> None:
    """Catches NaN, or a wrong limit, at r = 0: every descent starts there."""
    kernel, reference = pair(name)
    X, _ = cloud(2, 8, 1)
    S = X[[0, 3, 5]]
    exact = oracle.Residuals(reference, X, S)
    for objective in (nl.TraceError(kernel, X), nl.LocalTraceError(kernel, X, 3)):
        assert close(objective.gradient(S), exact.gradient(), 1e-10)
    assert close(nl.LocalTraceError(kernel, X, 2).gradient(S), oracle.Residuals(reference, X, S, 2).gradient(), 1e-10)
    assert close(nl.WeightedSKD(kernel, X).gradient(S), oracle.weighted_skd(reference, X, S).gradient, 1e-10)


def test_matern_12_where_points_coincide_stays_finite() -> None:
    """Catches 0/0: √ has no derivative at 0, and the convention is a slope of none."""
    kernel, _ = pair("matern12")
    X, _ = cloud(2, 30, 1)
    for objective in (nl.TraceError(kernel, X), nl.LocalTraceError(kernel, X, 2), nl.WeightedSKD(kernel, X)):
        assert np.isfinite(objective.gradient(X[:5])).all() and np.isfinite(objective.value(X[:5]))


# --- beyond the first tile ----------------------------------------------------------------------------------------

EDGES = [
    (1, 1, 1), (1, 3, 2), (33, 4, 1), (97, 5, 2), (300, 31, 8), (257, 32, 2), (258, 33, 16), (301, 47, 17),
    (300, 48, 50), (300, 49, 2), (1023, 64, 2), (1024, 65, 8), (1025, 100, 17), (2100, 131, 3),
]  # fmt: skip


@pytest.mark.parametrize(
    "N, n, d, name",
    [
        *((*edge, ("gaussian", "matern32")[i % 2]) for i, edge in enumerate(EDGES)),
        *((*size, "polynomial") for size in [(50, 5, 8), (700, 33, 17), (1300, 70, 50)]),
    ],
)
def test_tiles_meet_without_gap_or_overlap(N: int, n: int, d: int, name: str) -> None:
    """Catches an off-by-one at the edge of a panel, a block or a vector, with all points and with a batch."""
    kernel = formulas.NARROW[name](d) if N > 1 else formulas.KERNELS[name]  # else nothing would be in sight
    X, S = cloud(d, N, n)
    batch = np.random.default_rng(0).integers(0, N, min(N, 77))
    objectives: list[tuple[Any, Any]] = [
        (nl.TraceError(kernel, X), formulas.trace_terms),
        (nl.WeightedSKD(kernel, X), formulas.weighted_terms),
    ]
    if kernel.radial and n <= 70:
        objectives.append((nl.LocalTraceError(kernel, X, n), formulas.trace_terms))
    for objective, terms in objectives:
        for picks in (None, batch):
            value, expected = terms(kernel, X, S, picks)
            found = objective.prepare(n, N if picks is None else len(picks))
            estimate, gradient = found(S, EVERYTHING if picks is None else picks)
            assert estimate == pytest.approx(value, rel=1e-9, abs=1e-10 * N)
            assert formulas.off(gradient, expected) < 1e-9


@pytest.mark.parametrize("d", [3, 9, 20])
def test_neighbours_are_the_nearest(d: int) -> None:
    """Catches the two searches apart: by a tree, and by a look at all landmarks in tiles of 256."""
    kernel, k = nl.Gaussian(rho=0.7), 3
    X, S = cloud(d, 90, 600)
    exact = 0.0
    expected = np.zeros_like(S)
    for x in X:
        near = np.argsort(np.square(S - x).sum(axis=1))[:k]
        value, (first, second) = formulas.trace_terms(kernel, x[None], S[near])
        exact += value
        expected[near] += first - second
    objective = nl.LocalTraceError(kernel, X, k)
    assert objective.value(S) == pytest.approx(exact, rel=1e-10)
    assert close(objective.gradient(S), expected, 1e-8)


def test_many_points_at_a_time_are_as_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a block of points that is left out or added twice."""
    from nystrom_lib import _local

    X, S = cloud(2, 500, 40)
    objective = nl.LocalTraceError(nl.Gaussian(rho=9.0), X, 5)
    value, gradient = objective.value(S), objective.gradient(S)
    monkeypatch.setattr(_local, "_NUMBERS", 10 * 64)
    assert objective.value(S) == pytest.approx(value, rel=1e-13)
    assert close(objective.gradient(S), gradient, 1e-12)


# --- what they claim ----------------------------------------------------------------------------------------------


@given(
    S=arrays(np.float64, (6, 2), elements=st.floats(-3, 3, width=32)),
    k=st.integers(1, 6),
    name=st.sampled_from(["gaussian", "matern32", "rational_quadratic"]),
)
@settings(max_examples=60)
def test_local_is_an_upper_bound(S: Floats, k: int, name: str) -> None:
    """Catches a bound that is none, copies of landmarks included; with all landmarks it is the trace error."""
    kernel, _ = pair(name)
    X, _ = cloud(2, 20, 1)
    whole = nl.TraceError(kernel, X).value(S)
    local = nl.LocalTraceError(kernel, X, k).value(S)
    assert local >= whole * (1 - 1e-9) - 1e-9
    if k >= len(S):
        assert local == whole
    assert local >= nl.LocalTraceError(kernel, X, k + 1).value(S) * (1 - 1e-9) - 1e-9


@given(weights=arrays(np.float64, 4, elements=st.floats(-3, 3)))
def test_weights_are_the_best(weights: Floats) -> None:
    """Catches weights that are not those of the value, or not the best: Remark 1.2 from its definition."""
    kernel, _ = pair("rational_quadratic")
    X, S = cloud(2, 30, 4)
    objective = nl.WeightedSKD(kernel, X)
    g, B = kernel.squared(S, X).sum(axis=1), kernel.squared(S)

    def discrepancy(w: Floats) -> float:
        return float(objective.constant - 2 * w @ g + w @ B @ w)

    best, least = objective.weights(S), objective.value(S)
    assert discrepancy(best) == pytest.approx(least, abs=1e-10 * objective.constant)
    assert discrepancy(best + weights) >= least - 1e-10 * objective.constant
    assert least <= nl.RadialSKD(kernel, X).value(S) + 1e-12 * objective.constant


def test_of_landmarks_that_say_the_same_one_has_the_weight() -> None:
    X, S = cloud(2, 30, 3)
    objective = nl.WeightedSKD(nl.Gaussian(rho=0.7), X)
    double = np.vstack([S, S[:1]])
    weights = objective.weights(double)
    assert np.count_nonzero(weights) == 3 and 0.0 in (weights[0], weights[3])
    assert objective.value(double) == pytest.approx(objective.value(S), abs=1e-12 * objective.constant)


# --- ill-conditioned K_S ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [nl.TraceError, nl.WeightedSKD, nl.LocalTraceError])
def test_the_ridge_is_1e_10_of_the_diagonal(cls: type[nl.TraceError]) -> None:
    """Catches a ridge other than the documented one: copies of a landmark, the ridge added by hand in 300 bits."""
    kernel, reference = pair("gaussian")
    X, S = cloud(2, 9, 3)
    S = np.vstack([S, S[:1] + 1e-7])
    bent = oracle.OracleKernel("bent", True, reference.formula, reference.slope_at_zero)
    with pytest.MonkeyPatch.context() as patch:
        plain = oracle._landmark_jets

        def ridged(kernel: oracle.OracleKernel, points: oracle.Points) -> list[list[oracle.Jet]]:
            W = plain(kernel, points)
            share = (1 + oracle.arb(1e-10)).sqrt() if cls is nl.WeightedSKD else 1 + oracle.arb(1e-10)
            for k, row in enumerate(W):
                row[k] = row[k] * share
            return W

        patch.setattr(oracle, "_landmark_jets", ridged)
        if cls is nl.WeightedSKD:
            exact = oracle.weighted_skd(bent, X, S).gradient
        else:
            exact = oracle.Residuals(bent, X, S).gradient()
    found = cls(kernel, X).gradient(S)
    assert close(found, exact, 1e-3)  # a condition of 1e10 leaves six digits, of which some cancel
    assert not close(found, 1.1 * exact, 1e-3)


@pytest.mark.parametrize(("excess", "ridge"), [(0.0, 1e-10), (9.75e-8, 1e-6), (0.25, 1.0)])
def test_the_ridge_of_the_trace_error_grows_by_tens(excess: float, ridge: float) -> None:
    """Catches a ridge that grows in leaps, or not at all: two landmarks whose K_S has the pivots 1 and −2·excess.

    With a ridge λ the second is about 2(λ − excess), and must be more than λ/10. None below 1 is found for the last.
    """
    kernel = nl.radial_kernel(lambda t, p: 1.0 + p[0] * t, lambda t, p: p[0], lambda t, p: 0.0, parameters=[excess])
    S = np.array([[0.0], [1.0]])
    loops, slope = TraceLoops(nl.TraceError(kernel, S), 2, 2), np.empty_like(S)
    loops.gradient(S, np.empty(0, np.int64), slope)
    assert loops.work.state[trace.RIDGE] == pytest.approx(ridge, rel=1e-12)
    assert np.isfinite(slope).all() == (ridge < 1.0)


@pytest.mark.parametrize("name", RADIAL)
@pytest.mark.parametrize("cls", [nl.TraceError, nl.WeightedSKD, nl.LocalTraceError])
def test_copies_of_landmarks_stay_finite_and_sane(cls: type[nl.TraceError], name: str) -> None:
    """Catches a failed Cholesky, infinite gradients, values below 0: condition numbers of 1e16 and infinity."""
    kernel, _ = pair(name)
    X, S = cloud(3, 80, 6)
    for gap in (0.0, 1e-14, 1e-9, 1e-6):
        close_by = np.vstack([S, S + gap])
        objective = cls(kernel, X)
        plain, value, gradient = objective.value(S), objective.value(close_by), objective.gradient(close_by)
        assert np.isfinite(gradient).all()
        assert -1e-9 * plain <= value <= plain * (1 + 1e-6)
        # as the copies move together, a pair pulls as one landmark does
        alone = objective.gradient(S)
        together = gradient[:6] + gradient[6:]
        if gap <= 1e-9 and name != "matern12" and cls is not nl.LocalTraceError:
            assert np.abs(together - alone).max() < 0.05 * np.abs(alone).max()


def test_landmarks_infinitely_far_away_have_no_neighbours_and_no_gradient() -> None:
    """Catches indices that no search has filled in: memory would be read and written anywhere."""
    for d in (2, 9):
        X, S = cloud(d, 40, 6)
        objective = nl.LocalTraceError(nl.Gaussian(rho=0.7), X, 3)
        far = 1e200 * np.sign(S)
        assert objective.value(far) == 40.0
        assert not objective.gradient(far).any()
        some = np.vstack([S[:2], far[2:]])
        assert np.isfinite(objective.gradient(some)).all() and not objective.gradient(some)[2:].any()


@pytest.mark.parametrize("cls", [nl.TraceError, nl.WeightedSKD, nl.RadialSKD, nl.LocalTraceError])
def test_a_sample_beyond_the_finite_numbers_has_no_value(cls: type[nl.TraceError]) -> None:
    """Catches a number where there is none: every descent relies on NaN to turn back."""
    kernel = nl.Gaussian(rho=0.7) if cls is nl.LocalTraceError else nl.Polynomial(degree=3)
    X, S = cloud(2, 10, 3)
    evaluate = cls(kernel, X).prepare(3, 10)
    lost = np.full_like(S, np.nan) if cls is nl.LocalTraceError else 1e200 * S
    with np.errstate(all="raise"):
        value, gradient = evaluate(lost, EVERYTHING)
    assert not np.isfinite(value) and not np.isfinite(gradient).all()


# --- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", [0, -1, 2.5, "many", True, None])
def test_impossible_neighbours_are_refused(neighbours: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^neighbours is .*; it must be .*at least 1\.$"):
        nl.LocalTraceError(nl.Gaussian(), [[0.0]], neighbours)


def test_every_batch_of_two() -> None:
    """Catches a repeated index counted once, by the oracle's own sum over all batches."""
    kernel, reference = pair("matern52")
    X, S = cloud(2, 4, 2)
    exact = oracle.Residuals(reference, X, S)
    objective = nl.TraceError(kernel, X)
    for batch in itertools.product(range(4), repeat=2):
        assert close(objective.gradient(S, batch), exact.gradient(batch), 1e-11)
