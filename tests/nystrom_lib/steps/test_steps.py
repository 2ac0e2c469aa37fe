"""What every step rule keeps to: the contract of `nystrom_lib/landmarks/steps.py`, over all public rules."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib.landmarks.objectives import OBJECTIVES
from nystrom_lib.landmarks.steps import Engine, StepRule
from tests.cases import Floats, cloud

PUBLIC = [getattr(nl, name) for name in nl.__all__]
STEP_RULES = {cls.name: cls for cls in PUBLIC if isinstance(cls, type) and issubclass(cls, StepRule)}
NAMES = tuple(STEP_RULES)
OURS = tuple(name for name in NAMES if not STEP_RULES[name].exact_only)  #: scipy has a loop of its own
KERNEL = nl.Gaussian(rho=4.0)


def made(name: str, objective: Any = None, sample: Any = None) -> Any:
    """A rule of the registry by its defaults; what else it needs is a step, which moves some landmark by 0.03."""
    cls = STEP_RULES[name]
    needed = [p.name for p in inspect.signature(cls).parameters.values() if p.default is p.empty]
    assert set(needed) <= {"step"}, f"{cls.__name__} needs {needed}: give defaults to all but step"
    step = 0.01 if objective is None else 0.03 / np.abs(objective.gradient(sample)).max()
    return cls(**dict.fromkeys(needed, step))


def problem(objective: str = "trace") -> tuple[Any, Floats]:
    X, S = cloud(2, 60, 6)
    return OBJECTIVES[objective](KERNEL, X), S


@pytest.mark.parametrize("name", NAMES)
def test_it_has_a_name_and_an_example(name: str) -> None:
    cls = STEP_RULES[name]
    assert issubclass(cls, StepRule) and cls.name == name and cls.restarts >= 0
    assert cls.__doc__ and "Examples" in cls.__doc__


@pytest.mark.parametrize("name", NAMES)
def test_it_is_a_frozen_set_of_settings(name: str) -> None:
    """Catches state kept in the rule, which two descents would share."""
    rule = made(name)
    assert dataclasses.is_dataclass(rule) and rule == made(name) and hash(rule) == hash(made(name))
    with pytest.raises(dataclasses.FrozenInstanceError):
        rule.step = 1.0
    objective, S = problem()
    first, second = (nl.descend(objective, S, rule, iterations=12).sample for _ in range(2))
    assert np.array_equal(first, second) and rule == made(name)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("name", NAMES)
def test_it_lowers_every_objective(name: str, objective: str) -> None:
    """Catches a rule that goes uphill, or that an objective was forgotten for."""
    f, S = problem(objective)
    before = S.copy()
    run = nl.descend(f, S, made(name, f, S), iterations=40)
    assert f.value(run.sample) < f.value(S) and run.steps == 40
    assert np.array_equal(S, before) and not np.shares_memory(run.sample, S)


@pytest.mark.parametrize("name", NAMES)
def test_it_takes_batches_or_says_why_not(name: str) -> None:
    f, S = problem()
    rule = made(name, f, S)
    if rule.exact_only:
        with pytest.raises(ValueError, match=r"^batch_size is 20; \w+ needs the exact gradient\.$"):
            nl.descend(f, S, rule, iterations=3, batch_size=20, seed=0)
        return
    runs = [nl.descend(f, S, rule, iterations=150, batch_size=20, seed=seed).sample for seed in (0, 0, 1)]
    assert f.value(runs[0]) < f.value(S)
    assert np.array_equal(runs[0], runs[1]) and not np.array_equal(runs[0], runs[2])


@pytest.mark.parametrize("name", NAMES)
def test_where_the_gradient_vanishes_it_stays(name: str) -> None:
    """Catches 0/0: all landmarks out of sight."""
    f, S = problem()
    far = S + 1e6
    assert np.array_equal(nl.descend(f, far, made(name), iterations=10).sample, far)


@pytest.mark.parametrize("name", OURS)
def test_a_loop_of_its_own_takes_the_steps_of_the_common_one(name: str) -> None:
    """Catches a compiled descent that is another: the rule's engines against :class:`Engine`, over all objectives."""
    for objective in OBJECTIVES:
        f, S = problem(objective)
        rule = made(name, f, S)
        size = 20
        batches = np.random.default_rng(2).integers(0, 60, (25, size))
        engines = [rule.engine(f, S, size), Engine(rule, f, S, size)]
        for engine in engines:
            assert engine.advance(batches[:10], 0.0, 0.04) == 10
            assert engine.advance(batches[10:], 0.4, 0.04) == 15
        own, common = (engine.take() for engine in engines)
        assert own == pytest.approx(common, rel=1e-9, abs=1e-10)
        assert not np.array_equal(own, S)


@pytest.mark.parametrize("name", NAMES)
def test_n_of_one_and_copies(name: str) -> None:
    f, S = problem()
    for sample in (S[:1], f.data[:1]):
        run = nl.descend(f, sample, made(name, f, S), iterations=30)
        assert f.value(run.sample) <= f.value(sample) * (1 + 1e-9)
    copies = nl.descend(f, np.tile(S[:1], (5, 1)), made(name, f, S), iterations=30)  # rounding tears them apart
    assert np.isfinite(copies.sample).all()
