"""The stored timings of descents on two threads."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ..results.archive import Archive


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
        f"on {stored['details']['date'][:10]} on an {stored['machine']}:"
    )
    return pd.DataFrame(rows), about
