"""Chapter 5, §4.1: the bi-Gaussian example, Figures 1 and 2."""

from __future__ import annotations

from dataclasses import dataclass

from ..experiments.components import BiGaussian
from ..experiments.config import Experiment
from ..experiments.paper import PAPER, SEED, value, values
from ..settings import Settings, setting
from .base import Chapter
from .lists import each_once


@dataclass(frozen=True)
class Parameters(Settings):
    """What the chapter takes; the defaults are the paper's values."""

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
    path_every: int = setting(
        value(1, "record.every"), at_least=1, meaning="the paths of the paper's Figure 1 are kept every so many steps"
    )
    seed: int = setting(SEED, at_least=0, meaning="seed of the initial samples")
    recompute: int = setting(3, at_least=0, meaning="stored repetitions to compute again, of each experiment")

    def check(self) -> None:
        """Refuse what no single parameter shows."""
        each_once("rho", self.rho)
        each_once("n", self.n)

    def data(self) -> BiGaussian:
        """D."""
        return BiGaussian(N=self.N, seed=self.data_seed)

    def paths(self, rho: float) -> Experiment:
        """Figure 1."""
        paper = PAPER["figure-1"]
        return paper.replace(
            data=self.data(),
            kernel=paper.kernel.replace(rho=rho),
            n=self.path_n,
            descent=paper.descent.replace(step=self.step, iterations=self.path_iterations),
            seed=self.seed,
            record=paper.record.replace(every=self.path_every),
        )

    def repetitions(self, rho: float, n: int) -> Experiment:
        """One row of Figure 2."""
        paper = PAPER["figure-2-n20"]
        return paper.replace(
            data=self.data(),
            kernel=paper.kernel.replace(rho=rho),
            n=n,
            descent=paper.descent.replace(step=self.step, iterations=self.iterations),
            m=self.m,
            seed=self.seed,
        )

    def experiments(self) -> list[Experiment]:
        """All of them."""
        each = [self.repetitions(rho, n) for rho in self.rho for n in self.n]
        return [*map(self.paths, self.rho), *each]


CHAPTER = Chapter(
    name="bigaussian",
    number=5,
    title="The bi-Gaussian example",
    section="paper §4.1",
    parameters=Parameters,
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
            "recompute": 0,
        },
    },
)
