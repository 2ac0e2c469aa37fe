"""Bad input gets one clear sentence, before any work. What can be converted is converted, never in place."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def _row_blocks(array: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Rows in blocks of about 8 MB, so that a memory map is never read whole."""
    rows = max(1, 1_000_000 // max(1, array.shape[1]))
    for start in range(0, len(array), rows):
        yield start, array[start : start + rows]


def points(name: str, value: ArrayLike, *, dimension: int | None = None, like: str = "data") -> NDArray[Any]:
    """A C-contiguous (rows, d) array of finite floats; float32 stays float32, everything else becomes float64."""
    array = value if isinstance(value, np.ndarray) else _as_array(name, value)
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
    for start, block in _row_blocks(array):
        if not np.isfinite(block).all():
            row, column = np.argwhere(~np.isfinite(block))[0]
            raise ValueError(
                f"{name} holds {block[row, column]} at row {start + row}, column {column}; every value must be finite."
            )
    return array


def _as_array(name: str, value: Any) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} is ragged; it must be an array with a row for each point.") from None


def float_points(name: str, value: ArrayLike, *, dimension: int | None = None, like: str = "data") -> Array:
    """As :func:`points`, always float64."""
    array: Array = points(name, value, dimension=dimension, like=like).astype(np.float64, copy=False)
    return array


def whole(name: str, value: Any, *, least: int, most: int | None = None, why: str = "") -> int:
    """A whole number within its range; numpy integers are welcome, booleans and 3.0 are not."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} is {value!r}; it must be a whole number, at least {least}.") from None
    if number < least or (most is not None and number > most):
        allowed = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} is {number}; it must be {allowed}{why}.")
    return number


def positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    number = real(name, value)
    if not number > 0.0:
        raise ValueError(f"{name} is {value!r}; it must be a finite number greater than 0.")
    return number


def real(name: str, value: Any) -> float:
    """A finite number."""
    try:
        if isinstance(value, bool | np.bool_ | str):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}; it must be a number.") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} is {value!r}; it must be finite.")
    return number


def indices(name: str, value: ArrayLike, size: int, *, ndim: int = 1) -> NDArray[np.int64]:
    """Positions into ``size`` rows."""
    array = _as_array(name, value)
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
    asked = (value,) if isinstance(value, str) else tuple(value)
    for name in asked:
        if name not in known:
            raise ValueError(f"norms holds {name!r}; the norms are 'trace', 'frobenius' and 'spectral'.")
    if not asked:
        raise ValueError("norms is empty; it must name at least one of 'trace', 'frobenius' and 'spectral'.")
    return tuple(name for name in known if name in asked)


def guess(value: Any, names: Iterable[str]) -> str:
    """What somebody may have meant who gave none of the names, in parentheses; or nothing."""
    close = difflib.get_close_matches(str(value), names, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def generator(name: str, seed: Any) -> np.random.Generator:
    """A generator from a seed: a whole number, a SeedSequence, or a Generator, which is used as it is."""
    if seed is None:
        raise ValueError(f"{name} is None; give a whole number, a SeedSequence or a Generator.")
    if isinstance(seed, np.random.Generator | np.random.SeedSequence):
        return np.random.default_rng(seed)
    return np.random.default_rng(whole(name, seed, least=0))


class _Interface:
    """An array's memory, offered anew without its read-only flag."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def as_writable(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory under the type numba gives to arrays it may write to.

    It compiles every loop once more for read-only ones, half a minute for nothing: no loop writes to the data.
    """
    return array if array.flags.writeable and type(array) is np.ndarray else np.asarray(_Interface(array))
