"""Refuse environments in which numba cannot work, with an error message of one sentence."""

from __future__ import annotations

import os

#: More is a mistake, and the system kills a process that asks for that many.
MOST_THREADS = 4096


def _trouble() -> str | None:
    """The problem with the environment, if there is one."""
    threads = os.environ.get("NUMBA_NUM_THREADS", "").strip()
    if threads and not (threads.isascii() and threads.isdigit() and 0 < int(threads) <= MOST_THREADS):
        return f"NUMBA_NUM_THREADS is {threads!r}; it must be a whole number from 1 to {MOST_THREADS}."
    if os.environ.get("NUMBA_DISABLE_JIT", "0").strip() not in ("", "0"):
        return "NUMBA_DISABLE_JIT is set; nystrom_lib is compiled by numba and cannot do without: unset it."
    try:
        os.getcwd()
    except OSError:
        return "The folder you are in has been deleted; go to another one."
    return None


def ensure() -> None:
    """Refuse what would fail later, and with less to the point."""
    trouble = _trouble()
    if trouble is None:
        return
    raise ImportError(trouble)


ensure()
