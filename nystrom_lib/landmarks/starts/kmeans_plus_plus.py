r"""The seeds of k-means++: data points far from each other.

The first is uniform; each further one is a data point x drawn with probability proportional to
:math:`\min_k\|x-s_k\|^2`, the squared distance to those before it. The kernel plays no part.

Cost: O(nNd) time, a copy of the data. Beyond some hundred million pairs the seeds come from a part of the data drawn
uniformly: ``PAIRS`` / n points, and never fewer than ``SHARE`` n.

Reference: D. Arthur and S. Vassilvitskii, *k-means++: the advantages of careful seeding*, SODA 2007.

Examples
--------
>>> import nystrom_lib as nl
>>> data = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
>>> nl.initial_sample(nl.Gaussian(), data, 2, "kmeans++", seed=0)
array([[9.2],
       [0. ]])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.nearest import approach
from ...kernels import Kernel
from .base import Drawn, at, fill_up

PAIRS = 400_000_000  #: pairs of points and seeds we are willing to go through
SHARE = 10  #: data points for each seed, at least


def draw(kernel: Kernel, data: NDArray[Any], n: int, rng: np.random.Generator) -> Drawn:
    """D² sampling."""
    N = len(data)
    most = max(PAIRS // n, SHARE * n)
    among = rng.choice(N, most, replace=False) if N > most else np.arange(N)
    columns = np.ascontiguousarray(data[among].T, np.float64)
    picks, left = [int(rng.integers(len(among)))], np.full(len(among), np.inf)
    for draw in rng.random(n - 1):
        approach(columns, picks[-1], left)
        sums = np.cumsum(left)
        if not sums[-1] > 0.0:  # all points are copies of those picked
            break
        picks.append(min(int(np.searchsorted(sums, draw * sums[-1], side="right")), len(among) - 1))
    return at(data, fill_up(data, among[picks], n, rng))
