"""The leading eigenvalues of a kernel matrix."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import eigsh
from threadpoolctl import threadpool_limits

import nystrom_lib as nl

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
    with threadpool_limits(1, user_api="blas"):
        matrix = kernel.matrix(data)
        if 3 * count >= len(matrix):
            return np.asarray(np.linalg.eigvalsh(matrix)[::-1][:count], dtype=np.float64)
        start = np.random.default_rng(0).standard_normal(len(matrix))
        values = eigsh(matrix, count, which="LA", v0=start, ncv=2 * count + 20, tol=1e-7, return_eigenvectors=False)
        return np.asarray(np.sort(values)[::-1], dtype=np.float64)
