"""Chapter 7, §4.3: the MAGIC data, Figure 4."""

from __future__ import annotations

from dataclasses import dataclass

from nystrom_lib import Gaussian

from ..experiments.components import DataSource, Magic, part_of
from ..experiments.config import Experiment, Record
from ..experiments.paper import PAPER, SEED, value, values
from ..settings import Settings, setting
from .base import Chapter
from .lists import each_once, one_or_as_many

#: The number of observations without the 115 duplicates.
ALL = 18_905


@dataclass(frozen=True)
class Parameters(Settings):
    """What the chapter takes; the defaults are the paper's values."""

    N: int = setting(ALL, at_least=2, at_most=ALL, meaning="number of observations; fewer are drawn at random")
    rho: float = setting(value(4, "kernel.rho"), above=0, meaning="kernel parameter ρ")
    n: tuple[int, ...] = setting(values(4, "n"), at_least=1, meaning="numbers of landmark points")
    iterations: tuple[int, ...] = setting(
        values(4, "descent.iterations"),
        at_least=1,
        at_most=10**6,
        meaning="number of steps T for each n, or one for all",
    )
    step: float = setting(value(4, "descent.step"), above=0, meaning="step γ of the stochastic gradient descent")
    batch_size: int = setting(value(4, "descent.batch_size"), at_least=1, meaning="batch size b")
    m: int = setting(value(4, "m"), at_least=1, at_most=10**6, meaning="repetitions for each n")
    every: int = setting(
        values(4, "record.every")[-1],
        at_least=1,
        meaning="the decay for the last n is recorded every so many steps",
    )
    seed: int = setting(SEED, at_least=0, meaning="seed of the initial samples and of the batches")
    recompute: int = setting(2, at_least=0, meaning="stored repetitions to compute again, of each experiment")

    def check(self) -> None:
        """Refuse what no single parameter shows."""
        each_once("n", self.n)
        one_or_as_many("iterations", self.iterations, "n", self.n)

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
            record=paper.record.replace(every=self.every) if n == self.n[-1] else Record(),
        )

    def experiments(self) -> list[Experiment]:
        """All of them."""
        return [self.repetitions(n) for n in self.n]


CHAPTER = Chapter(
    name="magic",
    number=7,
    title="The MAGIC data",
    section="paper §4.3",
    parameters=Parameters,
    profiles={
        # A gradient is about as large as N², so fewer points want a longer step.
        "quick": {"N": 4000, "step": 1e-6, "m": 10, "recompute": 0},
        "smoke": {
            "N": 500,
            "n": (10, 20),
            "iterations": (150, 200),
            "step": 6e-5,
            "m": 5,
            "every": 10,
            "recompute": 0,
        },
    },
)
