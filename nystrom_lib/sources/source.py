"""Rows by number and blocks in order, of anything with a shape, a dtype and slices."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _validation as check
from .._threads import threads
from .._validation import Array

Indices = NDArray[np.int64]
Result = TypeVar("Result")
#: Chooses columns: from the names of all to the positions of those that are used.
Choose = Callable[[Sequence[str]], list[int]]

_NOTHING: Array = np.empty((0, 0))
#: Rows of a block. Do not change it: every sum over more rows than that depends on it.
BLOCK_ROWS = 2**15
_BLOCK_VALUES = 2**25  # at most, where rows are long
MIN_CHUNK_ROWS = 2**10  #: rows that are read at a time at least, where chunks of HDF5 or Zarr are smaller


class Source:
    """Points that are read as they are needed, a row each: ``len(source)`` of ``source.d`` coordinates.

    Made by :func:`open_data`. Rows of arrays and ``.npy`` files are read one by one; data stored in chunks (Parquet,
    Dask, HDF5, Zarr) chunk by chunk, so that rows from everywhere take a pass; the last chunk is cached.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> source = nl.open_data([[0.0], [1.0], [2.0]])
    >>> source.rows([2, 0])
    array([[2.],
           [0.]])
    >>> [block.shape for block in source.blocks()]
    [(3, 1)]
    """

    def __init__(self, array: Any = _NOTHING, name: str = "data", choose: Choose | None = None) -> None:
        if len(array.shape) != 2 or min(array.shape) < 1:
            raise ValueError(
                f"{name} has shape {tuple(array.shape)}; it must be two-dimensional, a row for each point."
            )
        if np.dtype(array.dtype).kind not in "fiub":
            raise ValueError(f"{name} has dtype {array.dtype}; it must hold real numbers.")
        self.name, self._array, self._width = name, array, int(array.shape[1])
        names = getattr(array, "columns", None) or [f"x{j}" for j in range(self._width)]
        chosen = list(range(self._width)) if choose is None else choose(names)
        self._chosen = slice(None) if chosen == list(range(self._width)) else chosen
        self.columns = tuple(names[j] for j in chosen)  #: the name of each coordinate
        self.shape = int(array.shape[0]), len(chosen)  #: (N, d)
        self.dtype = np.dtype(np.float32 if array.dtype == np.float32 else np.float64)  #: of the rows
        self._edges = _chunk_edges(array)
        self._cached: tuple[int, NDArray[Any]] | None = None
        self._client: Any = None
        self.mean: Array | None = None  #: what the columns were standardised with, if they were
        self.scale: Array | None = None  #: likewise: a row is (stored value − mean) / scale
        self.checked = False  #: whether every value is known to be finite
        self.dropped: Indices = np.empty(0, np.int64)  #: numbers of the stored rows that are left out

    @property
    def d(self) -> int:
        """The number of coordinates of a point."""
        return self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {len(self):,} points in {self.d} dimensions, {self.dtype})"

    # --- reading

    def rows(self, indices: ArrayLike) -> NDArray[Any]:
        """The rows at these numbers, in the order asked for; repeats are allowed."""
        numbers, places = np.unique(check.indices("indices", indices, len(self)), return_inverse=True)
        return self._read(numbers)[places]

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[NDArray[Any]]:
        """All rows from ``start`` to ``stop`` in order, ``BLOCK_ROWS`` at a time."""
        return (self.block(first, last) for first, last in self.spans(start, stop))

    def block(self, start: int, stop: int) -> NDArray[Any]:
        """The rows from ``start`` to ``stop``."""
        return self._read(np.arange(start, stop))

    def spans(self, start: int = 0, stop: int | None = None) -> list[tuple[int, int]]:
        """First row of each block, and where it ends."""
        stop, step = len(self) if stop is None else stop, min(BLOCK_ROWS, max(1, _BLOCK_VALUES // self.d))
        return [(first, min(first + step, stop)) for first in range(start, stop, step)]

    def all(self) -> NDArray[Any]:
        """Every row, in memory."""
        everything = np.empty(self.shape, self.dtype)
        for start, stop in self.spans():
            everything[start:stop] = self.block(start, stop)
        self.checked = True
        return everything

    def check(self, progress: Callable[[int], object] | None = None) -> Source:
        """Read everything once, so that a value that is not finite is found now, with its row; returns itself."""
        if not self.checked:
            for done in self.each(_read_block):
                if progress is not None:
                    progress(done)
            self.checked = True
        return self

    def in_original_units(self, points: ArrayLike) -> Array:
        """Undo the standardisation: points among the rows, such as landmarks, in the units of the stored values."""
        points = check.float_points("points", points, dimension=self.d)
        return points.copy() if self.mean is None or self.scale is None else self.mean + self.scale * points

    # --- drawing

    def draw(self, count: int, rng: np.random.Generator) -> Indices:
        """``count`` row numbers, each uniform on 0, …, N − 1 and independent of the others."""
        return rng.integers(0, len(self), size=count)

    def choose(self, count: int, rng: np.random.Generator) -> Indices:
        """At most ``count`` different row numbers in increasing order; every set of them is equally likely."""
        N = len(self)
        if count >= N:
            return np.arange(N)
        if count < 10_000 or not 4 * count < N <= 50 * count:
            return np.sort(rng.choice(N, count, replace=False))
        # here NumPy would shuffle all N numbers; of twice as many draws as are wanted, enough differ
        return np.sort(rng.choice(np.unique(rng.integers(0, N, size=2 * count)), count, replace=False))

    # --- passes

    def each(self, task: Callable[[Source, int, int], Result]) -> Iterator[Result]:
        """A pass: ``task(source, start, stop)`` of every block, in order, here or on the cluster.

        Dask gives the blocks of a lost worker to another.
        """
        if self._client is None:
            yield from (task(self, *span) for span in self.spans())
            return
        futures = self._client.map(_run_on_worker, self.spans(), source=self, task=task, pure=False)
        try:
            for future in futures:
                yield future.result()
        finally:
            self._client.cancel(futures)

    def on(self, client: Any) -> Source:
        """The same source, with passes computed by the workers of a ``distributed.Client``."""
        other = copy.copy(self)
        other._client = client
        return other

    def __getstate__(self) -> dict[str, Any]:
        """A copy in another process reads for itself."""
        return {**self.__dict__, "_cached": None, "_client": None}

    # --- stored rows

    def _read(self, numbers: Indices) -> NDArray[Any]:
        """The rows of these numbers, which increase, checked and scaled."""
        left_out_before = np.searchsorted(self.dropped - np.arange(len(self.dropped)), numbers, side="right")
        rows = self.stored(numbers + left_out_before)
        if self.mean is not None and self.scale is not None:
            rows = (rows.astype(np.float64) - self.mean) / self.scale
        rows = np.ascontiguousarray(rows, dtype=self.dtype)
        if not self.checked:
            check.bounded(self.name, rows, numbers.item)
        return rows

    def stored(self, numbers: Indices) -> NDArray[Any]:
        """The rows of these numbers, which increase, as they are stored, in the chosen columns."""
        if self._edges is None:
            return self._get(numbers, (len(numbers), self._width), f"{numbers[0]} to {numbers[-1]}")
        picked = np.empty((len(numbers), self.d), self._array.dtype)
        ends = np.searchsorted(numbers, self._edges)
        for k in np.flatnonzero(np.diff(ends)).tolist():
            part, (start, stop) = slice(ends[k], ends[k + 1]), self._edges[k : k + 2].tolist()
            picked[part] = self._chunk(start, stop)[numbers[part] - start]
        return picked

    def _chunk(self, start: int, stop: int) -> NDArray[Any]:
        if self._cached is None or self._cached[0] != start:
            self._cached = None  # never two chunks in memory at once
            rows = self._get(slice(start, stop), (stop - start, self._width), f"{start} to {stop - 1}")
            self._cached = start, rows
        return self._cached[1]

    def _get(self, where: slice | Indices, shape: tuple[int, int], what: str) -> NDArray[Any]:
        """Stored rows; an array of another shape, or of something else than real numbers, is refused."""
        try:
            rows = np.asarray(self._array[where])
        except TimeoutError:  # perhaps of a signal handler
            raise
        except Exception as error:  # from whatever library reads the data
            reason = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0].rstrip('.')}"
            raise ValueError(f"{self.name} cannot be read from row {what} ({reason}).") from error
        if rows.shape != shape or rows.dtype.kind not in "fiub":
            raise ValueError(
                f"{self.name} gave an array of shape {rows.shape} for its rows from {what}, of {rows.dtype}; it must be"
                f" {shape}, of {self._array.dtype}, as it was when it was opened."
            )
        return rows[:, self._chosen]


def _chunk_edges(array: Any) -> Indices | None:
    """Where chunks of rows begin, and N; None if rows are read one by one, which needs no chunks."""
    if not hasattr(array, "chunks"):
        return None
    N, rows = int(array.shape[0]), array.chunks[0] if array.chunks else BLOCK_ROWS
    if isinstance(rows, tuple):  # Dask has the size of each chunk, HDF5 and Zarr one for all
        return np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)
    step = rows * -(-MIN_CHUNK_ROWS // rows)
    return np.append(np.arange(0, N, step), N).astype(np.int64)


def _read_block(source: Source, start: int, stop: int) -> int:
    source.block(start, stop)
    return stop


def _run_on_worker(span: tuple[int, int], source: Source, task: Callable[[Source, int, int], Result]) -> Result:
    with threads(1):
        return task(source, *span)
