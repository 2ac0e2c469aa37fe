"""Columns of a table by name or number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from . import _validation as check

Column: TypeAlias = str | int


def column_positions(names: Sequence[str], columns: Sequence[Column] | None, without: Sequence[Column]) -> list[int]:
    """Which columns of the source are chosen, in the order asked for."""
    for argument, value in (("columns", () if columns is None else columns), ("without", without)):
        if isinstance(value, str | bytes) or np.ndim(value) != 1:
            raise TypeError(f"{argument} is {check.quoted(value)}; it must be a list of names or numbers.")
    chosen = range(len(names)) if columns is None else [_position(column, names, "columns") for column in columns]
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"columns is {list(columns or ())!r}; it must name each column once.")
    left_out = {_position(column, names, "without") for column in without}
    if left_out.issuperset(chosen):
        raise ValueError("There is no column left; columns and without must leave at least one.")
    return [position for position in chosen if position not in left_out]


def _position(column: Column, names: Sequence[str], argument: str) -> int:
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


def refuse_columns(name: str, columns: Sequence[str], wrong: Any, problem: str) -> None:
    """Raise an error if there are wrong columns; its text is ``problem`` with their names in place of ``{}``."""
    names = [repr(column) for column, is_wrong in zip(columns, wrong, strict=True) if is_wrong]
    if names:
        shown = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
        raise ValueError(f"{name} {problem.format(('column ' if len(names) == 1 else 'columns ') + shown)}")
