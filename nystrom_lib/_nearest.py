"""The nearest landmark of each point, and the means of the points that share one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import nearest as loops
from ._core import residuals, tiles
from ._sums import middle
from ._threads import thread_pool
from ._validation import Array, as_writable


def nearest(data: NDArray[Any], sample: Array) -> NDArray[np.int64]:
    """The index of the nearest landmark of each point, the first of several."""
    N, n = len(data), len(sample)
    labels = np.empty(N, np.int64)
    centre = middle(sample)
    S = residuals.tiles_of(sample - centre)
    with thread_pool(N * n) as parallel:
        size = tiles.cut(n, residuals.POINTS)
        parallel(loops.nearest, -(-N // residuals.POINTS), as_writable(data), centre, n, size, S, labels)
    return labels


def cell_means(data: NDArray[Any], labels: NDArray[np.int64], sample: Array) -> Array:
    """The mean of the points with each label; the landmark itself where there are none."""
    n, centre = len(sample), middle(sample)
    counts = np.bincount(labels, minlength=n)
    columns = [np.bincount(labels, data[:, l] - centre[l], n) for l in range(data.shape[1])]
    means = centre + np.column_stack(columns) / np.maximum(counts, 1)[:, None]
    return np.where(counts[:, None] > 0, means, sample)
