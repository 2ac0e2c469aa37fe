"""Results in a few numbers: medians before and after the descent, what was gained, and how far samples lie apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..experiments.outcome import STAGES, Array
from ..wording import WRITTEN, number
from .table import Results


@dataclass(frozen=True)
class Change:
    """A criterion before and after the descent, repetition by repetition."""

    before: Array
    after: Array

    @property
    def medians(self) -> tuple[float, float]:
        """The median before and the median after; a descent that diverged has no criterion after it."""
        return _median(self.before), _median(self.after)

    @property
    def improved(self) -> float:
        """The share of the repetitions in which the criterion is smaller after than before."""
        return float((self.after < self.before).mean())

    @property
    def kept(self) -> float:
        """The median over the repetitions of after / before."""
        return _median(self.after / self.before)


def change(results: Results, criterion: str, diverged: float = np.nan) -> Change:
    """A criterion before and after; ``diverged`` replaces what a descent that diverged does not have."""
    table = results.table
    before, after = (table.loc[table["stage"] == stage, criterion].to_numpy(dtype=float) for stage in STAGES)
    return Change(before, np.where(np.isnan(after), diverged, after))


def spread_of(values: Array) -> float:
    """The interquartile range over the median.

    Examples
    --------
    >>> spread_of(np.array([1.0, 2.0, 3.0, 4.0]))
    0.8
    """
    low, high = quantile(values, 0.25), quantile(values, 0.75)
    return (high - low) / float(np.median(values)) if np.isfinite(high) else np.inf


def quantile(values: Array, q: float) -> float:
    """The quantile without interpolation, so that infinite values are allowed."""
    return float(np.quantile(values, q, method="inverted_cdf"))


def rank_correlation(one: Array, other: Array) -> float:
    """Spearman's; 0 where nothing varies."""
    with np.errstate(invalid="ignore"):  # pandas 2 divides by the deviation of what does not vary
        correlation = float(pd.Series(one).rank().corr(pd.Series(other).rank()))
    return 0.0 if np.isnan(correlation) else correlation


def check_first(results: Results, initial: float, optimised: float, tolerance: float = 1e-9) -> None:
    """Refuse two values of R that are not those of the first repetition; the tolerance is a share of ‖K‖_F²."""
    stored = results.table.query("repetition == 0").set_index("stage")["R"]
    for stage, found in zip(STAGES, (initial, optimised), strict=True):
        if not abs(found - stored[stage]) <= tolerance * results.constants["squared_norm"]:
            raise ArithmeticError(f"R of the {stage} sample is {found}; the stored results have {stored[stage]}.")


def medians(rows: Iterable[tuple[str, Results]], criteria: Sequence[str]) -> pd.DataFrame:
    """A row for each experiment, with its name, and criterion, a column of the results' tables."""
    return pd.DataFrame([_row(name, each, change(results, each)) for name, results in rows for each in criteria])


def _row(name: str, criterion: str, found: Change) -> dict[str, object]:
    before, after = found.medians
    return {
        "": name,
        "criterion": WRITTEN[criterion],
        "median before": before,
        "median after": after,
        "before / after": before / after,
        "IQR / median before": spread_of(found.before[~np.isnan(found.before)]),
        "IQR / median after": spread_of(found.after[~np.isnan(found.after)]),
        "improved": f"{100 * found.improved:.4g} %",
    }


def medians_in_short(rows: Iterable[tuple[str, Results]], criteria: Sequence[str]) -> pd.DataFrame:
    """A row for each experiment and a column for each criterion: the median before and the median after."""
    return pd.DataFrame(
        [
            {"median before → after": name}
            | {f"of {WRITTEN[each]}": " → ".join(map(number, change(results, each).medians)) for each in criteria}
            for name, results in rows
        ]
    )


def _median(values: Array) -> float:
    return float(pd.Series(values).median())  # of those that are not NaN
