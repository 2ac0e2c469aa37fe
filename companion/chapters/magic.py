"""Chapter 7, §4.3: the MAGIC data, Figure 4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from nystrom_lib import Gaussian

from ..errors import ConfigurationError
from ..experiments.components import DataSource, Magic, part_of
from ..experiments.config import Experiment, Record
from ..experiments.paper import PAPER, SEED, value, values
from ..figures import boxplots, style
from ..results import summary
from ..results.table import Results
from ..settings import Settings, setting
from ..wording import WRITTEN, percent
from .base import Chapter

#: The number of observations without the 115 duplicates.
ALL = 18_905
#: The columns of the results that the chapter shows.
CRITERIA = ("R", "E_tr")


@dataclass(frozen=True)
class MagicParameters(Settings):
    """The parameters of chapter 7; the defaults are the paper's values."""

    N: int = setting(ALL, at_least=2, at_most=ALL, meaning="number of observations; fewer are drawn at random")
    rho: float = setting(value(4, "kernel.rho"), above=0, meaning="kernel parameter ρ")
    n: tuple[int, ...] = setting(values(4, "n"), at_least=1, meaning="numbers of landmark points")
    iterations: tuple[int, ...] = setting(
        values(4, "descent.iterations"),
        repeats=True,
        at_least=1,
        at_most=10**6,
        meaning="number of steps T for each n, or one for all",
    )
    step: float = setting(value(4, "descent.step"), above=0, meaning="step γ of the stochastic gradient descent")
    batch_size: int = setting(value(4, "descent.batch_size"), at_least=1, meaning="batch size b")
    m: int = setting(value(4, "m"), at_least=1, at_most=10**6, meaning="repetitions for each n")
    seed: int = setting(SEED, at_least=0, meaning="seed of the initial samples and of the batches")
    recompute: int = setting(2, at_least=0, meaning="stored repetitions to compute again, of each experiment")

    def check(self) -> None:
        """Refuse lists of different lengths."""
        if len(self.iterations) not in (1, len(self.n)):
            allowed = f"it must have one value, or as many as n, which is {list(self.n)}."
            raise ConfigurationError("iterations", f"is {list(self.iterations)}; {allowed}")

    def data(self) -> DataSource:
        """D."""
        return part_of(Magic(), self.N, ALL)

    def steps(self, n: int) -> int:
        """T."""
        return self.iterations[self.n.index(n) if len(self.iterations) > 1 else 0]

    def repetitions(self, n: int) -> Experiment:
        """The boxes of Figure 4 for one n; those of the last n come with the decay of their first repetition."""
        paper = PAPER["figure-4-n200"]
        return paper.replace(
            data=self.data(),
            kernel=Gaussian(rho=self.rho),
            n=n,
            descent=paper.descent.replace(step=self.step, iterations=self.steps(n), batch_size=self.batch_size),
            m=self.m,
            seed=self.seed,
            record=paper.record if n == self.n[-1] else Record(),
        )

    def experiments(self) -> list[Experiment]:
        """The experiments of the chapter."""
        return [self.repetitions(n) for n in self.n]


CHAPTER = Chapter(
    name="magic",
    number=7,
    title="The MAGIC data",
    section="paper §4.3",
    parameters=MagicParameters,
    profiles={
        # A gradient is about as large as N², so fewer points want a longer step.
        "quick": {"N": 4000, "step": 1e-6, "m": 10, "recompute": 0},
        "smoke": {
            "N": 500,
            "n": (10, 20),
            "iterations": (150, 200),
            "step": 6e-5,
            "m": 5,
        },
    },
)


# -- many descents ---------------------------------------------------------------------------------------------


@style.drawn
def figure_4(results: Mapping[int, Results]) -> Figure:
    """The criteria before and after the descent, and R along one descent with the last n."""
    n, last = list(results.items())[-1]
    rows = {f"$n$ = {each}": found.table for each, found in results.items()}
    return boxplots.with_decay(rows, CRITERIA, last.curves["iteration"], last.curves["R"], title=f"$n$ = {n}")


def named(results: Mapping[int, Results]) -> list[tuple[str, Results]]:
    """The results with the names of their rows in tables."""
    return [(f"n = {n}", found) for n, found in results.items()]


def trace_factors(results: Mapping[int, Results]) -> pd.DataFrame:
    """What is left of the trace factor's excess over 1, and how well the order of the samples is kept."""
    rows, E = [], WRITTEN["E_tr"]
    for n, found in results.items():
        change = summary.change(found, "E_tr")
        before, after = change.medians
        kept = summary.rank_correlation(change.before, change.after)
        rows.append(
            {
                "": f"n = {n}",
                f"left of the excess of {E} over 1": percent((after - 1.0) / (before - 1.0)),
                f"rank correlation of {E} before and after": f"{kept:.2f}",
            }
        )
    return pd.DataFrame(rows)


def second_half(results: Mapping[int, Results]) -> str:
    """The share of the decrease of R along the recorded descent that came in the second half of its steps."""
    R = list(results.values())[-1].curves["R"].to_numpy()
    return percent((R[len(R) // 2] - R[-1]) / (R[0] - R[-1]))
