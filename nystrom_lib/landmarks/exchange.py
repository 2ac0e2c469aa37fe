"""Exchanges: replace the landmarks that explain least by the points that explain most.

A descent moves landmarks by a few widths of the kernel at most, so it cannot repair a start that left a region empty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from .._threads import limit_blas_threads
from .._validation import Array
from ..kernels import Kernel
from .objectives import Objective, TraceError
from .steps import Adam, Engine, TraceEngine

#: Shares of the budget at which landmarks are exchanged: early, so that the descent can still move the new ones.
SHARES = (0.0, 0.03, 0.06, 0.1)
EFFORT = 0.1  #: share of the budget that exchanges may take
POINTS = 1_024  #: points over which an exchange computes errors
CANDIDATES = 128  #: points compared, drawn with probabilities in proportion to their residuals

_MIN_RATIO = 2.0  # of the gain by the new point to the cost of removing the landmark
_MAX_SHARE = 0.1  # of the landmarks exchanged at a time
_RIDGE = 1e-10
_ROUNDING = 1e-6  # of a step, so that exchanges do not depend on the rounding of the used share of the budget


@limit_blas_threads
def exchange(
    kernel: Kernel, sample: Array, points: Array, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    r"""Which landmarks to drop, and which of the points to take in their place; both may be empty.

    With :math:`\mathbf A=\mathbf W^{-1}\mathbf C` the error over the points grows by
    :math:`\sum_x A_{jx}^2/(\mathbf W^{-1})_{jj}` without landmark j, exactly, and shrinks by
    :math:`\sum_l R_{il}^2/R_{ii}` with point i, **R** being the residual kernel matrix of the points. A point's gain
    from itself is not counted, because the points stand for many more. After each choice **R** is updated.

    Costs O(n³ + n²m + 128 nm) for m points.

    Returns
    -------
    tuple of numpy.ndarray
        Indices into ``sample``, and as many into ``points``.
    """
    none = np.empty(0, dtype=np.int64)
    found = removal_costs(kernel, sample, points)
    if found is None:
        return none, none
    costs, V = found
    order = np.argsort(costs, kind="stable")[: max(1, int(_MAX_SHARE * len(sample)))]
    taken = best_additions(kernel, points, V, len(order), rng, _MIN_RATIO * costs[order])
    return order[: len(taken)].astype(np.int64), taken


def best_additions(
    kernel: Kernel,
    points: Array,
    V: Array,
    count: int,
    rng: np.random.Generator,
    worth: Array | float = 0.0,
    candidates: int = CANDIDATES,
) -> NDArray[np.int64]:
    """Up to ``count`` points that reduce the error most, each by more than the next of ``worth``.

    ``V`` is :math:`\\mathbf L^{-1}\\mathbf C` of the landmarks, from :func:`removal_costs`.
    """
    diagonal = kernel.diagonal(points)
    left = diagonal - np.square(V).sum(axis=0)
    floor = 1e-8 * float(diagonal.max())
    left[left < floor] = 0.0
    if not left.any():
        return np.empty(0, dtype=np.int64)
    candidates = min(candidates, int(np.count_nonzero(left)))
    chosen = np.sort(rng.choice(len(points), candidates, replace=False, p=left / left.sum()))
    own = np.arange(candidates), chosen
    R = kernel.matrix(points[chosen], points) - V[:, chosen].T @ V
    taken: list[int] = []
    for least in np.broadcast_to(worth, count):
        left = R[own]
        gains = np.where(left > floor, np.square(R).sum(axis=1) / np.maximum(left, floor) - left, 0.0)
        best = int(np.argmax(gains))
        if not gains[best] > least:
            break
        taken.append(int(chosen[best]))
        R = R - np.outer(R[:, chosen[best]], R[best] / R[own][best])
    return np.array(taken, dtype=np.int64)


@limit_blas_threads
def removal_costs(kernel: Kernel, sample: Array, points: Array) -> tuple[Array, Array] | None:
    r"""The growth of the error over the points without each landmark, and :math:`\mathbf L^{-1}\mathbf C`.

    None where the kernel matrix of the landmarks has no Cholesky factor.
    """
    W = kernel.matrix(sample)
    np.fill_diagonal(W, np.diag(W) * (1.0 + _RIDGE))
    try:
        L = np.linalg.cholesky(W)
    except np.linalg.LinAlgError:
        return None
    inverse = solve_triangular(L, np.eye(len(L)), lower=True)
    V = inverse @ kernel.matrix(sample, points)
    return np.square(inverse.T @ V).sum(axis=1) / np.square(inverse).sum(axis=0), V


@dataclass(frozen=True)
class AdamWithExchanges(Adam):
    """Adam on the trace error, with a few early exchanges by random numbers of ``rng``."""

    rng: np.random.Generator = field(default_factory=np.random.default_rng)

    def engine(self, objective: Objective, sample: Array, batch_size: int) -> Engine:
        """For the trace error alone."""
        assert type(objective) is TraceError
        return ExchangeEngine(self, objective, sample, batch_size)


class ExchangeEngine(TraceEngine):
    """Exchanges at its shares of the budget, as long as they cost no more than their part of it."""

    def __init__(self, rule: AdamWithExchanges, objective: TraceError, sample: Array, batch_size: int) -> None:
        super().__init__(rule, objective, sample, batch_size)
        self._rng, self._shares, self._left = rule.rng, list(SHARES), EFFORT
        n, m = len(sample), min(POINTS, len(objective.data))
        step = objective.cost(n, batch_size or len(objective.data))
        # in steps, with a factor for numpy, which is slower than the compiled loops
        self._cost = 2.0 * (1.5 * n * n * (n + m) + CANDIDATES * n * m) / step

    def advance(self, batches: NDArray[np.int64], used: float, per_step: float) -> int:
        """Steps, interrupted by the exchanges that are due."""
        done = 0
        while done < len(batches):
            now = used + (done + _ROUNDING) * per_step
            if self._shares and now >= self._shares[0] and per_step > 0.0:
                self._exchange(per_step)
            count = len(batches) - done
            if self._shares and per_step > 0.0:
                count = min(count, max(1, math.ceil((self._shares[0] - now) / per_step)))
            taken = super().advance(batches[done : done + count], used + done * per_step, per_step)
            done += taken
            if taken < count:
                break
        return done

    def _exchange(self, per_step: float) -> None:
        del self._shares[0]
        self._left -= self._cost * per_step
        if self._left < 0.0:
            self._shares.clear()
            return
        data = self._objective.data
        chosen = self._rng.choice(len(data), min(POINTS, len(data)), replace=False)
        points = data[np.sort(chosen)].astype(np.float64)
        dropped, taken = exchange(self._objective.kernel, self._sample, points, self._rng)
        self._sample[dropped] = points[taken]
        for moment in self._moments:
            moment[dropped] = 0.0
