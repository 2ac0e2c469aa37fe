"""Summaries of many experiments on many problems: medians, their ratios, rank correlations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from ..experiments.outcome import STAGES
from ..experiments.problems import PROBLEMS
from ..results.table import Results
from ..wording import number

#: Problem and method, as in the names of stored results: ``("abalone", "uniform-trace")``.
Key = tuple[str, str]


def medians(results: Mapping[Key, Results], quantity: str = "E_tr", stage: str = "optimised") -> pd.DataFrame:
    """A row for each problem, a column for each method: the median of a quantity over the repetitions."""
    rows: dict[str, dict[str, float]] = {}
    for (problem, way), each in results.items():
        table = each.table
        rows.setdefault(problem, {})[way] = float(table.loc[table["stage"] == stage, quantity].median())
    return pd.DataFrame.from_dict(rows, orient="index")


def ratios(table: pd.DataFrame, above: str, below: str) -> dict[str, float]:
    """The quotients of two columns, by title of the problem."""
    return {PROBLEMS[problem].title: float(row[above] / row[below]) for problem, row in table.iterrows()}


def spreads(table: pd.DataFrame) -> dict[str, float]:
    """The largest value of each row over the smallest, by title of the problem."""
    return {PROBLEMS[problem].title: float(row.max() / row.min()) for problem, row in table.iterrows()}


def arrows(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Combine two tables with the same rows and columns into one of texts.

    Examples
    --------
    >>> arrows(pd.DataFrame({"a": [2.9]}), pd.DataFrame({"a": [1.5348]})).loc[0, "a"]
    '2.90 → 1.53'
    """
    return before.map(number) + " → " + after.map(number)


def titled(table: pd.DataFrame, first: str = "problem") -> pd.DataFrame:
    """Add a column with the titles of the problems."""
    named = table.copy()
    named.insert(0, first, [PROBLEMS[problem].title for problem in table.index])
    return named


def pairs(results: Mapping[Key, Results], problem: str, ways: Sequence[str]) -> pd.DataFrame:
    """R and E_tr of every sample of some methods on a problem, with method, repetition and stage."""
    parts = [results[problem, way].table.assign(way=way) for way in ways]
    return pd.concat(parts, ignore_index=True)[["way", "repetition", "stage", "R", "E_tr"]]


def moved(table: pd.DataFrame) -> pd.DataFrame:
    """The samples of :func:`pairs` that a descent has moved; where it gained nothing, the start was kept."""
    values = table.groupby(["way", "repetition"])["R"].transform("nunique")
    return table[values > 1]


def rank_correlation(table: pd.DataFrame, stage: str = STAGES[-1]) -> float:
    """Spearman's rank correlation of R and E_tr among the samples of a stage; NaN if all are equal."""
    some = table[table["stage"] == stage].dropna()
    if some["R"].nunique() < 2 or some["E_tr"].nunique() < 2:
        return float(np.nan)
    return float(spearmanr(some["R"], some["E_tr"]).statistic)


def curves(results: Results, rests: bool = False) -> pd.DataFrame:
    """R along recorded descents: median, lowest and highest over the repetitions at each recorded step.

    The column seconds has the median time of a descent, divided equally among its steps. A rule that ``rests`` stops
    early: its time is divided among the steps until R last changes.
    """
    grouped = results.curves.groupby("iteration")["R"]
    table = pd.DataFrame({"median": grouped.median(), "low": grouped.min(), "high": grouped.max()}).reset_index()
    last = results.curves.groupby("repetition").apply(_last_change).median() if rests else table["iteration"].max()
    seconds = results.table["seconds"].median()
    return table.assign(seconds=seconds * (table["iteration"] / max(last, 1)).clip(upper=1.0))


def _last_change(curve: pd.DataFrame) -> float:
    """The first recorded step with exactly the last value of R."""
    return float(curve["iteration"][curve["R"] == curve["R"].iloc[-1]].iloc[0])
