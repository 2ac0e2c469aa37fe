"""The bridge between validated arrays and the compiled pair loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import pairs, profiles
from ._threads import one_pool
from ._validation import Array, as_writable
from .kernels import Kernel

_NO_BATCHES = np.empty((0, 0), dtype=np.int64)


def middle(points: NDArray[Any]) -> Array:
    """A median of each coordinate: unlike a mean, no point far away moves it, and takes its digits from the others."""
    half = (len(points) - 1) // 2
    centre: Array = np.partition(points, half, axis=0)[half].astype(np.float64)
    return centre


class PairSums:
    """Sums over pairs of one kernel, one data set and n landmarks, with the buffers they need.

    The sample is held relative to a centre (its :func:`middle`, for radial kernels): :meth:`place` puts it there,
    :meth:`take` gets it back.
    """

    def __init__(
        self, kernel: Kernel, data: NDArray[Any], sample: NDArray[Any], batch: int = 0, kind: type = np.float64
    ) -> None:
        self.kernel, self.data = kernel, as_writable(data)
        self.n, self.d = sample.shape
        self.pairs = self.n * ((batch or len(data)) + self.n)
        self.centre: Array = middle(sample) if kernel.radial else np.zeros(self.d)
        self._slope = kernel._address(profiles.SLOPE, kind)
        self._batch = batch
        size = pairs.tile_size(self.n)
        tiles, width = -(-self.n // size), pairs.augmented(self.d)
        self._both: NDArray[Any] = np.zeros((2, tiles, self.d, size), kind)
        self._state = np.zeros(2, dtype=np.int64)
        self._over_landmarks = np.empty((tiles, width, size), kind)
        self._over_data = np.empty((tiles, width, size), kind)
        self._work: dict[int, Any] = {}
        self._begun = False
        self.place(sample)

    @property
    def _tiles(self) -> NDArray[Any]:
        """The landmarks, tile by tile."""
        tiles: NDArray[Any] = self._both[self._state[0]]
        return tiles

    def place(self, sample: NDArray[Any]) -> None:
        """Set the landmarks."""
        _, tiles, d, size = self._both.shape
        padded = np.zeros((tiles * size, d), self._both.dtype)
        padded[: self.n] = sample - self.centre
        self._both[:] = padded.reshape(tiles, size, d).transpose(0, 2, 1)

    def take(self) -> Array:
        """The landmarks as they are now."""
        return self._sample(self._tiles)

    def step_back(self) -> Array:
        """The landmarks as they were before the last step."""
        return self._sample(self._both[1 - self._state[0]])

    def _sample(self, tiles: NDArray[Any]) -> Array:
        sample: Array = tiles.transpose(0, 2, 1).reshape(-1, self.d)[: self.n] + self.centre
        return sample

    def _workspace(self, slots: int) -> Any:
        if slots not in self._work:
            points = self._batch or len(self.data)
            self._work[slots] = pairs.make_workspace(slots, self.n, points, self._over_landmarks, self._over_data)
        return self._work[slots]

    def totals(self) -> tuple[float, float]:
        """‖K_S‖_F² and T₁."""
        _, norm, total = self._run(pairs.TOTALS)
        return norm, total

    def totals_and_left(self, batch: NDArray[np.int64] = _NO_BATCHES) -> tuple[float, float, Array, Array]:
        """The totals, Σ_j ∂[l]K²(s_k, s_j) over all landmarks j (k too), and Σ_i ∂[l]K²(s_k, x_i).

        From a batch, T₁ and the last sum are estimated by N/b times those over its points.
        """
        _, norm, total = self._run(pairs.SLOPES, batch.reshape(1, -1))
        over_landmarks = np.empty((self.n, self.d))
        over_data = np.empty((self.n, self.d))
        pairs.left_derivatives(self.kernel.radial, self._tiles, self._over_landmarks, over_landmarks)
        pairs.left_derivatives(self.kernel.radial, self._tiles, self._over_data, over_data)
        if batch.size:
            over_data *= len(self.data) / batch.size
        return norm, total, over_landmarks, over_data

    def descend(self, batches: NDArray[np.int64], first_part: int, iterations: int, step: float) -> int:
        """Take steps in place; returns how many were taken before the sample, or R, became non-finite."""
        if not self._begun and self.kernel._family == profiles.CUSTOM:
            # Functions that fail at the start are to blame themselves; further on it is the descent.
            self._run(pairs.SLOPES, batches[:1])
        self._begun = True
        return self._run(iterations, batches, first_part, step)[0]

    def _run(
        self, iterations: int, batches: NDArray[np.int64] = _NO_BATCHES, first_part: int = 0, step: float = 0.0
    ) -> tuple[int, float, float]:
        with one_pool(self.pairs) as (parallel, slots), self.kernel._watched(descent=iterations > 0) as p:
            task = pairs.Task(
                self.kernel.radial, self._slope, p, self.n, self.data, batches.ravel(), self.centre, self._both,
                self._over_landmarks, self._over_data, self._state, self._workspace(slots),
            )  # fmt: skip
            stages = pairs.stages(task, parallel)
            steps, norm, total = pairs.run(stages, task, batches.shape[1], first_part, iterations, step)
        return int(steps), float(norm), float(total)


def squared_frobenius_norm(kernel: Kernel, data: NDArray[Any]) -> float:
    """‖K‖_F² of validated data: strip by strip, each against itself and what follows it."""
    rows = 896  # a multiple of the loops' tiles
    total = 0.0
    for start in range(0, len(data), rows):
        strip = data[start : start + rows].astype(np.float64)
        rest = data[start + rows :]
        within, across = PairSums(kernel, rest if len(rest) else strip, strip).totals()
        total += within + (2.0 * across if len(rest) else 0.0)
    return total
