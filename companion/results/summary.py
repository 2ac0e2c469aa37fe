"""Results in a few numbers: medians before and after, what was gained, and how far apart the optimised samples are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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
        """The median before and the median after."""
        return _median(self.before), _median(self.after)

    @property
    def better(self) -> NDArray[np.bool_]:
        """In which repetitions the criterion is smaller after than before."""
        smaller: NDArray[np.bool_] = self.after < self.before
        return smaller

    @property
    def improved(self) -> float:
        """The share of these repetitions."""
        return float(self.better.mean())

    @property
    def kept(self) -> float:
        """The median over the repetitions of after / before."""
        return _median(self.after / self.before)


def change(results: Results, criterion: str, diverged: float = np.nan) -> Change:
    """A criterion before and after; ``diverged`` stands for what a descent that diverged does not have."""
    before, after = (_values(results, criterion, stage) for stage in STAGES)
    return Change(before, np.where(np.isnan(after), diverged, after))


def median(results: Results, criterion: str, stage: str) -> float:
    """The median of a criterion over the repetitions."""
    return _median(_values(results, criterion, stage))


def gain(results: Results, criterion: str) -> float:
    """The median before over the median after: 2 means halved."""
    before, after = change(results, criterion).medians
    return before / after


def spread(results: Results, criterion: str, stage: str = "optimised") -> float:
    """How far apart the samples are in quality."""
    values = _values(results, criterion, stage)
    return spread_of(values[~np.isnan(values)])


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
    """The quantile; infinite values, of which there is no mean, count as they are."""
    return float(np.quantile(values, q, method="inverted_cdf"))


def improved(results: Results, criterion: str) -> float:
    """The share of the repetitions in which the criterion is smaller after than before."""
    return change(results, criterion).improved


def rank_correlation(one: Array, other: Array) -> float:
    """Spearman's; 0 where nothing varies."""
    with np.errstate(invalid="ignore"):  # pandas 2 divides by the deviation of what does not vary
        correlation = float(pd.Series(one).rank().corr(pd.Series(other).rank()))
    return 0.0 if np.isnan(correlation) else correlation


def check_first(results: Results, initial: float, optimised: float, tolerance: float = 1e-9) -> None:
    """Refuse two values of R that are not those of the first repetition; the tolerance is a share of ‖K‖_F²."""
    stored = results.table.query("repetition == 0").set_index("stage")["R"]
    for stage, found in (("initial", initial), ("optimised", optimised)):
        if not abs(found - stored[stage]) <= tolerance * results.constants["squared_norm"]:
            raise ArithmeticError(f"R of the {stage} sample is {found}; the stored results have {stored[stage]}.")


def medians(rows: Iterable[tuple[str, Results]], criteria: Sequence[str]) -> pd.DataFrame:
    """A row for each experiment and criterion.

    Parameters
    ----------
    rows : iterable of (str, Results)
        What to call each experiment, and its results.
    criteria : sequence of str
        Columns of the results' tables.
    """
    return pd.DataFrame(
        [
            {
                "": name,
                "criterion": WRITTEN[criterion],
                "median before": median(results, criterion, "initial"),
                "median after": median(results, criterion, "optimised"),
                "before / after": gain(results, criterion),
                "IQR / median before": spread(results, criterion, "initial"),
                "IQR / median after": spread(results, criterion),
                "improved": f"{100 * improved(results, criterion):.4g} %",
            }
            for name, results in rows
            for criterion in criteria
        ]
    )


def medians_in_short(rows: Iterable[tuple[str, Results]], criteria: Sequence[str]) -> pd.DataFrame:
    """A row for each experiment and a column for each criterion: the median before and the median after.

    Parameters
    ----------
    rows, criteria
        As in :func:`medians`.
    """
    return pd.DataFrame(
        [
            {
                "median before → after": name,
                **{
                    f"of {WRITTEN[criterion]}": " → ".join(map(number, change(results, criterion).medians))
                    for criterion in criteria
                },
            }
            for name, results in rows
        ]
    )


def _median(values: Array) -> float:
    """Of what there is; NaN, without a warning, if that is nothing."""
    there = values[~np.isnan(values)]
    return float(np.median(there)) if len(there) else np.nan


def _values(results: Results, criterion: str, stage: str) -> Array:
    table = results.table
    return np.asarray(table.loc[table["stage"] == stage, criterion], dtype=float)
