"""How the loops are compiled: flags, caching, and the width of vectors."""

from __future__ import annotations

import hashlib
import logging
import os
import platform
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils, event
from numba.extending import intrinsic

#: Sums may be reordered (that is what lets them be vectorised) and products fused. Nothing promises LLVM that
#: values are finite, so that a NaN on its way in is still a NaN on its way out.
SUMS = {"reassoc", "contract", "nsz"}

#: Where the order of operations carries the meaning (rounding tricks, compensated arithmetic), and in all that others
#: call: numba keeps a copy in each caller, optimised apart, and which of them runs is for the linker to choose. What
#: can be fused in two ways, such as x² + y², is fused there by :func:`fused`.
ORDERED = {"contract"}


#: Without the code through which Python calls a function, or C by its address.
_NO_ENTRY = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

#: Whether the plain loops beside the vectors of :mod:`.vectors` do all the work: where NYSTROM_PLAIN_LOOPS is set.
PLAIN = bool(os.environ.get("NYSTROM_PLAIN_LOOPS"))


def _places() -> Iterator[Path]:
    """Where compiled code may be kept, the best place first."""
    chosen = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    if chosen:
        yield Path(chosen)
        return
    yield Path(__file__).parent / "__pycache__"
    yield user_cache()


def user_cache() -> Path:
    """Our folder among the platform's caches; it need not exist."""
    usual = "~/Library/Caches" if sys.platform == "darwin" else "~/.cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or usual).expanduser() / "nystrom-companion"


def _cache_folder() -> str:
    """Where compiled code is kept: a folder named after the sources of this package, or "" if none can be written.

    numba notices an edit of the file a function lives in, but not of the files it calls into, nor of a variable of
    the environment. With both in the folder's name, code compiled from anything else is simply not found.
    """
    sources = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    name = f"nystrom-{hashlib.sha256(sources).hexdigest()[:16]}" + ("-plain" if PLAIN else "")
    for place in _places():
        folder = place / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return str(folder)
    return ""


_FOLDER = _cache_folder()


def _cached(make: Callable[[bool], Any]) -> Any:
    """Compile with the cache folder above, or without a cache where there is none.

    numba reads its setting while it decorates, so ours is in force just then and nobody else's functions see it. One
    thread at a time: the setting is one of the whole process.
    """
    with _setting:
        before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
        numba.config.CACHE_DIR = _FOLDER  # type: ignore[attr-defined]
        try:
            return make(bool(_FOLDER))
        finally:
            numba.config.CACHE_DIR = before  # type: ignore[attr-defined]


_setting = threading.RLock()
if hasattr(os, "register_at_fork"):
    # Held across a fork, so that a child never waits for a thread that did not come along.
    os.register_at_fork(before=_setting.acquire, after_in_parent=_setting.release, after_in_child=_setting.release)


def jit(
    *, flags: set[str] | bool = False, parallel: bool = False, entry: bool = True
) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a loop: no Python objects, the interpreter lock released, cached on disk."""
    options = {"nogil": True, "fastmath": flags, "parallel": parallel, **({} if entry else _NO_ENTRY)}

    def decorate(function: Callable[..., Any]) -> Any:
        return _whatever_the_constants(_cached(lambda cache: numba.njit(cache=cache, **options)(function)))

    return decorate


def inner(*, flags: set[str] | bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a loop that only other loops call: without the entry from Python, which takes long to compile."""
    return lambda function: jit(flags=flags, entry=False)(function)


def _whatever_the_constants(dispatcher: Any) -> Any:
    """Let calls from compiled code share one version: numba would compile another for every 0, 1 or True it is given.

    LLVM sees the constants all the same where it inlines.
    """
    template = dispatcher.get_call_template

    def plain(arguments: Any, named: Any) -> Any:
        return template(
            tuple(map(types.unliteral, arguments)), {name: types.unliteral(each) for name, each in named.items()}
        )

    dispatcher.get_call_template = plain
    return dispatcher


class _Notice(event.Listener):  # type: ignore[misc]
    """Says once in a process that a loop is being compiled; what comes from the cache passes in silence."""

    given = False

    def on_start(self, event: Any) -> None:
        """numba has found nothing in the cache and begins."""
        module = event.data["dispatcher"].py_func.__module__
        # a user's own kernel, in profiles, takes a moment
        if not self.given and module.startswith(__package__) and not module.endswith("profiles"):
            self.given = True
            often = "once" if _FOLDER else "in every process, for no folder for the result can be written"
            logging.getLogger("nystrom_lib").warning(
                "nystrom_lib compiles its loops for this processor; this takes up to a minute, %s.", often
            )

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


event.register("numba:compile", _Notice())


def address_of(
    signature: Any, *, cache: bool, flags: set[str] | bool = False, parallel: bool = False
) -> Callable[[Callable[..., Any]], int]:
    """Compile a function that is called by its machine address, and give that.

    Not by ``numba.cfunc``: it links the code into a wrapper and optimises it again in the process that compiles, but
    not in those that load it from the cache, and a reordered sum then differs in its last bit.
    """

    def decorate(function: Callable[..., Any]) -> int:
        def make(on_disk: bool) -> Any:
            options = {"nogil": True, "fastmath": flags, "parallel": parallel, "no_cpython_wrapper": True}
            return numba.njit(signature, cache=on_disk, **options)(function)

        compiled = _cached(make) if cache else make(False)
        _KEEP.append(compiled)  # an address does not keep its code alive
        result = next(iter(compiled.overloads.values()))
        return int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))

    return decorate


_KEEP: list[Any] = []


def fuse(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """a·b + c, rounded once where the processor does that.

    LLVM, left to itself, fuses x² + y² either way, and may choose differently in each copy of a function.
    """
    if not _FUSES:
        return builder.fadd(builder.fmul(a, b), c)
    element = a.type.element if isinstance(a.type, ir.VectorType) else a.type
    name = "f64" if isinstance(element, ir.DoubleType) else "f32"
    lanes = f"v{a.type.count}" if isinstance(a.type, ir.VectorType) else ""
    kind = ir.FunctionType(a.type, [a.type] * 3)
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.{lanes}{name}"), [a, b, c])


_FUSES = bool(get_host_cpu_features().get("fma")) or platform.machine() in ("aarch64", "arm64")


@intrinsic
def fused(typingctx, a, b, c):
    """a·b + c of three numbers of a type, rounded once where the processor does that."""

    def generate(context, builder, signature, arguments):
        return fuse(builder, *arguments)

    return a(a, a, a), generate


@intrinsic
def wide(typingctx):
    """Let LLVM use 512-bit vectors in the function this stands in.

    Where the processor has them it still prefers 256 bits, for fear of a lower clock; for long loops of
    multiplications that gives away up to a third of the speed.
    """

    def generate(context, builder, signature, arguments):
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), generate
