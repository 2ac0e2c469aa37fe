"""Chapter 8, §4.4: real rows of MiniBooNE, Figure 5 or a stand-in of its size, and the timings.

The file with all data is named in the environment variable NYSTROM_MINIBOONE, or fetched beforehand. The study of real
rows is :mod:`companion.studies.real_rows`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import nystrom_lib as nl
from nystrom_lib.datasets import Dataset

from ..experiments.components import DataSource, MiniBooNE, part_of
from ..experiments.config import Experiment
from ..experiments.outcome import STAGES
from ..experiments.paper import PAPER, SEED, value
from ..figures import style, trajectories
from ..results.table import Results
from ..settings import Settings, setting
from ..studies import real_rows
from ..wording import WITH_SAMPLE, number, percent
from .base import Chapter

#: The number of observations without the 471 incomplete ones and the outlier; the stand-in has as many.
ALL = 129_592


# -- parameters ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MiniBooNEParameters(Settings):
    """The parameters of chapter 8; the defaults are the paper's values."""

    N: int = setting(ALL, at_least=2, at_most=ALL, meaning="number of observations; fewer are drawn at random")
    stand_in: str = setting(
        value(5, "data.stand_in"),
        choices=("auto", "never", "always"),
        meaning="artificial data in place of MiniBooNE: where it is absent, never, or always",
    )
    rho: float = setting(value(5, "kernel.rho"), above=0, meaning="kernel parameter ρ")
    n: int = setting(value(5, "n"), at_least=1, at_most=20_000, meaning="number of landmark points")
    step: float = setting(value(5, "descent.step"), above=0, meaning="step γ of the stochastic gradient descent")
    iterations: int = setting(value(5, "descent.iterations"), at_least=1, at_most=10**6, meaning="number of steps T")
    batch_size: int = setting(value(5, "descent.batch_size"), at_least=1, meaning="batch size b")
    every: int = setting(value(5, "record.every"), at_least=1, meaning="steps between two evaluations of R")
    seed: int = setting(SEED, at_least=0, meaning="seed of the initial sample and of the batches")

    def data(self) -> DataSource:
        """D."""
        return part_of(MiniBooNE(stand_in=self.stand_in), self.N, ALL)

    def descent(self) -> Experiment:
        """Figure 5, and the trace norms before and after it."""
        paper = PAPER["figure-5"]
        return paper.replace(
            data=self.data(),
            kernel=nl.Gaussian(rho=self.rho),
            n=self.n,
            descent=paper.descent.replace(step=self.step, iterations=self.iterations, batch_size=self.batch_size),
            seed=self.seed,
            record=paper.record.replace(every=self.every),
        )

    def experiments(self) -> list[Experiment]:
        """The experiment of the chapter."""
        return [self.descent()]


CHAPTER = Chapter(
    name="miniboone",
    number=8,
    title="The MiniBooNE data",
    section="paper §4.4",
    parameters=MiniBooNEParameters,
    profiles={
        # A gradient is about as large as N², so fewer points need a longer step.
        "quick": {"N": 20_000, "n": 200, "step": 8e-6, "iterations": 1000},
        "smoke": {"N": 2000, "n": 30, "step": 2e-4, "iterations": 200, "every": 10},
    },
)


# -- real rows -------------------------------------------------------------------------------------------------


@style.drawn
def figure_rows(stored: Mapping[str, Any]) -> Figure:
    """R along the first descent, and the error on unseen rows before and after each."""
    figure, axes = style.subplots(1, 2, height=3.0)
    trajectories.decay(axes[0, 0], {name: (curve["iteration"], curve["R"]) for name, curve in stored["curves"].items()})
    colours = dict(zip(stored["curves"], style.CYCLE, strict=False))
    for row in stored["rows"]:
        axes[0, 1].plot(
            ["before", "after"], [row["test before"], row["test after"]], marker="o", color=colours[row["data"]],
            linestyle=style.DASHES[list(colours).index(row["data"])],
        )  # fmt: skip
    style.label(axes[0, 1], y=r"mean of $K-\hat{K}$ on test rows")
    return figure


def rows_table(stored: Mapping[str, Any]) -> pd.DataFrame:
    """Medians over the splits before and after the descent: a row for each criterion, a column for each data set."""
    medians = real_rows.medians(stored).map(number)
    columns = {name: [f"{row[f'{each} before']} → {row[f'{each} after']}" for each in real_rows.CRITERIA]
               for name, row in medians.iterrows()}  # fmt: skip
    return pd.DataFrame({"median before → after": list(real_rows.CRITERIA.values()), **columns})


def norms_table(stored: Mapping[str, Any]) -> pd.DataFrame:
    """The estimates of ‖K‖²_F/N² from samples, and how many intervals contain the value of the whole set."""
    norms, same, exact = stored["stand_in_norms"], stored["same_scales"]["norms"], stored["stand_in_norm"]
    rows = [(real_rows.REAL, stored["norm"], np.nan, ""), (real_rows.STAND_IN, norms[0], exact, norms),
            ("stand-in, with the scales of all rows", same[0], exact, same)]  # fmt: skip
    columns = ["sample of", "estimate", "95 % interval", "all rows", "intervals that contain it"]
    shown = [
        (name, number(one["estimate"]), f"{number(one['low'])} to {number(one['high'])}", whole,
         draws and f"{percent(real_rows.covered(stored, draws))} of {len(draws)}")
        for name, one, whole, draws in rows
    ]  # fmt: skip
    return pd.DataFrame(shown, columns=columns)


def origin(stored: Mapping[str, Any]) -> tuple[str, str, str]:
    """The line on the real rows at the foot of the page."""
    about, source = stored["about"], stored["data"][real_rows.REAL]["source"]
    where = f"computed on {about['started'][:10]}, {about['cpu']}, commit {about['commit'][:10]}"
    return f"Real rows: {source[:45]}…", f"{real_rows.SPLITS} splits stored, {where}", "not recomputed: not included"


# -- Figure 5 --------------------------------------------------------------------------------------------------


def title(data: Dataset, n: int) -> str:
    """What Figure 5 shows: the data, or a stand-in of their size."""
    return f"{'A stand-in of the size of MiniBooNE' if data.stand_in else data.name}, n = {n:,}"


@style.drawn
def figure_5(results: Results, name: str) -> Figure:
    """R along the descent."""
    figure, axes = style.subplots(height=3.0)
    curve = results.curves
    trajectories.decay(axes[0, 0], {"R": (curve["iteration"], curve["R"])})
    axes[0, 0].set_title(name)
    return figure


def before_and_after(results: Results, data: Dataset) -> pd.DataFrame:
    """R and the trace norm at both ends of the descent."""
    table = results.table.set_index("stage").loc[list(STAGES)]
    rows = [
        (WITH_SAMPLE["R"], *map(number, table["R"])),
        (WITH_SAMPLE["trace"], *(f"{each:,.0f}" for each in table["trace"])),
        ("part of the trace of $\\mathbf K$", *(percent(each / data.N) for each in table["trace"])),
    ]
    return pd.DataFrame(rows, columns=["criterion", "before", "after"])
