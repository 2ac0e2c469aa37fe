"""Refuse environments in which numba cannot work, with an error message of one sentence."""

import os

#: More is a mistake, and the system kills a process that asks for that many.
MOST_THREADS = 4096

_threads = os.environ.get("NUMBA_NUM_THREADS", "").strip()
if _threads and not (_threads.isascii() and _threads.isdigit() and 0 < int(_threads) <= MOST_THREADS):
    raise ImportError(f"NUMBA_NUM_THREADS is {_threads!r}; it must be a whole number from 1 to {MOST_THREADS}.")
if os.environ.get("NUMBA_DISABLE_JIT", "0").strip() not in ("", "0"):
    raise ImportError("NUMBA_DISABLE_JIT is set; nystrom_lib is compiled by numba and cannot do without: unset it.")
try:
    os.getcwd()
except OSError:
    raise ImportError("The folder you are in has been deleted; go to another one.") from None
