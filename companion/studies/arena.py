"""What the arena's table says: medians, and which way to use, by rules."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

#: Ways within this part of the lowest median error count as equally good …
SAME = 0.02
#: … and among equals the one that asks least of its user is recommended: it comes first here.
SIMPLEST = (
    "uniform", "MiniBatchKMeans", "KMeans", "BisectingKMeans", "Faiss", "kmeans++", "kmeans", "rpcholesky",
    "greedy", "herding", "leverage", "trace", "radial", "weighted",
)  # fmt: skip


def medians(trials: pd.DataFrame) -> pd.DataFrame:
    """A row for each problem, way and budget: medians of seconds and E_tr, the quartiles of E_tr, how many trials."""
    grouped = trials.groupby(["problem", "way", "budget"], dropna=False, sort=False)
    table = grouped.agg(seconds=("seconds", "median"), E_tr=("E_tr", "median"), trials=("E_tr", "size"))
    return table.reset_index()


def within(table: pd.DataFrame, budget: float) -> pd.DataFrame:
    """What each way reaches within a budget: its best median among the trials given, or needing, no more than that."""
    done = table[table["budget"].fillna(table["seconds"]) <= budget]
    lowest = done.groupby(["problem", "way"], sort=False)["E_tr"].min().unstack("way")
    return lowest.reindex(list(dict.fromkeys(table["problem"])))


def winners(table: pd.DataFrame, budget: float, allowed: Sequence[str] = SIMPLEST) -> pd.Series:
    """For each problem the way to use: the simplest of those within ``SAME`` of the lowest error."""
    reached = within(table, budget)
    reached = reached[[way for way in SIMPLEST if way in reached and way in allowed]]
    good = reached.le(reached.min(axis=1) * (1.0 + SAME), axis=0)
    return good.idxmax(axis=1)


def recommended(table: pd.DataFrame, budgets: Sequence[float]) -> pd.DataFrame:
    """For each budget: how often each way wins, and by how much the most frequent winner misses where it does not."""
    rows = []
    for budget in budgets:
        won = winners(table, budget)
        counts = won.value_counts()
        first = min(counts.index[counts == counts.max()], key=SIMPLEST.index)
        reached = within(table, budget)
        rows.append(
            {
                "seconds": budget,
                "use": first,
                "best on": f"{int(counts[first])} of {len(won)}",
                "elsewhere": ", ".join(f"{way} ({count})" for way, count in counts.items() if way != first) or "–",
                "at worst, times the lowest error": float((reached[first] / reached.min(axis=1)).max()),
            }
        )
    return pd.DataFrame(rows)


def compared(table: pd.DataFrame, way: str, descent: str, budgets: Sequence[float]) -> pd.DataFrame:
    """For each budget of a descent: on how many problems a way that ends by itself has at most the same median error.

    The other columns have the lowest and the highest quotient of the two errors.
    """
    errors = table[table["way"] == way].set_index("problem")["E_tr"]
    rows = []
    for budget in budgets:
        others = table[(table["way"] == descent) & (table["budget"] == budget)].set_index("problem")["E_tr"]
        quotients = errors / others
        as_good = f"{int((quotients <= 1.0).sum())} of {len(quotients)}"
        rows.append((f"{budget:g}", as_good, quotients.min(), quotients.max()))
    return pd.DataFrame(rows, columns=["seconds for the descent", "at or below it on", "smallest quotient", "largest"])
