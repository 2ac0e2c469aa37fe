"""Pivoted Cholesky decompositions of kernel matrices, grown pivot by pivot."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from .._memory import gigabytes, memory
from .._validation import Array
from ..kernels import Kernel

#: Residuals below this, relative to K(x, x), are rounding.
FLOOR = 100.0 * float(np.finfo(float).eps)


class PartialCholesky:
    """A Cholesky decomposition K ≈ Fᵀ F grown pivot by pivot; F is n × N, which is what these starts need of memory."""

    def __init__(self, kernel: Kernel, data: NDArray[Any], n: int) -> None:
        size, there = 8.0 * n * len(data), memory()
        if size > there:
            raise ValueError(
                f"n is {n:,}; it must be at most {int(there / 8.0 / len(data)):,}, for n rows of {len(data):,} numbers "
                f"take {gigabytes(size)} of {gigabytes(there)} of memory: 'uniform' does without."
            )
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
        self._factor = np.empty((n, len(data)))

    def add(self, pivots: NDArray[np.int64], lower: Array) -> None:
        """Take in new pivots, ``lower`` being the Cholesky factor of what was left among them."""
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

    def add_random(self, size: int, rng: np.random.Generator) -> None:
        """Take in pivots drawn in proportion to the residuals: ``size`` proposals, of which some are accepted."""
        proposed = rng.choice(len(self.residual), size, p=self.residual / self.residual.sum())
        rows = self._factor[: len(self.pivots), proposed]
        left = self.kernel.matrix(self.points[proposed]) - rows.T @ rows
        accepted, lower = rejection(left, self.floor[proposed], rng.random(size))
        accepted = accepted[: len(self._factor) - len(self.pivots)]
        if len(accepted):
            self.add(proposed[accepted], lower[accepted, : len(accepted)])
        else:
            self.residual[proposed[0]] = 0.0  # it was rounding


def rejection(left: Array, floor: Array, chance: Array) -> tuple[NDArray[np.int64], Array]:
    """Which proposals are accepted, and a matrix whose rows of that number are the Cholesky factor among them.

    A proposal was made with the residual at the start of the block in place of that after those accepted before it: it
    is accepted with the probability of their ratio. The first always is, unless it is rounding.
    """
    residual = left.diagonal().copy()
    least = np.maximum(floor, chance * residual)
    accepted: list[int] = []
    lower = np.zeros_like(left)
    for i in range(len(left)):
        if residual[i] > least[i] and (column := left[:, i] - lower @ lower[i])[i] > floor[i]:
            new = lower[:, len(accepted)]
            new[i:] = column[i:] / math.sqrt(column[i])
            residual -= new * new
            accepted.append(i)
    return np.array(accepted, np.int64), lower
