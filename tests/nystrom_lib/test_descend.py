"""The one loop of all descents: budgets, batches, records, the guard, and who may stop it."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib.descent import independent_batches, shuffled_batches
from nystrom_lib.landmarks.objectives import OBJECTIVES
from nystrom_lib.landmarks.objectives.base import Evaluate, Objective
from tests.bits import digest
from tests.cases import Floats, cloud

from .conftest import Clock

KERNEL = nl.Gaussian(rho=4.0)
RULES: dict[str, Any] = {
    "fixed": nl.FixedStep(0.01),
    "scale-free": nl.FixedStep(0.02, scale_free=True),
    "momentum": nl.Momentum(0.005),
    "adam": nl.Adam(),
    "lbfgs": nl.LBFGS(),
}


def problem(name: str = "trace", N: int = 60, n: int = 6) -> tuple[Objective, Floats]:
    X, S = cloud(2, N, n)
    return OBJECTIVES[name](KERNEL, X), S


# --- records ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_records_and_path(rule: str) -> None:
    """Catches values recorded at other samples than those of the path, or a record that disturbs the descent."""
    f, S = problem()
    run = nl.descend(f, S, RULES[rule], iterations=22, record_every=5, keep_path=True)
    assert run.path is not None and run.steps == 22
    assert run.iterations.tolist() == [0, 5, 10, 15, 20, 22] and run.path.shape == (6, 6, 2)
    assert np.array_equal(run.path[0], S) and np.array_equal(run.path[-1], run.sample)
    assert run.values.tolist() == [f.value(T) for T in run.path]
    every = nl.descend(f, S, RULES[rule], iterations=22, keep_path=True)
    assert every.path is not None and every.path.shape == (23, 6, 2) and len(every.values) == 0
    assert every.iterations.tolist() == list(range(23))
    # to rounding, for where a step decays it is added up from record to record
    assert every.path[run.iterations] == pytest.approx(run.path, rel=1e-7, abs=1e-8)
    plain = nl.descend(f, S, RULES[rule], iterations=22)
    assert plain.sample == pytest.approx(run.sample, rel=1e-7, abs=1e-8)
    assert plain.path is None and plain.iterations.size == 0


# --- budgets ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_seconds_end_a_descent(rule: str, clock: Clock) -> None:
    """Catches a clock that is never read, or a budget left unused: here each step takes 0.1 seconds."""
    f, S = problem()

    def step(done: int) -> None:
        clock.now = 0.1 * done

    run = nl.descend(f, S, RULES[rule], seconds=0.45, progress=step)
    assert 5 <= run.steps <= 6 and f.value(run.sample) < f.value(S)
    clock.tick = 1.0
    assert nl.descend(f, S, RULES[rule], seconds=0.5).steps == 0


@pytest.mark.parametrize("rule", ["scale-free", "adam", "lbfgs"])
def test_the_clock_is_read_often_enough(rule: str, clock: Clock) -> None:
    """Catches a descent that takes many steps between two looks at the clock: each evaluation takes 0.01 seconds."""
    f = Valley(KERNEL, np.zeros((3, 2)), clock)
    nl.descend(f, np.array([[-1.2, 1.0]]), RULES[rule], seconds=0.2)
    assert 0.2 <= clock.now <= 0.3


# --- batches ------------------------------------------------------------------------------------------------------


def test_seeded_batches_are_those_one_would_draw() -> None:
    rows = independent_batches(50, 6, np.random.default_rng(42))
    drawn = np.vstack([rows(3), rows(7)])
    assert np.array_equal(drawn, np.random.default_rng(42).integers(0, 50, (10, 6)))


@pytest.mark.parametrize("N, size", [(10, 3), (10, 10), (7, 5), (5, 12)])
def test_shuffled_batches_repeat_nothing_before_all_has_come(N: int, size: int) -> None:
    """Catches a point seen twice in an epoch, or points lost between two calls."""
    draw = shuffled_batches(N, size, np.random.default_rng(0))
    batches = np.vstack([draw(1), draw(4), draw(2 * N)])
    assert batches.shape == (2 * N + 5, size) and batches.flags.c_contiguous
    whole = batches.ravel()[: batches.size // N * N].reshape(-1, N)
    assert np.array_equal(np.sort(whole, axis=1), np.tile(np.arange(N), (len(whole), 1)))
    assert len({tuple(epoch) for epoch in whole}) > 1


# --- the guard ----------------------------------------------------------------------------------------------------


class Cliff(Objective):
    """‖S‖²/2, but beyond a wall there are no numbers: neither value nor gradient."""

    name = "cliff"
    unbiased = True
    wall = 1.0

    def value(self, sample: Any) -> float:
        return float(np.square(sample).sum() / 2) if np.abs(sample).max() <= self.wall else np.nan

    def prepare(self, n: int, points: int) -> Evaluate:
        def evaluate(sample: Floats, batch: Any) -> tuple[float, Floats]:
            value = self.value(sample)
            return value, sample.copy() if np.isfinite(value) else np.full_like(sample, np.nan)

        return evaluate

    def cost(self, n: int, points: int) -> float:
        return 1.0


class Valley(Objective):
    """Rosenbrock's function, whose evaluation takes 0.01 seconds of a clock."""

    name = "valley"
    unbiased = True

    def __init__(self, kernel: nl.Kernel, data: Floats, clock: Clock) -> None:
        super().__init__(kernel, data)
        self.clock = clock

    def value(self, sample: Any) -> float:
        x, y = np.asarray(sample)[0]
        return float((1.0 - x) ** 2 + 100.0 * (y - x * x) ** 2)

    def prepare(self, n: int, points: int) -> Evaluate:
        def evaluate(sample: Floats, batch: Any) -> tuple[float, Floats]:
            self.clock.now += 0.01
            x, y = sample[0]
            gradient = [-2.0 * (1.0 - x) - 400.0 * x * (y - x * x), 200.0 * (y - x * x)]
            return self.value(sample), np.array([gradient])

        return evaluate

    def cost(self, n: int, points: int) -> float:
        return 1.0


def cliff() -> tuple[Cliff, Floats]:
    return Cliff(KERNEL, np.zeros((3, 2))), np.array([[0.9, -0.8]])


def test_divergence_restarts_with_shorter_steps() -> None:
    """Catches a restart from where there are no numbers any more: it must begin where there were some."""
    f, S = cliff()
    run = nl.descend(f, S, nl.Momentum(6.0, beta=0.5), iterations=60)  # the first step lands at −4.5
    assert np.isfinite(f.value(run.sample)) and f.value(run.sample) < 0.01 * f.value(S)
    assert run.steps == 60
    run = nl.descend(f, S, nl.Adam(6.0), iterations=200)
    assert f.value(run.sample) < 0.1 * f.value(S)


def test_a_fixed_step_is_never_changed() -> None:
    f, S = cliff()
    with pytest.raises(nl.DescentError, match=r"^The descent diverged \(non-finite value\) at iteration 2 ") as caught:
        nl.descend(f, S, nl.FixedStep(6.0), iterations=60)
    assert np.array_equal(caught.value.sample, S) and "with step 6; try" in str(caught.value)


def test_divergence_despite_shorter_steps_keeps_the_last_good_sample() -> None:
    """Catches NaN returned, and restarts without end: eight are enough."""
    f, S = cliff()
    with pytest.raises(nl.DescentError, match="try a smaller step") as caught:
        nl.descend(f, S, nl.Momentum(1e6), iterations=100)
    assert np.isfinite(f.value(caught.value.sample)) and np.array_equal(caught.value.sample, S)
    f.wall = 0.1  # not even the start is good
    with pytest.raises(nl.DescentError) as caught:
        nl.descend(f, S, nl.Adam(0.1), iterations=100)
    assert np.array_equal(caught.value.sample, S) and caught.value.iteration == 1
    with pytest.raises(nl.DescentError) as caught:
        nl.descend(f, S, nl.Adam(0.1), iterations=100, record_every=1)
    assert caught.value.iteration == 0


@pytest.mark.parametrize("name", ["trace", "weighted-skd", "radial-skd"])
def test_an_overflow_in_the_last_step_is_noticed(name: str) -> None:
    """Catches an unchecked last sample: under a polynomial kernel even a finite sample may have no value."""
    X, S = cloud(2, 20, 3)
    f = OBJECTIVES[name](nl.Polynomial(degree=3), X)
    for rule in (nl.Momentum(1e200, decay=False), nl.Adam(1e160, decay=False)):
        for T in (1, 3):
            with pytest.raises(nl.DescentError) as caught:
                nl.descend(f, S, rule, iterations=T)
            assert np.array_equal(caught.value.sample, S)


# --- who may stop it ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_progress_receives_the_steps_and_may_stop(rule: str) -> None:
    f, S = problem(N=3000, n=60)
    seen: list[int] = []
    nl.descend(f, S, RULES[rule], iterations=6, keep_path=True, progress=seen.append)
    assert seen == [1, 2, 3, 4, 5, 6]

    def stop(done: int) -> None:
        if done >= 3:
            raise StopIteration

    run = nl.descend(f, S, RULES[rule], iterations=6, keep_path=True, progress=stop)
    whole = nl.descend(f, S, RULES[rule], iterations=6, keep_path=True)
    assert run.path is not None and whole.path is not None
    assert run.steps == 3 and run.iterations.tolist() == [0, 1, 2, 3]
    assert np.array_equal(run.path, whole.path[:4]) and np.array_equal(run.sample, run.path[-1])


@pytest.mark.parametrize("rule", ["scale-free", "adam"])
def test_ctrl_c_ends_a_descent(rule: str) -> None:
    """Catches a compiled loop that goes on for minutes: steps are taken a tenth of a second at a time."""
    f, S = problem(N=3000, n=60)
    nl.descend(f, S, RULES[rule], iterations=2)
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))

    def begin(done: int) -> None:
        if not timer.ident:
            timer.start()

    with pytest.raises(KeyboardInterrupt):
        nl.descend(f, S, RULES[rule], iterations=10**7, progress=begin)
    timer.join()
    assert np.isfinite(nl.descend(f, S, RULES[rule], iterations=2).sample).all()  # and the next one runs


# --- deterministic ------------------------------------------------------------------------------------------------


def digests() -> dict[str, str]:
    result = {}
    X, S = cloud(3, 1500, 60)
    for name in OBJECTIVES:
        for rule in RULES:
            f = OBJECTIVES[name](KERNEL, X)
            batches = {} if rule == "lbfgs" else {"batch_size": 900, "seed": 3}
            run = nl.descend(f, S, RULES[rule], iterations=3, **batches)
            result[f"{name} {rule}"] = digest(run.sample)
    return result


# --- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        ({}, r"Give iterations, or seconds, or both: a descent needs an end\."),
        ({"iterations": -1}, r"iterations is -1; it must be at least 0\."),
        ({"seconds": 0}, r"seconds is 0; it must be a finite number greater than 0\."),
        ({"iterations": 3, "batch_size": 0, "seed": 0}, r"batch_size is 0; it must be from 1 to 100000000\."),
        ({"iterations": 3, "record_every": -1}, r"record_every is -1; it must be at least 0\."),
    ],
)
def test_bad_input_gets_one_sentence(arguments: dict[str, Any], sentence: str) -> None:
    f, S = problem()
    with pytest.raises((TypeError, ValueError), match=f"^{sentence}$"):
        nl.descend(f, S, nl.Adam(), **arguments)
