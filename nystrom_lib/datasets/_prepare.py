"""From raw rows to the rows that are used: leave out, fill, check, standardise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from .._columns import named
from ._dataset import Dataset, FloatArray, Removed, frozen, row_blocks, sha256_of

Missing: TypeAlias = Literal["drop", "keep", "refuse"]

#: With fewer points there is nothing to approximate.
MIN_ROWS = 2


def prepare(
    X: NDArray[Any],
    columns: tuple[str, ...],
    *,
    name: str,
    source: str,
    citation: str,
    licence: str,
    standardise: bool,
    ddof: int,
    removed: Removed = (),
    missing: Missing = "refuse",
    stand_in: bool = False,
) -> Dataset:
    """The data set of float64 rows, in which NaN is a missing value, checked and standardised.

    Its points are a copy, unless nothing has to be changed. ``removed`` says which rows were already left out.
    """
    ddof = check.integer("ddof", ddof, least=0, most=1)
    incomplete = np.isnan(X).any(axis=1)
    count = int(incomplete.sum())
    if missing == "refuse" and count:
        raise ValueError(
            f"{name} has {count:,} rows with missing values; allow missing='drop' or missing='keep', "
            "or choose other columns."
        )
    if missing == "drop":
        X = X[~incomplete] if count else X
        removed = (*removed, ("rows with missing values", count))
    if len(X) < MIN_ROWS:
        dropped = f" after {count:,} with missing values were dropped" if missing == "drop" and count else ""
        raise ValueError(f"{name} has too few rows: {len(X)}{dropped}; at least {MIN_ROWS} are needed.")
    mean = _checked_mean(X, columns, name)
    if missing == "keep":
        absent = np.isnan(X)
        X = np.where(absent, mean, X) if count else X
        kept = f"{count:,} rows with missing values kept"
        removed = (*removed, (f"{kept}, {int(absent.sum()):,} values replaced by the mean of their column", 0))
    if standardise:
        scale = _checked_scale(X, mean, ddof, columns, name)
        X = (X - mean) / scale
        source += f"; columns standardised to zero mean and unit variance (divisor {('N', 'N - 1')[ddof]})"
    else:
        source += "; columns as they are in the source"
    return Dataset(
        X=frozen(X), name=name, sha256=sha256_of(X), removed=removed, stand_in=stand_in, citation=citation,
        licence=licence, columns=columns, source=source, mean=frozen(mean) if standardise else None,
        scale=frozen(scale) if standardise else None,
    )  # fmt: skip


def _checked_mean(X: FloatArray, columns: Sequence[str], name: str) -> FloatArray:
    """The means of the columns, which must have different and finite values."""
    absent = np.isnan(X)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = [np.where(absent[rows], 0.0, X[rows]).sum(axis=0) for rows in row_blocks(*X.shape)]
        total: FloatArray = sum(sums, np.zeros(X.shape[1]))
    present = (~absent).sum(axis=0)
    for wrong, sentence in (
        (np.isinf(X).any(axis=0), "has infinite values in {}; only finite ones are allowed."),
        (~np.isfinite(total), "has values too large to be added up in double precision in {}; rescale first."),
        (present == 0, "has no value at all in {}; leave out empty columns."),
        (
            np.fmin.reduce(X, axis=0) == np.fmax.reduce(X, axis=0),
            "is constant in {}, which says nothing about the points; leave out constant columns.",
        ),
    ):
        if wrong.any():
            raise ValueError(f"{name} {sentence.format(named(columns, wrong))}")
    mean: FloatArray = total / present
    return mean


def _checked_scale(X: FloatArray, mean: FloatArray, ddof: int, columns: Sequence[str], name: str) -> FloatArray:
    """The standard deviations, in a second pass: it does not cancel where the mean is large."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = sum((((X[rows] - mean) ** 2).sum(axis=0) for rows in row_blocks(*X.shape)), np.zeros(len(mean)))
        scale: FloatArray = np.sqrt(squares / (len(X) - ddof))
    wrong = ~np.isfinite(scale) | (scale < np.finfo(np.float64).tiny ** 0.5)
    if wrong.any():
        raise ValueError(
            f"{name} has values too large or too close together to be standardised in double precision in "
            f"{named(columns, wrong)}; rescale first, or use standardise=False."
        )
    return scale
