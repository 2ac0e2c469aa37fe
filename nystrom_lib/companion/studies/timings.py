"""The three timings of §4.4 as tables: the paper's, ours, and those of plain C."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ..results import provenance
from ..results.archive import Stored
from .large_descent import PAPER_MACHINE, PAPER_SECONDS, Timings

WORK = {
    "radial_skd_s": "R up to its constant, once",
    "trace_s": "trace norm of the error, once",
    "descent_s": "the descent, R not evaluated",
}


def stored_table(folder: Path) -> pd.DataFrame:
    """The stored timings at full scale beside the paper's; the paper's alone if there are none.

    Parameters
    ----------
    folder : Path
        The folder ``results/``, in which ``miniboone_timings.json`` has under ``machine`` the machine, and under
        ``ours`` and ``plain_c`` the seconds by name.
    """
    stored = Stored(folder).timings() or {}
    columns = {
        "paper, s": PAPER_SECONDS,
        "plain C, s": stored.get("plain_c"),
        "this library, s": stored.get("ours"),
    }
    table = pd.DataFrame({"work": list(WORK.values())})
    for title, seconds in columns.items():
        if seconds:
            table[title] = [_written(seconds.get(name)) for name in WORK]
    if {"ours", "plain_c"} <= set(stored):
        table["paper / plain C"] = _quotients(PAPER_SECONDS, stored["plain_c"])
        table["plain C / this library"] = _quotients(stored["plain_c"], stored["ours"])
    return table


def machines(folder: Path) -> str:
    """Whose seconds stand in which column of :func:`stored_table`, in a sentence or two."""
    stored = Stored(folder).timings() or {}
    sentences = ["Seconds, and quotients of them.", f"The paper's machine: {PAPER_MACHINE}."]
    if stored:
        compiler = f" ({stored['compiler']})" if "compiler" in stored else ""
        sentences.append(f"The other columns: {_named(stored.get('machine', ''))}, plain C{compiler} on one thread.")
    if "scaled" in stored:
        sentences.append(f"Scaled, not run in full: {stored['scaled']}.")
    return " ".join(sentences)


def measured_table(found: Timings, iterations: int) -> pd.DataFrame:
    """What was measured just now, and how."""
    here = provenance.environment()
    how = {
        "radial_skd_s": "measured",
        "trace_s": "measured",
        "descent_s": f"scaled from {found.timed_steps:,} of {iterations:,} steps",
    }
    title = f"s ({here['cpu']}, {here['cores']} cores)"
    return pd.DataFrame(
        [{"work": WORK[name], title: _written(getattr(found, name)), "how": how[name]} for name in WORK]
    )


def _written(seconds: float | None) -> str:
    """Three digits, and 6,600 rather than 6.6e+03."""
    if seconds is None:
        return ""
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.3g}"


def _quotients(over: Mapping[str, float], under: Mapping[str, float]) -> list[float]:
    return [over[name] / under[name] if under.get(name) and over.get(name) else float("nan") for name in WORK]


def _named(machine: Any) -> str:
    return str(machine.get("cpu", "")) if isinstance(machine, Mapping) else str(machine)
