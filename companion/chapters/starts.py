"""Chapter 11, Conclusion: better starts."""

from __future__ import annotations

from dataclasses import dataclass

from ..choices import STARTS
from ..experiments.config import Experiment
from ..experiments.problems import TRIED_STARTS
from ..settings import setting
from .base import Chapter
from .lists import each_once
from .on_problems import SMOKE, OnProblems


@dataclass(frozen=True)
class Parameters(OnProblems):
    """What the chapter takes."""

    starts: tuple[str, ...] = setting(TRIED_STARTS, choices=STARTS, meaning="the ways to choose S⁽⁰⁾")

    def check(self) -> None:
        """Refuse what no single parameter shows."""
        super().check()
        each_once("starts", self.starts)

    def experiments(self) -> dict[tuple[str, str], Experiment]:
        """A descent on the radial SKD and one on the trace error from every start, by problem and way."""
        return {
            (problem.name, f"{by}-{method}"): self.tried(problem, by, method)
            for problem in self.posed()
            for by in self.starts
            for method in ("radial", "trace")
        }


CHAPTER = Chapter(
    name="starts",
    number=11,
    title="Better starts",
    section="paper, Conclusion",
    parameters=Parameters,
    profiles={
        "quick": {"problems": ("bigaussian-16", "breast-cancer"), "m": 5, "recompute": 0},
        "smoke": {**SMOKE, "starts": ("uniform", "kmeans++", "rpcholesky")},
    },
)
