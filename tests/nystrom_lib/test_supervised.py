"""``find_landmarks(…, targets=y)``: better predictions, honest errors, and reasons."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib.landmarks import supervised
from tests.cases import Floats

KERNEL = nl.Gaussian(0.5)


def problem(N: int = 600, d: int = 3) -> tuple[Floats, Floats]:
    X = np.random.default_rng(0).standard_normal((N, d))
    return X, np.sin(3.0 * X[:, 0])


def best_error(X: Floats, y: Floats, sample: Floats, new: Floats, truth: Floats) -> float:
    """Mean squared error of ridge regression on new points, at the best of some ridges."""
    errors = []
    for ridge in supervised.RIDGES:
        a = nl.PredictionError(KERNEL, X, y - y.mean(), ridge=ridge).coefficients(sample)
        errors.append(np.square(KERNEL.matrix(new, sample) @ a[:, 0] + y.mean() - truth).mean())
    return float(min(errors))


def test_they_predict_new_points_better_than_the_start_and_than_the_trace_errors() -> None:
    X, y = problem()
    new, truth = X[:200], y[:200]
    found = nl.find_landmarks(KERNEL, X[200:], 12, targets=y[200:])
    trace = nl.find_landmarks(KERNEL, X[200:], 12)
    errors = [best_error(X[200:], y[200:], S, new, truth) for S in (found.sample, found.start, trace.sample)]
    assert errors[0] < 0.7 * min(errors[1:])
    assert found.method == "prediction" and found.sample.shape == (12, 3) and found.steps > 10
    assert found.error < 0.7 * found.start_error < 1.0
    assert any("ridge" in reason for reason in found.reasons) and any("L-BFGS" in reason for reason in found.reasons)


def test_nothing_is_trained_on_held_out_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a held-out target that reaches a descent: whatever it is, candidates with one ridge come out the same."""
    X, y = problem(300)
    monkeypatch.setattr(supervised, "RIDGES", (0.1,))
    seen: list[Any] = []
    split = supervised.Fitting.splits

    def watched(self: supervised.Fitting, N: int) -> Any:
        seen.append(split(self, N))
        return seen[-1]

    monkeypatch.setattr(supervised.Fitting, "splits", watched)
    trained = []
    moved = supervised.Fitting.moved
    monkeypatch.setattr(
        supervised.Fitting, "moved", lambda self, model, points, *a, **k: trained.append(points.Y)
        or moved(self, model, points, *a, **k)
    )  # fmt: skip
    nl.find_landmarks(KERNEL, X, 5, targets=y)
    ((train, held_out),) = seen[0]
    assert len(held_out) == 60 and not set(train) & set(held_out)
    standard = (y - y.mean()) / y.std()
    for targets in trained:
        assert np.isin(targets[:, 0].round(12), standard[train].round(12)).all()
        assert not np.isin(targets[:, 0].round(12), standard[held_out].round(12)).any()


def test_the_start_is_kept_where_nothing_is_gained() -> None:
    """Catches landmarks fitted to noise."""
    X = np.random.default_rng(1).standard_normal((100, 8))
    found = nl.find_landmarks(KERNEL, X, 30, targets=np.random.default_rng(2).standard_normal(100))
    assert found.error <= found.start_error
    if np.array_equal(found.sample, found.start):
        assert any("start was kept" in reason for reason in found.reasons)
    constant = nl.find_landmarks(KERNEL, X, 30, targets=np.ones(100))
    assert np.array_equal(constant.sample, constant.start) and constant.error == 0.0
    assert any("constant" in reason for reason in constant.reasons)
    all_points = nl.find_landmarks(KERNEL, X, 100, targets=X[:, 0])
    assert all_points.sample.shape == (100, 8) and any("too few points" in reason for reason in all_points.reasons)


def test_many_points_are_seen_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = problem(3000)
    monkeypatch.setattr(supervised, "MAX_EXACT", 1200)
    found = nl.find_landmarks(KERNEL, X, 12, targets=y)
    assert any("Adam on batches of 1,000" in reason for reason in found.reasons)
    assert found.error < 0.7 * found.start_error


def test_effort_and_start_are_the_callers() -> None:
    X, y = problem(200)
    given = X[:5] + 0.1
    still = nl.find_landmarks(KERNEL, X, 5, targets=y, start=given, iterations=0)
    assert np.array_equal(still.sample, given) and still.steps == 0
    assert nl.find_landmarks(KERNEL, X, 5, targets=y, iterations=3).steps <= 6
    assert nl.find_landmarks(KERNEL, X, 5, targets=y, seconds=0.05).sample.shape == (5, 3)


@pytest.mark.parametrize("N, last", [(200, 4), (13_000, 4)])
def test_progress_may_end_the_search(N: int, last: int) -> None:
    """With more than 10,000 training points, batches follow the short descents of the candidates."""
    X, y = problem(N)
    seen: list[int] = []

    def enough(done: int) -> None:
        seen.append(done)
        if done == last:
            raise StopIteration

    found = nl.find_landmarks(KERNEL, X, 5, targets=y, progress=enough)
    assert seen == list(range(1, last + 1)) and np.isfinite(found.sample).all()


def test_a_source_goes_with_its_targets() -> None:
    X, y = problem(200)
    found = nl.find_landmarks(KERNEL, nl.open_data(X), 5, targets=y)
    assert np.array_equal(found.sample, nl.find_landmarks(KERNEL, X, 5, targets=y).sample)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"targets": np.zeros(9)}, r"targets has shape \(9,\); it must have a number or a row for each of 50 points."),
        ({"method": "trace"}, "With targets, n must be given, and method must be 'auto'."),
        ({"kernel": nl.Polynomial()}, "it must be radial"),
        ({"watch": print}, "watch cannot be used with targets; use progress."),
    ],
)
def test_bad_input_gets_one_sentence(arguments: dict[str, Any], message: str) -> None:
    X, y = problem(50)
    given: dict[str, Any] = {"kernel": KERNEL, "data": X, "n": 5, "targets": y} | arguments
    with pytest.raises(ValueError, match=message):
        nl.find_landmarks(**given)
