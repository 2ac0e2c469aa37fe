"""What a source is: data that need not fit into memory, as rows by number and as blocks in order.

A member is a class in a file of its own that knows ``name``, ``shape``, ``dtype`` and ``columns`` when it is made,
without a look at the values. Where single rows cost little it is a :class:`Source` and gives rows from ``start`` to
``stop`` (``_read``) and by number (``_pick``); where the data are stored in chunks that are read whole it is a
:class:`Chunked`, says where they begin (``edges``) and gives one (``_chunk``). It can be pickled, so that another
process reads for itself.

Values are looked at when they are read: what is not finite is named with its row. :meth:`Source.check` reads everything
once; from then on nothing is looked at again.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _validation as check
from .._validation import Array

Indices = NDArray[np.int64]
Span = tuple[int, int]
Result = TypeVar("Result")
#: Told from time to time how many rows have been read.
Progress = Callable[[int], object]

#: Rows of a block: part of the definition of every sum over more rows than that.
BLOCK_ROWS = 2**15
_BLOCK_VALUES = 2**25  # at most, where rows are long
#: Chunks that are read for rows drawn at random. More rows than that come several from each.
PLACES = 128


class Source(ABC):
    """Points that are read as they are needed, a row each: ``len(source)`` of ``source.d`` coordinates."""

    name: str  #: what sentences call it
    shape: tuple[int, int]  #: (N, d)
    dtype: np.dtype[Any]  #: of the rows it gives: float32 where the data are, else float64
    columns: tuple[str, ...]  #: the name of each coordinate
    edges: Indices | None = None  #: where chunks begin, and N, if rows cannot be read one by one
    mean: Array | None = None  #: what the columns were standardised with, if they were
    scale: Array | None = None  #: likewise: a row is (what is stored − mean) / scale
    checked: bool = False  #: whether every value is known to be finite
    dropped: Indices = np.empty(0, np.int64)  #: numbers of the rows of the file that are left out

    @property
    def d(self) -> int:
        """The number of coordinates of a point."""
        return self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        N, d = self.shape
        return f"{type(self).__name__}({self.name!r}, {N:,} points in {d} dimensions, {self.dtype})"

    # --- what a member gives

    @abstractmethod
    def _read(self, start: int, stop: int) -> NDArray[Any]:
        """The rows from start to stop, as they are stored."""

    @abstractmethod
    def _pick(self, indices: Indices) -> NDArray[Any]:
        """The rows at these numbers, which increase, as they are stored."""

    # --- what everybody uses

    def rows(self, indices: ArrayLike) -> NDArray[Any]:
        """The rows at these numbers, in the order asked for; the same may come twice.

        Examples
        --------
        >>> import nystrom_lib as nl
        >>> nl.open_data([[0.0], [1.0], [2.0]]).rows([2, 0])
        array([[2.],
               [0.]])
        """
        wanted = check.indices("indices", indices, len(self))
        order = np.argsort(wanted, kind="stable")
        picked = self._clean(self._pick(wanted[order]), lambda k: int(wanted[order[k]]))
        rows = np.empty_like(picked)
        rows[order] = picked
        return rows

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[NDArray[Any]]:
        """All rows from ``start`` to ``stop`` in order, ``BLOCK_ROWS`` at a time.

        Examples
        --------
        >>> import numpy as np
        >>> import nystrom_lib as nl
        >>> [block.shape for block in nl.open_data(np.zeros((100_000, 2))).blocks()]
        [(32768, 2), (32768, 2), (32768, 2), (1696, 2)]
        """
        for first, rows in self._stored_blocks(start, stop):
            yield self._clean(rows, first.__add__)

    def block(self, start: int, stop: int) -> NDArray[Any]:
        """The rows from ``start`` to ``stop``."""
        return self._clean(self._complete(self._read(start, stop), start, stop), lambda k: start + k)

    def spans(self) -> list[Span]:
        """First row of each block, and where it ends.

        Examples
        --------
        >>> import numpy as np
        >>> import nystrom_lib as nl
        >>> nl.open_data(np.zeros((50_000, 2))).spans()
        [(0, 32768), (32768, 50000)]
        """
        step = min(BLOCK_ROWS, max(1, _BLOCK_VALUES // self.d))
        return [(start, min(start + step, len(self))) for start in range(0, len(self), step)]

    def each(self, task: Callable[[Source, int, int], Result]) -> Iterator[Result]:
        """A pass: ``task(source, start, stop)`` of every block, in order, wherever it is done."""
        for start, stop in self.spans():
            yield task(self, start, stop)

    def mark(self) -> str:
        """A few letters that tell data apart, by shape and first and last block."""
        digest = hashlib.sha256(f"{self.shape} {self.dtype.str}".encode())
        spans = self.spans()
        for span in dict.fromkeys((spans[0], spans[-1])):
            digest.update(np.ascontiguousarray(self._read(*span)).data)
        return digest.hexdigest()[:32]

    def all(self) -> NDArray[Any]:
        """Every row, in memory."""
        everything = np.empty(self.shape, self.dtype)
        done = 0
        for block in self.blocks():
            everything[done : done + len(block)] = block
            done += len(block)
        self.checked = True
        return everything

    def draw(self, count: int, rng: np.random.Generator) -> Indices:
        """At least ``count`` row numbers, each uniform on 0, …, N − 1; shape (places, rows of a place).

        Places are independent. Where rows can be read one by one, each is a place; where chunks are read whole, at most
        ``PLACES`` chunks are chosen, with chances in proportion to their rows, and as many rows of each as it
        takes: every row is still as likely as any other, so that a mean over them has no bias, but rows of one place
        may resemble each other.

        Examples
        --------
        >>> import numpy as np
        >>> import nystrom_lib as nl
        >>> nl.open_data([[0.0], [1.0], [2.0]]).draw(4, np.random.default_rng(0)).ravel()
        array([2, 1, 1, 0])
        """
        if self._row_by_row(count):
            return rng.integers(0, len(self), size=(count, 1))
        assert self.edges is not None
        chunk = np.searchsorted(self.edges, rng.integers(0, len(self), size=PLACES), side="right") - 1
        first, last = self.edges[chunk, None], self.edges[chunk + 1, None]  # PLACES × 1
        return rng.integers(first, last, size=(PLACES, -(-count // PLACES)))

    def choose(self, count: int, rng: np.random.Generator) -> Indices:
        """At most ``count`` row numbers in increasing order, every row as likely to be among them as any other.

        They differ, unless more chunks would have to be read than :meth:`draw` reads.

        Examples
        --------
        >>> import numpy as np
        >>> import nystrom_lib as nl
        >>> nl.open_data([[0.0], [1.0], [2.0]]).choose(2, np.random.default_rng(0))
        array([1, 2])
        """
        if count >= len(self):
            return np.arange(len(self))
        if self._row_by_row(count):
            return np.sort(_different(len(self), count, rng))
        return np.sort(self.draw(count, rng).ravel())

    def check(self, progress: Progress | None = None) -> Source:
        """Read everything once, so that a value that is not finite is found now, with its row; gives itself.

        Examples
        --------
        >>> import numpy as np
        >>> import nystrom_lib as nl
        >>> nl.open_data([[0.0], [np.nan]]).check()
        Traceback (most recent call last):
        ValueError: data holds nan at row 1, column 0; every value must be finite.
        """
        if not self.checked:
            for done in self.each(_looked_at):
                if progress is not None:
                    progress(done)
            self.checked = True
        return self

    def in_original_units(self, points: ArrayLike) -> Array:
        """Undo the standardisation: points among the rows, such as landmarks, in the units of what is stored."""
        points = check.float_points("points", points, dimension=self.d)
        return points.copy() if self.mean is None or self.scale is None else self.mean + self.scale * points

    # --- serving those

    def _row_by_row(self, count: int) -> bool:
        """Whether so many rows may come from as many places: there are no chunks, or few."""
        return self.edges is None or min(count, len(self.edges) - 1) <= PLACES

    def _stored_blocks(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, NDArray[Any]]]:
        """The number of its first row, and a block as it is stored."""
        stop = len(self) if stop is None else stop
        step = min(BLOCK_ROWS, max(1, _BLOCK_VALUES // self.d))
        for first in range(start, stop, step):
            last = min(first + step, stop)
            yield first, self._complete(self._read(first, last), first, last)

    def _complete(self, rows: NDArray[Any], start: int, stop: int) -> NDArray[Any]:
        """What was read as the rows from start to stop, if it has their shape."""
        if rows.shape != (stop - start, self.d):
            raise ValueError(
                f"{self.name} gave an array of shape {rows.shape} for its rows from {start} to {stop - 1}; it must be "
                f"{(stop - start, self.d)}, as it was when it was opened."
            )
        return rows

    def _clean(self, rows: NDArray[Any], number: Callable[[int], int]) -> NDArray[Any]:
        """Rows of our type, none of them bad; ``number`` says which row of the source one of them is."""
        rows = np.ascontiguousarray(rows, dtype=self.dtype)
        if not self.checked:
            check.bounded(self.name, rows, number)
        return rows


def _different(N: int, count: int, rng: np.random.Generator) -> Indices:
    """So many different numbers below N, any set of them as likely as any other, with room for a few times as many."""
    if count < 10_000 or not 4 * count < N <= 50 * count:
        return rng.choice(N, count, replace=False)
    # here NumPy would shuffle all N; of twice as many draws as numbers are wanted enough differ, by far
    return rng.choice(np.unique(rng.integers(0, N, size=2 * count)), count, replace=False)


class Chunked(Source):
    """A source whose rows are stored in chunks, of which the last one read is kept: the next block may begin in it."""

    edges: Indices
    _held: tuple[int, NDArray[Any]] | None = None

    @abstractmethod
    def _chunk(self, k: int) -> NDArray[Any]:
        """The rows from ``edges[k]`` to ``edges[k + 1]``, as they are stored."""

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        first = int(np.searchsorted(self.edges, start, side="right")) - 1
        last = int(np.searchsorted(self.edges, stop, side="left"))
        parts = []
        for k in range(first, last):
            begin = int(self.edges[k])
            parts.append(self._keep(k)[max(start - begin, 0) : stop - begin])
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _pick(self, indices: Indices) -> NDArray[Any]:
        picked = np.empty((len(indices), self.d), self.dtype)
        ends = np.searchsorted(indices, self.edges)
        for k in np.flatnonzero(np.diff(ends)).tolist():
            here = slice(ends[k], ends[k + 1])
            picked[here] = self._keep(k)[indices[here] - self.edges[k]]
        return picked

    def _keep(self, k: int) -> NDArray[Any]:
        held = self._held
        if held is None or held[0] != k:
            held = self._held = None  # never two at once
            rows = self._complete(self._chunk(k), int(self.edges[k]), int(self.edges[k + 1]))
            held = self._held = k, rows  # of several threads, each has its own
        return held[1]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_held": None}


def _looked_at(source: Source, start: int, stop: int) -> int:
    source.block(start, stop)
    return stop


def kept_type(stored: Any) -> np.dtype[Any]:
    """float32 for float32, float64 for every other kind of real number."""
    return np.dtype(np.float32 if np.dtype(stored) == np.float32 else np.float64)


def numbered(d: int) -> tuple[str, ...]:
    """Names for columns that have none."""
    return tuple(f"x{j}" for j in range(d))


def told_shape(name: str, shape: tuple[int, ...], dtype: Any) -> tuple[int, int]:
    """A shape (N, d) of real numbers, or a sentence."""
    if len(shape) != 2 or min(shape) < 1:
        raise ValueError(f"{name} has shape {tuple(shape)}; it must be two-dimensional, a row for each point.")
    if np.dtype(dtype).kind not in "fiub":
        raise ValueError(f"{name} has dtype {dtype}; it must hold real numbers.")
    return int(shape[0]), int(shape[1])
