"""S1–S4: stochastic gradients, exactly on small problems and by seeded draws at the paper's settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

import nystrom_lib as nl

from ..chapters import stochastic_gradients as estimators
from ..experiments.components import StochasticGradientDescent
from ..experiments.outcome import Array
from ..experiments.paper import PAPER, SEED
from ..experiments.protocol import load_data
from ..experiments.seeds import Axis, seed_for
from ..results.archive import Archive
from .base import Case, later_rows
from .landmarks import initial_sample
from .theory import Problem

#: Draws for an estimated variance: its relative error is about √(2/400), or 7 %.
_DRAWS = 400
KINDS = ("one-sample", "two-sample")


def small_problems() -> Iterator[Problem]:
    """Ten problems so small that all batches can be enumerated."""
    for place in range(10):
        rng = np.random.default_rng([SEED, 3, place])
        d, n = 1 + place % 3, 2 + place % 2
        kernel = nl.Matern(2.5) if place % 5 == 4 else nl.Gaussian(rho=float(rng.uniform(0.3, 2.0)))
        yield Problem(kernel, rng.standard_normal((6, d)), rng.standard_normal((n, d)))


def one_sample_bias(archive: Archive) -> Iterator[Case]:
    """S1: the relative bias over all batches of two points."""
    return _biases("one-sample", 2)


def two_sample_bias(archive: Archive) -> Iterator[Case]:
    """S2: the same with b = b_X + b_Y = 1 + 1 and 2 + 1."""
    return _biases("two-sample", 2, 3)


def _biases(kind: str, *sizes: int) -> Iterator[Case]:
    for place, problem in enumerate(small_problems(), start=1):
        terms = estimators.terms(*problem)
        for b in sizes:
            bias = estimators.relative_bias(terms, estimators.every_batch(terms, b, kind))
            yield Case(f"problem {place}, b = {b}", {"bias": float(bias)})


@dataclass(frozen=True)
class Setting:
    """Where the two estimators are compared: n, b and γ as in the paper, T cut short."""

    label: str
    experiment: str
    batch_size: int
    step: float
    iterations: int

    def load(self) -> tuple[nl.Kernel, Array]:
        """Kernel and data."""
        experiment = PAPER[self.experiment]
        return experiment.kernel, np.asarray(load_data(experiment).X)


def settings() -> list[Setting]:
    """The three Abalone settings, MAGIC with n = 100, and the SGD of the authors' notebook."""
    settings = []
    for label, name, iterations in (
        ("Abalone ρ = 0.25", "figure-3-rho0.25", 2000),
        ("Abalone ρ = 1", "figure-3-rho1", 2000),
        ("Abalone ρ = 4", "figure-3-rho4", 2000),
        ("MAGIC", "figure-4-n100", 1000),
    ):
        descent = PAPER[name].descent
        assert isinstance(descent, StochasticGradientDescent)
        settings.append(Setting(label, name, descent.batch_size, descent.step, iterations))
    return [*settings, Setting("bi-Gaussian ρ = 16", "figure-1-rho16", 50, 2e-7, 1200)]


def descend(setting: Setting, kernel: nl.Kernel, data: Array, sample: Array, j: int, estimator: str) -> nl.Descent:
    """The paper's stochastic descent with one of the estimators."""
    return nl.stochastic_gradient_descent(
        kernel,
        data,
        sample,
        step=setting.step,
        iterations=setting.iterations,
        batch_size=setting.batch_size,
        seed=seed_for(SEED, Axis.BATCHES, j),
        record_every=setting.iterations // 20,
        estimator=estimator,
    )


def variances(archive: Archive) -> Iterator[Case]:
    """S3: the two-sample variance over the one-sample variance."""
    for place, problem in enumerate(small_problems(), start=1):
        terms = estimators.terms(*problem)
        one, two = (estimators.total_variance(estimators.every_batch(terms, 2, kind)) for kind in KINDS)
        yield Case(f"small problem {place}, b = 2", {"ratio": two / one})
    for setting in settings():
        kernel, data = setting.load()
        first = initial_sample(setting.experiment, 0)
        last = descend(setting, kernel, data, first, 0, "one-sample").sample
        for stage, sample in (("initial sample", first), (f"after {setting.iterations:,} steps", last)):
            ratio = variance_ratio(Problem(kernel, data, sample), setting.batch_size)
            yield Case(f"{setting.label}, {stage}", {"ratio": ratio})


def variance_ratio(problem: Problem, b: int) -> float:
    """Total variance of the two-sample estimator over that of the one-sample estimator, on the same batches."""
    rng = np.random.default_rng([SEED, 4])
    batches = np.array([rng.integers(0, len(problem.data), size=b) for _ in range(_DRAWS)])
    terms = estimators.terms(*problem)
    one, two = (estimators.total_variance(estimators.estimates(terms, batches, kind)) for kind in KINDS)
    return two / one


def descents(archive: Archive) -> Iterator[Case]:
    """S4: how often the two-sample descent is behind the one-sample descent, and how many times the steps it needs."""
    return _by_setting(later_rows(archive, "S4"), "behind", "steps")


def descents_and_exact(archive: Archive) -> Iterator[Case]:
    """S4's check: the same against the descent with the exact gradient; the one-sample descent is shown."""
    rows = later_rows(archive, "S4")
    yield from _by_setting(rows, "two-sample behind", "two-sample steps")
    for case in _by_setting(rows, "one-sample behind", "one-sample steps"):
        yield Case(f"{case.name}, one-sample", case.values, counts=False)


def _by_setting(rows: pd.DataFrame, behind: str, steps: str) -> Iterator[Case]:
    for name, group in rows.groupby("setting", sort=False):
        yield Case(str(name), {"share": float(group[behind].mean()), "slower": float(group[steps].median())})
