"""The settings of the paper's experiments that are timed, with their data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

import nystrom_lib as nl

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

QUICK_N = 3000
QUICK_n = 120


@dataclass(frozen=True)
class Problem:
    """One of the paper's settings; `b` is None for the gradient of the whole data, Eq. (5)."""

    data: str
    N: int
    n: int
    d: int
    b: int | None
    rho: float
    gamma: float
    full_size: bool = True

    @property
    def setting(self) -> str:
        batch = f"N={self.N:,}" if self.b is None else f"b={self.b}"
        return f"n={self.n}, {batch}, d={self.d}"

    @property
    def kernel(self) -> nl.Gaussian:
        return nl.Gaussian(rho=self.rho)

    @property
    def points(self) -> Array:
        return load(self.data, self.N)

    @property
    def sample(self) -> Array:
        return np.ascontiguousarray(nl.uniform_sample(self.points, self.n, seed=1))

    def batches(self, steps: int) -> Indices:
        if self.b is None:
            raise ValueError(f"{self.data} is descended with the whole data and has no batches")
        return np.random.default_rng(2).integers(0, self.N, (steps, self.b), dtype=np.intp)

    def reduced(self) -> Problem:
        """The same with few points and landmarks, for a quick run."""
        return replace(self, N=min(self.N, QUICK_N), n=min(self.n, QUICK_n), full_size=False)


MINIBOONE = Problem("miniboone", 129_592, 1000, 50, 200, 0.04, 2e-7)
MAGIC = Problem("magic", 18_905, 200, 10, 50, 0.2, 5e-8)
ABALONE = Problem("abalone", 4175, 50, 8, 50, 1.0, 8e-7)
BIGAUSSIAN = Problem("bigaussian", 2000, 80, 2, None, 1.0, 1e-6)


@cache
def load(name: str, N: int) -> Array:
    """The first `N` rows of a data set, in memory, row by row."""
    # Making the stand-in takes longer than a quick run.
    if name == "miniboone" and N <= QUICK_N:
        return np.random.default_rng(0).standard_normal((N, MINIBOONE.d))
    X = getattr(nl.datasets, name)().X
    return np.array(X[:N], dtype=np.float64, order="C")


def is_stand_in(name: str) -> bool:
    """Whether the points are artificial ones of the same shape."""
    return bool(getattr(nl.datasets, name)().stand_in)
