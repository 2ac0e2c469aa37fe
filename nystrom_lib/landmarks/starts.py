"""Initial samples.

A start is a function ``start(kernel, data, n, rng) -> Drawn``. Its arguments are valid already: data of N rows, float32
or float64, and 1 ≤ n ≤ N. It leaves the data as they are, makes no N × N array, and gives the same points for the same
seed on any number of threads. Whatever the data, copies of one point included, it returns n points; those that are data
points have different indices, and no point comes twice while there is another.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, solve_triangular

from .. import _validation as check
from .._core import nearest as loops
from .._core import residuals, tiles
from .._memory import gigabytes, memory
from .._sums import middle
from .._threads import limit_blas_threads, thread_pool
from .._validation import Array, as_writable
from ..approximation import _diagonal
from ..kernels import Gaussian, Kernel, require

PAIRS = 400_000_000  #: pairs of points and seeds that k-means++ goes through at most
SHARE = 10  #: data points for each seed, at least
ITERATIONS = 100  #: of k-means, at most
TOLERANCE = 1e-4  #: of k-means: scikit-learn's
BLOCKS = 10  #: how many blocks of proposals make n
LEAST = 32  #: proposals of a block, at least
EMBEDDED = 2000  #: points that represent the data in kernel herding
FLOOR = 100.0 * float(np.finfo(float).eps)  #: residuals below this, relative to K(x, x), are rounding

_ROWS = 1000  # of a matrix between data and other points, held at a time
_SMALLEST = 1e-10  # ridge of leverage scores, relative to K(x, x)

Indices = NDArray[np.int64]


class Drawn(NamedTuple):
    """An initial sample."""

    points: Array  #: shape (n, d), a new array
    indices: Indices | None  #: where the points are in the data, or None: they are no data points


def at(data: NDArray[Any], indices: Indices) -> Drawn:
    """The data points with these indices."""
    return Drawn(data[indices].astype(np.float64), indices)


def originals(data: NDArray[Any]) -> Indices:
    """For each point the index of the first point that it is a copy of: its own, unless one before it is the same."""
    _, first, inverse = np.unique(data, axis=0, return_index=True, return_inverse=True)
    return first[inverse.ravel()]


def fill_up(data: NDArray[Any], indices: Indices, n: int, rng: np.random.Generator | None = None) -> Indices:
    """``indices`` and as many others as n asks for, first of points not yet there, then of their copies.

    The others come at random, or without ``rng`` in their order.
    """
    if len(indices) >= n:
        return indices[:n]
    original = originals(data)
    new = np.setdiff1d(original, original[indices])
    rest = np.setdiff1d(np.arange(len(data)), np.concatenate([indices, new]))
    if rng is not None:
        new, rest = rng.permutation(new), rng.permutation(rest)
    return np.concatenate([indices, new, rest])[:n]


def uniform(kernel: Kernel, data: NDArray[Any], n: int, rng: np.random.Generator) -> Drawn:
    """Data points drawn uniformly without replacement: the initial samples of paper §4.

    Unlike the other starts, it does not use the coordinates of the points, and it may draw copies of a point.
    """
    return at(data, rng.choice(len(data), n, replace=False))


def kmeans_plus_plus(kernel: Kernel, data: NDArray[Any], n: int, rng: np.random.Generator) -> Drawn:
    r"""The seeds of k-means++: data points far from each other.

    The first is uniform; each further one is a data point x drawn with probability proportional to
    :math:`\min_k\|x-s_k\|^2`, the squared distance to those before it. The kernel plays no part.

    Cost: O(nNd) time, a copy of the data. Beyond some hundred million pairs the seeds come from a part of the data
    drawn uniformly: ``PAIRS`` / n points, and never fewer than ``SHARE`` n.

    Reference: D. Arthur and S. Vassilvitskii, *k-means++: the advantages of careful seeding*, SODA 2007.
    """
    N = len(data)
    most = max(PAIRS // n, SHARE * n)
    among = rng.choice(N, most, replace=False) if N > most else np.arange(N)
    columns = np.ascontiguousarray(data[among].T, np.float64)
    picks, left = [int(rng.integers(len(among)))], np.full(len(among), np.inf)
    for draw in rng.random(n - 1):
        loops.approach(columns, picks[-1], left)
        sums = np.cumsum(left)
        if not sums[-1] > 0.0:  # all points are copies of those picked
            break
        picks.append(min(int(np.searchsorted(sums, draw * sums[-1], side="right")), len(among) - 1))
    return at(data, fill_up(data, among[picks], n, rng))


def kmeans(kernel: Kernel, data: NDArray[Any], n: int, rng: np.random.Generator) -> Drawn:
    """Centres of k-means: each the mean of the data points nearer to it than to any other.

    Lloyd's iteration from the seeds of ``kmeans++``, until the centres move by less than ``TOLERANCE`` of the data's
    variance (all together, squared), at most ``ITERATIONS`` times. The centres are no data points. The kernel plays no
    part, but the quantisation error that k-means lessens bounds the error of a Nyström approximation.

    Cost: O(nNd) time an iteration, a few numbers for each data point.

    References: S. P. Lloyd, *Least squares quantization in PCM*, IEEE Trans. Inf. Theory 28, 1982; for landmarks K.
    Zhang, I. W. Tsang and J. T. Kwok, *Improved Nyström low-rank approximation and error analysis*, ICML 2008.
    """
    sample = kmeans_plus_plus(kernel, data, n, rng).points
    tolerance = TOLERANCE * data.var(axis=0, dtype=np.float64).mean()
    for _ in range(ITERATIONS):
        before = sample
        sample = cell_means(data, nearest(data, before), before)
        if np.square(sample - before).sum() <= tolerance:
            break
    return Drawn(sample, None)


def nearest(data: NDArray[Any], sample: Array) -> NDArray[np.int64]:
    """The index of the nearest landmark of each point, the first of several."""
    N, n = len(data), len(sample)
    labels = np.empty(N, np.int64)
    centre = middle(sample)
    S = residuals.tiles_of(sample - centre)
    with thread_pool(N * n) as parallel:
        size = tiles.cut(n, residuals.POINTS)
        parallel(loops.nearest, -(-N // residuals.POINTS), as_writable(data), centre, n, size, S, labels)
    return labels


def cell_means(data: NDArray[Any], labels: NDArray[np.int64], sample: Array) -> Array:
    """The mean of the points with each label; the landmark itself where there are none."""
    n, centre = len(sample), middle(sample)
    counts = np.bincount(labels, minlength=n)
    columns = [np.bincount(labels, data[:, l] - centre[l], n) for l in range(data.shape[1])]
    means = centre + np.column_stack(columns) / np.maximum(counts, 1)[:, None]
    return np.where(counts[:, None] > 0, means, sample)


class PartialCholesky:
    """A Cholesky decomposition K ≈ Fᵀ F grown pivot by pivot; F is n × N, which is what these starts need of memory."""

    def __init__(self, kernel: Kernel, data: NDArray[Any], n: int) -> None:
        size, there = 8.0 * n * len(data), memory()
        if size > there:
            raise ValueError(
                f"n is {n:,}; it must be at most {int(there / 8.0 / len(data)):,}, for n rows of {len(data):,} numbers "
                f"take {gigabytes(size)} of {gigabytes(there)} of memory: 'uniform' does without."
            )
        self.kernel = kernel
        self.points = data.astype(np.float64, copy=False)
        diagonal = kernel.diagonal(self.points)
        if (diagonal < 0.0).any():
            raise ValueError(
                f"kernel gives K(x, x) = {diagonal.min():g} at data point {diagonal.argmin()}; it must be positive "
                "semi-definite for pivots of a Cholesky decomposition."
            )
        self.residual = diagonal.copy()  #: K(x, x) − K̂(x, x), 0 where it is rounding
        self.floor = FLOOR * diagonal
        self.pivots = np.empty(0, np.int64)
        self._factor = np.empty((n, len(data)))

    def add(self, pivots: NDArray[np.int64], lower: Array) -> None:
        """Take in new pivots, ``lower`` being the Cholesky factor of what was left among them."""
        done = len(self.pivots)
        before = self._factor[:done]
        new = self._factor[done : done + len(pivots)]
        new[:] = self.kernel.matrix(self.points[pivots], self.points)
        new -= before[:, pivots].T @ before
        new[:] = solve_triangular(lower, new, lower=True, check_finite=False)
        self.residual -= np.einsum("ij,ij->j", new, new)
        self.residual[self.residual <= self.floor] = 0.0
        self.residual[pivots] = 0.0
        self.pivots = np.concatenate([self.pivots, pivots])

    def add_random(self, size: int, rng: np.random.Generator) -> None:
        """Take in pivots drawn in proportion to the residuals: ``size`` proposals, of which some are accepted."""
        proposed = rng.choice(len(self.residual), size, p=self.residual / self.residual.sum())
        rows = self._factor[: len(self.pivots), proposed]
        left = self.kernel.matrix(self.points[proposed]) - rows.T @ rows
        accepted, lower = rejection(left, self.floor[proposed], rng.random(size))
        accepted = accepted[: len(self._factor) - len(self.pivots)]
        if len(accepted):
            self.add(proposed[accepted], lower[accepted, : len(accepted)])
        else:
            self.residual[proposed[0]] = 0.0  # it was rounding


def rejection(left: Array, floor: Array, chance: Array) -> tuple[NDArray[np.int64], Array]:
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


def rpcholesky(kernel: Kernel, data: NDArray[Any], n: int, rng: np.random.Generator) -> Drawn:
    r"""The pivots of a randomly pivoted Cholesky decomposition.

    Each is drawn with probability proportional to the residual :math:`K(x,x)-\hat K(x,x)` that those before it leave: a
    compromise between ``uniform`` and ``greedy``. Pivots are proposed a block at a time and accepted with the
    probability that makes the result one drawn one by one.

    Cost: O(Nn²) time, nearly all in matrix products; a factor of n × N numbers is stored. Once every residual is 0 to
    rounding, unused points follow at random.

    References: Y. Chen, E. N. Epperly, J. A. Tropp and R. J. Webber, *Randomly pivoted Cholesky: practical
    approximation of a kernel matrix with few entry evaluations*, arXiv 2207.06503, 2023; by blocks: E. N. Epperly, J.
    A. Tropp and R. J. Webber, *Embrace rejection: kernel matrix approximation by accelerated randomly pivoted
    Cholesky*, arXiv 2410.03969, 2024.
    """
    cholesky = PartialCholesky(kernel, data, n)
    size = max(LEAST, math.ceil(n / BLOCKS))
    while len(cholesky.pivots) < n and cholesky.residual.any():
        cholesky.add_random(size, rng)
    return at(data, fill_up(data, cholesky.pivots, n, rng))


def greedy(kernel: Kernel, data: NDArray[Any], n: int, rng: np.random.Generator) -> Drawn:
    r"""The pivots of a Cholesky decomposition with complete pivoting: each is the point approximated worst so far.

    That is the data point with the largest residual :math:`K(x,x)-\hat K(x,x)`, the first of several. Nothing is drawn
    at random. Points far from all others come early, so outliers are chosen first.

    Cost: O(Nn²) time; a factor of n × N numbers is stored. Once every residual is 0 to rounding, unused points follow
    in their order.

    Reference: S. Fine and K. Scheinberg, *Efficient SVM training using low-rank kernel representations*, JMLR 2, 2001.
    """
    cholesky = PartialCholesky(kernel, data, n)
    while len(cholesky.pivots) < n and cholesky.residual.any():
        worst = np.argmax(cholesky.residual)
        cholesky.add(np.array([worst]), np.sqrt(cholesky.residual[[[worst]]]))
    return at(data, fill_up(data, cholesky.pivots, n))


def herding(kernel: Kernel, data: NDArray[Any], n: int, rng: np.random.Generator) -> Drawn:
    r"""Kernel herding: data points whose mean resembles that of all data, as the squared kernel sees it.

    Each point is the one that brings the sample nearest to the data in the distance that K² defines between their
    embeddings, :math:`\mu(x)=\frac1N\sum_i K^2(x,x_i)` being the data's: it makes

    .. math:: \frac1{k+1}\Big(\sum_{j\le k}K^2(x,s_j)+\tfrac12K^2(x,x)\Big)-\mu(x)

    least, the first of several, among the points not yet chosen. It is the radial SKD with weights held equal, and
    spreads points as the data are spread.

    Cost: O(nN) evaluations of the kernel and O(NM) for μ, which comes from M = ``EMBEDDED`` data points drawn uniformly
    where there are more.

    Reference: Y. Chen, M. Welling and A. Smola, *Super-samples from kernel herding*, UAI 2010.
    """
    first = np.unique(originals(data))
    points = data[first].astype(np.float64)
    among = data[rng.choice(len(data), EMBEDDED, replace=False)] if len(data) > EMBEDDED else data
    parts = np.split(points, range(_ROWS, len(points), _ROWS))
    embedding = np.concatenate([kernel.squared(part, among).mean(axis=1) for part in parts])
    nearness = 0.5 * np.square(kernel.diagonal(points))
    chosen = np.empty(min(n, len(points)), np.int64)
    for k in range(len(chosen)):
        chosen[k] = best = np.argmin(nearness / (k + 1) - embedding)
        nearness += kernel.squared(points[[best]], points)[0]
        embedding[best] = -np.inf  # not a second time
    return at(data, fill_up(data, first[chosen], n, rng))


def leverage(kernel: Kernel, data: NDArray[Any], n: int, rng: np.random.Generator) -> Drawn:
    r"""Data points drawn by ridge leverage scores, without replacement.

    The score of a point is :math:`(\mathbf K(\mathbf K+\lambda\mathbf I)^{-1})_{ii}`, its share in the effective
    dimension: how little the others can say in its place. Scores are estimated by recursion: from n points, those of
    twice as many, of which some are kept by their scores, with weights, to estimate those of twice as many again, and
    so on to all data. The ridge λ is the sum of the eigenvalues beyond the k-th, as the kept points estimate it, over
    k, with :math:`k = n/(4\log n)`.

    Cost: O(Nn) evaluations of the kernel and O(Nn²) time; no N × n array is made. Copies add up their scores and are
    drawn as one point.

    Reference: C. Musco and C. Musco, *Recursive sampling for the Nyström method*, NeurIPS 2017 (arXiv 1605.07583).
    """
    N = len(data)
    order = rng.permutation(N)
    oversampling = max(1.0, math.log(n))
    k = math.ceil(n / (4.0 * oversampling))
    size, kept, weights, scores = n, order[:n], np.ones(n), np.ones(n)
    while size < N:
        size = min(2 * size, N)
        level = order[:size]
        scores = leverage_scores(kernel, data, level, kept, weights, k)
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


def leverage_scores(kernel: Kernel, data: NDArray[Any], level: Indices, kept: Indices, weights: Array, k: int) -> Array:
    """Estimated scores of the points of a level: (K(x,x) − k(x)ᵀ(K_S + λ W⁻¹)⁻¹ k(x)) / λ."""
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


#: A function ``start(kernel, data, n, rng)``, as described above.
Start = Callable[[Kernel, NDArray[Any], int, np.random.Generator], Drawn]

#: The starts by name.
STARTS: dict[str, Start] = {
    "uniform": uniform,
    "kmeans++": kmeans_plus_plus,
    "kmeans": kmeans,
    "rpcholesky": rpcholesky,
    "greedy": greedy,
    "herding": herding,
    "leverage": leverage,
}


@limit_blas_threads
def initial_sample(kernel: Kernel, data: ArrayLike, n: int, method: str = "uniform", *, seed: Any = None) -> Array:
    """An initial sample S⁽⁰⁾ of ``n`` points, as a new array.

    Parameters
    ----------
    kernel
        The kernel K; ``uniform``, ``kmeans++`` and ``kmeans`` make no use of it.
    data
        The N points, a row each.
    n
        How many, from 1 to N.
    method
        ``"uniform"``: data points, each as likely as any other.
        ``"kmeans++"``: data points far from each other.
        ``"kmeans"``: the means of n clusters, which are not data points.
        ``"rpcholesky"``: data points drawn by what those before them leave of K(x, x).
        ``"greedy"``: data points of which those before leave most.
        ``"herding"``: data points that together resemble all data.
        ``"leverage"``: data points drawn by their ridge leverage scores.
    seed
        A whole number, a ``SeedSequence``, a ``Generator``, or None for fresh entropy. ``"greedy"`` draws nothing.

    Returns
    -------
    array, (n, d)
        The landmarks, a row each.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> data = [[0.0], [0.1], [0.2], [5.0]]
    >>> nl.initial_sample(nl.Gaussian(rho=1.0), data, 2, "kmeans", seed=0)
    array([[5. ],
           [0.1]])
    """
    start = STARTS[check.choice("method", method, STARTS)]
    kernel, data = require(kernel), check.points("data", data)
    n = check.integer("n", n, least=1, most=len(data), why=", the number of data points")
    return start(kernel, data, n, check.generator("seed", seed)).points


def uniform_sample(data: ArrayLike, n: int, seed: Any = None) -> Array:
    """An initial sample S⁽⁰⁾: ``n`` data points drawn uniformly without replacement (paper §4), as a new array.

    Parameters
    ----------
    data, n, seed
        As in :func:`initial_sample`.

    Returns
    -------
    array, (n, d)
        The landmarks, a row each.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> nl.uniform_sample([[0.0], [1.0], [2.0]], 2, seed=1)
    array([[0.],
           [1.]])
    """
    return initial_sample(Gaussian(1.0), data, n, seed=seed)  # which makes no use of the kernel
