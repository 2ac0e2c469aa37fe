"""How the loops are compiled: flags and the cache on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.extending import register_jitable

#: Products may be fused into sums, and −0 is 0. Nothing is reordered, and nothing promises LLVM that values are finite:
#: a NaN on its way in is still a NaN on its way out.
EXACT = {"contract", "nsz"}
#: Sums may be reordered as well, which is what lets LLVM vectorise them.
SUMS = EXACT | {"reassoc"}

#: Part of the name of every function on disk. numba notices an edit of the file that a function is in, but not of the
#: files that it calls.
SOURCES = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))).hexdigest()


def cached(compiler: Callable[..., Any], function: Callable[..., Any]) -> Any:
    """Compile with numba's cache on disk, or without it where no folder can be written."""
    function.__qualname__ += f"-{SOURCES[:16]}"
    try:
        return compiler(cache=True)(function)
    except RuntimeError:  # numba found no place for the cache
        return compiler(cache=False)(function)


def entry(function: Callable[..., Any]) -> Any:
    """Compile a function that is called from Python; it releases the interpreter lock."""
    return cached(lambda cache: numba.njit(nogil=True, fastmath=EXACT, cache=cache), function)


def inner(function: Callable[..., Any] | None = None, *, flags: set[str] = EXACT) -> Any:
    """Let compiled functions call this one; it is compiled as a part of each entry.

    The numbers of a closure become part of its name. Closures of one name, compiled in two processes, would be mixed up
    in a third that loads both from the cache.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        values = [cell.cell_contents for cell in function.__closure__ or ()]
        function.__qualname__ += "".join(f"-{value}" for value in values if isinstance(value, int))
        return register_jitable(fastmath=flags)(function)

    return compiled(function) if function else compiled
