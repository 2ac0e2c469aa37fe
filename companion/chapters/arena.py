"""Chapter 10: which method to use, and whether choosing landmarks pays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import nystrom_lib as nl

from ..checkout import RESULTS
from ..choices import STARTS
from ..experiments.config import Experiment
from ..experiments.outcome import Array
from ..experiments.problems import CENTRES, PROBLEMS
from ..figures import panels, style
from ..results.table import Results
from ..running.arena import BUDGETS, Terms, described, hold, load, trials
from ..settings import setting
from ..wording import SYMBOLS, number, percent
from .base import Chapter
from .on_problems import ALL, SMOKE, OnProblems

#: Methods whose median error is at most this part above the lowest count as equally good …
SAME = 0.02
#: … and the first of them here is recommended.
SIMPLEST = (
    "uniform", "MiniBatchKMeans", "KMeans", "BisectingKMeans", "Faiss", "kmeans++", "kmeans", "rpcholesky",
    "greedy", "herding", "leverage", "trace", "radial", "weighted",
)  # fmt: skip
DESCENTS = SIMPLEST[-3:]


# -- parameters ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ArenaParameters(OnProblems):
    """The parameters of the chapter; the defaults are those of the stored results."""

    budgets: tuple[float, ...] = setting(BUDGETS, above=0, meaning="seconds a descent is given")
    worth: tuple[str, ...] = setting(ALL[:4], choices=ALL, meaning="the problems on which a landmark's worth is found")
    worth_seeds: int = setting(3, at_least=1, meaning="uniform samples of each size, for a landmark's worth")

    def experiments(self) -> dict[tuple[str, str], Experiment]:
        """Errors at fixed numbers of steps, by problem and method."""
        methods = {name: ("uniform", name) for name in DESCENTS} | {by: (by, "none") for by in CENTRES}
        # The errors of a start are in the results of the descent from it.
        methods |= {by: (by, "trace") for by in STARTS}
        return {
            (problem.name, name): self.tried(problem, *parts)
            for problem in self.posed()
            for name, parts in methods.items()
        }


CHAPTER = Chapter(
    name="arena",
    number=10,
    title="Which should I use?",
    section="beyond the paper",
    parameters=ArenaParameters,
    profiles={
        "quick": {
            "problems": ALL[1:2], "worth": ALL[1:2], "m": 3, "budgets": (0.1, 0.3, 1.0), "recompute": 0,
        },
        "smoke": {**SMOKE, "budgets": (0.02, 0.05), "worth": ALL[1:2], "worth_seeds": 1},
    },
)  # fmt: skip


# -- trials against the clock ----------------------------------------------------------------------------------


def timed(p: ArenaParameters) -> tuple[pd.DataFrame, str]:
    """The trials and where they come from: stored, or run now if anything else is asked."""
    stored, usual = RESULTS / "beyond" / "arena.json", ArenaParameters()
    as_usual = all(getattr(p, name) == getattr(usual, name) for name in ("N", "n", "m", "seed"))
    if as_usual and set(p.budgets) <= set(BUDGETS) and stored.is_file():
        table, machine = load(stored)
        wanted = table["budget"].isin(p.budgets) | table["budget"].isna()
        return table[wanted & table["problem"].isin(p.problems)], described(machine)
    terms = Terms(p.N if p.N < usual.N else None, p.n, p.seed)
    chosen = list(trials(p.problems, dict.fromkeys(p.budgets, p.m), p.m))
    with TemporaryDirectory() as folder:
        table = hold(chosen, Path(folder), terms)
    return table, "run on this machine"


def medians(trials: pd.DataFrame) -> pd.DataFrame:
    """A row for each problem, method and budget: the medians of seconds and E_tr, and the number of trials."""
    grouped = trials.groupby(["problem", "way", "budget"], dropna=False, sort=False)
    table = grouped.agg(seconds=("seconds", "median"), E_tr=("E_tr", "median"), trials=("E_tr", "size"))
    return table.reset_index()


def winners(table: pd.DataFrame, budget: float, allowed: Sequence[str]) -> pd.Series:
    """How many problems each method is the one to use on: the simplest of those within ``SAME`` of the lowest error.

    The error of a method is its lowest median among the trials given, or needing, no more than this time.
    """
    done = table[table["budget"].fillna(table["seconds"]) <= budget]
    lowest = done.groupby(["problem", "way"], sort=False)["E_tr"].min().unstack("way")
    reached = lowest.reindex(table["problem"].unique())[[name for name in allowed if name in lowest]]
    return reached.le(reached.min(axis=1) * (1.0 + SAME), axis=0).idxmax(axis=1).value_counts()


def recommended(table: pd.DataFrame, budgets: Sequence[float]) -> pd.DataFrame:
    """For each budget: on how many problems each method is the one to use, also if descents are not allowed."""
    without = [name for name in SIMPLEST if name not in DESCENTS]
    columns: dict[str, list[str]] = {"seconds": [f"{budget:g}" for budget in budgets]}
    for title, allowed in (("method to use (problems)", SIMPLEST), ("without a descent", without)):
        counts = [winners(table, budget, allowed) for budget in budgets]
        columns[title] = [", ".join(f"{name} ({count})" for name, count in each.items()) for each in counts]
    return pd.DataFrame(columns)


def compared(table: pd.DataFrame, method: str, descent: str, budgets: Sequence[float]) -> pd.DataFrame:
    """For each budget of a descent: on how many problems a method without one has at most the same median error.

    The other columns have the lowest and the highest quotient of the two errors.
    """
    errors = table[table["way"] == method].set_index("problem")["E_tr"]
    rows = []
    for budget in budgets:
        others = table[(table["way"] == descent) & (table["budget"] == budget)].set_index("problem")["E_tr"]
        quotients = errors / others
        as_good = f"{int((quotients <= 1.0).sum())} of {len(quotients)}"
        rows.append((f"{budget:g}", as_good, quotients.min(), quotients.max()))
    return pd.DataFrame(rows, columns=["seconds for the descent", "at or below it on", "smallest quotient", "largest"])


# -- does it pay? ----------------------------------------------------------------------------------------------


def pays(table: pd.DataFrame) -> pd.DataFrame:
    """Error and seconds of three methods that scikit-learn's users have, and of the shortest descent.

    The last column has the part of the error that the descent removes from a uniform sample and MiniBatchKMeans, too.
    """
    shortest = table["budget"].min()
    some = table[table["budget"].isna() | ((table["budget"] == shortest) & (table["way"] == "trace"))]
    errors, seconds = (some.pivot(index="problem", columns="way", values=name) for name in ("E_tr", "seconds"))
    methods = ["uniform", "MiniBatchKMeans", "KMeans", "trace"]
    shown = errors.map(number) + " in " + (1e3 * seconds).map(lambda each: number(each, 2)) + " ms"
    share = (errors["uniform"] - errors["MiniBatchKMeans"]) / (errors["uniform"] - errors["trace"])
    return shown[methods].assign(**{"share": share.map(percent)}).reindex(table["problem"].unique())


def worth(p: ArenaParameters, results: Mapping[tuple[str, str], Results]) -> pd.DataFrame:
    """How many uniform landmarks have the median trace error of n optimised ones, on the problems that are asked."""
    rows = []
    for this in (PROBLEMS[name] for name in p.worth if name in p.problems):
        table, n = results[this.name, "trace"].table, p.landmarks(this)
        error = float(table.loc[table["stage"] == "optimised", "trace"].median())
        data = np.asarray(this.points(p.most(this)).load(p.seed).X)
        one = worth_of_one(nl.Gaussian(rho=this.rho), data, n, error, p.worth_seeds, p.seed)
        rows.append((this.title, n, round(one * n), one))
    columns = ["problem", "optimised landmarks", "uniform landmarks for the same error", "one is worth"]
    return pd.DataFrame(rows, columns=columns)


def worth_of_one(kernel: nl.Kernel, data: Array, n: int, error: float, seeds: int, seed: int) -> float:
    """How many uniform landmarks have this median trace error, over n; log-linear between the numbers tried."""

    def uniform_error(m: int) -> float:
        samples = (nl.uniform_sample(data, m, np.random.SeedSequence(seed, spawn_key=(m, j))) for j in range(seeds))
        return float(np.median([nl.nystrom_errors(kernel, data, sample, "trace").trace for sample in samples]))

    ns, errors = [n], [uniform_error(n)]
    while errors[-1] > error and ns[-1] < min(8 * n, len(data) // 2):
        ns.append(min(int(1.3 * ns[-1]), len(data)))
        errors.append(uniform_error(ns[-1]))
    return float(np.exp(np.interp(-np.log(error), -np.log(errors), np.log(ns)))) / n


# -- the picture -----------------------------------------------------------------------------------------------

#: The methods that the picture shows by name, each with its marker; the others are small grey dots.
_MARKED = {
    "uniform": ("o", style.INITIAL), "kmeans": ("^", "#4c9a8f"), "rpcholesky": ("v", "#8d97a1"),
    "KMeans": ("s", "#4c9a8f"), "MiniBatchKMeans": ("P", "#4c9a8f"), "Faiss": ("*", "#4c9a8f"),
}  # fmt: skip
_LINES = {"trace": (style.OPTIMISED, "-"), "weighted": (style.PATH, (0, (1, 1))), "radial": (style.ACCENT, "--")}


@style.drawn
def figure_arena(table: pd.DataFrame) -> Figure:
    """The median error against time, a panel for each problem."""
    problems = list(dict.fromkeys(table["problem"]))
    figure, axes = panels.grid(len(problems), 2, 2.3)
    for panel, problem in zip(axes, problems, strict=True):
        some = table[table["problem"] == problem]
        for name, (colour, dash) in _LINES.items():
            line = some[some["way"] == name].sort_values("budget")
            look: Any = {"color": colour, "linestyle": dash, "marker": "o", "markersize": 3}
            panel.plot(line["seconds"], line["E_tr"], label=name, **look)
        for row in some[some["budget"].isna()].itertuples():
            marker, colour = _MARKED.get(str(row.way), (".", style.REFERENCE))
            label = row.way if row.way in _MARKED else "others"
            panel.plot(row.seconds, row.E_tr, marker, color=colour, linestyle="none", label=label)
        panel.set_xscale("log")
        panel.axhline(1.0, color=style.REFERENCE, linestyle="--", linewidth=0.7)
        panels.factors(panel, list(some["E_tr"]))
        if panel.get_yscale() == "linear":  # or one bad choice would press all the others together
            panel.set_ylim(top=1.05 * some.loc[some["way"] != "greedy", "E_tr"].max())
        style.label(panel, "seconds", SYMBOLS["E_tr"], PROBLEMS[problem].title)
    named = dict(zip(*reversed(axes[0].get_legend_handles_labels()), strict=True))
    figure.legend(named.values(), named.keys(), loc="outside upper center", ncols=5)
    return figure
