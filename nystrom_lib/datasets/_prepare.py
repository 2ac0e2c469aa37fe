"""From raw rows to the rows that are used: leave out, fill, check, standardise — block by block."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._dataset import FloatArray, Removed, frozen, row_blocks

Missing: TypeAlias = Literal["drop", "keep", "refuse"]

#: Fewer points than this are no data set: there is nothing to approximate.
FEWEST_ROWS = 2


class Rows(NamedTuple):
    """The rows that are used, and what a `Dataset` says of how they were made; named as it names them."""

    X: FloatArray
    sha256: str
    removed: Removed
    mean: FloatArray | None = None
    scale: FloatArray | None = None


@dataclass(frozen=True)
class Prepared:
    """Rows that are ready to be collected in memory or written to a file; ``blocks`` makes them anew."""

    shape: tuple[int, int]
    removed: Removed
    blocks: Callable[[], Iterator[FloatArray]]
    #: True if the blocks are the source's own rows, not one value changed and none left out.
    unchanged: bool
    #: What the columns are standardised with; None if they are not.
    mean: FloatArray | None = None
    scale: FloatArray | None = None

    def collect(self) -> Rows:
        """All rows as one read-only array."""
        X = np.empty(self.shape)
        digest = hashlib.sha256()
        start = 0
        for block in self.blocks():
            X[start : start + len(block)] = block
            digest.update(np.ascontiguousarray(block, dtype="<f8").data)
            start += len(block)
        return Rows(frozen(X), digest.hexdigest(), self.removed, self.mean, self.scale)


def check_ddof(ddof: int) -> None:
    """Refuse any other divisor than N and N − 1."""
    if isinstance(ddof, bool) or ddof not in (0, 1):
        raise ValueError(f"ddof is {ddof!r}; it must be 0 (divisor N) or 1 (divisor N - 1).")


def scaling(standardise: bool, ddof: int) -> str:
    """Say in words what was done to the columns, for `Dataset.source`."""
    if not standardise:
        return "columns as they are in the source"
    return f"columns standardised to zero mean and unit variance (divisor {('N', 'N - 1')[ddof]})"


def named(columns: Sequence[str], chosen: NDArray[np.bool_]) -> str:
    """List the chosen columns for a message: ``column 'a'`` or ``columns 'a', 'b'``."""
    names = [repr(name) for name, wanted in zip(columns, chosen, strict=True) if wanted]
    shown = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    return ("column " if len(names) == 1 else "columns ") + shown


@dataclass(frozen=True)
class _Reader:
    """The chosen rows and columns of a matrix as float64 blocks, with NaN wherever a value is missing."""

    source: NDArray[Any]
    chosen: tuple[int, ...]
    codes: tuple[float, ...]
    keep: NDArray[np.bool_] | None

    def blocks(self, keep: NDArray[np.bool_] | None = None) -> Iterator[tuple[slice, FloatArray]]:
        keep = self.keep if keep is None else keep
        everything = self.chosen == tuple(range(self.source.shape[1]))
        for rows in row_blocks(len(self.source), self.source.shape[1]):
            part = self.source[rows]
            if keep is not None:
                part = part[keep[rows]]
            if not everything:
                part = part[:, list(self.chosen)]
            block = np.array(part, dtype=np.float64, order="C")
            for code in self.codes:
                block[block == code] = np.nan
            yield rows, block


@dataclass
class _Survey:
    """What one pass over the rows finds out."""

    keep: NDArray[np.bool_]
    missing_rows: int
    missing_values: int
    infinite: NDArray[np.bool_]
    lowest: FloatArray
    highest: FloatArray
    total: FloatArray
    present: NDArray[np.int64]


def _survey(reader: _Reader, missing: Missing) -> _Survey:
    d = len(reader.chosen)
    survey = _Survey(
        keep=np.zeros(len(reader.source), dtype=bool),
        missing_rows=0,
        missing_values=0,
        infinite=np.zeros(d, dtype=bool),
        lowest=np.full(d, np.inf),
        highest=np.full(d, -np.inf),
        total=np.zeros(d),
        present=np.zeros(d, dtype=np.int64),
    )
    for rows, block in reader.blocks():
        absent = np.isnan(block)
        incomplete: NDArray[np.bool_] = np.asarray(absent.any(axis=1))
        survey.missing_rows += int(incomplete.sum())
        survey.missing_values += int(absent.sum())
        if missing == "drop" and incomplete.any():
            block, absent = block[~incomplete], absent[~incomplete]
        taken = ~incomplete if missing == "drop" else np.ones(len(incomplete), dtype=np.bool_)
        candidates = np.arange(len(taken)) if reader.keep is None else np.flatnonzero(reader.keep[rows])
        survey.keep[rows.start + candidates] = taken
        survey.infinite |= np.isinf(block).any(axis=0)
        # fmin and fmax pass over NaN, and unlike nanmin they do so for a column that has nothing else.
        np.fmin(survey.lowest, np.fmin.reduce(block, axis=0, initial=np.inf), out=survey.lowest)
        np.fmax(survey.highest, np.fmax.reduce(block, axis=0, initial=-np.inf), out=survey.highest)
        with np.errstate(over="ignore", invalid="ignore"):
            survey.total += np.where(absent, 0.0, block).sum(axis=0)
        survey.present += (~absent).sum(axis=0)
    return survey


def _check(survey: _Survey, names: Sequence[str], missing: Missing, what: str) -> None:
    """Refuse, in one sentence each, rows that no experiment could use."""
    if missing == "refuse" and survey.missing_rows:
        raise ValueError(
            f"{what} has {survey.missing_rows:,} rows with missing values; "
            "allow missing='drop' or missing='keep', or choose other columns."
        )
    left = int(survey.keep.sum())
    if left < FEWEST_ROWS:
        drops = missing == "drop" and survey.missing_rows
        dropped = f" after {survey.missing_rows:,} with missing values were dropped" if drops else ""
        raise ValueError(f"{what} has too few rows: {left}{dropped}; at least {FEWEST_ROWS} are needed.")
    if survey.infinite.any():
        raise ValueError(
            f"{what} has infinite values in {named(names, survey.infinite)}; only finite ones are allowed."
        )
    huge = ~np.isfinite(survey.total)
    if huge.any():
        raise ValueError(
            f"{what} has values too large to be added up in double precision in {named(names, huge)}; "
            "rescale first."
        )
    empty = survey.present == 0
    if empty.any():
        raise ValueError(f"{what} has no value at all in {named(names, empty)}; leave out what is empty.")
    constant = survey.lowest == survey.highest
    if constant.any():
        raise ValueError(
            f"{what} is constant in {named(names, constant)}, which says nothing about the points; "
            "leave out what is constant."
        )


def _scale(
    reader: _Reader, survey: _Survey, mean: FloatArray, ddof: int, names: Sequence[str], what: str
) -> FloatArray:
    """The standard deviations by a second pass, which does not cancel where the mean is large."""
    squares = np.zeros(len(names))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for _, block in reader.blocks(survey.keep):
            block -= mean
            block[np.isnan(block)] = 0.0
            squares += (block * block).sum(axis=0)
        scale: FloatArray = np.sqrt(squares / (int(survey.keep.sum()) - ddof))
    lost = ~np.isfinite(scale) | (scale < np.finfo(np.float64).tiny ** 0.5)
    if lost.any():
        raise ValueError(
            f"{what} has values too large or too close together to be standardised in double precision in "
            f"{named(names, lost)}; rescale first, or use standardise=False."
        )
    return scale


def prepare(
    source: NDArray[Any],
    names: Sequence[str],
    *,
    what: str,
    standardise: bool,
    ddof: int,
    chosen: Sequence[int] | None = None,
    keep: NDArray[np.bool_] | None = None,
    removed: Removed = (),
    missing: Missing = "refuse",
    codes: Sequence[float] = (),
) -> Prepared:
    """Check the chosen part of a matrix and say how to make the rows that are used.

    Parameters
    ----------
    source : array of shape (rows, columns)
        Any real numbers; it may be a memory map, of which one block at a time is in memory.
    names : sequence of str
        Names of the chosen columns.
    what : str
        How a message calls the data.
    standardise, ddof
        Whether to subtract the mean and divide by the standard deviation of each column, and its divisor
        N − ddof.
    chosen : sequence of int, optional
        The columns to use, in this order; all by default.
    keep : array of bool, optional
        The rows to use; all by default. ``removed`` says why the others are not.
    removed : tuple of (str, int)
        Steps already taken.
    missing : {"refuse", "drop", "keep"}
        What to do with rows in which a value is NaN or one of ``codes``. "keep" puts the mean of the
        column in its place.
    codes : sequence of float
        Numbers that stand for a missing value.
    """
    reader = _Reader(
        source, tuple(range(source.shape[1])) if chosen is None else tuple(chosen), tuple(codes), keep
    )
    survey = _survey(reader, missing)
    _check(survey, names, missing, what)
    mean = survey.total / survey.present
    scale = _scale(reader, survey, mean, ddof, names, what) if standardise else None

    def blocks() -> Iterator[FloatArray]:
        for _, block in reader.blocks(survey.keep):
            if survey.missing_values and missing == "keep":
                block = np.where(np.isnan(block), mean, block)
            if scale is not None:
                block -= mean
                block /= scale
            yield block

    steps = removed
    if missing == "drop":
        steps = (*steps, ("rows with missing values", survey.missing_rows))
    if missing == "keep":
        kept = f"{survey.missing_rows:,} rows with missing values kept"
        steps = (*steps, (f"{kept}, {survey.missing_values:,} values replaced by the mean of their column", 0))
    return Prepared(
        shape=(int(survey.keep.sum()), len(names)),
        removed=steps,
        blocks=blocks,
        unchanged=(
            not standardise
            and bool(survey.keep.all())
            and not survey.missing_values
            and reader.chosen == tuple(range(source.shape[1]))
            and source.dtype == np.dtype("<f8")
        ),
        mean=None if scale is None else frozen(mean),
        scale=None if scale is None else frozen(scale),
    )
