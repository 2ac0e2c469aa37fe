"""Chapter 9, §1.2 and Remark 1.2: what to descend on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ..experiments.config import Experiment
from ..experiments.problems import TRIED_STARTS
from ..settings import setting
from ..studies import converged
from .base import Chapter
from .on_problems import ALL, SMOKE, OnProblems, budgets_setting


@dataclass(frozen=True)
class Parameters(OnProblems):
    """What the chapter takes."""

    shown: str = setting("bigaussian-16", choices=ALL[:2], meaning="the problem of the picture")
    budgets: tuple[float, ...] = budgets_setting((1.0, 10.0))

    def experiments(self) -> dict[tuple[str, str], Experiment]:
        """The three objectives from uniform samples, and the radial SKD from every other start."""
        ways = [("uniform", method) for method in ("radial", "weighted", "trace")]
        ways += [(by, "radial") for by in TRIED_STARTS if by != "uniform"]
        return {
            (problem.name, f"{by}-{method}"): self.tried(problem, by, method)
            for problem in self.posed()
            for by, method in ways
        }

    def converged(self, results: Path) -> tuple[pd.DataFrame, str]:
        """Descents with one start and one optimiser, and where they come from: stored, or computed now."""
        stored, usual = results / converged.FILE, OnProblems()
        if all(getattr(self, name) == getattr(usual, name) for name in ("N", "n", "seed")) and stored.is_file():
            table, about = converged.load(stored)
            return table[table["problem"].isin(self.problems)], f"computed on {about['date']} on an {about['cpu']}"
        steps = self.iterations or converged.MOST
        found = converged.rows(self.problems, 1, most=self.N, n=self.n, steps=steps)
        return pd.DataFrame(found), "computed in this run"


CHAPTER = Chapter(
    name="objectives",
    number=9,
    title="What to descend on",
    section="paper §1.2, Remark 1.2",
    parameters=Parameters,
    profiles={
        "quick": {"problems": ("bigaussian-16", "breast-cancer"), "m": 5, "budgets": (0.1, 0.3), "recompute": 0},
        "smoke": {**SMOKE, "budgets": (0.02, 0.05)},
    },
)
