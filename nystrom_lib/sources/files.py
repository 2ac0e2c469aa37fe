"""``.npy`` files by numpy's memory maps, Parquet by pyarrow."""

from __future__ import annotations

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
    try:
        path = Path(path).expanduser()
    except RuntimeError:
        raise FileNotFoundError(f"data is {str(path)!r}; there is no such home directory.") from None
    if not path.exists():
        raise FileNotFoundError(f"data names {str(path)!r}, which does not exist.")
    if not (path.is_file() or path.is_dir()):
        raise ValueError(f"data names {str(path)!r}; it must be a regular file or a folder.")
    if path.is_dir() or path.suffix.lower() in ENDINGS:
        return Source(ParquetRows(path, choose), str(path))
    if path.suffix.lower() != ".npy":
        raise ValueError(f"data is {path.name!r}; it must be an .npy file, a Parquet file or a folder of those.")
    return Source(NpyFile(path), str(path), choose)


class NpyFile:
    """An ``.npy`` file, mapped into memory for each read, so that the pages read before are released."""

    reads_rows = True

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()  # for workers elsewhere, too
        try:
            array = self._mapped()
            self.shape, self.dtype = array.shape, array.dtype
        except Exception as error:  # damaged bytes fail in any way
            raise ValueError(f"{path} is no .npy file of numbers, or it is damaged or cut short ({error}).") from error

    def _mapped(self) -> NDArray[Any]:
        array: NDArray[Any] = np.load(self.path, mmap_mode="r", allow_pickle=False)
        return array

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> NDArray[Any]:
        if isinstance(rows, slice):
            return np.array(self._mapped()[rows])
        window = rows * self.dtype.itemsize * self.shape[1] // _WINDOW
        parts = np.split(rows, np.flatnonzero(np.diff(window)) + 1)
        return np.concatenate([self._mapped()[part] for part in parts])


class ParquetRows:
    """Parquet files of the same columns, in the order of their names; a chunk is a row group."""

    def __init__(self, path: Path, choose: Choose) -> None:
        arrow, parquet = needed("pyarrow"), needed("pyarrow.parquet")
        files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if _is_part(file, path))
        if not files:
            raise ValueError(f"{path} holds no Parquet file; there must be at least one that ends in .parquet or .pq.")
        self._groups: list[tuple[Path, int, int]] = []  # file, row group, rows
        for file in files:
            try:
                with parquet.ParquetFile(file) as opened:
                    schema, metadata = opened.schema_arrow, opened.metadata
                groups = [(k, metadata.row_group(k).num_rows) for k in range(metadata.num_row_groups)]
            except (arrow.ArrowException, OSError) as error:
                raise ValueError(
                    f"{file} cannot be read as Parquet; it is damaged, cut short, or no Parquet."
                ) from error
            if file == files[0]:
                self.columns = _numeric_columns(file, schema, choose)
                first = schema
            elif not _same(schema, first, self.columns):
                raise ValueError(f"{file} has other columns than {files[0].name}; all files must have the same.")
            self._groups += [(file.absolute(), k, rows) for k, rows in groups if rows]
        sizes = [rows for _, _, rows in self._groups]
        if not sizes:
            raise ValueError(f"{path} holds no row; it must hold at least one.")
        self.shape, self.chunks = (sum(sizes), len(self.columns)), (tuple(sizes),)
        single = all(str(first.field(column).type) == "float" for column in self.columns)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self._starts = np.cumsum([0, *sizes])

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        """One row group."""
        path, k, _ = self._groups[int(np.searchsorted(self._starts, rows.start, side="right")) - 1]
        with needed("pyarrow.parquet").ParquetFile(path) as file:
            table = file.read_row_group(k, columns=self.columns)
        return np.column_stack([table.column(name).to_numpy().astype(self.dtype) for name in self.columns])


def _is_part(file: Path, folder: Path) -> bool:
    """Whether it is a Parquet file, and not hidden."""
    hidden = any(part[0] in "._" for part in file.relative_to(folder).parts)
    return file.suffix.lower() in ENDINGS and not hidden and file.is_file()


def _numeric_columns(path: Path, schema: Any, choose: Choose) -> list[str]:
    types, names = needed("pyarrow.types"), schema.names
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{path} has several columns {twice[0]!r}; each column must have a name of its own.")
    chosen = [names[j] for j in choose(names)]
    for column in chosen:
        kind = schema.field(column).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise ValueError(f"{path} holds {kind} in column {column!r}; it must hold numbers, or be left out.")
    return chosen


def _same(schema: Any, first: Any, columns: list[str]) -> bool:
    """Whether the columns are those of the first file; pyarrow would fill in missing values."""
    if columns == first.names and set(schema.names) != set(first.names):
        return False
    return all(column in schema.names and schema.field(column).type == first.field(column).type for column in columns)
