r"""The pivots of a randomly pivoted Cholesky decomposition.

Each is drawn with probability proportional to the residual :math:`K(x,x)-\hat K(x,x)` that those before it leave: a
compromise between ``uniform`` and ``greedy``. Pivots are proposed a block at a time and accepted with the probability
that makes the result one drawn one by one.

Cost: O(Nn²) time, nearly all in matrix products; a factor of n × N numbers is held. Once every residual is 0 to
rounding, unused points follow at random.

References: Y. Chen, E. N. Epperly, J. A. Tropp and R. J. Webber, *Randomly pivoted Cholesky: practical approximation of
a kernel matrix with few entry evaluations*, arXiv 2207.06503, 2023; by blocks: E. N. Epperly, J. A. Tropp and R. J.
Webber, *Embrace rejection: kernel matrix approximation by accelerated randomly pivoted Cholesky*, arXiv 2410.03969,
2024.

Examples
--------
>>> import nystrom_lib as nl
>>> data = [[0.0], [0.0], [0.0], [3.0]]
>>> nl.initial_sample(nl.Gaussian(rho=1.0), data, 2, "rpcholesky", seed=0)
array([[0.],
       [3.]])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._validation import Array
from ...kernels import Kernel
from .base import Drawn, Indices, at, fill_up
from .cholesky import PartialCholesky

BLOCKS = 10  #: how many blocks of proposals make n
LEAST = 32  #: proposals of a block, at least


def draw(kernel: Kernel, data: NDArray[Any], n: int, rng: np.random.Generator) -> Drawn:
    """Accelerated RPCholesky."""
    cholesky = PartialCholesky(kernel, data, n)
    size = max(LEAST, math.ceil(n / BLOCKS))
    while len(cholesky.pivots) < n and (total := cholesky.residual.sum()) > 0.0:
        proposed = rng.choice(len(data), size, p=cholesky.residual / total)
        accepted, lower = rejection(cholesky.between(proposed), cholesky.floor[proposed], rng.random(size))
        accepted = accepted[: n - len(cholesky.pivots)]
        if len(accepted):
            cholesky.add(proposed[accepted], lower[accepted, : len(accepted)])
        else:
            cholesky.residual[proposed[0]] = 0.0  # it was rounding
    return at(data, fill_up(data, cholesky.pivots, n, rng))


def rejection(left: Array, floor: Array, chance: Array) -> tuple[Indices, Array]:
    """Which proposals are accepted, and a matrix whose rows of that number are the Cholesky factor among them.

    A proposal was made with the residual at the start of the block in place of that after those accepted before it: it
    is accepted with the probability of their ratio. The first always is, unless it is rounding.
    """
    residual = left.diagonal().copy()
    least = np.maximum(floor, chance * residual)
    accepted: list[int] = []
    lower = np.zeros_like(left)
    for i in range(len(left)):
        if residual[i] > least[i] and (column := left[:, i] - lower @ lower[i])[i] > floor[i]:
            new = lower[:, len(accepted)]
            new[i:] = column[i:] / math.sqrt(column[i])
            residual -= new * new
            accepted.append(i)
    return np.array(accepted, np.int64), lower
