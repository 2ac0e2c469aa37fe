"""Chapter 8, §4.4: the MiniBooNE data or their stand-in, Figure 5 and the timings.

The file with the data is named in the environment variable NYSTROM_MINIBOONE, or fetched beforehand.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from nystrom_lib import Gaussian
from nystrom_lib.datasets import Dataset

from ..experiments.components import DataSource, MiniBooNE, part_of
from ..experiments.config import Experiment
from ..experiments.paper import PAPER, SEED, value
from ..settings import Settings, setting
from .base import Chapter

#: The number of observations without the 471 incomplete ones and the outlier; the stand-in has as many.
ALL = 129_592


@dataclass(frozen=True)
class Parameters(Settings):
    """What the chapter takes; the defaults are the paper's values."""

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
    every: int = setting(value(5, "record.every"), at_least=1, meaning="R is evaluated every so many steps")
    seed: int = setting(SEED, at_least=0, meaning="seed of the initial sample and of the batches")
    recompute: int = setting(100, at_least=0, meaning="how many of the first steps to compute again")
    timed_steps: int = setting(
        200, at_least=1, meaning="steps to time in this run, from which the time of all T is scaled"
    )

    def data(self) -> DataSource:
        """D."""
        return part_of(MiniBooNE(stand_in=self.stand_in), self.N, ALL)

    def load(self) -> Dataset:
        """The points of D, or of the stand-in.

        In a kernel without widgets, what looks for the cache folder makes tqdm warn that it cannot draw its bar.
        """
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="IProgress not found")
            return self.data().load(self.seed)

    def descent(self) -> Experiment:
        """Figure 5, and the trace norms."""
        paper = PAPER["figure-5"]
        return paper.replace(
            data=self.data(),
            kernel=Gaussian(rho=self.rho),
            n=self.n,
            descent=paper.descent.replace(step=self.step, iterations=self.iterations, batch_size=self.batch_size),
            seed=self.seed,
            record=paper.record.replace(every=self.every),
        )

    def experiments(self) -> list[Experiment]:
        """The one."""
        return [self.descent()]


CHAPTER = Chapter(
    name="miniboone",
    number=8,
    title="The MiniBooNE data",
    section="paper §4.4",
    parameters=Parameters,
    profiles={
        # A gradient is about as large as N², so fewer points want a longer step.
        "quick": {"N": 20_000, "n": 200, "step": 8e-6, "iterations": 1000, "recompute": 0},
        "smoke": {
            "N": 2000,
            "n": 30,
            "step": 2e-4,
            "iterations": 200,
            "every": 10,
            "recompute": 50,
            "timed_steps": 50,
        },
    },
)
