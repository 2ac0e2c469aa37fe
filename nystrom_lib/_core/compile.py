"""How the loops are compiled: flags, caching, and the sharing of cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

#: Sums may be reordered (that is what lets them be vectorised) and products fused. Nothing promises LLVM that
#: values are finite, so that a NaN on its way in is still a NaN on its way out.
SUMS = {"reassoc", "contract", "nsz"}

#: Where the order of operations carries the meaning: rounding tricks, compensated arithmetic.
ORDERED = {"contract"}


def _cached(make: Callable[[bool], Any]) -> Any:
    """Compile with numba's on-disk cache, or without it where no folder for it can be written."""
    try:
        return make(True)
    except RuntimeError:  # "cannot cache function …: no locator available for file …"
        return make(False)


def jit(*, flags: set[str] | bool = False, parallel: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a loop: no Python objects, the interpreter lock released, cached on disk."""

    def decorate(function: Callable[..., Any]) -> Any:
        return _cached(
            lambda cache: numba.njit(cache=cache, nogil=True, fastmath=flags, parallel=parallel)(function)
        )

    return decorate


def both(*, flags: set[str] | bool = False) -> Callable[[Callable[..., Any]], tuple[Any, Any]]:
    """Compile one loop twice: (serial, parallel over its ``prange``).

    numba caches under a function's qualified name, so the parallel twin gets a name of its own.
    """

    def decorate(function: Callable[..., Any]) -> tuple[Any, Any]:
        twin = type(function)(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        twin.__qualname__ = function.__qualname__ + "_parallel"
        twin.__module__ = function.__module__
        return jit(flags=flags)(function), jit(flags=flags, parallel=True)(twin)

    return decorate


def address_of(signature: Any, *, cache: bool) -> Callable[[Callable[..., Any]], int]:
    """Compile a callback and give its machine address."""

    def decorate(function: Callable[..., Any]) -> int:
        def make(on_disk: bool) -> Any:
            return numba.cfunc(signature, cache=on_disk)(function)

        compiled = _cached(make) if cache else make(False)
        _KEEP.append(compiled)  # an address does not keep its code alive
        return int(compiled.address)

    return decorate


_KEEP: list[Any] = []
