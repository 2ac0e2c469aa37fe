"""Data points drawn uniformly without replacement: the initial samples of paper §4.

The draws are those of :func:`nystrom_lib.uniform_sample`. Cost: none. The only start that neither looks at the points
nor minds copies.

Examples
--------
>>> import nystrom_lib as nl
>>> nl.initial_sample(nl.Gaussian(), [[0.0], [1.0], [2.0]], 2, "uniform", seed=1)
array([[0.],
       [1.]])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels import Kernel
from ...samples import uniform_indices
from .base import Drawn, at


def draw(kernel: Kernel, data: NDArray[Any], n: int, rng: np.random.Generator) -> Drawn:
    """Any n data points."""
    return at(data, uniform_indices(len(data), n, rng))
