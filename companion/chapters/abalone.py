"""Chapter 6, §4.2: the Abalone data, Figure 3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from nystrom_lib import Gaussian

from ..experiments.components import Abalone, DataSource, part_of
from ..experiments.config import Experiment
from ..experiments.paper import PAPER, SEED, value, values
from ..figures import boxplots, style
from ..results.table import Results
from ..settings import Settings, setting
from ..wording import FACTORS, percent
from .base import Chapter

#: The number of observations without the two outliers.
ALL = 4_175
#: The columns of the results that the chapter shows.
CRITERIA = ("R", *FACTORS.values())


@dataclass(frozen=True)
class AbaloneParameters(Settings):
    """The parameters of chapter 6; the defaults are the paper's values."""

    N: int = setting(ALL, at_least=2, at_most=ALL, meaning="number of observations; fewer are drawn at random")
    attributes: tuple[str, ...] = setting(
        values(3, "data.attributes"),
        choices=("sex", "rings"),
        meaning="the eighth attribute; the first one named is the paper's Figure 3",
    )
    rho: tuple[float, ...] = setting(values(3, "kernel.rho"), above=0, meaning="kernel parameters ρ")
    n: int = setting(value(3, "n"), at_least=1, meaning="number of landmark points")
    step: float = setting(value(3, "descent.step"), above=0, meaning="step γ of the stochastic gradient descent")
    iterations: int = setting(value(3, "descent.iterations"), at_least=1, at_most=10**6, meaning="number of steps T")
    batch_size: int = setting(value(3, "descent.batch_size"), at_least=1, meaning="batch size b")
    m: int = setting(values(3, "m")[0], at_least=1, at_most=10**6, meaning="repetitions for each ρ")
    m_variant: int = setting(
        values(3, "m")[1], at_least=1, at_most=10**6, meaning="the same for the second reading of the attributes"
    )
    seed: int = setting(SEED, at_least=0, meaning="seed of the initial samples and of the batches")
    recompute: int = setting(1, at_least=0, meaning="stored repetitions to compute again, of each experiment")

    def data(self, attributes: str) -> DataSource:
        """D, with the eighth attribute named."""
        return part_of(Abalone(attributes=attributes), self.N, ALL)

    def repetitions(self, rho: float, attributes: str) -> Experiment:
        """One row of Figure 3, or of its variant."""
        paper = PAPER["figure-3-rho1"]
        return paper.replace(
            data=self.data(attributes),
            kernel=Gaussian(rho=rho),
            n=self.n,
            descent=paper.descent.replace(step=self.step, iterations=self.iterations, batch_size=self.batch_size),
            m=self.m if attributes == self.attributes[0] else self.m_variant,
            seed=self.seed,
        )

    def experiments(self) -> list[Experiment]:
        """The experiments of the chapter."""
        return [self.repetitions(rho, attributes) for attributes in self.attributes for rho in self.rho]


CHAPTER = Chapter(
    name="abalone",
    number=6,
    title="The Abalone data",
    section="paper §4.2",
    parameters=AbaloneParameters,
    profiles={
        "quick": {"m": 10, "m_variant": 5, "recompute": 0},
        # A gradient is about as large as N², so fewer points want a longer step.
        "smoke": {
            "N": 400,
            "n": 10,
            "step": 8e-5,
            "iterations": 300,
            "m": 4,
            "m_variant": 3,
        },
    },
)


# -- many descents ---------------------------------------------------------------------------------------------


@style.drawn
def figure_3(results: Mapping[tuple[str, float], Results], attribute: str) -> Figure:
    """The criteria before and after the descent, a row for each ρ."""
    rows = {rf"$\rho$ = {rho:g}": found.table for (each, rho), found in results.items() if each == attribute}
    return boxplots.before_and_after(rows, CRITERIA, title=f"eighth attribute: {attribute}")


def named(results: Mapping[tuple[str, float], Results], *attributes: str) -> list[tuple[str, Results]]:
    """The results with the names of their rows in tables; those of some eighth attributes, or all."""
    chosen = attributes or {attribute for attribute, _ in results}
    return [(f"{each}, ρ = {rho:g}", found) for (each, rho), found in results.items() if each in chosen]


def best_possible(results: Mapping[tuple[str, float], Results], attribute: str) -> pd.DataFrame:
    """The trace error of the best matrix of rank n, and the share of the trace that this matrix has."""
    rows = []
    for (each, rho), found in results.items():
        if each == attribute:
            n, N, best = found.experiment.n, found.provenance["data"]["N"], found.constants["trace"]
            row = {"": f"ρ = {rho:g}", f"best trace error of rank {n}": best, "captured": percent(1.0 - best / N)}
            rows.append(row)
    return pd.DataFrame(rows)
