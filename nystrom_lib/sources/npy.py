"""Files of NumPy's format, read row by row from disk.

They are read, not mapped: a file that another process cuts short is then an error and not the end of ours, and what the
system keeps of it in memory is not counted as ours.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import ArraySource
from .base import Indices, Source, kept_type, numbered, told_shape

_WINDOW = 2**16  # bytes: rows no farther apart than this are read together


class NpyFile(Source):
    """An ``.npy`` file with a row for each point."""

    def __init__(self, path: Path, shape: tuple[int, int], stored: np.dtype[Any], offset: int) -> None:
        self.name, self.shape = str(path), shape
        self._path, self._stored, self._offset = path.absolute(), stored, offset  # for workers elsewhere, too
        self._row = self.d * stored.itemsize
        wanted, there = offset + len(self) * self._row, path.stat().st_size
        if there < wanted:
            raise ValueError(
                f"{path} is cut short: {len(self):,} rows of {self.d} need {wanted:,} bytes, and it has {there:,}."
            )
        self.dtype, self.columns = kept_type(stored), numbered(self.d)

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        with open(self._path, "rb", buffering=0) as file:
            return self._span(file.fileno(), start, stop)

    def _pick(self, indices: Indices) -> NDArray[Any]:
        picked = np.empty((len(indices), self.d), self._stored)
        if not len(indices):
            return picked
        window = indices * self._row // _WINDOW
        begins = np.flatnonzero(np.diff(window, prepend=-1)).tolist()
        with open(self._path, "rb", buffering=0) as file:
            for first, last in zip(begins, [*begins[1:], len(indices)], strict=True):
                low, high = int(indices[first]), int(indices[last - 1])
                picked[first:last] = self._span(file.fileno(), low, high + 1)[indices[first:last] - low]
        return picked

    def _span(self, file: int, start: int, stop: int) -> NDArray[Any]:
        span = np.empty((stop - start, self.d), self._stored)
        room, done = span.view(np.uint8).reshape(-1).data, 0
        while done < len(room):
            read = os.preadv(file, [room[done:]], self._offset + start * self._row + done)
            if read == 0:
                raise ValueError(f"{self.name} was cut short while it was read, at row {start + done // self._row}.")
            done += read
        return span


def open_npy(path: Path) -> Source:
    """The file by its header; one that is stored column by column is mapped."""
    with open(path, "rb") as file:
        try:
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, by_column, stored = read(file)
        except Exception as error:  # damaged bytes fail in any way
            raise ValueError(f"{path} is no .npy file, or its first bytes are damaged.") from error
        offset = file.tell()
    N, d = told_shape(str(path), shape, stored)
    if by_column and min(N, d) > 1:
        try:
            return ArraySource(np.load(path, mmap_mode="r", allow_pickle=False), str(path))
        except ValueError as error:
            raise ValueError(f"{path} is cut short: its {N:,} rows of {d} are not all there.") from error
    return NpyFile(path, (N, d), stored, offset)
