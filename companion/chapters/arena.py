"""Chapter 10: the arena."""

from __future__ import annotations

from dataclasses import dataclass

from ..experiments.config import Experiment
from ..experiments.problems import CENTRES, TRIED_STARTS
from ..running.arena import BUDGETS
from .base import Chapter
from .on_problems import ALL, SMOKE, OnProblems, budgets_setting


@dataclass(frozen=True)
class Parameters(OnProblems):
    """What the chapter takes."""

    budgets: tuple[float, ...] = budgets_setting(BUDGETS)

    def experiments(self) -> dict[tuple[str, str], Experiment]:
        """Errors at fixed numbers of steps, by problem and way."""
        ways = {"trace": ("uniform", "trace"), "radial": ("uniform", "radial"), "weighted": ("uniform", "weighted")}
        ways |= {by: (by, "none") for by in CENTRES}
        # What a start gives is in the results of the descent from it.
        ways |= {by: (by, "trace") for by in TRIED_STARTS}
        return {
            (problem.name, way): self.tried(problem, *parts) for problem in self.posed() for way, parts in ways.items()
        }


CHAPTER = Chapter(
    name="arena",
    number=10,
    title="The arena",
    section="beyond the paper",
    parameters=Parameters,
    profiles={
        "quick": {"problems": ALL[1:2], "m": 3, "budgets": (0.1, 0.3, 1.0), "recompute": 0},
        "smoke": {**SMOKE, "budgets": (0.02, 0.05)},
    },
)
