"""Summaries of many experiments on many problems: medians, their ratios, rank correlations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from ..experiments.outcome import STAGES
from ..experiments.problems import PROBLEMS
from ..results.table import Results

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


def titled(table: pd.DataFrame) -> pd.DataFrame:
    """Add a first column with the titles of the problems."""
    titles = [PROBLEMS[problem].title for problem in table.index]
    return pd.concat([pd.Series(titles, table.index, name="problem"), table], axis=1)


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
    some = table[table["stage"] == stage]
    return float(some[["R", "E_tr"]].corr("spearman").loc["R", "E_tr"])
