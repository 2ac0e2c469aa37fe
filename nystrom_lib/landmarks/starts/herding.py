r"""Kernel herding: data points whose mean resembles that of all data, as the squared kernel sees it.

Each point is the one that brings the sample nearest to the data in the distance that K² defines between their
embeddings, :math:`\mu(x)=\frac1N\sum_i K^2(x,x_i)` being the data's: it makes

.. math:: \frac1{k+1}\Big(\sum_{j\le k}K^2(x,s_j)+\tfrac12K^2(x,x)\Big)-\mu(x)

least, the first of several, among the points not yet chosen. It is the radial SKD with weights held equal, and spreads
points as the data are spread.

Cost: O(nN) evaluations of the kernel and O(NM) for μ, which comes from M = ``EMBEDDED`` data points drawn uniformly
where there are more.

Reference: Y. Chen, M. Welling and A. Smola, *Super-samples from kernel herding*, UAI 2010.

Examples
--------
>>> import nystrom_lib as nl
>>> nl.initial_sample(nl.Gaussian(rho=1.0), [[0.0], [0.1], [0.2], [3.0]], 2, "herding", seed=0)
array([[0.1],
       [3. ]])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._validation import Array
from ...kernels import Kernel
from .base import Drawn, at, fill_up, originals

EMBEDDED = 2000
_ROWS = 1000  # of the matrix between data and embedded points, held at a time


def draw(kernel: Kernel, data: NDArray[Any], n: int, rng: np.random.Generator) -> Drawn:
    """The least distance, n times."""
    first = np.unique(originals(data))
    points = data[first].astype(np.float64)
    embedding = _embedding(kernel, data, points, rng)
    nearness = 0.5 * np.square(kernel.diagonal(points))
    chosen = np.empty(min(n, len(points)), np.int64)
    for k in range(len(chosen)):
        chosen[k] = best = np.argmin(nearness / (k + 1) - embedding)
        nearness += kernel.squared(points[[best]], points)[0]
        embedding[best] = -np.inf  # not a second time
    return at(data, fill_up(data, first[chosen], n, rng))


def _embedding(kernel: Kernel, data: NDArray[Any], points: Array, rng: np.random.Generator) -> Array:
    """μ at the given points."""
    N = len(data)
    among = data[rng.choice(N, EMBEDDED, replace=False)] if N > EMBEDDED else data
    return np.concatenate(
        [kernel.squared(points[i : i + _ROWS], among).mean(axis=1) for i in range(0, len(points), _ROWS)]
    )
