"""Validation of arguments, before any work. What can be converted is converted, never in place.

An error is one sentence: the argument, its value, what is allowed. A wrong type raises TypeError, a wrong value
ValueError.
"""

from __future__ import annotations

import difflib
import math
import operator
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from types import SimpleNamespace
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
P = ParamSpec("P")
T = TypeVar("T")

#: Coordinates may be as large as this, so that differences of two are finite.
LARGEST = 1e300


def quoted(value: Any) -> str:
    """A value as an error quotes it: in full if it is short, and on one line."""
    try:
        quoted = " ".join(repr(value).split())
    except Exception:  # a number of too many digits, or an object that cannot say what it is
        return f"a value of type {type(value).__name__}"
    return quoted if len(quoted) <= 80 else f"{quoted[:79]}…"


def points(name: str, value: ArrayLike, *, dimension: int | None = None, like: str = "data") -> NDArray[Any]:
    """A C-contiguous (rows, d) array of finite floats; float32 stays float32, everything else becomes float64."""
    array = as_array(name, value)
    if array.ndim != 2:
        raise ValueError(
            f"{name} has shape {array.shape}; it must be two-dimensional, a row for each point"
            + (" (for points on a line use a single column, x[:, None])." if array.ndim == 1 else ".")
        )
    if array.shape[0] < 1 or array.shape[1] < 1:
        raise ValueError(f"{name} has shape {array.shape}; it must hold at least one point of at least one coordinate.")
    if dimension is not None and array.shape[1] != dimension:
        raise ValueError(f"{name} has points of {array.shape[1]} coordinates; those of {like} have {dimension}.")
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} has dtype {array.dtype}; it must hold real numbers.")
    if array.dtype not in (np.float32, np.float64) or not array.flags.c_contiguous or not array.dtype.isnative:
        array = np.ascontiguousarray(array, dtype=np.float32 if array.dtype == np.float32 else np.float64)
    rows = max(1, 1_000_000 // array.shape[1])  # blocks of about 8 MB, so that a memory map is never read at once
    for start in range(0, len(array), rows):
        bounded(name, array[start : start + rows], start.__add__)
    return array


def bounded(name: str, rows: NDArray[Any], number: Callable[[int], int]) -> None:
    """Refuse rows of float32 or float64 with a value that is not finite; ``number`` says which row one of them is."""
    largest = LARGEST if rows.dtype == np.float64 else np.finfo(np.float32).max
    good = np.abs(rows) <= largest
    if not good.all():
        row, column = np.argwhere(~good)[0]
        bad = rows[row, column]
        most = f"at most {LARGEST:g} in magnitude" if np.isfinite(bad) else "finite"
        raise ValueError(f"{name} holds {bad} at row {number(int(row))}, column {column}; every value must be {most}.")


def as_array(name: str, value: Any) -> NDArray[Any]:
    """A plain array of what may be a list, a subclass of arrays, or a masked array with nothing masked."""
    unmasked(name, value)
    try:
        return np.asarray(value)
    except (ValueError, OverflowError):
        raise ValueError(f"{name} is ragged; it must be an array with a row for each point.") from None
    except Exception as error:
        raise TypeError(f"{name} is {quoted(value)}; it must be an array ({type(error).__name__}).") from None


def unmasked(name: str, value: Any) -> None:
    """Refuse an array whose mask says that some of its values are none."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(f"{name} is a masked array with values masked; leave those rows out, or fill them, first.")


def float_points(name: str, value: ArrayLike, *, dimension: int | None = None, like: str = "data") -> Array:
    """As :func:`points`, always float64."""
    array: Array = points(name, value, dimension=dimension, like=like).astype(np.float64, copy=False)
    return array


def integer(name: str, value: Any, *, least: int, most: int | None = sys.maxsize, why: str = "") -> int:
    """An integer within its range; numpy's integers are allowed, booleans and 3.0 are not."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {quoted(value)}; it must be a whole number, at least {least}.") from None
    if number < least or (most is not None and number > most):
        allowed = f"at least {least}" if most in (None, sys.maxsize) and number < least else f"from {least} to {most}"
        raise ValueError(f"{name} is {quoted(number)}; it must be {allowed}{why}.")
    return number


def real(
    name: str, value: Any, allowed: Callable[[float], bool] = math.isfinite, what: str = "a finite number"
) -> float:
    """A finite number for which ``allowed`` is true."""
    try:
        if isinstance(value, bool | np.bool_ | str):
            raise TypeError
        number = float(value)
    except OverflowError:
        number = math.inf
    except Exception:
        raise TypeError(f"{name} is {quoted(value)}; it must be a number.") from None
    if not (math.isfinite(number) and allowed(number)):
        raise ValueError(f"{name} is {quoted(value)}; it must be {what}.")
    return number


def positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    return real(name, value, lambda number: number > 0.0, "a finite number greater than 0")


def fraction(name: str, value: Any, least: float = 0.0) -> float:
    """A number from ``least`` to below 1."""
    return real(name, value, lambda number: least <= number < 1.0, f"at least {least:g} and below 1")


def magnitude(name: str, value: Any, most: float) -> float:
    """A number from 1/``most`` to ``most``."""
    return real(name, value, lambda number: 1.0 / most <= number <= most, f"from {1.0 / most:g} to {most:g}")


def indices(name: str, value: ArrayLike, size: int, *, ndim: int = 1) -> NDArray[np.int64]:
    """Positions into ``size`` rows."""
    array = as_array(name, value)
    if array.ndim != ndim or array.dtype.kind not in "iu" or array.size == 0:
        raise ValueError(
            f"{name} has shape {array.shape} and dtype {array.dtype}; it must be a non-empty {ndim}-dimensional array"
            " of whole numbers."
        )
    if array.min() < 0 or array.max() >= size:
        wrong = array[(array < 0) | (array >= size)].flat[0]
        raise ValueError(f"{name} holds {wrong}; indices into the data go from 0 to {size - 1}.")
    return np.ascontiguousarray(array, dtype=np.int64)


def norms(value: Any) -> tuple[str, ...]:
    """Which of the three norms are asked for."""
    known = ("trace", "frobenius", "spectral")
    asked = (value,) if isinstance(value, str) else sequence("norms", value)
    for name in asked:
        choice("norms", name, known)
    if not asked:
        raise ValueError("norms is empty; it must name at least one of 'trace', 'frobenius' and 'spectral'.")
    return tuple(name for name in known if name in asked)


def generator(name: str, seed: Any) -> np.random.Generator:
    """A generator from an integer, a SeedSequence, a Generator, which is used as it is, or None (fresh entropy)."""
    if seed is None or isinstance(seed, np.random.Generator | np.random.SeedSequence):
        return np.random.default_rng(seed)
    return np.random.default_rng(integer(name, seed, least=0, most=None))


def sequence(name: str, value: Any, *, length: int | None = None) -> tuple[Any, ...]:
    """A sequence, perhaps of a given length; a text is none."""
    try:
        if isinstance(value, str | bytes):
            raise TypeError
        things = tuple(value)
    except TypeError:
        raise TypeError(f"{name} is {quoted(value)}; it must be a sequence, such as a list or a tuple.") from None
    if length is not None and len(things) != length:
        raise ValueError(f"{name} has {len(things)} entries; it must have {length}.")
    return things


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint for a message about an unknown name: the known name closest to it, if one is close."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def choice(name: str, value: Any, known: Iterable[str], why: str = "") -> str:
    """One of some names; the error suggests the closest on a typo."""
    *others, last = names = list(known)
    allowed = f"{', '.join(map(repr, others))} or {last!r}{why}"
    if not isinstance(value, str):
        raise TypeError(f"{name} is {quoted(value)}; it must be {allowed}.")
    if value not in names:
        raise ValueError(f"{name} is {quoted(value)}{did_you_mean(value, names)}; it must be {allowed}.")
    return value


def instance(name: str, value: Any, kind: Any, what: str) -> None:
    """Refuse a value of another type."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {quoted(value)}; it must be {what}.")


class NotFinite(ValueError):
    """A result, or an intermediate value, overflowed in double precision."""


def finite(what: str, result: T) -> T:
    """A result, unless it is not finite."""
    if not np.isfinite(result).all():  # type: ignore[call-overload]
        raise NotFinite(f"{what} is not finite: the kernel's values are too large here; rescale the data.")
    return result


def finite_result(function: Callable[P, T]) -> Callable[P, T]:
    """Refuse a result that is not finite, without numpy's warnings on the way."""

    @wraps(function)
    def checked(*arguments: P.args, **named: P.kwargs) -> T:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return finite(f"The result of {function.__name__}", function(*arguments, **named))

    return checked


def as_writable(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory as a writable array, for numba would compile every loop once more for read-only arrays.

    No loop writes to the data.
    """
    if array.flags.writeable and type(array) is np.ndarray:
        return array
    interface = {**array.__array_interface__, "data": (array.ctypes.data, False)}
    return np.asarray(SimpleNamespace(__array_interface__=interface, array=array))  # keeps the array alive
