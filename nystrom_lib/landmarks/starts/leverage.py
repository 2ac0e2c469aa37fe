r"""Data points drawn by ridge leverage scores, without replacement.

The score of a point is :math:`(\mathbf K(\mathbf K+\lambda\mathbf I)^{-1})_{ii}`, its share in the effective
dimension: how little the others can say in its place. Scores are estimated by recursion: from n points, those of
twice as many, of which some are kept by their scores, with weights, to estimate those of twice as many again, and so
on to all data. The ridge λ is the sum of the eigenvalues beyond the k-th, as the kept points estimate it, over k, with
:math:`k = n/(4\log n)`.

Cost: O(Nn) evaluations of the kernel and O(Nn²) time; no N × n array is made. Copies add up their scores and are
drawn as one point.

Reference: C. Musco and C. Musco, *Recursive sampling for the Nyström method*, NeurIPS 2017 (arXiv 1605.07583).

Examples
--------
>>> import nystrom_lib as nl
>>> data = [[0.0], [0.0], [0.0], [3.0]]
>>> nl.initial_sample(nl.Gaussian(rho=1.0), data, 2, "leverage", seed=0)
array([[0.],
       [3.]])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._validation import Array
from ...approximation import _diagonal
from ...kernels import Kernel
from .base import Drawn, Indices, at, fill_up, originals

_ROWS = 1000  # of the matrix between data and sampled points, held at a time
_SMALLEST = 1e-10  # ridge, relative to K(x, x)


def draw(kernel: Kernel, data: NDArray[Any], n: int, rng: np.random.Generator) -> Drawn:
    """Recursive ridge leverage scores, then exactly n points by them."""
    N = len(data)
    order = rng.permutation(N)
    oversampling = max(1.0, math.log(n))
    k = math.ceil(n / (4.0 * oversampling))
    size, kept, weights, scores = n, order[:n], np.ones(n), np.ones(n)
    while size < N:
        size = min(2 * size, N)
        level = order[:size]
        scores = _scores(kernel, data, level, kept, weights, k)
        likely = np.minimum(1.0, oversampling * scores)
        taken = rng.random(size) < likely
        if taken.any():
            kept, weights = level[taken], 1.0 / likely[taken]
    original = originals(data)
    together = np.bincount(original[order], weights=scores, minlength=N)
    first = np.unique(original)
    # Those with the shortest exponential waiting times are drawn without replacement; what has no score comes last.
    waiting = rng.exponential(size=len(first)) / np.maximum(together[first], 1e-300)
    return at(data, fill_up(data, first[np.argsort(waiting)[:n]], n, rng))


def _scores(kernel: Kernel, data: NDArray[Any], level: Indices, kept: Indices, weights: Array, k: int) -> Array:
    """Estimated scores of the points of a level: (K(x,x) − k(x)ᵀ(K_S + λ W⁻¹)⁻¹ k(x)) / λ."""
    from scipy.linalg import cho_factor, solve_triangular

    sample = data[kept].astype(np.float64)
    K = kernel.matrix(sample)
    root = np.sqrt(weights)
    values = np.linalg.eigvalsh(K * root[:, None] * root)[::-1]
    ridge = max(values[k:].sum() / k, _SMALLEST * float(np.max(np.diag(K))), 1e-300)
    try:
        lower = np.tril(cho_factor(K + np.diag(ridge / weights), lower=True)[0])
    except np.linalg.LinAlgError:
        raise ValueError(
            "kernel has a matrix with negative eigenvalues; it must be positive semi-definite for 'leverage'."
        ) from None
    scores = np.empty(len(level))
    for i in range(0, len(level), _ROWS):
        points = data[level[i : i + _ROWS]]
        features = solve_triangular(lower, kernel.matrix(sample, points), lower=True, check_finite=False)
        scores[i : i + _ROWS] = _diagonal(kernel, points) - np.einsum("ij,ij->j", features, features)
    shares: Array = np.clip(scores / ridge, 0.0, 1.0)
    return shares
