"""The stored study of models on landmarks that have not seen the targets; chapter 11 shows its answers."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

FILE = Path("beyond") / "models.json"
_DATA = {"rings": "Abalone", "class": "MAGIC"}


def load(path: Path) -> pd.DataFrame | None:
    """The stored rows: task, split, n, way, and errors at the test points."""
    if not path.is_file():
        return None
    stored = json.loads(path.read_text(encoding="utf-8"))
    return pd.DataFrame(stored["rows"], columns=stored["columns"])


def cases(table: pd.DataFrame) -> dict[str, dict[str, float]]:
    """The numbers that answer the questions X11, X12, X13, X17 and X18, by question and case."""
    grouped = table.assign(data=table["task"].map(_DATA)).groupby(["data", "n", "way"])
    medians = grouped[["loss", "lost", "squared"]].median().unstack("way")
    loss, lost, squared = (medians[name] for name in ("loss", "lost", "squared"))
    # the rows called exact have all training points as landmarks, whatever n
    exact = table[table["way"] == "exact"].groupby(table["task"].map(_DATA))["squared"].median()
    numbers = {
        "X11": (loss["trace"] / loss["uniform"]).loc[["Abalone"]],
        "X12": (loss["trace"] / loss["uniform"]).loc[["MAGIC"]],
        "X13": (loss["k-means"] / loss["uniform"]).loc[["MAGIC"]],
        "X17": lost["trace"] / lost["uniform"],
        "X18": 1.0 - exact.reindex(squared.index, level="data") / squared["uniform"],
    }
    both = ("X17", "X18")
    found: dict[str, dict[str, float]] = {}
    for name, row in numbers.items():
        parts = row.dropna().items()
        found[name] = {f"{data}, n = {n}" if name in both else f"n = {n}": float(each) for (data, n), each in parts}
    return found
