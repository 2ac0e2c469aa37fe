"""Folders of Parquet files, read a row group at a time; pyarrow comes with the extra ``companion``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._extras import needed
from .arrays import said
from .base import Chunked, Source

ENDINGS = (".parquet", ".pq")
#: From the names of columns to the positions of those that are used.
Choice = Callable[[tuple[str, ...]], list[int]]


class ParquetFolder(Chunked):
    """Parquet files of the same columns, in the order of their names; a chunk is a row group."""

    def __init__(self, name: str, files: Sequence[Path], columns: Choice) -> None:
        self.name, self._groups = name, list[tuple[Path, int]]()
        counts: list[int] = []
        first: Any = None
        for path in files:
            schema, sizes = _described(path)
            if first is None:
                first, self.columns = schema, tuple(schema.names[j] for j in columns(tuple(schema.names)))
            _same(path, schema, files[0], first, self.columns)
            self._groups += [(path.absolute(), k) for k, size in enumerate(sizes) if size]
            counts += [size for size in sizes if size]
        if not counts:
            raise ValueError(f"{name} holds no row; it must hold at least one.")
        self.edges = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.shape = int(self.edges[-1]), len(self.columns)
        single = all(str(first.field(column).type) == "float" for column in self.columns)
        self.dtype = np.dtype(np.float32 if single else np.float64)

    def _chunk(self, k: int) -> NDArray[Any]:
        path, group = self._groups[k]
        try:
            with needed("pyarrow.parquet").ParquetFile(path) as file:
                table = file.read_row_group(group, columns=list(self.columns))
                return np.column_stack([table.column(name).to_numpy().astype(self.dtype) for name in self.columns])
        except Exception as error:  # damaged pages, or a file that was replaced
            start, stop = int(self.edges[k]), int(self.edges[k + 1])
            raise ValueError(f"{path} cannot be read from row {start} to {stop - 1} ({said(error)}).") from error


def open_parquet(path: Path, columns: Choice) -> Source:
    """One file, or all those below a folder but what is hidden."""
    files = [path] if path.is_file() else sorted(_below(path))
    if not files:
        raise ValueError(f"{path} holds no Parquet file; there must be at least one that ends in .parquet or .pq.")
    return ParquetFolder(str(path), files, columns)


def _below(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        hidden = any(part[0] in "._" for part in file.relative_to(folder).parts)
        if file.suffix.lower() in ENDINGS and not hidden and file.is_file():
            yield file


def _described(path: Path) -> tuple[Any, list[int]]:
    """The columns of a file, and how many rows its groups have."""
    arrow = needed("pyarrow")
    try:
        with needed("pyarrow.parquet").ParquetFile(path) as file:
            groups = range(file.metadata.num_row_groups)
            return file.schema_arrow, [file.metadata.row_group(k).num_rows for k in groups]
    except (arrow.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as Parquet; it is cut short, or something else.") from error


def _same(path: Path, schema: Any, first_path: Path, first: Any, columns: Sequence[str]) -> None:
    """Refuse a file that lacks a column or has something else in it than the first."""
    types = needed("pyarrow.types")
    twice = [name for name, count in Counter(schema.names).items() if count > 1]
    if twice:
        raise ValueError(f"{path} has several columns {twice[0]!r}; each column must have a name of its own.")
    for column in columns:
        if column not in schema.names:
            raise ValueError(f"{path} has no column {column!r}, which {first_path.name} has; all must have the same.")
        kind = schema.field(column).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise ValueError(f"{path} holds {kind} in column {column!r}; it must hold numbers, or be left out.")
        if kind != first.field(column).type:
            raise ValueError(
                f"{path} holds {kind} in column {column!r}, and {first_path.name} {first.field(column).type}; "
                "all must have the same."
            )
    more = [column for column in schema.names if column not in first.names]
    if more and list(columns) == first.names:
        raise ValueError(f"{path} has a column {more[0]!r}, which {first_path.name} has not; all must have the same.")
