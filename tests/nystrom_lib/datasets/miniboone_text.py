"""Artificial text in the layout of MiniBooNE_PID.txt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

COLUMNS = 50


def e14_6(value: float) -> str:
    """Write a number as Fortran's E14.6 does: 0.123457E+01, right-aligned in 14 characters."""
    mantissa, exponent = f"{abs(value):.5E}".split("E")
    power = int(exponent) + 1 if value else 0
    return f"{'-' if value < 0 else ''}0.{mantissa.replace('.', '')}E{power:+03d}".rjust(14)


def line(row: NDArray[np.float64]) -> bytes:
    return ("".join(e14_6(value) for value in row.tolist()) + "\n").encode("ascii")


def text(signal: NDArray[np.float64], background: NDArray[np.float64]) -> bytes:
    """A whole file: the two counts, the signal rows, the background rows."""
    header = f" {len(signal)} {len(background)}\n".encode("ascii")
    return header + b"".join(line(row) for row in (*signal, *background))


def rounded(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """The numbers that the layout's six digits keep."""
    return np.array([[float(e14_6(value)) for value in row] for row in X.tolist()])


def small(seed: int = 0, signal: int = 30, background: int = 50) -> bytes:
    """A file with five rows of missing values (three signal), two values below -999 and the outlier."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((signal + background, COLUMNS)) * 10.0 ** rng.integers(-4, 3, COLUMNS)
    X[[1, 5, 6, signal + 2, signal + 3]] = -999.0
    X[signal + 7, 19] = -17256.7
    X[signal + 9, 19] = -1000.5
    X[signal + 20, 19] = 16_000_900.0
    return text(X[:signal], X[signal:])
