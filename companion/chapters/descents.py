"""Chapter 14, Conclusion: faster descents."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ConfigurationError
from ..experiments.config import Experiment
from ..experiments.paper import SEED
from ..experiments.problems import EVERY, EXACT, PROBLEMS, STEPS, M, Problem, exact, rules
from ..settings import Settings, setting
from .base import Chapter
from .lists import each_once

RULES = tuple(rules(PROBLEMS[EXACT[0]]))


@dataclass(frozen=True)
class Parameters(Settings):
    """What the chapter takes; the defaults are those of the stored results."""

    problems: tuple[str, ...] = setting(EXACT, choices=EXACT, meaning="the problems, all with exact gradients")
    rules: tuple[str, ...] = setting(RULES, choices=RULES, meaning="the step rules; the first is the measure")
    N: int = setting(20_000, at_least=100, meaning="at most so many points of each data set")
    steps: int = setting(STEPS, at_least=10, at_most=10**6, meaning="number of steps T")
    every: int = setting(EVERY, at_least=1, meaning="R is looked at every so many steps")
    m: int = setting(M, at_least=1, at_most=1000, meaning="repetitions of each experiment")
    seed: int = setting(SEED, at_least=0, meaning="seed of the samples")
    recompute: int = setting(1, at_least=0, meaning="stored repetitions to compute again, of some experiments")

    def check(self) -> None:
        """Refuse what no single parameter shows."""
        each_once("problems", self.problems)
        each_once("rules", self.rules)
        if self.every > self.steps:
            raise ConfigurationError("every", f"is {self.every}; it must be at most steps = {self.steps}.")

    def posed(self) -> list[Problem]:
        """The problems."""
        return [PROBLEMS[name] for name in self.problems]

    def experiments(self) -> dict[tuple[str, str], Experiment]:
        """Every rule on every problem, from the same samples."""
        return {
            (problem.name, rule): exact(
                problem, rules(problem)[rule], steps=self.steps, every=self.every, m=self.m,
                most=None if self.N >= problem.N else self.N, seed=self.seed,
            )
            for problem in self.posed()
            for rule in self.rules
        }  # fmt: skip

    def again(self) -> set[tuple[str, str]]:
        """Of these, repetitions are computed again: every rule on one problem, one rule on every problem."""
        one, first = self.problems[0], self.rules[0]
        return {(name, rule) for name, rule in self.experiments() if name == one or rule == first}


CHAPTER = Chapter(
    name="descents",
    number=14,
    title="Faster descents",
    section="paper, Conclusion",
    parameters=Parameters,
    profiles={
        "quick": {"problems": EXACT[:2], "m": 3, "recompute": 0},
        "smoke": {"problems": EXACT[1:2], "N": 100, "steps": 20, "every": 5, "m": 2, "recompute": 0},
    },
)
