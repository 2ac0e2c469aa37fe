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
    """Parquet files of the same columns, in the order of their names; a chunk is a row group."""

    def __init__(self, path: Path, choose: Choose) -> None:
        arrow, parquet = needed("pyarrow"), needed("pyarrow.parquet")
        files = [path] if path.is_file() else sorted(
            file
            for file in path.rglob("*")
            if file.suffix.lower() in ENDINGS and not any(part[0] in "._" for part in file.relative_to(path).parts)
        )  # fmt: skip
        if not files:
            raise ValueError(f"{path} holds no Parquet file; there must be at least one that ends in .parquet or .pq.")
        self._groups: list[tuple[Path, int, int]] = []  # file, row group, rows
        for file in files:
            try:
                with parquet.ParquetFile(file) as opened:
                    schema, metadata = opened.schema_arrow, opened.metadata
            except (arrow.ArrowException, OSError) as error:
                raise ValueError(
                    f"{file} cannot be read as Parquet; it is damaged, cut short, or no Parquet."
                ) from error
            if file == files[0]:
                types = _number_types(file, schema, choose)
                everything = list(types) == schema.names
            # pyarrow would fill in missing values
            if types != {field.name: field.type for field in schema if everything or field.name in types}:
                raise ValueError(f"{file} has other columns than {files[0].name}; all files must have the same.")
            sizes = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
            self._groups += [(file.absolute(), k, rows) for k, rows in enumerate(sizes) if rows]
        if not self._groups:
            raise ValueError(f"{path} holds no row; it must hold at least one.")
        self.columns, self.chunks = list(types), (tuple(rows for _, _, rows in self._groups),)
        self.shape = sum(self.chunks[0]), len(types)
        self.dtype = np.dtype(np.float32 if set(types.values()) == {arrow.float32()} else np.float64)

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        """One row group."""
        ends = np.cumsum(self.chunks[0])
        path, k, _ = self._groups[int(np.searchsorted(ends, rows.start, side="right"))]
        with needed("pyarrow.parquet").ParquetFile(path) as file:
            table = file.read_row_group(k, columns=self.columns)
        return np.column_stack([table.column(name).to_numpy().astype(self.dtype) for name in self.columns])


def _number_types(path: Path, schema: Any, choose: Choose) -> dict[str, Any]:
    """The chosen columns and their types."""
    types, names = needed("pyarrow.types"), schema.names
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{path} has several columns {twice[0]!r}; each column must have a name of its own.")
    chosen = {names[j]: schema.field(j).type for j in choose(names)}
    for column, kind in chosen.items():
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise ValueError(f"{path} holds {kind} in column {column!r}; it must hold numbers, or be left out.")
    return chosen
