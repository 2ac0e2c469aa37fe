"""The leading eigenvalues of a kernel matrix."""

from __future__ import annotations

import numpy as np

import nystrom_lib as nl
from nystrom_lib._spectrum import symmetric_product, top_eigenvalues
from nystrom_lib._threads import one_pool

from ..experiments.outcome import Array


def leading_eigenvalues(kernel: nl.Kernel, data: Array, count: int) -> Array:
    """The ``count`` largest eigenvalues of K, largest first, by a Lanczos iteration from a fixed start.

    Parameters
    ----------
    kernel : Kernel
        K.
    data : array, (N, d)
        D; the N × N matrix is held in memory.
    count : int
        How many; fewer if N is not larger.

    Examples
    --------
    >>> points = np.linspace(0, 1, 30)[:, None]
    >>> leading_eigenvalues(nl.Gaussian(rho=1.0), points, 3).round(3)
    array([25.721,  3.978,  0.288])
    """
    with one_pool(0.0):
        matrix = kernel.matrix(data)
        if 3 * count >= len(matrix):
            return np.asarray(np.linalg.eigvalsh(matrix)[::-1][:count], dtype=np.float64)
        return top_eigenvalues(symmetric_product(matrix), len(matrix), count)
