"""How the loops are compiled: flags and the cache on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.extending import register_jitable

#: LLVM may fuse a product and a sum, and ignore the sign of 0. It may not reorder operations, nor assume that values
#: are finite: NaN in the input stays NaN in the output.
EXACT = {"contract", "nsz"}
#: Sums may be reordered as well: only then can LLVM vectorise them.
SUMS = EXACT | {"reassoc"}

#: Part of the name of every function in the cache. numba notices an edit of the file that defines a function, but not
#: an edit of the files whose functions it calls.
SOURCES = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))).hexdigest()


def cached(compiler: Callable[..., Any], function: Callable[..., Any]) -> Any:
    """Compile with numba's cache on disk, or without a cache where no folder is writable."""
    function.__qualname__ += f"-{SOURCES[:16]}"
    try:
        return compiler(cache=True)(function)
    except RuntimeError:  # numba found no writable folder
        return compiler(cache=False)(function)


def entry(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls; it releases the interpreter lock."""
    return cached(lambda cache: numba.njit(nogil=True, fastmath=EXACT, cache=cache), function)


def inner(function: Callable[..., Any] | None = None, *, flags: set[str] = EXACT) -> Any:
    """Let compiled functions call this one; it is compiled as a part of each entry.

    The integers of a closure become part of its name: a process that loads two closures of one name from the cache,
    each compiled by another process, would confuse them.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        values = [cell.cell_contents for cell in function.__closure__ or ()]
        function.__qualname__ += "".join(f"-{value}" for value in values if isinstance(value, int))
        return register_jitable(fastmath=flags)(function)

    return compiled(function) if function else compiled
