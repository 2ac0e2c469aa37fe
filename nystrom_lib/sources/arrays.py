"""Arrays in memory or mapped, and what is sliced as arrays are: of Dask, HDF5 and Zarr."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import BLOCK_ROWS, Chunked, Indices, Source, kept_type, numbered, told_shape


class ArraySource(Source):
    """A NumPy array, perhaps a memory map."""

    def __init__(self, array: NDArray[Any], name: str = "data") -> None:
        self.name = name
        self.shape = told_shape(name, array.shape, array.dtype)
        self.dtype, self.columns = kept_type(array.dtype), numbered(self.d)
        self._array = array

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        return self._array[start:stop]

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
        return np.asarray(self._sliced[int(self.edges[k]) : int(self.edges[k + 1])])


def _known(name: str, sliced: Any) -> tuple[int, ...]:
    """The shape; a Dask array made from a table may not know how many rows it has."""
    if any(size != size for size in sliced.shape):
        raise ValueError(f"{name} does not know how many rows it has; call its compute_chunk_sizes() first.")
    return tuple(int(size) for size in sliced.shape)


def _chunks(chunks: Any, N: int) -> Indices:
    """Where chunks of rows begin, and N; Dask tells the size of each, the others one for all, or None."""
    rows = chunks[0] if chunks else BLOCK_ROWS
    inner = np.cumsum(rows)[:-1] if isinstance(rows, tuple) else np.arange(rows, N, rows)
    return np.concatenate([[0], inner, [N]]).astype(np.int64)
