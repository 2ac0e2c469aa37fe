"""The plain C opponent of ``plain.c``: compiled when asked for, called through ctypes."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

SOURCE = Path(__file__).with_name("plain.c")
FLAGS = ("-O2", "-std=c11", "-shared", "-fPIC")

_pointer, _size, _real = ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_double
_data = [_pointer, _size]
_sample = [_pointer, _size, _size, _real]
_signatures: dict[str, tuple[list[Any], Any]] = {
    "plain_one_sample_gradient": ([*_data, _pointer, _size, *_sample, _pointer, _pointer], None),
    "plain_gradient": ([*_data, *_sample, _pointer, _pointer], None),
    "plain_stochastic_descent": ([*_data, _pointer, _size, _size, *_sample, _real, _pointer], None),
    "plain_descent": ([*_data, _size, *_sample, _real, _pointer], None),
    "plain_squared_frobenius_norm": ([*_data, _size, _real], _real),
    "plain_radial_skd": ([*_data, *_sample], _real),
    "plain_cholesky": ([*_sample, _pointer], _size),
    "plain_trace_norm": ([*_data, *_sample, _pointer, _pointer], _real),
}


class PlainC:
    """The functions of ``plain.c`` for one Gaussian kernel, on row-major double arrays."""

    def __init__(self, library: ctypes.CDLL, compiler: str) -> None:
        self._library = library
        self.compiler = compiler
        for name, (arguments, result) in _signatures.items():
            function = getattr(library, name)
            function.argtypes, function.restype = arguments, result

    def gradient(self, X: Array, S: Array, rho: float, batch: Indices | None = None) -> Array:
        """Eq. (5), or Eq. (6) from a batch."""
        gradient, work = np.empty_like(S), np.empty_like(S)
        buffers = gradient.ctypes.data, work.ctypes.data
        if batch is None:
            self._library.plain_gradient(*_rows(X), *_landmarks(S), rho, *buffers)
        else:
            indices = batch.ctypes.data, batch.size
            self._library.plain_one_sample_gradient(*_rows(X), *indices, *_landmarks(S), rho, *buffers)
        return gradient

    def descent(
        self, X: Array, S: Array, rho: float, gamma: float, steps: int, batches: Indices | None = None
    ) -> Array:
        """Steps with Eq. (5), or with Eq. (6) and a row of ``batches`` for each; ``S`` is left alone."""
        end, work = S.copy(), np.empty((2, *S.shape))
        sample = *_landmarks(end), rho, gamma, work.ctypes.data
        if batches is None:
            self._library.plain_descent(*_rows(X), steps, *sample)
        else:
            self._library.plain_stochastic_descent(*_rows(X), batches.ctypes.data, batches.shape[1], steps, *sample)
        return end

    def squared_frobenius_norm(self, X: Array, rho: float) -> float:
        """‖K‖_F²."""
        return float(self._library.plain_squared_frobenius_norm(*_rows(X), X.shape[1], rho))

    def radial_skd(self, X: Array, S: Array, rho: float) -> float:
        """R(S) − ‖K‖_F²."""
        return float(self._library.plain_radial_skd(*_rows(X), *_landmarks(S), rho))

    def cholesky(self, S: Array, rho: float) -> Array:
        """The lower Cholesky factor of K_S."""
        factor = np.zeros((S.shape[0], S.shape[0]))
        stopped = self._library.plain_cholesky(*_landmarks(S), rho, factor.ctypes.data)
        if stopped:
            raise ValueError(f"the plain Cholesky factorisation met a pivot that is not positive at row {stopped}")
        return factor

    def trace_norm(self, X: Array, S: Array, rho: float, factor: Array) -> float:
        """‖K − K̂(S)‖_* by one forward substitution for each row of `X`."""
        work = np.empty(S.shape[0])
        return float(
            self._library.plain_trace_norm(*_rows(X), *_landmarks(S), rho, factor.ctypes.data, work.ctypes.data)
        )


def _rows(X: Array) -> tuple[int, int]:
    if not X.flags.c_contiguous or X.dtype != np.float64:
        raise TypeError("the plain C version takes row-major double arrays only")
    return X.ctypes.data, X.shape[0]


def _landmarks(S: Array) -> tuple[int, int, int]:
    return (*_rows(S), S.shape[1])


def compile_plain(folder: Path) -> PlainC | None:
    """Compile ``plain.c`` into `folder`; None, after a sentence, where there is no gcc."""
    gcc = shutil.which("gcc")
    if gcc is None:
        print("gcc is not installed: the columns of the plain C version stay empty.")
        return None
    library = folder / "plain.so"
    subprocess.run([gcc, *FLAGS, str(SOURCE), "-o", str(library), "-lm"], check=True)
    version = subprocess.run([gcc, "--version"], check=True, capture_output=True, text=True).stdout
    return PlainC(ctypes.CDLL(str(library)), f"{version.splitlines()[0]}, {' '.join(FLAGS[:1])}")
