"""Text files as people have them: which separator, which decimal mark, a header or none.

A file whose lines do not all have the same number of fields is refused with the number of the line.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import itertools
import lzma
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from .._extras import needed

#: Endings of text files and the separator that a file of that kind has unless it shows another.
SUFFIXES = {".csv": ",", ".tsv": "\t", ".txt": ",", ".data": ",", ".dat": ","}
PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}

BLANKS = " "  #: as a separator: any run of blanks
_SEPARATORS = (",", ";", "\t", "|", BLANKS)
_LOOKED_AT = 200  # lines from which separator and decimal mark are told
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*")


@dataclass(frozen=True)
class Form:
    """How the fields of a text file are written."""

    separator: str
    header: bool
    decimal: str


def as_separator(given: str | None) -> str | None:
    r"""A separator that was asked for; ``\s+`` is another name for blanks."""
    if given is None or given == r"\s+":
        return given and BLANKS
    if len(given) != 1 or given in '"\r\n':
        raise ValueError(f"separator is {given!r}; it must be one character, a blank standing for any run of them.")
    return given


def form(path: Path, usual: str, separator: str | None, header: bool | None) -> Form:
    """How this file is written: as asked, or as its first lines show."""
    with _opened(path) as file:
        lines = [line for line in itertools.islice(file, _LOOKED_AT) if line.strip()]
    if not lines:
        raise ValueError("it holds no line")
    if separator is None:
        separator = max(_SEPARATORS, key=lambda each: (_numbers(lines, each), each == usual))
    rows = list(_split(lines, separator))
    decimal = _decimal(rows[1:] or rows, separator)
    if header is None:
        header = not any(is_number(field, decimal) for field in rows[0])
    return Form(separator, header, decimal)


def _numbers(lines: list[str], separator: str) -> float:
    """The share of numbers among the fields, if all lines have as many, and more than one; else 0."""
    rows = list(_split(lines, separator))
    if len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return 0.0
    body = [field for row in rows[1:] or rows for field in row]
    decimal = _decimal(rows[1:] or rows, separator)
    return sum(is_number(field, decimal) for field in body) / len(body) + 1.0


def _decimal(rows: list[list[str]], separator: str) -> str:
    """A comma, if it stands in numbers and no point does."""
    fields = [field for row in rows for field in row]
    commas = separator != "," and any(_DECIMAL_COMMA.fullmatch(field) for field in fields)
    points = any("." in field and is_number(field) for field in fields)
    return "," if commas and not points else "."


def is_number(field: str, decimal: str = ".") -> bool:
    """Whether a field is a number.

    Examples
    --------
    >>> is_number(" 1e-3"), is_number("1,5"), is_number("1,5", decimal=","), is_number("")
    (True, False, True, False)
    """
    if decimal == ",":
        field = field.replace(",", ".") if _DECIMAL_COMMA.fullmatch(field) else field
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    open_ = PACKED.get(path.suffix.lower(), open)
    with open_(path, "rt", encoding="utf-8-sig", newline="") as file:
        yield file


def _split(lines: Any, separator: str) -> Iterator[list[str]]:
    """The fields of each line that is not blank."""
    if separator == BLANKS:
        return (line.split() for line in lines if line.strip())
    return (row for row in csv.reader(lines, delimiter=separator, skipinitialspace=True) if row)


def _numbered(file: TextIO, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The fields of each row that is not blank, with the number of its last line."""
    if separator == BLANKS:
        yield from ((number, line.split()) for number, line in enumerate(file, start=1) if line.strip())
        return
    reader = csv.reader(file, delimiter=separator, skipinitialspace=True)
    yield from ((reader.line_num, row) for row in reader if row and (len(row) > 1 or row[0].strip()))


def check_rows(path: Path, separator: str) -> None:
    """Refuse a file whose rows are not all of one length."""
    with _opened(path) as file:
        wanted, first = 0, 0
        for number, row in _numbered(file, separator):
            wanted, first = wanted or len(row), first or number
            if len(row) != wanted:
                raise ValueError(
                    f"line {number} has {_fields(len(row))}, where line {first} has {wanted}; every line must have as "
                    f"many (the separator is {separator!r})"
                )


def _fields(count: int) -> str:
    return f"{count} field{'s' if count != 1 else ''}"


def line_of(path: Path, written: Form, row: int) -> int:
    """On which line a row of the table stands, counted from 0."""
    with _opened(path) as file:
        rows = itertools.islice(_numbered(file, written.separator), row + written.header, None)
        return next(number for number, _ in rows)


def read(path: Path, written: Form, words_for_missing: list[str]) -> Any:
    """The file as a pandas table; columns without names are x0, x1, …"""
    pandas = needed("pandas")
    check_rows(path, written.separator)
    # Before 3.1 pandas read decimals to the nearest float64 only on request; since then always.
    old = tuple(int(part) for part in pandas.__version__.split(".")[:2]) < (3, 1)
    frame = pandas.read_csv(
        path,
        sep=r"\s+" if written.separator == BLANKS else written.separator,
        header=0 if written.header else None,
        index_col=False,
        decimal=written.decimal,
        na_values=words_for_missing,
        skipinitialspace=True,
        encoding="utf-8-sig",
        low_memory=False,
        **({"float_precision": "round_trip"} if old else {}),
    )
    if not written.header:
        frame.columns = [f"x{j}" for j in range(frame.shape[1])]
    return frame
