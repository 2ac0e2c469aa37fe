"""Chapter 5, §4.1: the bi-Gaussian example, Figures 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import nystrom_lib as nl

from ..experiments.components import BiGaussian
from ..experiments.config import Experiment
from ..experiments.outcome import Array
from ..experiments.paper import PAPER, SEED, value, values
from ..figures import boxplots, style, trajectories
from ..results.table import Results
from ..settings import Settings, setting
from ..wording import FACTORS, SYMBOLS, number
from .base import Chapter

#: The columns of the results that the chapter shows.
CRITERIA = ("R", *FACTORS.values())


# -- parameters ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BigaussianParameters(Settings):
    """The parameters of chapter 5; the defaults are the paper's values."""

    N: int = setting(value(2, "data.N"), at_least=2, at_most=20_000, meaning="number of data points")
    data_seed: int = setting(value(2, "data.seed"), at_least=0, meaning="seed of the data; 123 is the authors' draw")
    rho: tuple[float, ...] = setting(
        values(2, "kernel.rho"),
        above=0,
        meaning="kernel parameters ρ: 1 as printed, 16 as in the authors' notebook",
    )
    n: tuple[int, ...] = setting(
        values(2, "n"), at_least=1, meaning="numbers of landmark points in the paper's Figure 2"
    )
    step: float = setting(value(2, "descent.step"), above=0, meaning="step γ of the gradient descent")
    iterations: int = setting(
        value(2, "descent.iterations"), at_least=1, at_most=10**6, meaning="number of steps T in the paper's Figure 2"
    )
    m: int = setting(
        value(2, "m"), at_least=1, at_most=10**6, meaning="repetitions for each n and each ρ in the paper's Figure 2"
    )
    path_n: int = setting(
        value(1, "n"), at_least=1, at_most=500, meaning="number of landmark points in the paper's Figure 1"
    )
    path_iterations: int = setting(
        value(1, "descent.iterations"), at_least=1, at_most=10**6, meaning="number of steps T in the paper's Figure 1"
    )
    seed: int = setting(SEED, at_least=0, meaning="seed of the initial samples")
    recompute: int = setting(3, at_least=0, meaning="stored repetitions to compute again, of each experiment")

    def data(self) -> BiGaussian:
        """D."""
        return BiGaussian(N=self.N, seed=self.data_seed)

    def paths(self, rho: float) -> Experiment:
        """Figure 1."""
        paper = PAPER["figure-1"]
        return paper.replace(
            data=self.data(),
            kernel=nl.Gaussian(rho=rho),
            n=self.path_n,
            descent=paper.descent.replace(step=self.step, iterations=self.path_iterations),
            seed=self.seed,
        )

    def repetitions(self, rho: float, n: int) -> Experiment:
        """One row of Figure 2."""
        paper = PAPER["figure-2-n20"]
        return paper.replace(
            data=self.data(),
            kernel=nl.Gaussian(rho=rho),
            n=n,
            descent=paper.descent.replace(step=self.step, iterations=self.iterations),
            m=self.m,
            seed=self.seed,
        )

    def experiments(self) -> list[Experiment]:
        """The experiments of the chapter."""
        each = [self.repetitions(rho, n) for rho in self.rho for n in self.n]
        return [*map(self.paths, self.rho), *each]


CHAPTER = Chapter(
    name="bigaussian",
    number=5,
    title="The bi-Gaussian example",
    section="paper §4.1",
    parameters=BigaussianParameters,
    profiles={
        "quick": {"m": 50, "recompute": 0},
        # A gradient is about as large as N², so fewer points want a longer step.
        "smoke": {
            "N": 300,
            "n": (8, 16),
            "step": 4e-5,
            "iterations": 60,
            "m": 5,
            "path_n": 12,
            "path_iterations": 100,
        },
    },
)


# -- one descent for each ρ ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RecordedDescent:
    """A descent in the plane: the samples that were kept, R and the trace factor of Eq. (8) there."""

    rho: float
    data: Array
    iterations: Array
    path: Array
    R: Array
    E_tr: Array

    @property
    def title(self) -> str:
        """The title of its panel."""
        return rf"$\rho$ = {self.rho:g}, $n$ = {self.path.shape[1]}"


def recorded_descent(rho: float, results: Results, data: Array) -> RecordedDescent:
    """The first repetition of an experiment that kept its path, with the trace factor of each sample kept."""
    iterations, path = results.path(0)
    kernel, best = results.experiment.kernel, results.constants["trace"]
    factors = [nl.nystrom_errors(kernel, data, sample, "trace").trace / best for sample in path]
    R = results.curves.query("repetition == 0")["R"].to_numpy()
    return RecordedDescent(rho, data, np.asarray(iterations, dtype=float), path, R, np.array(factors))


@style.drawn
def figure_1(descent: RecordedDescent) -> Figure:
    """The paths of the landmark points, and how R falls."""
    figure, axes = style.subplots(1, 2, height=3.7, width_ratios=[1, 0.9])
    trajectories.paths(axes[0, 0], descent.data, descent.path)
    trajectories.decay(axes[0, 1], {"R": (descent.iterations, descent.R)})
    axes[0, 1].set_title(descent.title)
    return figure


@style.drawn
def figure_along(descents: Sequence[RecordedDescent]) -> Figure:
    """R and the trace factor along descents, each over its value at the start."""
    figure, axes = style.subplots(1, len(descents), height=3.2)
    for panel, descent in zip(axes[0], descents, strict=True):
        beside: Any = {"textcoords": "offset points", "ha": "right"}
        for name, along, colour, dash in (
            ("R", descent.R, style.OPTIMISED, style.DASHES[0]),
            ("E_tr", descent.E_tr, style.ACCENT, style.DASHES[1]),
        ):
            share = along / along[0]
            panel.plot(descent.iterations, share, color=colour, linestyle=dash)
            text = f"{SYMBOLS[name]}: {number(along[0])} → {number(along[-1])}"
            # above the curve for all its length
            panel.annotate(text, (descent.iterations[-1], share[len(share) // 2]), (0, 5), color=colour, **beside)
        best = 1.0 / descent.E_tr[0]
        panel.axhline(best, color=style.ACCENT, linewidth=0.9, linestyle=(0, (4, 2)), alpha=0.7)
        text = f"best possible {SYMBOLS['E_tr']}"
        panel.annotate(text, (descent.iterations[-1], best), (0, 4), color=style.ACCENT, **beside)
        panel.set_yscale("log")
        style.label(panel, "iteration $t$", "value over that at the start", descent.title)
    return figure


# -- the authors' notebook -------------------------------------------------------------------------------------

#: The error norms that the authors' notebook prints, trace, Frobenius and spectral.
PRINTED = {"before": ("560.243", "99.8438", "39.701"), "after 400 steps": ("302.91", "46.172", "17.0789")}


def beside_the_authors(ours: Mapping[str, Any]) -> pd.DataFrame:
    """Their numbers and ours, to the digits printed there; a difference raises an error."""
    rows = []
    for stage, theirs in PRINTED.items():
        row = {"": stage}
        for norm, printed in zip(("trace", "frobenius", "spectral"), theirs, strict=True):
            digits = len(printed.partition(".")[2])
            found = getattr(ours[stage], norm)
            if abs(found - float(printed)) > 0.5000001 * 10.0**-digits:
                raise ArithmeticError(f"The {norm} error {stage} is {found}; the authors' notebook prints {printed}.")
            name = norm.replace("frob", "Frob")
            row |= {f"{name}, theirs": printed, f"{name}, ours": f"{found:.{digits}f}"}
        rows.append(row)
    return pd.DataFrame(rows)


# -- many descents ---------------------------------------------------------------------------------------------


@style.drawn
def figure_2(results: Mapping[tuple[float, int], Results], rho: float) -> Figure:
    """The criteria before and after the descent, a row for each n."""
    rows = {f"$n$ = {n}": found.table for (each, n), found in results.items() if each == rho}
    return boxplots.before_and_after(rows, CRITERIA, title=rf"$\rho$ = {rho:g}")


def named(results: Mapping[tuple[float, int], Results]) -> list[tuple[str, Results]]:
    """The results with the names of their rows in tables."""
    return [(f"ρ = {rho:g}, n = {n}", found) for (rho, n), found in results.items()]
