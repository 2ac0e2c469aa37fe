"""Chapter 13: the arena."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ..experiments.config import Experiment
from ..experiments.problems import CENTRES, TRIED_STARTS
from ..running.arena import BUDGETS, best_errors, hold, load, trials
from ..settings import setting
from .base import Chapter
from .on_problems import ALL, SMOKE, OnProblems

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Parameters(OnProblems):
    """What the chapter takes."""

    budgets: tuple[float, ...] = setting(BUDGETS, above=0, meaning="seconds a descent is given")

    def experiments(self) -> dict[tuple[str, str], Experiment]:
        """Errors at fixed numbers of steps, by problem and way."""
        ways = {"trace": ("uniform", "trace"), "radial": ("uniform", "radial"), "weighted": ("uniform", "weighted")}
        ways |= {by: (by, "none") for by in CENTRES}
        # What a start gives is in the results of the descent from it.
        ways |= {by: (by, "trace") for by in TRIED_STARTS}
        return {
            (problem.name, way): self.tried(problem, *parts) for problem in self.posed() for way, parts in ways.items()
        }

    def timed(self, results: Path) -> tuple[pd.DataFrame, str]:
        """The trials against the clock and where they come from: stored, or held now if anything else is asked."""
        stored = results / "beyond" / "arena.json"
        if self == Parameters(recompute=self.recompute) and stored.is_file():
            table, machine = load(stored)
            return table, _machine(machine)
        most = self.N if self.N < 20_000 else None
        chosen = list(trials(self.problems, dict.fromkeys(self.budgets, self.m), self.m))
        with TemporaryDirectory() as folder:
            table = hold(chosen, best_errors(self.problems, most), Path(folder) / "log.jsonl", most=most)
        return table, "held in this run"


def _machine(machine: dict[str, Any]) -> str:
    pairs, packages = machine["threads"], machine["packages"]
    others = "".join(f", {name} {version}" for name, version in machine.get("others", {}).items())
    return (
        f"measured on {machine['started'][:10]} on an {machine['cpu']} with {machine['cores']} cores, "
        f"{pairs['trials']} trials at a time with {pairs['each']} thread each; nystrom_lib {machine['library']}, "
        f"scikit-learn {packages['scikit-learn']}{others}, numpy {packages['numpy']}"
    )


CHAPTER = Chapter(
    name="arena",
    number=13,
    title="The arena",
    section="beyond the paper",
    parameters=Parameters,
    needs=("sklearn",),
    profiles={
        "quick": {"problems": ALL[1:2], "m": 3, "budgets": (0.1, 0.3, 1.0), "recompute": 0},
        "smoke": {**SMOKE, "budgets": (0.02, 0.05)},
    },
)
