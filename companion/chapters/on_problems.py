"""The parameters that the chapters beyond the paper share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..experiments.config import Experiment
from ..experiments.paper import SEED
from ..experiments.problems import PROBLEMS, M, Problem, descent_by, tried
from ..settings import Settings, setting

ALL = tuple(PROBLEMS)
#: The problems of which repetitions are computed again in every build; these take a second or two.
QUICK = ("bigaussian-16", "abalone", "breast-cancer")
#: Parameters with which everything is computed in a few seconds.
SMOKE: dict[str, Any] = {"problems": QUICK[::2], "N": 100, "n": 5, "m": 2, "iterations": 10, "recompute": 0}


@dataclass(frozen=True)
class OnProblems(Settings):
    """Parameters of a chapter on the eight problems; the defaults are those of the stored results."""

    problems: tuple[str, ...] = setting(ALL, choices=ALL, meaning="the problems: data, kernel and number of landmarks")
    N: int = setting(20_000, at_least=100, meaning="largest number of points of each data set")
    n: int = setting(200, at_least=1, meaning="largest number of landmarks")
    m: int = setting(M, at_least=1, at_most=1000, meaning="repetitions of each experiment")
    iterations: int | None = setting(None, at_least=1, meaning="steps of a descent; null for the library's default")
    seed: int = setting(SEED, at_least=0, meaning="seed of the samples and of the batches")
    recompute: int = setting(1, at_least=0, meaning="stored repetitions to compute again, of some experiments")

    def posed(self) -> list[Problem]:
        """The problems."""
        return [PROBLEMS[name] for name in self.problems]

    def tried(self, problem: Problem, by: str, method: str) -> Experiment:
        """An experiment: a start, and a descent from there."""
        return tried(
            problem, by, descent_by(method, None if method == "none" else self.iterations), m=self.m,
            most=self.most(problem), n=self.landmarks(problem), seed=self.seed,
        )  # fmt: skip

    def most(self, problem: Problem) -> int | None:
        """The number of points of a problem that are used, or None for all."""
        return None if self.N >= problem.N else self.N

    def landmarks(self, problem: Problem) -> int:
        """The number of landmarks on a problem."""
        return min(self.n, problem.n)

    def again(self, ways: tuple[str, ...]) -> set[tuple[str, str]]:
        """The experiments, by problem and way, of which repetitions are computed again."""
        return {(problem, way) for problem in QUICK for way in ways}
