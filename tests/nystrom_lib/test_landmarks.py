"""find_landmarks: good, never worse than its start, the same every time, and no crash whatever the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib.landmarks import search as module
from nystrom_lib.landmarks.find import load
from nystrom_lib.landmarks.objectives import OBJECTIVES
from nystrom_lib.landmarks.search import default_iterations
from nystrom_lib.landmarks.starts import STARTS
from nystrom_lib.landmarks.steps import TraceEngine
from tests.bits import digest
from tests.cases import DEGENERATE, EVERY, Floats, cloud, degenerate, pair, paired

from .conftest import Clock

DESCENTS = ("auto", *OBJECTIVES)
KERNEL = nl.Gaussian(rho=4.0)


def find(kernel: Any, data: Any, n: int, **options: Any) -> nl.Landmarks:
    """Landmarks, of which everything that must always hold is looked at."""
    found = nl.find_landmarks(kernel, data, n, **options)
    d = np.shape(data)[1]
    assert found.sample.shape == (n, d) and found.sample.dtype == np.float64 and np.isfinite(found.sample).all()
    assert np.isfinite(found.error) and found.error <= found.start_error
    assert found.method in (*OBJECTIVES, *STARTS) and found.steps >= 0
    assert found.reasons and all(reason.endswith(".") for reason in found.reasons)
    if len(data) <= module.COMPARED:
        judged = nl.NystromApproximation(kernel, found.sample).residuals(np.asarray(data)).mean()
        assert found.error == judged
    if found.indices is not None:
        assert len(set(found.indices.tolist())) == n
        assert np.array_equal(found.sample, np.asarray(data)[found.indices].astype(np.float64))
    return found


# --- good ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho, n, most", [(16.0, 50, 1.38), (1.0, 80, 1.9)])
def test_default_effort_on_the_bi_gaussian_data(rho: float, n: int, most: float) -> None:
    """Catches a search that settles for less: medians of three seeds of E_tr, at the default number of steps."""
    data, kernel = nl.datasets.bigaussian().X, nl.Gaussian(rho)
    best = nl.best_rank_errors(kernel, data, n, norms="trace").trace
    factors = []
    for seed in range(3):
        found = nl.find_landmarks(kernel, data, n, seed=seed)
        assert found.method == "trace" and found.steps == default_iterations(n)
        factors.append(nl.nystrom_errors(kernel, data, found.sample, "trace").trace / best)
    assert np.median(factors) <= most


def test_it_beats_the_starts_and_the_paper_s_descent() -> None:
    data, kernel = nl.datasets.bigaussian().X, nl.Gaussian(rho=16.0)
    errors = {method: find(kernel, data, 50, method=method).error for method in ("auto", "radial-skd", *STARTS)}
    assert min(errors, key=errors.__getitem__) == "auto"
    assert errors["radial-skd"] < 0.75 * errors["uniform"]


@pytest.mark.parametrize("method", DESCENTS)
@pytest.mark.parametrize("kernel", EVERY)
def test_every_descent_gains_with_every_kernel(kernel: str, method: str) -> None:
    X, _ = cloud(3, 150, 1)
    K = pair(kernel)[0]
    if method == "local-trace" and not K.radial:
        with pytest.raises(ValueError, match=r"^kernel is .*; it must be radial, "):
            nl.find_landmarks(K, X, 6, method=method)
        return
    found = find(K, X, 6, method=method, iterations=60)
    if kernel != "linear":  # three points span it: no start leaves an error
        assert found.error < found.start_error or method.endswith("skd")
        assert found.indices is None or found.error == found.start_error


# --- never worse than its start -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rho, method", paired([1e-100, 1e-12, 1e-3, 1e3, 1e12, 1e100, 1e-12, 1e12], OBJECTIVES))
def test_very_wide_and_very_narrow_kernels(rho: float, method: str) -> None:
    X, _ = cloud(2, 120, 1)
    find(nl.Gaussian(rho), X, 9, method=method, iterations=25)


def test_a_descent_that_gains_nothing_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches an end that is returned although it is worse: here every step is a leap into the void."""
    X, _ = cloud(2, 120, 1)
    monkeypatch.setattr("nystrom_lib.landmarks.steps.LENGTH", 1e6)
    found = find(KERNEL, X, 9, method="local-trace", iterations=3)
    assert found.error == found.start_error and found.indices is not None and found.steps == 3
    assert "The approximation got worse; the start is better and was kept." in found.reasons


def test_a_descent_that_leaves_the_finite_numbers_is_ended_not_raised() -> None:
    """Catches a DescentError that reaches the caller, who gave no step."""
    X = 1e150 * cloud(2, 50, 1)[0]
    found = find(pair("user_radial")[0], X, 5, method="radial-skd", iterations=20)
    assert found.error == found.start_error and found.steps == 0
    assert "The descent diverged (non-finite value) and was ended." in found.reasons


@pytest.mark.parametrize("method", DESCENTS)
def test_better_starts_are_kept(method: str) -> None:
    """Catches a search that forgets where it began."""
    X, _ = cloud(2, 300, 1)
    best = nl.find_landmarks(KERNEL, X, 12, seed=1, iterations=600).sample
    found = find(KERNEL, X, 12, method=method, start=best, iterations=5, seed=2)
    assert "The descent starts from the points given." in found.reasons
    assert found.start_error == nl.NystromApproximation(KERNEL, best).residuals(X).mean()
    found = find(KERNEL, X, 12, method=method, start="kmeans", iterations=5, seed=2)
    assert any("'kmeans'" in reason for reason in found.reasons)


def test_the_start_is_the_better_of_two() -> None:
    """Catches a start that leaves gaps where a curve is long, and one that runs after a few far points."""
    rng = np.random.default_rng(0)
    t = rng.uniform(0.0, 30.0, 3000)
    curve, flat = np.c_[t * np.cos(t), t * np.sin(t)], rng.standard_normal((3000, 12))
    found = find(nl.Gaussian(0.05), curve, 200, iterations=0)
    assert any("'rpcholesky' among 800 points, better than 'uniform'" in reason for reason in found.reasons)
    assert found.error < 0.5 * find(nl.Gaussian(0.05), curve, 200, method="uniform").error
    chosen = {find(nl.Gaussian(0.05), flat, 60, iterations=0, seed=seed).reasons[1] for seed in range(8)}
    assert "The descent starts from a sample chosen by 'uniform'." in chosen


def test_many_points_are_judged_by_some(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a judgement by the first points, or by those of the batches."""
    X = np.sort(cloud(1, 3000, 1)[0], axis=0)
    found = nl.find_landmarks(KERNEL, X, 5, iterations=50)
    whole = nl.NystromApproximation(KERNEL, found.sample).residuals(X).mean()
    assert found.error == pytest.approx(whole, rel=0.1)
    monkeypatch.setattr(module, "COMPARED", 3000)
    assert nl.find_landmarks(KERNEL, X, 5, iterations=50).error == pytest.approx(whole, rel=1e-9)


# --- degenerate data ----------------------------------------------------------------------------------------------

X, _ = cloud(2, 60, 1)
MORE, _ = cloud(2, 150, 1)


@pytest.mark.parametrize("case, kernel", paired(DEGENERATE, ["gaussian", "polynomial", "gaussian", "matern12"]))
def test_no_crash_whatever_the_data(case: str, kernel: str) -> None:
    data, n = degenerate(case)
    K = pair(kernel)[0]
    before = data.copy()
    for method in DESCENTS if kernel != "polynomial" else ("auto", "radial-skd", "weighted-skd"):
        find(K, data, n, method=method, iterations=4)
    assert np.array_equal(data, before)


def test_data_on_which_the_kernel_overflows() -> None:
    """Catches a start said to leave no error: radial kernels see points out of sight, the others infinities."""
    huge = 1e150 * X
    assert find(KERNEL, huge, 6, iterations=5).error == pytest.approx(0.9)
    for method in ("auto", "radial-skd", "weighted-skd"):
        with pytest.raises(ValueError, match="is not finite: the kernel's values are too large here; rescale the data"):
            nl.find_landmarks(nl.Polynomial(degree=3), huge, 6, method=method, iterations=5)


def test_n_equal_to_N_leaves_nothing() -> None:
    found = find(KERNEL, X, 60)
    assert found.error < 1e-12 and "The start leaves no error: nothing to descend on." in found.reasons
    assert found.indices is not None and sorted(found.indices) == list(range(60)) and found.steps == 0


# --- the same every time ------------------------------------------------------------------------------------------


def digests() -> dict[str, str]:
    result = {}
    data, _ = cloud(3, 2500, 1)
    for method in ("auto", "local-trace", "radial-skd", "weighted-skd", "kmeans"):
        landmarks = nl.find_landmarks(KERNEL, data, 60, method=method, iterations=8, seed=3)
        result[method] = digest(landmarks.sample, landmarks.error, landmarks.start_error)
    return result


def test_the_seed_decides() -> None:
    a, b, c = (nl.find_landmarks(KERNEL, X, 6, iterations=20, seed=seed).sample for seed in (0, 0, 1))
    assert np.array_equal(a, b) and not np.array_equal(a, c)
    assert np.array_equal(a, nl.find_landmarks(KERNEL, X, 6, iterations=20).sample)
    generator = np.random.default_rng(0)
    assert np.array_equal(a, nl.find_landmarks(KERNEL, X, 6, iterations=20, seed=generator).sample)


# --- effort -------------------------------------------------------------------------------------------------------


def test_no_steps_give_the_start() -> None:
    """Catches another start than a uniform sample, which all descents have by default but on the trace error."""
    for method in DESCENTS:
        start = {"start": "uniform"} if method in ("auto", "trace") else {}
        found = find(KERNEL, X, 6, method=method, iterations=0, **start)
        assert found.steps == 0 and found.indices is not None
        drawn = nl.find_landmarks(KERNEL, X, 6, method="uniform")
        assert np.array_equal(found.sample, drawn.sample)


@pytest.mark.parametrize("method", DESCENTS)
def test_seconds_are_kept(method: str, clock: Clock) -> None:
    """Catches a budget that is not passed on to the descent: here each look at the clock takes 0.02 seconds."""
    load(method)
    clock.tick = 0.02
    assert find(KERNEL, X, 6, method=method, seconds=2.0).steps > 0
    assert 0.0 < clock.now < 4.0
    assert nl.find_landmarks(KERNEL, X, 6, method=method, seconds=0.01).steps == 0


def test_seconds_are_counted_from_the_call_to_the_last_judgement(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """Catches a start, or the judgement that is still to come, whose time is not taken off the budget."""
    load()
    clock.tick = 1e-6
    slow = clock.charge(STARTS["uniform"], 0.4)
    with monkeypatch.context() as patch:
        patch.setitem(STARTS, "uniform", slow)
        assert find(KERNEL, X, 6, start="uniform", seconds=0.3).steps == 0
    monkeypatch.setattr(module.Search, "validation_error", clock.charge(module.Search.validation_error, 0.4))
    assert find(KERNEL, X, 6, start="uniform", seconds=0.7).steps == 0
    hasty = "The descent starts from a sample chosen by 'uniform', because time is short."
    clock.tick = 0.02
    assert hasty in find(KERNEL, X, 6, seconds=1.0).reasons and hasty not in find(KERNEL, X, 6, iterations=1).reasons


def test_the_search_for_a_step_has_a_share_of_the_seconds(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """Catches trials that use up the seconds: on 60 dimensions they took seven times as long as they were given."""
    given: list[float] = []
    original = module.choose_step

    def noted(*arguments: Any) -> float:
        given.append(arguments[-1])
        return original(*arguments)

    load("radial-skd")
    monkeypatch.setattr(module, "choose_step", noted)
    find(KERNEL, X, 6, method="radial-skd", iterations=2)
    clock.tick = 0.01
    find(KERNEL, X, 6, method="radial-skd", seconds=0.4)
    assert given[0] == np.inf and 0.0 < given[1] <= 0.2


def test_the_steps_shrink_from_where_the_descent_begins(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """Catches a slow start taken off the first steps' length too, and every exchange made in the first steps."""
    shares: list[float] = []
    advance = TraceEngine.advance

    def watched(engine: Any, batches: Any, used: float, per_step: float) -> int:
        shares.append(used)
        clock.now += 0.01
        return advance(engine, batches, used, per_step)

    load()
    monkeypatch.setattr(TraceEngine, "advance", watched)
    monkeypatch.setitem(STARTS, "uniform", clock.charge(STARTS["uniform"], 0.4))
    find(KERNEL, X, 6, start="uniform", seconds=0.6)
    assert shares[0] == 0.0 and shares[-1] > 0.9


def test_progress_may_stop_it() -> None:
    seen: list[int] = []

    def stop(done: int) -> None:
        seen.append(done)
        raise StopIteration

    found = nl.find_landmarks(KERNEL, X, 6, progress=stop)
    assert len(seen) == 1 and found.steps == seen[0]


# --- choices ------------------------------------------------------------------------------------------------------


def test_reasons_say_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    found = find(KERNEL, X, 6, iterations=7)
    assert found.reasons[0] == "A descent on 'trace': the error itself."
    assert any(reason.startswith("7 steps by Adam") and "from 60 points" in reason for reason in found.reasons)
    assert "3 steps by AdamWithExchanges, each from 110 points." in find(KERNEL, MORE, 110, iterations=3).reasons
    assert "3 steps by AdamWithExchanges, each from 96 points." in find(KERNEL, MORE, 6, iterations=3).reasons
    asked = find(KERNEL, MORE, 6, method="local-trace", iterations=3)
    assert "3 steps by Adam, each from 96 points." in asked.reasons
    monkeypatch.setattr(module, "MIN_LOCAL", 5)
    local = find(KERNEL, X, 6, iterations=7)
    assert local.method == "local-trace" and "n = 6 is large" in local.reasons[0]
    assert find(nl.Polynomial(), X, 6, iterations=7).method == "trace"
    monkeypatch.setattr(module, "MAX_EXACT_POINTS", 40)
    assert (
        "It needs exact gradients, and uses 40 of the points."
        in find(KERNEL, X, 6, method="weighted-skd", iterations=3).reasons
    )


@pytest.mark.parametrize("method", STARTS)
def test_points_without_a_descent(method: str) -> None:
    found = find(KERNEL, X, 6, method=method)
    assert found.method == method and found.steps == 0 and found.error == found.start_error
    assert (found.indices is None) == (method == "kmeans")


# --- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        ({"n": 61}, r"n is 61; it must be from 1 to 60, the number of data points\."),
        ({"method": "trase"}, r"method is 'trase' \(did you mean 'trace'\?\); it must be 'auto', .*\."),
        ({"method": None}, r"method is None; it must be 'auto', .*\."),
        ({"seconds": 0}, r"seconds is 0; it must be a finite number greater than 0\."),
        ({"iterations": -1}, r"iterations is -1; it must be at least 0\."),
        ({"start": "kmean"}, r"start is 'kmean' \(did you mean 'kmeans'\?\); it must be 'auto', .*, or points\."),
        ({"start": np.zeros((6, 3))}, r"start has points of 3 coordinates; those of data have 2\."),
    ],
)
def test_bad_input_gets_one_sentence(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"^{sentence}$"):
        nl.find_landmarks(KERNEL, X, **{"n": 6, **arguments})


def test_results_are_the_caller_s_own() -> None:
    data: Floats = X.copy()
    for method in ("auto", *STARTS):
        found = nl.find_landmarks(KERNEL, data, 6, method=method, iterations=2)
        found.sample[:] = 0.0
    start = X[:6].copy()
    found = nl.find_landmarks(KERNEL, data, 6, start=start, iterations=0)
    found.sample[:] = 0.0
    assert np.array_equal(data, X) and np.array_equal(start, X[:6])
