"""Chapter 12: what landmarks are for."""

from __future__ import annotations

from dataclasses import dataclass

from ..experiments.config import Experiment
from ..experiments.paper import SEED
from ..experiments.problems import PROBLEMS, Problem
from ..settings import setting
from ..studies.models import FULL, Study
from .base import Chapter
from .lists import each_once
from .on_problems import ALL, SMOKE, OnProblems, problems_setting


@dataclass(frozen=True)
class Parameters(OnProblems):
    """What the chapter takes."""

    problems: tuple[str, ...] = problems_setting(ALL[:4])
    task_N: int = setting(FULL.N, at_least=40, meaning="at most so many points to learn from and to test on")
    task_n: tuple[int, ...] = setting(FULL.n, at_least=1, meaning="numbers of landmarks of the models")
    rho_abalone: float = setting(FULL.rho_rings, above=0, meaning="ρ of the models of Abalone's rings")
    rho_magic: float = setting(FULL.rho_class, above=0, meaning="ρ of the models of MAGIC's class")
    splits: int = setting(FULL.splits, at_least=1, at_most=100, meaning="ways to split points into training and test")
    design_n: tuple[int, ...] = setting((10, 20, 40), at_least=2, meaning="numbers of points of the designs")
    design_rho: float = setting(10.0, above=0, meaning="ρ of the process the designs are for")
    design_N: int = setting(2_000, at_least=50, meaning="points over which the variance is averaged")
    noise: float = setting(0.01, above=0, meaning="variance of the noise, where there is noise")
    seeds: int = setting(5, at_least=1, at_most=100, meaning="repetitions of each design")
    pca_n: int = setting(30, at_least=2, at_most=500, meaning="landmarks of the kernel principal components")
    pca_rho: float = setting(0.01, above=0, meaning="ρ of the kernel principal components")
    worth_seeds: int = setting(3, at_least=1, meaning="uniform samples of each size, for what a landmark is worth")
    seed: int = setting(SEED, at_least=0, meaning="seed of everything that is drawn")

    def check(self) -> None:
        """Refuse what no single parameter shows."""
        super().check()
        each_once("task_n", self.task_n)
        each_once("design_n", self.design_n)

    def optimised(self) -> dict[tuple[str, str], Experiment]:
        """The descents whose landmarks are weighed against uniform ones."""
        return {(each.name, "uniform-trace"): self.tried(each, "uniform", "trace") for each in self.posed()}

    def study(self) -> Study:
        """The models."""
        return Study(self.task_N, self.task_n, self.splits, self.rho_abalone, self.rho_magic, self.seed)

    def experiments(self) -> list[Experiment]:
        """All of them."""
        return list(self.optimised().values())

    def problem(self, name: str) -> Problem:
        """One of them."""
        return PROBLEMS[name]


CHAPTER = Chapter(
    name="designs",
    number=12,
    title="What landmarks are for",
    section="paper, Conclusion",
    parameters=Parameters,
    profiles={
        "quick": {
            "problems": ("bigaussian-16",),
            "task_N": 2_000,
            "task_n": (25, 50),
            "splits": 2,
            "seeds": 3,
            "recompute": 0,
        },
        "smoke": {
            **SMOKE,
            "problems": ("bigaussian-16",),
            "task_N": 120,
            "task_n": (5, 10),
            "splits": 1,
            "design_n": (6, 10),
            "design_N": 200,
            "seeds": 2,
            "pca_n": 8,
            "worth_seeds": 2,
        },
    },
)
