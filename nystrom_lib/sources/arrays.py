"""Arrays in memory or mapped, and what is sliced as arrays are: of Dask, HDF5 and Zarr."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import BLOCK_ROWS, Chunked, Indices, Source, kept_type, numbered, told_shape

LEAST = 2**10  #: rows that are read at a time at least, where chunks of HDF5 or Zarr are smaller


class ArraySource(Source):
    """A NumPy array, perhaps a memory map."""

    def __init__(self, array: NDArray[Any], name: str = "data") -> None:
        self.name = name
        self.shape = told_shape(name, array.shape, array.dtype)
        self.dtype, self.columns = kept_type(array.dtype), numbered(self.d)
        self._array = array

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        return self._complete(self._array[start:stop], start, stop)

    def _pick(self, indices: Indices) -> NDArray[Any]:
        return self._array[indices]


class SlicedSource(Chunked):
    """What has a shape, a dtype and slices that NumPy takes: a Dask array, a data set of HDF5, a Zarr array."""

    def __init__(self, sliced: Any, name: str = "data") -> None:
        self.name = name
        self.shape = told_shape(name, _known(name, sliced), sliced.dtype)
        self.dtype, self.columns = kept_type(sliced.dtype), numbered(self.d)
        self.edges = _chunks(getattr(sliced, "chunks", None), len(self))
        self._sliced = sliced

    def _chunk(self, k: int) -> NDArray[Any]:
        start, stop = int(self.edges[k]), int(self.edges[k + 1])
        try:
            return np.asarray(self._sliced[start:stop])
        except Exception as error:  # whatever the library behind it raises
            raise ValueError(f"{self.name} cannot be read from row {start} to {stop - 1} ({said(error)}).") from error

    def __getstate__(self) -> dict[str, Any]:
        """A data set of HDF5 cannot be sent, but is in a file that others can open."""
        state, file = super().__getstate__(), getattr(self._sliced, "file", None)
        if file is not None:
            state |= {"_sliced": None, "_place": (os.path.abspath(file.filename), self._sliced.name)}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        file, name = state.pop("_place", (None, None))
        self.__dict__.update(state)
        if file is not None:
            self._sliced = import_module("h5py").File(file, "r")[name]


def said(error: Exception) -> str:
    """What kind of error it is, and the first line of what another library says of it."""
    words = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {words[0].rstrip('.')}" if words[0] else type(error).__name__


def _known(name: str, sliced: Any) -> tuple[int, ...]:
    """The shape; a Dask array made from a table may not know how many rows it has."""
    if any(size != size for size in sliced.shape):
        raise ValueError(f"{name} does not know how many rows it has; call its compute_chunk_sizes() first.")
    return tuple(int(size) for size in sliced.shape)


def _chunks(chunks: Any, N: int) -> Indices:
    """Where chunks of rows begin, and N; Dask tells the size of each, the others one for all, or None."""
    rows = chunks[0] if chunks else BLOCK_ROWS
    if isinstance(rows, tuple):
        inner = np.cumsum(rows)[:-1]
    else:
        step = rows * -(-LEAST // rows)
        inner = np.arange(step, N, step)
    return np.concatenate([[0], inner, [N]]).astype(np.int64)
