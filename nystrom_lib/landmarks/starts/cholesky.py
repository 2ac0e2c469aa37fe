"""The factor that the starts by Cholesky decomposition share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._memory import gigabytes, memory
from ..._validation import Array
from ...kernels import Kernel
from .base import Indices

#: Residuals below this, relative to K(x, x), are rounding.
FLOOR = 100.0 * float(np.finfo(float).eps)


class PartialCholesky:
    """A Cholesky decomposition K ≈ Fᵀ F grown pivot by pivot; F is n × N, which is what these starts need of memory."""

    def __init__(self, kernel: Kernel, data: NDArray[Any], n: int) -> None:
        self.kernel = kernel
        self.points = data.astype(np.float64, copy=False)
        diagonal = kernel.diagonal(self.points)
        if (diagonal < 0.0).any():
            raise ValueError(
                f"kernel gives K(x, x) = {diagonal.min():g} at data point {diagonal.argmin()}; it must be positive "
                "semi-definite for pivots of a Cholesky decomposition."
            )
        self.residual = diagonal.copy()  #: K(x, x) − K̂(x, x), 0 where it is rounding
        self.floor = FLOOR * diagonal
        self.pivots = np.empty(0, np.int64)
        self._factor = _empty(n, len(data))

    def between(self, pivots: Indices) -> Array:
        """What the pivots so far leave of K among the given points."""
        points, rows = self.points[pivots], self._factor[: len(self.pivots), pivots]
        left: Array = self.kernel.matrix(points) - rows.T @ rows
        return left

    def add(self, pivots: Indices, lower: Array) -> None:
        """Take in new pivots, ``lower`` being the Cholesky factor of what was left among them."""
        from scipy.linalg import solve_triangular

        done = len(self.pivots)
        before = self._factor[:done]
        new = self._factor[done : done + len(pivots)]
        new[:] = self.kernel.matrix(self.points[pivots], self.points)
        new -= before[:, pivots].T @ before
        new[:] = solve_triangular(lower, new, lower=True, check_finite=False)
        self.residual -= np.einsum("ij,ij->j", new, new)
        self.residual[self.residual <= self.floor] = 0.0
        self.residual[pivots] = 0.0
        self.pivots = np.concatenate([self.pivots, pivots])


def _empty(n: int, N: int) -> Array:
    """Room for the factor, or a sentence."""
    size, there = 8.0 * n * N, memory()
    if size > there:
        raise ValueError(
            f"n is {n:,}; it must be at most {int(there / 8.0 / N):,}, for n rows of {N:,} numbers take "
            f"{gigabytes(size)} of {gigabytes(there)} of memory: 'uniform' does without."
        )
    return np.empty((n, N))
