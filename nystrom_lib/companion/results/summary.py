"""Results in a few numbers: medians before and after, what was gained, and how far apart the optimised samples are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from ..experiments.outcome import Array
from .table import Results

#: How tables and prose write the criteria (Markdown).
WRITTEN = {
    "R": "$R$",
    "E_tr": r"$\mathcal E_{\mathrm{tr}}$",
    "E_F": r"$\mathcal E_{\mathrm{F}}$",
    "E_sp": r"$\mathcal E_{\mathrm{sp}}$",
    "trace": "trace norm",
}


def median(results: Results, criterion: str, stage: str) -> float:
    """The median of a criterion over the repetitions."""
    return float(np.nanmedian(_values(results, criterion, stage)))


def gain(results: Results, criterion: str) -> float:
    """The median before over the median after: 2 means halved."""
    return median(results, criterion, "initial") / median(results, criterion, "optimised")


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
    return float(np.mean(_values(results, criterion, "optimised") < _values(results, criterion, "initial")))


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


def displacements(path: Array) -> Array:
    """How far each landmark ends from where it began, from a path of shape (…, k, n, d)."""
    moved: Array = np.linalg.norm(path[..., -1, :, :] - path[..., 0, :, :], axis=-1)
    return moved


def _values(results: Results, criterion: str, stage: str) -> Array:
    table = results.table
    return np.asarray(table.loc[table["stage"] == stage, criterion], dtype=float)
