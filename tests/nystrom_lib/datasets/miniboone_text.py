"""Artificial text in the layout of MiniBooNE_PID.txt."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

COLUMNS = 50


def rows(seed: int = 0, count: int = 80) -> NDArray[np.float64]:
    """Rows of which, of 80, seven have missing values (two are below -999), and one is the outlier."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((count, COLUMNS)) * 10.0 ** rng.integers(-4, 3, COLUMNS)
    X[[1, 5, 6, 32, 33]] = -999.0
    X[[37, 39, 50], 19] = -17256.7, -1000.5, 16_000_900.0
    return X


def small(seed: int = 0) -> bytes:
    """A whole file: how many rows are signal, how many background, and the rows."""
    file = io.BytesIO()
    np.savetxt(file, rows(seed), fmt="%24.16E", delimiter="", header=" 30 50", comments="")
    return file.getvalue()
