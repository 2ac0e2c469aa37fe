"""The three timings of §4.4 as tables: the paper's, ours, and those of plain C."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ..results import provenance
from ..results.archive import Archive
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
    stored = Archive(folder).timings() or {}
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
    stored = Archive(folder).timings() or {}
    sentences = ["Seconds, and quotients of them.", f"The paper's machine: {PAPER_MACHINE}."]
    if stored:
        compiler = f" ({stored['compiler']})" if "compiler" in stored else ""
        sentences.append(
            f"The other columns: {_named(stored.get('machine', ''))}; this library on {stored_threads(stored)}, "
            f"plain C{compiler} on one."
        )
    if "scaled" in stored:
        sentences.append(f"Scaled, not run in full: {stored['scaled']}.")
    return " ".join(sentences)


def order(folder: Path) -> str:
    """Which takes longer, one trace norm or the whole descent: in the paper and, by the stored timings, here."""
    stored = Archive(folder).timings() or {}
    return in_order(stored["ours"]) if "ours" in stored else "There are no stored timings to compare with."


def in_order(ours: Mapping[str, float]) -> str:
    """The same from our seconds by name."""
    words = (
        f"In the paper one trace norm takes {PAPER_SECONDS['trace_s'] / PAPER_SECONDS['descent_s']:.2g} times as long "
        f"as the whole descent ({PAPER_SECONDS['trace_s']:,g} s against {PAPER_SECONDS['descent_s']:,g} s)"
    )
    if ours["trace_s"] > ours["descent_s"]:
        return f"{words}; with our code, too, it takes longer."
    return (
        f"{words}; with our code the descent takes {ours['descent_s'] / ours['trace_s']:.2g} times as long as one "
        f"trace norm ({_written(ours['descent_s'])} s against {_written(ours['trace_s'])} s). The order is reversed."
    )


def stored_threads(stored: Mapping[str, Any]) -> str:
    """On how many threads the library was timed: as many as the machine had cores, unless it says otherwise."""
    count = int(stored.get("threads", stored.get("details", {}).get("cores", 1)))
    return f"{count} thread{'s' if count > 1 else ''}"


def measured_table(timings: Timings, iterations: int, threads: str) -> pd.DataFrame:
    """What was measured just now, and how; ``threads`` says in words on how many."""
    here = provenance.environment()
    how = {
        "radial_skd_s": "measured",
        "trace_s": "measured",
        "descent_s": f"scaled from {timings.timed_steps:,} of {iterations:,} steps",
    }
    title = f"s ({here['cpu']}, {here['cores']} cores, {threads})"
    return pd.DataFrame(
        [{"work": WORK[name], title: _written(getattr(timings, name)), "how": how[name]} for name in WORK]
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


def second_thread(folder: Path) -> tuple[pd.DataFrame, str]:
    """What a second thread gives a descent, and a second descent beside the first: a table, and whose seconds they are.

    Parameters
    ----------
    folder : Path
        The folder ``results/``, in which ``beyond/second_thread.json`` has the seconds, by the titles of the problems.
    """
    stored = Archive(folder).second_thread()
    if stored is None:
        return pd.DataFrame(), "There are no stored timings."
    rows = [
        {
            "problem": title,
            "pairs in a sum": each["n"] * each["N"],
            "one thread, s": each["one_s"],
            "two threads, s": each["two_s"],
            "gain": each["one_s"] / each["two_s"],
            "gain of two descents at a time": 2.0 * each["one_s"] / each["both_s"],
        }
        for title, each in stored["problems"].items()
    ]
    about = (
        f"Seconds for {stored['steps']} steps with the exact gradient, the best of {stored['rounds']} runs, measured "
        f"on {stored['details']['date'][:10]} on an {_named(stored['machine'])}:"
    )
    return pd.DataFrame(rows), about
