"""The bridge between validated arrays and the loops over points and the landmarks nearest to them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import nearest as loops
from ._sums import middle
from ._threads import one_pool
from ._validation import Array, as_writable


def nearest(data: NDArray[Any], sample: Array) -> tuple[NDArray[np.int64], Array]:
    """For each point which landmark is nearest, the first of several, and the squared distance to it."""
    N, d = data.shape
    centre = middle(sample)
    S = sample - centre
    labels, squares = np.empty(N, np.int64), np.empty(N)
    with one_pool(N * len(S)) as (parallel, slots):
        norms, scratch = np.einsum("ij,ij->i", S, S), loops.make_scratch(slots, d)
        told = as_writable(data), centre, S, norms, scratch, labels, squares
        loops.nearest(parallel, -(-N // loops.POINTS), told)
    return labels, squares


def cell_means(data: NDArray[Any], labels: NDArray[np.int64], sample: Array) -> Array:
    """The mean of the points of each label; where there are none, the landmark as it is."""
    centre = middle(sample)
    sums, counts = np.zeros_like(sample), np.zeros(len(sample), np.int64)
    loops.cell_sums(as_writable(data), centre, labels, sums, counts)
    means: Array = np.where(counts[:, None] > 0, centre + sums / np.maximum(counts, 1)[:, None], sample)
    return means
