"""``.npy`` files by numpy's memory maps, Parquet by pyarrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._extras import needed
from .source import Source

ENDINGS = (".parquet", ".pq")
_WINDOW = 2**25  # bytes of a file that are mapped at a time
#: From the names of columns to the positions of those that are used.
Choose = Callable[[Sequence[str]], list[int]]


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
            array = np.load(path, mmap_mode="r", allow_pickle=False)
            self.shape, self.dtype = array.shape, array.dtype
        except Exception as error:  # damaged bytes fail in any way
            raise ValueError(f"{path} is no .npy file of numbers, or it is damaged or cut short ({error}).") from error

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> NDArray[Any]:
        if isinstance(rows, slice):
            return np.array(np.load(self.path, mmap_mode="r", allow_pickle=False)[rows])
        window = rows * self.dtype.itemsize * self.shape[1] // _WINDOW
        parts = np.split(rows, np.flatnonzero(np.diff(window)) + 1)
        return np.concatenate([np.load(self.path, mmap_mode="r", allow_pickle=False)[part] for part in parts])


class ParquetRows:
    """Parquet files of the same columns, in the order of their names; a chunk is a row group."""

    def __init__(self, path: Path, choose: Choose) -> None:
        arrow, parquet = needed("pyarrow"), needed("pyarrow.parquet")
        files = [path] if path.is_file() else sorted(_files_below(path))
        if not files:
            raise ValueError(f"{path} holds no Parquet file; there must be at least one that ends in .parquet or .pq.")
        self._groups: list[tuple[Path, int]] = []
        sizes: list[int] = []
        first: Any = None
        for file in files:
            try:
                with parquet.ParquetFile(file) as opened:
                    schema, metadata = opened.schema_arrow, opened.metadata
                counts = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
            except (arrow.ArrowException, OSError) as error:
                raise ValueError(
                    f"{file} cannot be read as Parquet; it is damaged, cut short, or no Parquet."
                ) from error
            if first is None:
                first, self.columns = schema, [schema.names[j] for j in choose(schema.names)]
            _check_schema(file, schema, files[0], first, self.columns)
            self._groups += [(file.absolute(), k) for k, count in enumerate(counts) if count]
            sizes += [count for count in counts if count]
        if not sizes:
            raise ValueError(f"{path} holds no row; it must hold at least one.")
        self.shape, self.chunks = (sum(sizes), len(self.columns)), (tuple(sizes),)
        single = all(str(first.field(column).type) == "float" for column in self.columns)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self._starts = np.cumsum([0, *sizes])

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        """One row group."""
        path, k = self._groups[int(np.searchsorted(self._starts, rows.start, side="right")) - 1]
        with needed("pyarrow.parquet").ParquetFile(path) as file:
            table = file.read_row_group(k, columns=self.columns)
        return np.column_stack([table.column(name).to_numpy().astype(self.dtype) for name in self.columns])


def _files_below(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        hidden = any(part[0] in "._" for part in file.relative_to(folder).parts)
        if file.suffix.lower() in ENDINGS and not hidden and file.is_file():
            yield file


def _check_schema(path: Path, schema: Any, first_path: Path, first: Any, columns: Sequence[str]) -> None:
    """Refuse a file whose columns are not those of the first; pyarrow would fill in missing values."""
    types = needed("pyarrow.types")
    twice = [name for name, count in Counter(schema.names).items() if count > 1]
    if twice:
        raise ValueError(f"{path} has several columns {twice[0]!r}; each column must have a name of its own.")
    for column in columns:
        kind = schema.field(column).type if column in schema.names else "no column"
        if kind != first.field(column).type:
            raise ValueError(
                f"{path} has {kind} in place of column {column!r} of {first_path.name}, {first.field(column).type}; "
                "all files must have the same columns."
            )
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise ValueError(f"{path} holds {kind} in column {column!r}; it must hold numbers, or be left out.")
    if list(columns) == first.names and set(schema.names) != set(first.names):
        raise ValueError(f"{path} has columns that {first_path.name} has not; all files must have the same columns.")
