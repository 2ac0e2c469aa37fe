r"""Confidence bounds for a mean over all the data, and for the best possible error, from some of the points.

**One inequality.** Let N numbers in [0, 1] have the sum T, let m of them be drawn without replacement, and let Σ be the
sum of those drawn. For a convex function φ the expectation of φ(Σ) does not decrease if two of the N numbers are moved
apart while their sum stays the same: a draw that holds both or neither does not change, and as a function of the move t
every other term is φ(c ± t), which is convex. So it is largest where all numbers but one are 0 or 1, that is, up to
rounding T to an integer k, for the hypergeometric law H of m draws from N with k ones. With φ(s) = max(s − b, 0),

.. math:: P(\Sigma\ge a)\;\le\;\min_{b<a}\frac{E\max(\Sigma-b,0)}{a-b}
          \;\le\;\min_{b<a}\frac{E\max(H_{\lceil T\rceil}-b,0)}{a-b},

and likewise for Σ ≤ a with max(b − s, 0) and ⌊T⌋. All T for which the right-hand side is at most 1 − level are
rejected, which leaves a confidence bound that holds whatever the N numbers are.

**The best error.** Let V be the best subspace of dimension n for all N points: the mean of its residuals
:math:`f(x)\le K(x,x)` is :math:`\mu=\|\mathbf K-\mathbf K_n\|_{tr}/N`. On m points drawn from the data, no subspace of
dimension n leaves less than the sum of the eigenvalues of their own kernel matrix beyond the n-th; V is one of them. So
this tail is at most the sum of f over the points drawn, to which the inequality above applies: a lower bound of μ from
the eigenvalues of an m × m matrix.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln

from .. import _validation as check
from .._local import by_nearest, residuals_from_nearest
from .._threads import limit_blas_threads
from .._validation import Array
from ..criteria import best_rank_errors, residuals_of
from ..kernels import Kernel, require
from ..sources import Source, open_data

POINTS = 3_000  #: points whose eigenvalues are computed, in a second or two
CERTIFIED = 100_000  #: up to this many points, the error of a sample is computed from all of them


@limit_blas_threads
def best_error_bound(
    kernel: Kernel,
    data: ArrayLike | Source,
    n: int,
    *,
    level: float = 0.95,
    points: int = POINTS,
    seed: Any = 0,
) -> float:
    r"""A lower confidence bound of the smallest mean residual that n landmarks, or any n functions, can reach.

    That is :math:`\|\mathbf K-\mathbf K_n\|_{tr}/N`, the best possible trace error of rank n divided by N. Up to
    ``points`` data points it is computed exactly. Beyond, the bound comes from the eigenvalues of the kernel matrix of
    that many points, drawn at random without replacement, and holds with probability ``level`` or more, whatever the
    data and however many there are.

    Parameters
    ----------
    kernel
        The kernel K.
    data
        The points, a row each, or what :func:`open_data` gives.
    n
        The rank, at least 1.
    level
        The probability with which the bound holds, below 1.
    points
        How many points to draw. More points give a tighter bound, in O(m²n) time and O(m²) memory.
    seed
        A whole number, a ``SeedSequence``, a ``Generator``, or None.

    Returns
    -------
    float
        The bound, in the unit of K(x, x); 0 if ``points`` is too small to say more.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> data, kernel = nl.datasets.bigaussian().X, nl.Gaussian(rho=16.0)
    >>> best = nl.best_rank_errors(kernel, data, 20, "trace").trace / len(data)
    >>> bound = nl.best_error_bound(kernel, data, 20, points=1000)
    >>> 0.8 * best < bound <= best
    True
    """
    kernel, source = require(kernel), open_data(data)
    n = check.integer("n", n, least=1)
    points = check.integer("points", points, least=2)
    risk = 1.0 - check.fraction("level", level, 1e-12)
    if len(source) <= points:
        everything = source.all().astype(np.float64, copy=False)
        return best_rank_errors(kernel, everything, n, "trace").trace / len(source)
    tail = best_rank_errors(kernel, _drawn(source, points, check.generator("seed", seed)), n, "trace").trace
    largest = largest_diagonal(kernel, source)
    return largest * mean_above(tail / largest, points, len(source), risk)


def error_and_bound(
    kernel: Kernel, source: Source, sample: Array, risk: float, rng: np.random.Generator
) -> tuple[float, float]:
    """The mean residual of a sample, and an upper confidence bound: the same number where all points are used.

    The points are drawn anew, so that they are independent of the sample.
    """
    N = len(source)
    points = source.all().astype(np.float64, copy=False) if N <= CERTIFIED else _drawn(source, CERTIFIED, rng)
    if by_nearest(kernel, len(sample)):
        residuals = residuals_from_nearest(kernel, sample, points)
    else:
        residuals = residuals_of(kernel, points, sample)
    error = float(residuals.mean())
    if N <= CERTIFIED:
        return error, error
    largest = largest_diagonal(kernel, source)
    return error, largest * mean_below(float(residuals.sum()) / largest, CERTIFIED, N, risk)


def _drawn(source: Source, count: int, rng: np.random.Generator) -> Array:
    """``count`` different rows; every set of that size is equally likely."""
    chosen = np.sort(rng.choice(len(source), count, replace=False, shuffle=False))
    return np.ascontiguousarray(source.rows(chosen), dtype=np.float64)


def mean_diagonal(kernel: Kernel, source: Source) -> float:
    """The mean of K(x, x) over all the data: a pass over them, unless the kernel is radial."""
    if kernel.radial:
        return largest_diagonal(kernel, source)
    blocks = (block.astype(np.float64, copy=False) for block in source.blocks())
    return math.fsum(float(kernel.diagonal(block).sum()) for block in blocks) / len(source)


def largest_diagonal(kernel: Kernel, source: Source) -> float:
    """The maximum of K(x, x) over all the data."""
    if kernel.radial:
        return float(kernel.diagonal(np.zeros((1, source.d)))[0])
    return max(float(kernel.diagonal(block.astype(np.float64, copy=False)).max()) for block in source.blocks())


def mean_above(total: float, m: int, N: int, risk: float) -> float:
    """A lower confidence bound of the mean of N numbers in [0, 1], m of which, drawn at random, add up to ``total``."""

    def rejected(k: int) -> bool:
        """Whether a sum of at most k is too small for what was drawn: so are all sums below."""
        law, first = hypergeometric(N, k, m)
        at_least = np.cumsum(law[::-1])[::-1]  # P(H ≥ b) at b = first, first + 1, …
        excess = np.cumsum(at_least[::-1])[::-1] - at_least  # E max(H − b, 0)
        b = first + np.arange(len(law))
        below = b < total
        return bool(np.any(excess[below] <= risk * (total - b[below])))

    most = math.ceil(N * min(total / m, 1.0))  # which is never rejected
    return bisect_left(range(1, most), True, key=lambda k: not rejected(k)) / N


def mean_below(total: float, m: int, N: int, risk: float) -> float:
    """An upper confidence bound of the same mean: that of the numbers 1 − x is bounded from below."""
    return 1.0 - mean_above(m - total, m, N, risk)


def hypergeometric(N: int, k: int, m: int) -> tuple[NDArray[np.float64], int]:
    """Probabilities of the possible numbers of ones among m draws from N numbers with k ones; the least such number."""
    first, last = max(0, m + k - N), min(m, k)
    j = np.arange(first, last + 1, dtype=np.float64)
    law = np.exp(_log_binomial(k, j) + _log_binomial(N - k, m - j) - _log_binomial(N, m))
    return law, first


def _log_binomial(n: float, j: Any) -> Any:
    return -np.log(n + 1.0) - betaln(n - j + 1.0, j + 1.0)
