"""Sums over pairs of validated arrays, by the compiled loops of :mod:`nystrom_lib._core.pairs`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import pairs, profiles, tiles
from ._threads import call, thread_pool
from ._validation import Array, as_writable
from .kernels import Kernel

_NO_BATCHES = np.empty((0, 0), dtype=np.int64)
_EQUAL = np.empty(0)  # weights, all of them 1


def middle(points: NDArray[Any]) -> Array:
    """A median of each coordinate: unlike the mean, it is not moved by a few points far away."""
    half = (len(points) - 1) // 2
    centre: Array = np.partition(points, half, axis=0)[half].astype(np.float64)
    return centre


class PairSums:
    """Sums over pairs of one kernel, one data set and n landmarks, with the buffers they need.

    The sample is kept relative to a centre (its :func:`middle`, for radial kernels): :meth:`place` sets it,
    :meth:`take` returns it. Without ``among`` there are no sums over pairs of landmarks.
    """

    def __init__(
        self,
        kernel: Kernel,
        data: NDArray[Any],
        sample: NDArray[Any],
        batch: int = 0,
        among: bool = True,
    ) -> None:
        self.kernel, self.data = kernel, as_writable(data)
        self.n, self.d = sample.shape
        points = batch or len(data)
        self.pairs = self.n * (points + (self.n if among else 0))
        self.centre: Array = middle(sample) if kernel.radial else np.zeros(self.d)
        self._block, self._among = kernel._block(profiles.SLOPE), among
        self._width = tiles.up(self.d, 2)
        self._size, rows = tiles.cut(self.n, pairs.C), tiles.cut(points, pairs.C)
        count, tile = -(-self.n // self._size), (self._width + 2) * pairs.C
        self._landmarks = tiles.aligned(2, count, self._width + 2, pairs.C)
        self._now = np.zeros(1, dtype=np.int64)
        parts = pairs.parts_for(self.n, points, 2 * count * tile)
        t, P = tiles.aligned(parts, pairs.C**2), tiles.aligned(parts, tile)
        self._parts = tiles.aligned(parts, 2 * count * (tile + pairs.C))
        self._sizes = self.n, self._size, rows, self._width
        self._buffers = self._landmarks.reshape(2, -1), self._now, t, P, self._parts
        self._begun = False
        self.place(sample)

    def place(self, sample: NDArray[Any]) -> None:
        """Set the landmarks; copies of the last one fill up its tile."""
        _, count, width, _ = self._landmarks.shape
        rows = np.zeros((count * self._size, width))
        rows[: self.n, : self.d], rows[: self.n, width - 2] = sample - self.centre, 1.0
        rows[self.n :, : self.d] = rows[self.n - 1, : self.d]
        self._landmarks[:, :, :, : self._size] = rows.reshape(count, self._size, width).transpose(0, 2, 1)

    def take(self) -> Array:
        """The landmarks as they are now."""
        return self._columns(self._landmarks[self._now[0]])[:, : self.d] + self.centre

    def step_back(self) -> Array:
        """The landmarks as they were before the last step."""
        return self._columns(self._landmarks[1 - self._now[0]])[:, : self.d] + self.centre

    def _columns(self, tiles: NDArray[Any]) -> Array:
        """The numbers in the rows of tiles, as a row for each landmark."""
        columns: Array = tiles[:, :, : self._size].transpose(0, 2, 1).reshape(-1, self._width + 2)[: self.n]
        return columns

    def totals(self) -> tuple[float, float]:
        """‖K_S‖_F² and T₁."""
        _, norm, total = self._run(pairs.TOTALS | pairs.ADD)
        return norm, total

    def totals_and_left(self, batch: NDArray[np.int64] = _NO_BATCHES) -> tuple[float, float, Array, Array]:
        """The totals, Σ_j ∂[l]K²(s_k, s_j) over all landmarks j (k too), and Σ_i ∂[l]K²(s_k, x_i).

        From a batch, T₁ and the last sum are estimated by N/b times those over its points.
        """
        _, norm, total = self._run(pairs.SLOPES | pairs.ADD, batch.reshape(1, -1))
        _, over_landmarks = self._sums(0)
        _, over_data = self._sums(1)
        if batch.size:
            over_data *= len(self.data) / batch.size
        return norm, total, over_landmarks, over_data

    def of_each(self, batch: NDArray[np.int64] = _NO_BATCHES, weights: NDArray[Any] = _EQUAL) -> tuple[Array, Array]:
        """Σ_i w_i K²(s_k, x_i) and Σ_i w_i ∂[l]K²(s_k, x_i) for each landmark, over all points or those of a batch."""
        self._run(pairs.SLOPES | pairs.ADD, batch.reshape(1, -1), weights=weights)
        return self._sums(1)

    def _sums(self, which: int) -> tuple[Array, Array]:
        """Σφ of each landmark and Σ ∂[l]K²: 2(s_k Σφ' − Σφ'x) for a radial kernel, Σφ'x for a dot product."""
        _, count, width, length = self._landmarks.shape
        half = count * width * length
        sums = self._columns(self._parts[0, which * half : (which + 1) * half].reshape(count, width, length))
        left, d = sums[:, : self.d].copy(), self._width
        if self.kernel.radial:
            left = 2.0 * (self._columns(self._landmarks[self._now[0]])[:, : self.d] * sums[:, d : d + 1] - left)
        return sums[:, d + 1].copy(), left

    def descend(self, batches: NDArray[np.int64], first_part: int, iterations: int, step: float) -> int:
        """Take steps in place; return how many were taken before the sample, or R, became non-finite."""
        if not self._begun and self.kernel._family == profiles.CUSTOM:
            # If a user's functions fail at the start, they are wrong; later the descent may have diverged.
            self._run(pairs.SLOPES | pairs.ADD, batches[:1])
        self._begun = True
        return self._run(pairs.SLOPES | pairs.ADD | pairs.MOVE, batches, first_part, step, iterations)[0]

    def _run(
        self,
        todo: int,
        batches: NDArray[np.int64] = _NO_BATCHES,
        first_part: int = 0,
        step: float = 0.0,
        iterations: int = 1,
        weights: NDArray[Any] = _EQUAL,
    ) -> tuple[int, float, float]:
        """Sums by one thread or several, added up in order; a single thread takes all steps in one call."""
        descent, parts = todo & pairs.MOVE > 0, len(self._parts)
        with thread_pool(self.pairs) as parallel, self.kernel._guard_user_kernel(descent) as p:
            arguments = (
                self.kernel.radial, self._block, p, self._among, self.data, batches.ravel(), weights, batches.shape[1],
                first_part, self.centre, *self._sizes, step, *self._buffers,
            )  # fmt: skip
            if parallel.threads == 1 or parts == 1:
                taken, norm, total = call(pairs.run, 0, parts, 1, 0, iterations, todo, *arguments)
                return taken, norm, total
            taken, norm, total = 0, 0.0, 0.0
            while taken < iterations:
                parallel(pairs.run, parts, taken, 1, todo & ~(pairs.ADD | pairs.MOVE), *arguments)
                more, norm, total = call(pairs.run, parts, parts, 1, taken, 1, todo & ~pairs.SLOPES, *arguments)
                taken += more
                if more < 1:
                    break
        return taken, norm, total


def squared_frobenius_norm(kernel: Kernel, data: NDArray[Any]) -> float:
    """‖K‖_F² of validated data: in strips, each against itself and the rows after it."""
    rows = 896  # a multiple of the loops' tiles
    total = 0.0
    for start in range(0, len(data), rows):
        strip = data[start : start + rows].astype(np.float64)
        rest = data[start + rows :]
        within, across = PairSums(kernel, rest if len(rest) else strip, strip).totals()
        total += within + (2.0 * across if len(rest) else 0.0)
    return total
