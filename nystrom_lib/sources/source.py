"""Rows by number and blocks in order, of anything with a shape, a dtype and slices."""

from __future__ import annotations

import copy
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _validation as check
from .._threads import threads
from .._validation import Array

Indices = NDArray[np.int64]
Result = TypeVar("Result")

#: Rows of a block. Do not change it: every sum over more rows than that depends on it.
BLOCK_ROWS = 2**15
_BLOCK_VALUES = 2**25  # at most, where rows are long
#: Chunks that are read for rows drawn at random; more rows than that come several from each chunk.
MAX_CHUNKS = 128
MIN_CHUNK_ROWS = 2**10  #: rows that are read at a time at least, where chunks of HDF5 or Zarr are smaller
_NOTHING: Array = np.empty((0, 0))
PATIENCE = 30.0  #: seconds to wait for workers of a cluster that has none left


class Source:
    """Points that are read as they are needed, a row each: ``len(source)`` of ``source.d`` coordinates.

    Made by :func:`open_data`. Rows of arrays and ``.npy`` files are read one by one; data stored in chunks (Parquet,
    Dask, HDF5, Zarr) chunk by chunk, and the last chunk is cached.
    """

    def __init__(
        self, array: Any = _NOTHING, name: str = "data", choose: Callable[[Sequence[str]], list[int]] | None = None
    ) -> None:
        if len(array.shape) != 2 or min(array.shape) < 1:
            raise ValueError(
                f"{name} has shape {tuple(array.shape)}; it must be two-dimensional, a row for each point."
            )
        if np.dtype(array.dtype).kind not in "fiub":
            raise ValueError(f"{name} has dtype {array.dtype}; it must hold real numbers.")
        self.name = name
        self._array, self._width = array, int(array.shape[1])
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

    def rows(self, indices: ArrayLike) -> NDArray[Any]:
        """The rows at these numbers, in the order asked for; repeats are allowed.

        Examples
        --------
        >>> import nystrom_lib as nl
        >>> nl.open_data([[0.0], [1.0], [2.0]]).rows([2, 0])
        array([[2.],
               [0.]])
        """
        wanted = check.indices("indices", indices, len(self))
        order = np.argsort(wanted, kind="stable")
        picked = self._finished(self._pick(self._numbers(wanted[order])), lambda k: int(wanted[order[k]]))
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
        for first, last in self.spans(start, stop):
            yield self.block(first, last)

    def block(self, start: int, stop: int) -> NDArray[Any]:
        """The rows from ``start`` to ``stop``."""
        first, last = self._numbers(np.array([start, stop - 1])).tolist()
        rows = self.stored(first, last + 1)
        inside = self.dropped[np.searchsorted(self.dropped, first) : np.searchsorted(self.dropped, last)]
        if len(inside):
            rows = np.delete(rows, inside - first, axis=0)
        return self._finished(rows, start.__add__)

    def spans(self, start: int = 0, stop: int | None = None) -> list[tuple[int, int]]:
        """First row of each block, and where it ends.

        Examples
        --------
        >>> import numpy as np
        >>> import nystrom_lib as nl
        >>> nl.open_data(np.zeros((50_000, 2))).spans()
        [(0, 32768), (32768, 50000)]
        """
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
        """Read everything once, so that a value that is not finite is found now, with its row; returns itself.

        Examples
        --------
        >>> import numpy as np
        >>> import nystrom_lib as nl
        >>> nl.open_data([[0.0], [np.nan]]).check()
        Traceback (most recent call last):
        ValueError: data holds nan at row 1, column 0; every value must be finite.
        """
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

    def draw(self, count: int, rng: np.random.Generator) -> Indices:
        """At least ``count`` row numbers, each uniform on 0, …, N − 1; shape (places, rows of a place).

        Places are independent. Where rows can be read one by one, each is a place; of chunks at most ``MAX_CHUNKS`` are
        drawn, with probabilities in proportion to their rows, and the same number of rows of each: a mean over the rows
        is unbiased, but rows of one place may be correlated.

        Examples
        --------
        >>> import numpy as np
        >>> import nystrom_lib as nl
        >>> nl.open_data([[0.0], [1.0], [2.0]]).draw(4, np.random.default_rng(0)).ravel()
        array([2, 1, 1, 0])
        """
        if self._edges is None or self._row_by_row(count):
            return rng.integers(0, len(self), size=(count, 1))
        edges = self._edges - np.searchsorted(self.dropped, self._edges)
        chunk = np.searchsorted(edges, rng.integers(0, len(self), size=MAX_CHUNKS), side="right") - 1
        return rng.integers(edges[chunk, None], edges[chunk + 1, None], size=(MAX_CHUNKS, -(-count // MAX_CHUNKS)))

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
        N = len(self)
        if count >= N:
            return np.arange(N)
        if not self._row_by_row(count):
            return np.sort(self.draw(count, rng).ravel())
        if count < 10_000 or not 4 * count < N <= 50 * count:
            return np.sort(rng.choice(N, count, replace=False))
        # here NumPy would shuffle all N numbers; of twice as many draws as are wanted, enough differ
        return np.sort(rng.choice(np.unique(rng.integers(0, N, size=2 * count)), count, replace=False))

    def _row_by_row(self, count: int) -> bool:
        return self._edges is None or min(count, len(self._edges) - 1) <= MAX_CHUNKS

    def each(self, task: Callable[[Source, int, int], Result]) -> Iterator[Result]:
        """A pass: ``task(source, start, stop)`` of every block, in order, here or on the cluster.

        Dask gives the blocks of a lost worker to another. If the whole cluster is lost, a warning says so, and the
        remaining blocks are computed here.
        """
        spans, done = self.spans(), 0
        if self._client is not None:
            try:
                for result in self._on_cluster(task, spans):
                    done += 1
                    yield result
            except _ClusterLost as error:
                warnings.warn(f"The cluster failed ({error}); the pass over {self.name} goes on here.", stacklevel=2)
        for span in spans[done:]:
            yield task(self, *span)

    def on(self, client: Any) -> Source:
        """The same source, with passes computed by the workers of a ``distributed.Client``."""
        other = copy.copy(self)
        other._client = client
        return other

    def _on_cluster(self, task: Callable[[Source, int, int], Result], spans: list[tuple[int, int]]) -> Iterator[Result]:
        client, futures = self._client, list[Any]()
        try:
            if client.status != "running" or not client.nthreads():
                raise _ClusterLost("it has no workers")
            # arguments are part of the task graph, so that Dask can send them to another worker
            futures = client.map(_run_on_worker, spans, source=self, task=task, pure=False)
            for future in futures:
                yield _wait(client, future)
        except Exception as error:
            if isinstance(error, _ClusterLost) or type(error).__module__.partition(".")[0] not in _CLUSTER_MODULES:
                raise
            raise _ClusterLost(type(error).__name__) from error
        finally:
            with suppress(Exception):  # the connection may be lost
                client.cancel(futures)

    def standardise(self, mean: Array, scale: Array) -> None:
        """Give rows as (stored value − mean) / scale from now on."""
        self.mean, self.scale, self.dtype = mean, scale, np.dtype(np.float64)

    def drop(self, dropped: Indices) -> None:
        """Leave out the stored rows of these numbers, which increase."""
        self.dropped, self.shape = dropped, (len(self) - len(dropped), self.d)

    def _numbers(self, kept: Indices) -> Indices:
        """The stored rows that the kept rows of these numbers are."""
        numbers: Indices = kept + np.searchsorted(self.dropped - np.arange(len(self.dropped)), kept, side="right")
        return numbers

    def stored(self, start: int, stop: int) -> NDArray[Any]:
        """The rows from ``start`` to ``stop`` as they are stored, in the chosen columns."""
        if self._edges is None:
            return self._slice(start, stop)
        first = int(np.searchsorted(self._edges, start, side="right")) - 1
        last = int(np.searchsorted(self._edges, stop, side="left"))
        parts = []
        for k in range(first, last):
            begin = int(self._edges[k])
            parts.append(self._chunk(k)[max(start - begin, 0) : stop - begin])
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _pick(self, numbers: Indices) -> NDArray[Any]:
        """The stored rows of these numbers, which increase."""
        if self._edges is None:
            return self._get(numbers, len(numbers), f"{numbers[0]} on")
        picked = np.empty((len(numbers), self.d), self._array.dtype)
        ends = np.searchsorted(numbers, self._edges)
        for k in np.flatnonzero(np.diff(ends)).tolist():
            part = slice(ends[k], ends[k + 1])
            picked[part] = self._chunk(k)[numbers[part] - self._edges[k]]
        return picked

    def _chunk(self, k: int) -> NDArray[Any]:
        cached = self._cached
        if cached is None or cached[0] != k:
            assert self._edges is not None
            cached = self._cached = None  # never two chunks in memory at once
            cached = self._cached = k, self._slice(int(self._edges[k]), int(self._edges[k + 1]))
        return cached[1]

    def _slice(self, start: int, stop: int) -> NDArray[Any]:
        return self._get(slice(start, stop), stop - start, f"{start} to {stop - 1}")

    def _get(self, where: Any, count: int, what: str) -> NDArray[Any]:
        """Stored rows; a block of another shape is refused."""
        try:
            rows = np.asarray(self._array[where])
        except Exception as error:  # from whatever library reads the data
            reason = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0].rstrip('.')}"
            raise ValueError(f"{self.name} cannot be read from row {what} ({reason}).") from error
        if rows.shape != (count, self._width):
            raise ValueError(
                f"{self.name} gave an array of shape {rows.shape} for its rows from {what}; it must be "
                f"{(count, self._width)}, as it was when it was opened."
            )
        return rows[:, self._chosen]

    def _finished(self, rows: NDArray[Any], number: Callable[[int], int]) -> NDArray[Any]:
        """Rows checked and scaled; ``number`` gives the row of the source that one of them is."""
        if self.mean is not None and self.scale is not None:
            rows = (rows.astype(np.float64) - self.mean) / self.scale
        rows = np.ascontiguousarray(rows, dtype=self.dtype)
        if not self.checked:
            check.bounded(self.name, rows, number)
        return rows

    def __getstate__(self) -> dict[str, Any]:
        """A copy in another process reads for itself; a data set of HDF5 is opened there by its file and name."""
        state = {**self.__dict__, "_cached": None, "_client": None}
        file = getattr(self._array, "file", None)
        if file is not None:
            state |= {"_array": None, "_hdf5": (os.path.abspath(file.filename), self._array.name)}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        file, name = state.pop("_hdf5", (None, None))
        self.__dict__.update(state)
        if file is not None:
            self._array = import_module("h5py").File(file, "r")[name]


def _chunk_edges(array: Any) -> Indices | None:
    """Where chunks of rows begin, and N; None if rows are read one by one."""
    if isinstance(array, np.ndarray) or getattr(array, "reads_rows", False):
        return None
    N, rows = int(array.shape[0]), array.chunks[0] if array.chunks else BLOCK_ROWS
    if isinstance(rows, tuple):  # Dask has the size of each chunk, HDF5 and Zarr one for all
        return np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)
    step = rows * -(-MIN_CHUNK_ROWS // rows)
    return np.append(np.arange(0, N, step), N).astype(np.int64)


def _read_block(source: Source, start: int, stop: int) -> int:
    source.block(start, stop)
    return stop


_CLUSTER_MODULES = ("distributed", "asyncio", "concurrent")


class _ClusterLost(Exception):
    """The cluster failed, not its task."""


def _wait(client: Any, future: Any) -> Any:
    """A result, as long as there are workers; without any, Dask would wait forever."""
    asked = time.monotonic()
    while not future.done():
        time.sleep(0.005)
        if time.monotonic() - asked > PATIENCE:
            if client.status != "running" or not client.nthreads():
                raise _ClusterLost("no worker is left")
            asked = time.monotonic()
    return future.result()


def _run_on_worker(span: tuple[int, int], source: Source, task: Callable[[Source, int, int], Result]) -> Result:
    with threads(1):
        return task(source, *span)
