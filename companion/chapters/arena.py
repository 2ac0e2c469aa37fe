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
from ..experiments.problems import CENTRES, PROBLEMS
from ..figures import panels, style
from ..results.table import Results
from ..running.arena import BUDGETS, ENDING, Terms, best_errors, described, hold, load, trials
from ..settings import setting
from ..studies import uses
from ..wording import SYMBOLS, listed, number, percent
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
    chosen = list(trials(p.problems, dict.fromkeys(p.budgets, p.m), p.m, ENDING))
    with TemporaryDirectory() as folder:
        table = hold(chosen, best_errors(p.problems, terms), Path(folder), terms=terms)
    return table, "run on this machine"


def medians(trials: pd.DataFrame) -> pd.DataFrame:
    """A row for each problem, method and budget: the medians of seconds and E_tr, and the number of trials."""
    grouped = trials.groupby(["problem", "way", "budget"], dropna=False, sort=False)
    table = grouped.agg(seconds=("seconds", "median"), E_tr=("E_tr", "median"), trials=("E_tr", "size"))
    return table.reset_index()


def at_budget(table: pd.DataFrame, budget: float) -> pd.DataFrame:
    """The median error of each descent that is given this time: a row for each problem."""
    some = table[table["budget"] == budget].pivot(index="problem", columns="way", values="E_tr")
    return some.reindex(list(dict.fromkeys(table["problem"])))


def within(table: pd.DataFrame, budget: float) -> pd.DataFrame:
    """The best median of each method among the trials given, or needing, no more than this time."""
    done = table[table["budget"].fillna(table["seconds"]) <= budget]
    lowest = done.groupby(["problem", "way"], sort=False)["E_tr"].min().unstack("way")
    return lowest.reindex(list(dict.fromkeys(table["problem"])))


def winners(table: pd.DataFrame, budget: float, allowed: Sequence[str] = SIMPLEST) -> pd.Series:
    """For each problem the method to use: the simplest of those within ``SAME`` of the lowest error."""
    reached = within(table, budget)
    reached = reached[[name for name in SIMPLEST if name in reached and name in allowed]]
    good = reached.le(reached.min(axis=1) * (1.0 + SAME), axis=0)
    return good.idxmax(axis=1)


def recommended(table: pd.DataFrame, budgets: Sequence[float]) -> pd.DataFrame:
    """For each budget: on how many problems each method is the one to use, and the largest error of the first."""
    rows = []
    for budget in budgets:
        counts, reached = winners(table, budget).value_counts(), within(table, budget)
        first, over = str(counts.index[0]), reached[counts.index[0]] / reached.min(axis=1)
        others = ", ".join(f"{name} ({count})" for name, count in counts.iloc[1:].items()) or "–"
        rows.append((f"{budget:g}", first, f"{counts.iloc[0]} of {len(reached)}", others, float(over.max())))
    return pd.DataFrame(rows, columns=["seconds", "use", "best on", "elsewhere", "at worst, times the lowest error"])


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


def between(quotients: pd.Series) -> str:
    """The lowest and the highest of some quotients, with their problems."""
    low, high = (
        f"{number(quotients[name])} ({PROBLEMS[str(name)].title})" for name in (quotients.idxmin(), quotients.idxmax())
    )
    return f"between {low} and {high}"


def counted(problems: Sequence[str]) -> str:
    """The number of some problems, with their titles."""
    titles = listed([f"“{PROBLEMS[name].title}”" for name in problems])
    return f"{len(problems)} ({titles})" if titles else "none"


def advice(table: pd.DataFrame, budgets: Sequence[float]) -> str:
    """Questions that users ask, answered from the medians."""
    shortest, longest = min(budgets), max(budgets)
    first, last = within(table, shortest), within(table, longest)
    without = [name for name in SIMPLEST if name not in DESCENTS]
    common = winners(table, longest, without).value_counts()
    middle = sorted(budgets)[len(budgets) // 2]
    change = at_budget(table, longest)["radial"] / at_budget(table, middle)["radial"]
    lower, higher = (counted(list(map(str, change.index[some]))) for some in (change < 0.99, change > 1.01))
    return "\n\n".join(
        (
            f"**Is it worth waiting {longest:g} s rather than {shortest:g} s?** The additional time lowers the error "
            f"of the trace descent by a factor {between(first['trace'] / last['trace'])}.",
            f"**Does the paper's objective catch up, given time?** Within {longest:g} s its error is "
            f"{between(last['radial'] / last['trace'])} times that of the trace descent. (The two differ in their "
            "starts and step rules, too; [chapter 9](09_objectives.ipynb) compares the objectives with one start and "
            f"one optimiser.) Given {longest:g} s in place of {middle:g} s, the descent on $R$ lowers the median error "
            f"by more than 1 % on {lower} of {len(change)} problems and raises it by more than 1 % on {higher}.",
            f"**How good is the weighted SKD?** Within {longest:g} s its error is "
            f"{between(last['weighted'] / last['trace'])} times that of the trace descent.",
            "**Is a method without a descent good enough?** The best of them leaves "
            f"{between(last[without].min(axis=1) / last['trace'])} times the error of the trace descent. By the rule "
            "above, the method to use is "
            f"{listed([f'{name} on {count}' for name, count in common.items()])} of the {len(last)} problems.",
        )
    )


# -- does it pay? ----------------------------------------------------------------------------------------------


def pays(table: pd.DataFrame) -> pd.DataFrame:
    """Seconds and median error of three methods that scikit-learn's users have, and of the shortest descent."""
    shortest = table["budget"].min()
    rows = []
    for problem, some in table.groupby("problem", sort=False):
        row: dict[str, object] = {"problem": PROBLEMS[str(problem)].title}
        for name in ("uniform", "MiniBatchKMeans", "KMeans"):
            one = some[some["way"] == name].iloc[0]
            row[name] = f"{number(one['E_tr'])} in {number(1e3 * one['seconds'], 2)} ms"
        one = some[(some["way"] == "trace") & (some["budget"] == shortest)].iloc[0]
        rows.append(row | {"trace descent": f"{number(one['E_tr'])} in {number(1e3 * one['seconds'], 2)} ms"})
    return pd.DataFrame(rows)


def share_of_gain(table: pd.DataFrame) -> str:
    """How much of the error that the shortest trace descent removes scikit-learn's MiniBatchKMeans removes."""
    ending = table[table["budget"].isna()].pivot(index="problem", columns="way", values="E_tr")
    best = at_budget(table, table["budget"].min())["trace"]
    share = (ending["uniform"] - ending["MiniBatchKMeans"]) / (ending["uniform"] - best)
    return (
        "Of the error that the descent removes from a uniform sample, `MiniBatchKMeans` removes "
        f"{percent(share.min())} to {percent(share.max())}."
    )


def worth(p: ArenaParameters, results: Mapping[tuple[str, str], Results]) -> pd.DataFrame:
    """How many uniform landmarks have the median trace error of n optimised ones, on the problems that are asked."""
    rows = []
    for this in (PROBLEMS[name] for name in p.worth if name in p.problems):
        table, n = results[this.name, "trace"].table, p.landmarks(this)
        error = float(table.loc[table["stage"] == "optimised", "trace"].median())
        data = np.asarray(this.points(p.most(this)).load(p.seed).X)
        one = uses.worth(nl.Gaussian(rho=this.rho), data, n, error, p.worth_seeds, p.seed)
        rows.append((this.title, n, round(one * n), one))
    columns = ["problem", "optimised landmarks", "uniform landmarks for the same error", "one is worth"]
    return pd.DataFrame(rows, columns=columns)


# -- the picture -----------------------------------------------------------------------------------------------

#: The methods that the picture shows by name, each with its marker; the others are small grey dots.
_MARKED = {
    "uniform": ("o", style.INITIAL), "kmeans": ("^", "#4c9a8f"), "rpcholesky": ("v", "#8d97a1"),
    "KMeans": ("s", "#4c9a8f"), "MiniBatchKMeans": ("P", "#4c9a8f"), "Faiss": ("*", "#4c9a8f"),
}  # fmt: skip
_LINES = {"trace": (style.OPTIMISED, "-"), "weighted": (style.PATH, (0, (1, 1))), "radial": (style.ACCENT, "--")}


@style.picture(
    "fig-arena",
    caption="$\\mathcal E_{\\mathrm{tr}}$ against seconds, medians, a panel for each problem. Lines: descents given "
    "0.1 to 10 s. Single marks: methods without a time limit, where they ended. The dashed line is the best possible; "
    "`greedy` lies beyond the upper edge of some panels.",
    alt="Eight panels with logarithmic time. In each a solid line for the descent on the trace error lies lowest; "
    "above it the dotted line of the weighted SKD, which falls towards it and in some panels comes close; above that "
    "the dashed line of the radial descent. Single marks for k-means lie near the radial line, uniform samples far "
    "above at the left.",
)
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
