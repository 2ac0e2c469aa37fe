"""Some columns of a source, without rows in which a value is missing, and standardised: whatever was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from .._columns import named
from .._validation import Array
from .base import Indices, Progress, Source

_ROUNDING = 1e-14  # a standard deviation below this part of the mean is that of a constant
_NONE: Indices = np.empty(0, np.int64)


class Prepared(Source):
    """A source seen through a choice of columns and rows, and with mean 0 and variance 1 if it has a scale."""

    def __init__(
        self,
        source: Source,
        chosen: Sequence[int],
        dropped: Indices = _NONE,
        mean: Array | None = None,
        scale: Array | None = None,
    ) -> None:
        self.name, self.shape = source.name, (len(source) - len(dropped), len(chosen))
        self.dtype = source.dtype if scale is None else np.dtype(np.float64)
        self.columns = tuple(source.columns[j] for j in chosen)
        if source.edges is not None:
            self.edges = source.edges - np.searchsorted(dropped, source.edges)
        self.dropped = dropped  #: numbers of the rows left out
        self._by = None if mean is None or scale is None else (mean, scale)
        self.mean, self.scale = _composed(source, list(chosen), mean, scale)
        self.checked = source.checked
        self._source, self._chosen = source, list(chosen)
        self._before = dropped - np.arange(len(dropped))  # rows kept before each that is not

    def _numbers(self, kept: NDArray[Any]) -> Indices:
        """Which rows of the source the kept rows of these numbers are."""
        return kept + np.searchsorted(self._before, kept, side="right")

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        first, last = (int(number) for number in self._numbers(np.array([start, stop - 1])))
        inside = self.dropped[np.searchsorted(self.dropped, first) : np.searchsorted(self.dropped, last)]
        rows = self._source._read(first, last + 1)
        return self._seen(np.delete(rows, inside - first, axis=0) if len(inside) else rows)

    def _pick(self, indices: Indices) -> NDArray[Any]:
        return self._seen(self._source._pick(self._numbers(indices)))

    def _seen(self, rows: NDArray[Any]) -> NDArray[Any]:
        if self._chosen != list(range(rows.shape[1])):
            rows = rows[:, self._chosen]
        if self._by is None:
            return rows
        mean, scale = self._by
        return (rows.astype(np.float64) - mean) / scale


def _composed(
    source: Source, chosen: list[int], mean: Array | None, scale: Array | None
) -> tuple[Array | None, Array | None]:
    """What undoes both the standardisation of the source and ours."""
    if source.mean is None or source.scale is None:
        return mean, scale
    first, factor = source.mean[chosen], source.scale[chosen]
    return (first, factor) if mean is None or scale is None else (first + factor * mean, factor * scale)


def prepare(
    source: Source, standardise: bool, drop: bool, progress: Progress | None, over: Source | None = None
) -> Source:
    """Read everything once, if anything is asked for that needs it; ``over`` is what the pass is made over."""
    if not standardise and not drop:
        return source
    survey = _Survey(over or source, drop, progress)
    if survey.count < 2:
        raise ValueError(f"{source.name} has {survey.count} rows without missing values; at least 2 are needed.")
    source.checked = not len(survey.dropped)
    mean, scale = survey.scaling() if standardise else (None, None)
    seen = Prepared(source, range(source.d), survey.dropped, mean, scale)
    seen.checked = True
    return seen


class _Part(NamedTuple):
    """What a block comes to."""

    stop: int  #: the row after its last
    rows: int  #: without missing values
    mean: Array
    squares: Array  #: sums of squared deviations from it
    dropped: Indices


def _surveyed(drop: bool, source: Source, start: int, stop: int) -> _Part:
    block = np.ascontiguousarray(source._read(start, stop), dtype=source.dtype)
    number, dropped = np.arange(start, stop), _NONE
    if drop and np.isnan(block).any():
        absent = np.isnan(block).any(axis=1)
        dropped = number[absent]
        block, number = block[~absent], number[~absent]
    rows, m = block.astype(np.float64), len(block)
    if m == 0:
        return _Part(stop, 0, np.zeros(source.d), np.zeros(source.d), dropped)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.einsum("ij->j", rows) / m  # not by BLAS, whose last bits depend on its threads
        if not np.isfinite(mean).all():
            check.bounded(source.name, block, lambda k: int(number[k]))
        rows -= mean
        return _Part(stop, m, mean, np.einsum("ij,ij->j", rows, rows), dropped)


class _Survey:
    """Means and squared deviations by one pass, block upon block (Chan, Golub and LeVeque), and missing rows."""

    def __init__(self, source: Source, drop: bool, progress: Progress | None) -> None:
        self.source, self.count = source, 0
        self.mean, self.squares = np.zeros(source.d), np.zeros(source.d)
        found = [_NONE]
        for part in source.each(partial(_surveyed, drop)):
            found.append(part.dropped)
            if part.rows:
                self._add(part)
            if progress is not None:
                progress(part.stop)
        self.dropped: Indices = np.concatenate(found)

    def _add(self, part: _Part) -> None:
        total = self.count + part.rows
        with np.errstate(over="ignore", invalid="ignore"):
            apart = part.mean - self.mean
            self.squares += part.squares + apart * apart * (self.count * part.rows / total)
            self.mean += apart * (part.rows / total)
        self.count = total

    def scaling(self) -> tuple[Array, Array]:
        """Mean and standard deviation of each column, with the divisor N."""
        scale: Array = np.sqrt(self.squares / self.count)
        self._refuse(~np.isfinite(scale), "has values too large to be squared in", "rescale first")
        self._refuse(scale <= _ROUNDING * np.abs(self.mean), "is constant in", "leave out what is constant")
        return self.mean, scale

    def _refuse(self, columns: NDArray[np.bool_], what: str, advice: str) -> None:
        if columns.any():
            raise ValueError(f"{self.source.name} {what} {named(self.source.columns, columns)}; {advice}.")
