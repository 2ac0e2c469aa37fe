"""S1–S4: what the stochastic gradients do, exactly on small problems and by seeded draws at the paper's settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

import nystrom_lib as nl

from ..experiments.components import StochasticGradientDescent
from ..experiments.outcome import Array
from ..experiments.paper import SEED, paper_experiment
from ..experiments.protocol import load_data
from ..experiments.seeds import Axis, seed_for
from ..results.archive import Archive
from ..studies import estimators
from ..wording import percent
from .base import Claim, Finding, Outcome, Verdict, by_share
from .theory import Case

#: How many draws an estimated variance rests on: its relative error is about √(2/400), or 7 %.
_DRAWS = 400
#: How many pairs of descents are compared in each setting.
_PAIRS = 8
_SMALL = "small problem"
_KINDS = ("one-sample", "two-sample")


# -- S1, S2: expectations over every batch ------------------------------------------------------------------------


def small_problems() -> Iterator[Case]:
    """Ten problems so small that every batch can be looked at."""
    for place in range(10):
        rng = np.random.default_rng([SEED, 3, place])
        d, n = 1 + place % 3, 2 + place % 2
        kernel = nl.Matern(2.5) if place % 5 == 4 else nl.Gaussian(rho=float(rng.uniform(0.3, 2.0)))
        yield Case(kernel, rng.standard_normal((6, d)), rng.standard_normal((n, d)))


def _biases(kind: str, *sizes: int) -> Array:
    """The relative bias over every batch, in each problem and for each b."""
    problems = [estimators.terms(*case) for case in small_problems()]
    return np.array(
        [estimators.relative_bias(parts, estimators.every_batch(parts, b, kind)) for parts in problems for b in sizes]
    )


def one_sample_bias(claim: Claim, stored: Archive) -> Verdict:
    """S1."""
    return decide_biased(claim, _biases("one-sample", 2))


def decide_biased(claim: Claim, biases: Array) -> Verdict:
    """S1 from the relative bias in each problem."""
    biased = int((biases > claim.limit("bias")).sum())
    share = biased / len(biases)
    finding = Finding.HOLDS if share >= claim.limit("share") else Finding.IN_PART if biased else Finding.FAILS
    return Verdict(
        claim,
        finding,
        f"{biased} of {len(biases)} problems have a bias; with b = 2 it is {biases.min():.2g} to {biases.max():.2g} of "
        f"the gradient (median {np.median(biases):.2g}).",
        "The expectation over all batches is not the gradient."
        if finding is Finding.HOLDS
        else f"A bias shows in {biased} of {len(biases)} problems.",
        {"problems": len(biases), "biased": biased, "median": float(np.median(biases))},
    )


def two_sample_bias(claim: Claim, stored: Archive) -> Verdict:
    """S2, with b = b_X + b_Y = 1 + 1 and 2 + 1."""
    return decide_unbiased(claim, _biases("two-sample", 2, 3))


def decide_unbiased(claim: Claim, biases: Array) -> Verdict:
    """S2 from the relative bias in each problem."""
    holds = bool((biases <= claim.limit("bias")).all())
    return Verdict(
        claim,
        Finding.HOLDS if holds else Finding.FAILS,
        f"In {len(biases)} expectations over all pairs of batches the relative bias is "
        + ("nowhere above rounding." if holds else f"up to {biases.max():.2g}."),
        "The expectation over all pairs of batches is the gradient."
        if holds
        else "There is a problem in which the expectation is not the gradient.",
        {"problems": len(biases), "largest": float(biases.max())},
    )


# -- S3, S4: the paper's settings ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """Where the two estimators are set against each other: n, b and γ as in the paper, T cut short."""

    label: str
    experiment: str
    rho: float
    batch_size: int
    step: float
    iterations: int

    def load(self) -> tuple[nl.Kernel, Array, int]:
        """Kernel, data and n."""
        experiment = paper_experiment(self.experiment)
        return nl.Gaussian(rho=self.rho), np.asarray(load_data(experiment).X), experiment.n


def settings() -> list[Setting]:
    """The three Abalone settings, MAGIC with n = 100, and the SGD of the authors' notebook."""
    settings = []
    for label, name, iterations in (
        ("Abalone ρ = 0.25", "figure-3-rho0.25", 2000),
        ("Abalone ρ = 1", "figure-3-rho1", 2000),
        ("Abalone ρ = 4", "figure-3-rho4", 2000),
        ("MAGIC", "figure-4-n100", 1000),
    ):
        experiment = paper_experiment(name)
        descent = experiment.descent
        assert isinstance(descent, StochasticGradientDescent) and isinstance(experiment.kernel, nl.Gaussian)
        settings.append(Setting(label, name, experiment.kernel.rho, descent.batch_size, descent.step, iterations))
    return [*settings, Setting("bi-Gaussian ρ = 16", "figure-1-rho16", 16.0, 50, 2e-7, 1200)]


def _start(data: Array, n: int, j: int) -> Array:
    return nl.uniform_sample(data, n, seed_for(SEED, Axis.INITIAL_SAMPLE, j))


def _descend(setting: Setting, kernel: nl.Kernel, data: Array, start: Array, j: int, estimator: str) -> nl.Descent:
    return nl.stochastic_gradient_descent(
        kernel,
        data,
        start,
        step=setting.step,
        iterations=setting.iterations,
        batch_size=setting.batch_size,
        seed=seed_for(SEED, Axis.BATCHES, j),
        record_every=setting.iterations // 20,
        estimator=estimator,
    )


def variances(claim: Claim, stored: Archive) -> Verdict:
    """S3."""
    ratios = {}
    for place, case in enumerate(small_problems(), start=1):
        parts = estimators.terms(*case)
        one, two = (estimators.every_batch(parts, 2, kind) for kind in _KINDS)
        ratios[f"{_SMALL} {place}"] = estimators.total_variance(two) / estimators.total_variance(one)
    for setting in settings():
        kernel, data, n = setting.load()
        start = _start(data, n, 0)
        end = _descend(setting, kernel, data, start, 0, "one-sample").sample
        for stage, sample in (("initial sample", start), (f"after {setting.iterations:,} steps", end)):
            ratios[f"{setting.label}, {stage}"] = variance_ratio(Case(kernel, data, sample), setting.batch_size)
    return replace(decide_variances(claim, ratios), beside=exceptions())


def exceptions(sizes: tuple[int, ...] = (2, 8, 64, 1024)) -> str:
    """Where among the small problems the two-sample variance is not the larger, by batch size, exactly."""
    small = [estimators.terms(*case) for case in small_problems()]
    ratios = {b: np.array([variances_ratio(parts, b) for parts in small]) for b in sizes}
    shown = "; ".join(
        f"b = {b}: below 1 in {int((quotients < 1.0).sum())} of {len(quotients)}, the smallest {quotients.min():.2f}"
        for b, quotients in ratios.items()
    )
    return (
        "This can be proved: the difference of the two variances is Var(P − Q) ≥ 0 to first order in 1/b, and at a "
        "critical point of R the quotient is 2; see the page on stochastic gradients. The exceptions are of higher "
        "order, and vanish as b grows; how soon depends on how small the first order is. Exactly, in the small "
        f"problems: {shown}."
    )


def variances_ratio(parts: estimators.Terms, b: int) -> float:
    """Two-sample over one-sample, exactly."""
    exact = estimators.exact_variances(parts, b)
    return exact["two-sample"].total / exact["one-sample"].total


def variance_ratio(case: Case, b: int, draws: int = _DRAWS) -> float:
    """Total variance of the two-sample estimator over that of the one-sample estimator, on the same batches."""
    rng = np.random.default_rng([SEED, 4])
    batches = np.array([rng.integers(0, len(case.data), size=b) for _ in range(draws)])
    parts = estimators.terms(*case)
    one, two = (estimators.estimates(parts, batches, kind) for kind in _KINDS)
    return estimators.total_variance(two) / estimators.total_variance(one)


def decide_variances(claim: Claim, ratios: dict[str, float]) -> Verdict:
    """S3 from the ratio in each case."""
    larger = [name for name, ratio in ratios.items() if ratio >= claim.limit("ratio")]
    share = len(larger) / len(ratios)
    finding = Finding.HOLDS if share >= claim.limit("share") else Finding.IN_PART if share >= 0.5 else Finding.FAILS
    values = np.array(list(ratios.values()))
    exact = [name for name in ratios if name.startswith(_SMALL)]
    drawn = [name for name in ratios if name not in exact]
    return Verdict(
        claim,
        finding,
        f"The two-sample variance is at least {claim.limit('ratio'):g} times the other in {len(larger)} of "
        f"{len(ratios)} cases; the ratio lies between {values.min():.2f} and {values.max():.2f} "
        f"(median {np.median(values):.2f}).",
        f"It is larger in {len(set(larger) & set(drawn))} of {len(drawn)} cases at the paper's settings, and in "
        f"{len(set(larger) & set(exact))} of {len(exact)} small problems with b = 2.",
        {"cases": len(ratios), "larger": len(larger), **ratios},
    )


def descents(claim: Claim, stored: Archive) -> Verdict:
    """S4."""
    later = stored.later_checks()
    if later is None:
        return decide_descents(claim, pd.DataFrame(row for setting in settings() for row in compare_descents(setting)))
    rows = pd.DataFrame(later[claim.id])
    return replace(decide_descents(claim, rows), later=decide_exact(claim, rows))


def compare_descents(setting: Setting, pairs: int = _PAIRS) -> Iterator[dict[str, object]]:
    """For each pair: is the two-sample descent behind, and how many times the steps does it need?"""
    kernel, data, n = setting.load()
    for j in range(pairs):
        start = _start(data, n, j)
        one, two = (_descend(setting, kernel, data, start, j, estimator) for estimator in _KINDS)
        goal = (one.values[0] + one.values[-1]) / 2.0
        yield {
            "setting": setting.label,
            "behind": bool(two.values.mean() > one.values.mean()),
            "steps": _steps_to(goal, two) / _steps_to(goal, one),
        }


def compare_with_exact(setting: Setting, pairs: int = _PAIRS) -> Iterator[dict[str, object]]:
    """For each pair, besides: is either behind the exact descent, and how many times the steps does it need?"""
    kernel, data, n = setting.load()
    for j, pair in enumerate(compare_descents(setting, pairs)):
        start = _start(data, n, j)
        exact = nl.gradient_descent(
            kernel,
            data,
            start,
            step=setting.step,
            iterations=setting.iterations,
            record_every=setting.iterations // 20,
        )
        goal = (exact.values[0] + exact.values[-1]) / 2.0
        row = {**pair, "start": j}
        for kind in _KINDS:
            run = _descend(setting, kernel, data, start, j, kind)
            row |= {
                f"{kind} behind": bool(run.values.mean() > exact.values.mean()),
                f"{kind} steps": _steps_to(goal, run) / _steps_to(goal, exact),
            }
        yield row


def decide_exact(claim: Claim, rows: pd.DataFrame) -> Outcome:
    """S4's later check from the rows of :func:`compare_with_exact`."""
    check = claim.later
    assert check is not None
    grouped = rows.groupby("setting", sort=False)
    behind = {kind: grouped[f"{kind} behind"].mean() for kind in _KINDS}
    steps = {kind: grouped[f"{kind} steps"].median() for kind in _KINDS}
    one, two = _KINDS
    slower = (behind[two] >= check.limit("share")) & (steps[two] >= check.limit("slower"))
    shown = "; ".join(
        f"{name}: the two-sample descent is behind the exact one in {percent(behind[two][name])} of {len(group)} "
        f"and needs {steps[two][name]:.3f} times the steps (one-sample: {percent(behind[one][name])}, "
        f"{steps[one][name]:.3f} times)"
        for name, group in grouped
    )
    names = ", ".join(str(name) for name in slower.index[~slower])
    return Outcome(
        by_share(int(slower.sum()), len(slower)),
        f"Against descents with the exact gradient: {shown}.",
        f"The variance alone slows the descent in {int(slower.sum())} of {len(slower)} settings"
        + ("." if slower.all() else f"; not in {names}."),
    )


def _steps_to(goal: float, run: nl.Descent) -> float:
    """At which step R first falls to ``goal``, between records on a straight line; without end if it never does."""
    below = np.flatnonzero(run.values <= goal)
    if not len(below):
        return float("inf")
    k = int(below[0])
    left, right = run.values[k - 1], run.values[k]
    along = (left - goal) / (left - right)
    return float(run.iterations[k - 1] + along * (run.iterations[k] - run.iterations[k - 1]))


def decide_descents(claim: Claim, pairs: pd.DataFrame) -> Verdict:
    """S4 from the pairs of each setting."""
    grouped = pairs.groupby("setting", sort=False)
    behind, steps = grouped["behind"].mean(), grouped["steps"].median()
    slower = (behind >= claim.limit("share")) & (steps >= claim.limit("slower"))
    finding = by_share(int(slower.sum()), len(slower))
    shown = "; ".join(
        f"{name}: behind in {percent(behind[name])} of pairs, {steps[name]:.3f} times" for name in behind.index
    )
    return Verdict(
        claim,
        finding,
        f"{len(pairs)} pairs of descents; steps needed for half of the other's progress: {shown}.",
        f"Slower in {int(slower.sum())} of {len(slower)} settings"
        + ("." if slower.all() else f"; not in {', '.join(slower.index[~slower])}.")
        + " Whether the variance is the reason is another question: the bias of the one-sample estimator, too, changes "
        "how far a step goes.",
        {
            "settings": len(slower),
            "slower": int(slower.sum()),
            **{f"behind, {name}": float(value) for name, value in behind.items()},
            **{f"steps, {name}": float(value) for name, value in steps.items()},
        },
    )
