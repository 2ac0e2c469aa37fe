"""Text tables: separator, decimal mark and header are recognised, and pandas reads the rows.

pandas pads short rows silently: a file whose rows are of unequal length is refused with the number of the line.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import itertools
import lzma
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from .._extras import needed

SUFFIXES = (".csv", ".tsv", ".txt", ".data", ".dat")
PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
SEPARATORS = (",", ";", "\t", "|", " ")  #: a blank stands for any run of blanks
_FIRST_LINES = 200  # by which separator and decimal mark are recognised


def read(path: Path, separator: str | None, header: bool | None, words_for_missing: list[str]) -> Any:
    """The file as a pandas table; columns without names are x0, x1, …"""
    pandas = needed("pandas")
    with _open(path) as file:
        first = [line for line in itertools.islice(file, _FIRST_LINES) if line.strip()]
    if not first:
        raise ValueError("it holds no line")
    if separator is None:
        separator = max(SEPARATORS, key=lambda each: _share_of_numbers(first, each))
    rows = [row for _, row in _split(first, separator)]
    decimal = _decimal(rows, separator)
    if header is None:
        header = not any(is_number(field, decimal) for field in rows[0])
    start = 0
    with _open(path) as file:
        for count, (line, row) in enumerate(_split(file, separator), start=1):
            start = line if count == 1 else start
            if len(row) != len(rows[0]):
                raise ValueError(
                    f"line {line} has {len(row)} fields, where line {start} has {len(rows[0])}; every line must have "
                    f"equally many (the separator is {separator!r})"
                )
    if count == header:
        raise ValueError("it holds names of columns, but no row")
    # From version 3.1 on pandas always reads decimals to the nearest float64.
    old = tuple(int(part) for part in pandas.__version__.split(".")[:2]) < (3, 1)
    frame = pandas.read_csv(
        path, sep=r"\s+" if separator == " " else separator, header=0 if header else None, index_col=False,
        decimal=decimal, na_values=words_for_missing, skipinitialspace=True, encoding="utf-8-sig", low_memory=False,
        **({"float_precision": "round_trip"} if old else {}),
    )  # fmt: skip
    return frame if header else frame.add_prefix("x")


def is_number(field: str, decimal: str = ".") -> bool:
    """Whether a field is a number."""
    try:
        float(field.replace(decimal, "."))
    except ValueError:
        return False
    return "_" not in field


def _share_of_numbers(lines: list[str], separator: str) -> float:
    """1 plus the share of numbers among the fields, if all lines have equally many, and more than one; else 0."""
    rows = [row for _, row in _split(lines, separator)]
    if len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return 0.0
    decimal = _decimal(rows, separator)
    return 1.0 + sum(is_number(field, decimal) for row in rows for field in row) / sum(map(len, rows))


def _decimal(rows: list[list[str]], separator: str) -> str:
    """A comma, if it stands in numbers and no point does."""
    fields = [field for row in rows for field in row]
    commas = separator != "," and any("," in field and is_number(field, ",") for field in fields)
    return "," if commas and not any("." in field and is_number(field) for field in fields) else "."


def _open(path: Path) -> TextIO:
    file: TextIO = PACKED.get(path.suffix.lower(), open)(path, "rt", encoding="utf-8-sig", newline="")
    return file


def _split(lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """The fields of each row that is not blank, with the number of its last line."""
    if separator == " ":
        yield from ((number, line.split()) for number, line in enumerate(lines, start=1) if line.strip())
        return
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    yield from ((reader.line_num, row) for row in reader if row and (len(row) > 1 or row[0].strip()))
