r"""Centres of k-means: each the mean of the data points nearer to it than to any other.

Lloyd's iteration from the seeds of ``kmeans++``, until the centres move by less than ``TOLERANCE`` of the data's
variance (all together, squared), at most ``ITERATIONS`` times. The centres are no data points. The kernel plays
no part, but the quantisation error that k-means lessens bounds the error of a Nyström approximation.

Cost: O(nNd) time an iteration, a few numbers for each data point.

References: S. P. Lloyd, *Least squares quantization in PCM*, IEEE Trans. Inf. Theory 28, 1982; for landmarks K. Zhang,
I. W. Tsang and J. T. Kwok, *Improved Nyström low-rank approximation and error analysis*, ICML 2008.

Examples
--------
>>> import nystrom_lib as nl
>>> data = [[0.0], [1.0], [2.0], [9.0], [10.0], [11.0]]
>>> nl.initial_sample(nl.Gaussian(), data, 2, "kmeans", seed=0)
array([[10.],
       [ 1.]])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._nearest import cell_means, nearest
from ...kernels import Kernel
from . import kmeans_plus_plus
from .base import Drawn

ITERATIONS = 100
TOLERANCE = 1e-4  #: scikit-learn's


def draw(kernel: Kernel, data: NDArray[Any], n: int, rng: np.random.Generator) -> Drawn:
    """Lloyd's iteration."""
    sample = kmeans_plus_plus.draw(kernel, data, n, rng).points
    tolerance = TOLERANCE * data.var(axis=0, dtype=np.float64).mean()
    for _ in range(ITERATIONS):
        before = sample
        sample = cell_means(data, nearest(data, before)[0], before)
        if np.square(sample - before).sum() <= tolerance:
            break
    return Drawn(sample, None)
