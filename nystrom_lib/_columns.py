"""Columns of a table by name or number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from . import _validation as check

Column: TypeAlias = str | int


def column_positions(names: tuple[str, ...], columns: Sequence[Column] | None, without: Sequence[Column]) -> list[int]:
    """Which columns of the source are chosen, in the order asked for."""
    for argument, value in (("columns", columns), ("without", without)):
        if value is not None and (isinstance(value, str | bytes) or np.ndim(value) != 1):
            raise TypeError(f"{argument} is {check.quoted(value)}; it must be a list of names or numbers.")
    positions = (
        list(range(len(names))) if columns is None else [_position(column, names, "columns") for column in columns]
    )
    if len(set(positions)) < len(positions):
        raise ValueError(f"columns is {list(columns or ())!r}; it must name each column once.")
    left_out = {_position(column, names, "without") for column in without}
    return [position for position in positions if position not in left_out]


def _position(column: Column, names: tuple[str, ...], argument: str) -> int:
    """The position of a column, by name or by number from 0; names come first."""
    wanted = str(column)
    if names.count(wanted) > 1:
        raise ValueError(f"{argument} names {column!r}, but several columns have that name; use their numbers from 0.")
    if wanted in names:
        return names.index(wanted)
    if isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < len(names):
        return int(column)
    hint = check.did_you_mean(wanted, names)
    shown = ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")
    raise ValueError(f"{argument} names {check.quoted(column)}, which is no column{hint}; there are {shown}.")


def named(columns: Sequence[str], chosen: Any) -> str:
    """List the chosen columns for a message: ``column 'a'`` or ``columns 'a', 'b'``."""
    names = [repr(name) for name, wanted in zip(columns, chosen, strict=True) if wanted]
    shown = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    return ("column " if len(names) == 1 else "columns ") + shown
