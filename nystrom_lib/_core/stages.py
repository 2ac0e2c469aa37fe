"""Stages of a computation, each a function of an index, and whoever shares the indices out among threads.

A stage is called by its address and reads what it is told from a note. So it is compiled once: not once for one thread
and again for several, and not again in all who call it and in all who call them, where numba would optimise it anew.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import ir
from numba import _dispatcher, prange, typeof, types
from numba.core import cgutils
from numba.extending import intrinsic

from .compile import ORDERED, address_of, jit

_WORD = ir.IntType(64)


class Stage:
    """A function ``(index, start, count, note)``, compiled for each kind of note when its address is asked for."""

    def __init__(self, function: Callable[..., None], flags: set[str] = ORDERED) -> None:
        self.name, self._function, self._flags = function.__name__, function, flags
        self._addresses: dict[Any, int] = {}
        self._of_told: dict[bytes, int] = {}

    def address(self, kind: Any) -> int:
        """Its address for notes of this kind, a type of numba's."""
        if kind not in self._addresses:
            signature = types.none(*(types.intp,) * 3, types.CPointer(kind))
            self._addresses[kind] = address_of(signature, cache=True, flags=self._flags)(self._function)
        return self._addresses[kind]

    def of(self, told: tuple[Any, ...]) -> int:
        """Its address for a note that tells this."""
        mark = _dispatcher.compute_fingerprint(told)  # of all types in it, found much sooner than they are
        if mark not in self._of_told:
            self._of_told[mark] = self.address(typeof(told))
        return self._of_told[mark]

    def __call__(self, parallel: bool, indices: int, told: tuple[Any, ...]) -> None:
        """For every index, from Python."""
        _begin(sharing(parallel), self.of(told), indices, told)


def stage(*, flags: set[str]) -> Callable[[Callable[..., None]], Stage]:
    """Decorate a stage whose sums may be reordered, or whatever the flags say."""
    return lambda function: Stage(function, flags)


@cache
def sharing(parallel: bool) -> int:
    """The address of what calls a stage for every index, on this thread or on all of them."""
    return address_of(types.none(*(types.intp,) * 5), cache=True, parallel=parallel)(_spread if parallel else _repeat)


def _repeat(stage, indices, start, count, note):
    for index in range(indices):
        _call(stage, index, start, count, note)


def _spread(stage, indices, start, count, note):
    for index in prange(indices):
        _call(stage, index, start, count, note)


def _calling(words: int) -> Any:
    """Call what stands at an address, on so many words."""

    def generate(context, builder, signature, arguments):
        function = ir.FunctionType(ir.IntType(8).as_pointer(), [_WORD] * words)
        builder.call(builder.inttoptr(arguments[0], function.as_pointer()), arguments[1:])
        return context.get_dummy_value()

    return types.void(*(types.intp,) * (words + 1)), generate


@intrinsic
def _call(typingctx, stage, index, start, count, note):
    return _calling(4)


@intrinsic
def share(typingctx, sharing, stage, indices, start, count, note):
    """``stage(index, start, count, note)`` of every index, by what stands at the address ``sharing``."""
    return _calling(5)


@intrinsic
def leave(typingctx, told):
    """Leave a note, for as long as the function runs in which this stands; gives its address."""

    def generate(context, builder, signature, arguments):
        stored = context.data_model_manager[told].as_data(builder, arguments[0])
        return builder.ptrtoint(cgutils.alloca_once_value(builder, stored), _WORD)

    return types.intp(told), generate


@intrinsic
def read(typingctx, note):
    """What a note says. Its arrays are borrowed: nobody counts references to them."""
    kind = note.dtype

    def generate(context, builder, signature, arguments):
        told = context.data_model_manager[kind].from_data(builder, builder.load(arguments[0]))
        return _borrowed(context, builder, kind, told)

    return kind(note), generate


def _borrowed(context, builder, kind, value):
    """A value without the owners of its arrays."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        for i, each in enumerate(kind.types):
            part = _borrowed(context, builder, each, builder.extract_value(value, i))
            value = builder.insert_value(value, part, i)
    return value


@jit()
def _begin(sharing, stage, indices, told):
    """Leave a note and share the indices out."""
    share(sharing, stage, indices, 0, 0, leave(told))
