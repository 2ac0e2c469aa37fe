"""Each step rule against a straightforward version of it, and in what it promises."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nystrom_lib as nl
from nystrom_lib.landmarks.objectives import OBJECTIVES
from nystrom_lib.landmarks.objectives.base import EVERYTHING, Objective
from nystrom_lib.landmarks.steps import Engine, spacing
from tests.cases import EVERY, Floats, cloud, pair, paired

KERNEL = nl.Gaussian(rho=4.0)


def problem(n: int = 6, d: int = 2) -> tuple[nl.TraceError, Floats]:
    X, S = cloud(d, 60, n)
    return nl.TraceError(KERNEL, X), S


def gradients(objective: Objective, batches: list[Any]) -> Any:
    """Value and gradient at the t-th step."""
    size = len(objective.data) if batches[0] is None else len(batches[0])

    def at(t: int, S: Floats) -> tuple[float, Floats]:
        batch = EVERYTHING if batches[t] is None else batches[t]
        return objective.prepare(len(S), size)(S, batch)

    return at


def drawn(seed: int, N: int, steps: int, size: int) -> list[Any]:
    return list(np.random.default_rng(seed).integers(0, N, (steps, size)))


# --- fixed step ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial"])
def test_the_fixed_step_on_the_radial_skd_is_gradient_descent_to_the_last_bit(kernel: str) -> None:
    """Catches a second road that is not the first: the paper's descents and the general loop."""
    X, S = cloud(3, 80, 7)
    K, step = pair(kernel)[0], 1e-5
    objective, rule = nl.RadialSKD(K, X), nl.FixedStep(step)
    for T in (0, 1, 30):
        general = nl.descend(objective, S, rule, iterations=T)
        assert np.array_equal(general.sample, nl.gradient_descent(K, X, S, step=step, iterations=T).sample)
        general = nl.descend(objective, S, rule, iterations=T, batch_size=9, seed=4)
        paper = nl.stochastic_gradient_descent(K, X, S, step=step, iterations=T, batch_size=9, seed=4)
        assert np.array_equal(general.sample, paper.sample)


@pytest.mark.parametrize(
    "name, decay, scale_free",
    [("trace", False, False), ("trace", True, True), ("radial-skd", False, True), ("weighted-skd", True, False)],
)
def test_fixed_step(name: str, decay: bool, scale_free: bool) -> None:
    """Catches a wrong scale, a decay that is not a straight line to 0, or one taken a step too late."""
    X, S = cloud(2, 60, 5)
    objective = OBJECTIVES[name](KERNEL, X)
    T, step = 12, 0.05 if scale_free else 1e-3
    batches = drawn(3, 60, T, 8)
    at, expected = gradients(objective, batches), S
    for t in range(T):
        value, gradient = at(t, expected)
        length = step * (1 - t / T) if decay else step
        expected = expected - (length / abs(value) if scale_free else length) * gradient
    rule = nl.FixedStep(step, scale_free=scale_free, decay=decay)
    run = nl.descend(objective, S, rule, iterations=T, batch_size=8, seed=3)
    assert run.sample == pytest.approx(expected, rel=1e-12, abs=1e-13)


# --- momentum -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decay, beta", [(False, 0.0), (True, 0.5), (False, 0.9)])
def test_momentum(decay: bool, beta: float) -> None:
    """Catches a velocity that is not β times the last one plus γ∇f."""
    objective, S = problem()
    T, step = 15, 2e-3
    batches = drawn(5, 60, T, 10)
    at, expected, velocity = gradients(objective, batches), S, np.zeros_like(S)
    for t in range(T):
        _, gradient = at(t, expected)
        velocity = beta * velocity + step * (1 - t / T if decay else 1) * gradient
        expected = expected - velocity
    run = nl.descend(objective, S, nl.Momentum(step, decay=decay, beta=beta), iterations=T, batch_size=10, seed=5)
    assert run.sample == pytest.approx(expected, rel=1e-11, abs=1e-12)


# --- Adam ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, decay, batch", [("trace", False, None), ("trace", True, 10), ("weighted-skd", False, 10)]
)
def test_adam(name: str, decay: bool, batch: int | None) -> None:
    """Catches a moment per coordinate, a missing correction, or a step counted from 0: in the loop of its own too."""
    X, S = cloud(3, 60, 5)
    objective = OBJECTIVES[name](KERNEL, X)
    T, step, b1, b2 = 25, 0.03, 0.8, 0.9
    at = gradients(objective, [None] * T if batch is None else drawn(7, 60, T, batch))
    expected, first, second = S, np.zeros_like(S), np.zeros((len(S), 1))
    for t in range(T):
        _, gradient = at(t, expected)
        first = b1 * first + (1 - b1) * gradient
        second = b2 * second + (1 - b2) * np.square(gradient).sum(axis=1, keepdims=True)
        length = step * (1 - t / T) if decay else step
        direction = (first / (1 - b1 ** (t + 1))) / np.sqrt(second / (1 - b2 ** (t + 1)))
        expected = expected - length * direction
    rule = nl.Adam(step, beta1=b1, beta2=b2, decay=decay)
    run = nl.descend(objective, S, rule, iterations=T, batch_size=batch, seed=None if batch is None else 7)
    assert run.sample == pytest.approx(expected, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("kernel, batch", paired(EVERY, [0, 11, 60, 11]))
def test_adam_s_own_loop_is_the_common_one(kernel: str, batch: int) -> None:
    """Catches a fused descent that reads a landmark already moved, or a batch again."""
    X, S = (2.0 * A for A in cloud(8, 60, 5))
    objective, rule = nl.TraceError(pair(kernel)[0], X), nl.Adam(0.01)
    own, common = rule.engine(objective, S, batch), Engine(rule, objective, S, batch)
    assert type(own) is not Engine
    batches = np.random.default_rng(1).integers(0, 60, (30, batch))
    for engine in (own, common):
        assert engine.advance(batches[:1], 0.0, 1 / 30) == 1
        assert engine.advance(batches[1:], 1 / 30, 1 / 30) == 29
    assert own.take() == pytest.approx(common.take(), rel=1e-8, abs=1e-9)


def test_the_first_step_is_as_long_as_said() -> None:
    """Catches the unit of a step: every landmark moves by σ at first, whatever its gradient."""
    objective, S = problem()
    moved = nl.descend(objective, S, nl.Adam(0.04, decay=False), iterations=1).sample
    assert np.linalg.norm(moved - S, axis=1) == pytest.approx(np.full(6, 0.04), rel=1e-12)
    by_default = nl.descend(objective, S, nl.Adam(decay=False), iterations=1).sample
    wide, apart = 1 / math.sqrt(2 * 4.0), spacing(S)
    expected = 0.3 * math.sqrt(wide * apart)
    assert np.linalg.norm(by_default - S, axis=1) == pytest.approx(np.full(6, expected), rel=1e-9)


def test_the_default_length_stays_within_a_hundredth_and_a_hundred_widths() -> None:
    objective, S = problem()
    wide = 1 / math.sqrt(8.0)
    for scale, ratio in ((1e-9, 0.01), (1e9, 100.0)):
        assert nl.Adam().length(objective, scale * S) == pytest.approx(0.3 * wide * math.sqrt(ratio), rel=1e-9)
    for sample in (S[:1], np.tile(S[:1], (4, 1))):  # no spacing to speak of
        assert nl.Adam().length(objective, sample) == pytest.approx(0.3 * wide, rel=1e-9)
    copies = nl.TraceError(nl.Polynomial(), np.ones((5, 2)))
    assert nl.Adam().length(copies, np.ones((2, 2))) == 0.0


# --- L-BFGS -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OBJECTIVES)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 6), rho=st.sampled_from([0.01, 0.5, 4.0, 40.0]))
@settings(max_examples=12)
def test_the_value_never_rises_under_lbfgs(name: str, seed: int, n: int, rho: float) -> None:
    """Catches a wrong scale of the gradient: the values its gradients belong to, step by step."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2))
    S = X[rng.choice(40, n, replace=False)] + rng.normal(size=(n, 2)) * rng.choice([0.0, 0.1, 3.0])
    objective = OBJECTIVES[name](nl.Gaussian(rho), X)
    evaluate = objective.prepare(n, 40)
    run = nl.descend(objective, S, nl.LBFGS(), iterations=15, keep_path=True)
    assert run.path is not None and run.steps == 15
    values = [evaluate(T, EVERYTHING)[0] for T in run.path]
    assert np.all(np.diff(values) <= 1e-12 * max(1.0, abs(values[0])))


@pytest.mark.parametrize("name", OBJECTIVES)
def test_lbfgs_ends_when_it_has_arrived_if_it_was_given_seconds(name: str) -> None:
    """Catches an hour spent at a minimum, where rounding alone moves the sample."""
    X, S = cloud(2, 60, 5)
    objective = OBJECTIVES[name](KERNEL, X)
    run = nl.descend(objective, S, nl.LBFGS(), seconds=3600.0)
    assert np.abs(objective.gradient(run.sample)).max() < 1e-4 * np.abs(objective.gradient(S)).max()


def test_lbfgs_can_be_interrupted_and_rests_where_it_has_arrived() -> None:
    """Catches an exception of the callback that scipy swallows, and records that are missing after the last step."""
    objective, S = problem()

    def progress(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nl.descend(objective, S, nl.LBFGS(), iterations=10, progress=progress)
    rests = nl.descend(objective, S, nl.LBFGS(), iterations=3000, record_every=1000)
    assert rests.iterations.tolist() == [0, 1000, 2000, 3000] and rests.values[2] == rests.values[3]


@pytest.mark.parametrize("rule", [nl.FixedStep(0.01), nl.Momentum(0.01), nl.Adam(0.01)], ids=repr)
def test_a_restart_resets_the_state_and_halves_the_steps(rule: Any) -> None:
    """Catches a moment or a velocity that outlives the descent that diverged, in the compiled loop too."""
    objective, S = problem()
    half = type(rule)(0.005)
    nothing = np.empty((4, 0), np.int64)
    for make in (Engine, lambda rule, *arguments: rule.engine(*arguments)):
        used, fresh = make(rule, objective, S, 0), make(half, objective, S, 0)
        used.advance(nothing, 0.0, 0.0)
        used.restart()
        used._sample = S.copy()
        assert used.advance(nothing, 0.0, 0.0) == fresh.advance(nothing, 0.0, 0.0) == 4
        assert np.array_equal(used.take(), fresh.take()) and not np.array_equal(used.take(), S)


# --- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule, step",
    paired([nl.FixedStep, nl.Momentum, nl.Adam, nl.FixedStep], [0, -1.0, math.inf, math.nan, "short", True]),
)
def test_impossible_steps_are_refused(rule: Any, step: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^step is .*; it must be .*\.$"):
        rule(step)
