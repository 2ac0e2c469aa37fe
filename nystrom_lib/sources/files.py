"""``.npy`` files by numpy's memory maps, Parquet by pyarrow."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._extras import needed
from .source import Choose, Source

ENDINGS = (".parquet", ".pq")
_WINDOW = 2**25  # bytes of a file that are mapped at a time


def open_file(path: Any, choose: Choose) -> Source:
    """An ``.npy`` file, a Parquet file or a folder of Parquet files."""
    path = Path(os.path.expanduser(path))  # unlike pathlib it accepts the name of an unknown user
    if not path.exists():
        raise FileNotFoundError(f"data names {str(path)!r}, which does not exist.")
    if not (path.is_file() or path.is_dir()):
        raise ValueError(f"data names {str(path)!r}; it must be a regular file or a folder.")
    if path.is_dir() or path.suffix.lower() in ENDINGS:
        return Source(ParquetFiles(path, choose), str(path))
    if path.suffix.lower() != ".npy":
        raise ValueError(f"data is {path.name!r}; it must be an .npy file, a Parquet file or a folder of those.")
    return Source(NpyFile(path), str(path), choose)


class NpyFile:
    """An ``.npy`` file, mapped into memory for each read, so that the pages read before are released."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()  # for workers elsewhere, too
        try:
            array = self._mapped()
        except Exception as error:  # damaged bytes fail in any way
            raise ValueError(f"{path} is no .npy file of numbers, or it is damaged or cut short ({error}).") from error
        self.shape, self.dtype = array.shape, array.dtype

    def _mapped(self) -> NDArray[Any]:
        array: NDArray[Any] = np.load(self.path, mmap_mode="r", allow_pickle=False)
        return array

    def __getitem__(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The rows of these numbers, which increase."""
        window = rows * self.dtype.itemsize * self.shape[1] // _WINDOW
        parts = np.split(rows, np.flatnonzero(np.diff(window)) + 1)
        return np.concatenate([self._mapped()[part] for part in parts])


class ParquetFiles:
    """A Parquet file or a folder of such files, in the order of their names; a chunk is a row group."""

    def __init__(self, path: Path, choose: Choose) -> None:
        arrow, dataset = needed("pyarrow"), needed("pyarrow.dataset")
        try:
            files = list(dataset.dataset(path.absolute(), format="parquet").get_fragments())
            schemas = [file.physical_schema for file in files]
            groups = [(file.path, group.id, group.num_rows) for file in files for group in file.row_groups]
        except (arrow.ArrowException, OSError) as error:
            raise ValueError(f"{path} cannot be read as Parquet ({str(error).partition(chr(10))[0]}).") from error
        self._groups = [(file, k, rows) for file, k, rows in groups if rows]
        if not self._groups:
            raise ValueError(f"{path} holds no row of Parquet data; it must hold at least one.")
        names = schemas[0].names
        number_types = arrow.types.is_integer, arrow.types.is_floating, arrow.types.is_boolean
        types = {names[j]: schemas[0].field(j).type for j in choose(names)}
        for column, kind in types.items():
            if not any(is_kind(kind) for is_kind in number_types):
                raise ValueError(f"{path} holds {kind} in column {column!r}; it must hold numbers, or be left out.")
        everything = list(types) == names
        for file, schema in zip(files, schemas, strict=True):  # pyarrow would fill in missing values
            if types != {field.name: field.type for field in schema if everything or field.name in types}:
                first = Path(files[0].path).name
                raise ValueError(f"{file.path} has other columns than {first}; all files must have the same.")
        self.columns, self.chunks = list(types), (tuple(rows for _, _, rows in self._groups),)
        self.shape = sum(self.chunks[0]), len(types)
        self.dtype = np.dtype(np.float32 if set(types.values()) == {arrow.float32()} else np.float64)

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        """One row group, of the file as it is now."""
        file, k, _ = self._groups[int(np.searchsorted(np.cumsum(self.chunks[0]), rows.start, side="right"))]
        with needed("pyarrow.parquet").ParquetFile(file) as opened:
            table = opened.read_row_group(k, columns=self.columns)
        return np.column_stack([table.column(name).to_numpy().astype(self.dtype) for name in self.columns])
