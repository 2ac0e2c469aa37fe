r"""The pivots of a Cholesky decomposition with complete pivoting: each the point approximated worst by those before.

That is the data point with the largest residual :math:`K(x,x)-\hat K(x,x)`, the first of several. Nothing is drawn at
random. Points far from all others come early, so outliers are chosen first.

Cost: O(Nn²) time; a factor of n × N numbers is held. Once every residual is 0 to rounding, unused points follow in
their order.

Reference: S. Fine and K. Scheinberg, *Efficient SVM training using low-rank kernel representations*, JMLR 2, 2001.

Examples
--------
>>> import nystrom_lib as nl
>>> nl.initial_sample(nl.Gaussian(rho=1.0), [[0.0], [0.1], [0.2], [3.0]], 2, "greedy")
array([[0.],
       [3.]])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels import Kernel
from .base import Drawn, at, fill_up
from .cholesky import PartialCholesky


def draw(kernel: Kernel, data: NDArray[Any], n: int, rng: np.random.Generator) -> Drawn:
    """The largest residual, n times."""
    cholesky = PartialCholesky(kernel, data, n)
    while len(cholesky.pivots) < n:
        worst = np.argmax(cholesky.residual)
        if not cholesky.residual[worst] > 0.0:
            break
        cholesky.add(np.array([worst]), np.sqrt(cholesky.residual[[[worst]]]))
    return at(data, fill_up(data, cholesky.pivots, n))
