"""The stored study of models on landmarks that have not seen the targets; chapter 11 shows its answers."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

FILE = Path("beyond") / "models.json"
_EXACT = "exact"  #: the rows that have all training points as landmarks
_DATA = {"rings": "Abalone", "class": "MAGIC"}
Cases = dict[str, float]


def load(path: Path) -> pd.DataFrame | None:
    """The stored rows: task, split, n, way, and errors at the test points."""
    if not path.is_file():
        return None
    stored = json.loads(path.read_text(encoding="utf-8"))
    return pd.DataFrame(stored["rows"], columns=stored["columns"])


def cases(table: pd.DataFrame) -> dict[str, Cases]:
    """The numbers that answer the questions X11, X12, X13, X17 and X18, by question and case."""
    rings, shower = (_medians(table, task, "loss") for task in _DATA)
    lost = {task: _medians(table, task, "lost") for task in _DATA}
    squared = {task: _medians(table, task, "squared") for task in _DATA}
    exact = table[table["way"] == _EXACT].groupby("task")["squared"].median()
    return {
        "X11": _named(rings["trace"] / rings["uniform"]),
        "X12": _named(shower["trace"] / shower["uniform"]),
        "X13": _named(shower["k-means"] / shower["uniform"]),
        "X17": _both({task: wide["trace"] / wide["uniform"] for task, wide in lost.items()}),
        "X18": _both({task: 1.0 - exact[task] / wide["uniform"] for task, wide in squared.items()}),
    }


def _medians(table: pd.DataFrame, task: str, quantity: str) -> pd.DataFrame:
    some = table[(table["task"] == task) & (table["way"] != _EXACT)]
    return some.groupby(["n", "way"])[quantity].median().unstack("way")


def _named(numbers: pd.Series) -> Cases:
    return {f"n = {n}": float(each) for n, each in numbers.items()}


def _both(numbers: dict[str, pd.Series]) -> Cases:
    return {f"{_DATA[task]}, {n}": value for task, each in numbers.items() for n, value in _named(each).items()}
