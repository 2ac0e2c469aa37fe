"""Find landmarks: how many, and which, for an approximation or for a prediction."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _validation as check
from .._threads import limit_blas_threads
from .._validation import as_writable
from ..criteria import nystrom_errors
from ..derivatives import radial_skd_hessian
from ..descent import stochastic_gradient_descent
from ..kernels import Gaussian, Kernel, require
from ..sources import Source
from .objectives import OBJECTIVES, LocalTraceError
from .search import Landmarks, Search
from .starts import STARTS, initial_sample
from .supervised import predicting
from .tolerance import ToleranceSearch

#: What ``method`` may be: the rule, an objective to descend on, or a method that chooses points.
METHODS = ("auto", *OBJECTIVES, *STARTS)


@limit_blas_threads
def find_landmarks(
    kernel: Kernel,
    data: ArrayLike | Source,
    n: int | None = None,
    *,
    targets: ArrayLike | None = None,
    tolerance: float | None = None,
    level: float = 0.95,
    method: str = "auto",
    seconds: float | None = None,
    iterations: int | None = None,
    seed: Any = 0,
    start: str | ArrayLike = "auto",
    progress: Callable[[int], object] | None = None,
    watch: Callable[[float, float], object] | None = None,
) -> Landmarks:
    r"""n landmarks whose Nyström approximation of the kernel matrix has a small trace error.

    By default a descent on the trace error itself (:class:`TraceError`) with batches, by :class:`Adam`, from the pivots
    of a randomly pivoted Cholesky decomposition among a few points, with a few early exchanges of landmarks that
    explain little; for thousands of landmarks each point uses only those nearest to it
    (:class:`LocalTraceError`), and the start is uniform. The sample returned is never worse than the start on
    validation points, which are drawn for that purpose. With more than 4,000 landmarks of a radial kernel the
    validation error, too, uses those nearest to each point, so that tens of thousands need no factor of K_S.
    ``.reasons`` lists what was chosen and why.

    Parameters
    ----------
    kernel
        The kernel K.
    data
        The points, a row each, or the result of :func:`open_data`. Of more than a million points a million, drawn at
        random, are read and used; the error is computed on other points, drawn for that purpose.
    n
        How many landmarks, from 1 to N. Give either n or ``tolerance``.
    targets
        A number, or a row of numbers, for each point: the landmarks are those from which kernel ridge regression
        predicts them, found by a descent on :class:`PredictionError` from k-means centres. The ridge is chosen on a
        fifth of the points, or 5,000, on which nothing is trained; the start is kept where it predicts them no worse.
        ``.error`` is the mean squared error there, as a share of the targets' variance.
    tolerance
        The relative trace error :math:`\mathrm{tr}(\mathbf K-\hat{\mathbf K})/\mathrm{tr}\,\mathbf K` that is allowed,
        between 0 and 1: the landmarks are about the fewest that keep it. Up to 100,000 points that is checked on all of
        them, beyond by an upper confidence bound.
    level
        The confidence level of that bound, and of ``.error_bound`` and ``.best_error_bound``.
    method
        ``"auto"``; an objective to descend on (``"trace"``, ``"local-trace"``, ``"radial-skd"``, ``"weighted-skd"``);
        or a method that chooses points without descent (``"uniform"``, ``"kmeans"``, ``"rpcholesky"``, …).
    seconds, iterations
        The effort, in seconds of wall clock or steps of descent. By default a number of steps of which ten times as
        many would gain about two per cent. Without ``seconds`` the result is deterministic, bit for bit. The first call
        of a process loads or compiles its loops before the clock starts.
    seed
        A whole number, a ``SeedSequence``, a ``Generator``, or None for fresh entropy.
    start
        The start of a descent: ``"auto"``, a method that chooses points, or the points themselves.
    progress
        Called with the number of steps done so far, from time to time; ``StopIteration`` ends the descent.
    watch
        Called a few times a second at most with the share of the effort spent, from 0 to 1, and the error so far.

    Returns
    -------
    Landmarks
        ``.sample`` has the landmarks, ``.reasons`` what was chosen and why, ``.error`` the mean residual.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> data, kernel = nl.datasets.bigaussian().X, nl.Gaussian(rho=16.0)
    >>> landmarks = nl.find_landmarks(kernel, data, 50)
    >>> landmarks.method, landmarks.sample.shape
    ('trace', (50, 2))
    >>> nl.approximation_factors(kernel, data, landmarks.sample, "trace").trace < 1.4
    True
    """
    began = time.perf_counter()
    kernel = require(kernel)
    if not isinstance(data, Source):
        data = as_writable(check.points("data", data))
    if (n is None) == (tolerance is None):
        raise ValueError("Give either n, the number of landmarks, or tolerance, the relative trace error allowed.")
    if n is not None:
        n = check.integer("n", n, least=1, most=len(data), why=", the number of data points")
    if tolerance is not None:
        tolerance = check.fraction("tolerance", tolerance, 1e-12)
    if targets is not None and (method != "auto" or n is None):
        raise ValueError("With targets, n must be given, and method must be 'auto'.")
    if targets is not None and watch is not None:
        raise ValueError("watch cannot be used with targets; use progress.")
    if iterations is not None:
        iterations = check.integer("iterations", iterations, least=0)
    level = check.fraction("level", level, 1e-12)
    check.choice("method", method, METHODS)
    if isinstance(start, str):
        check.choice("start", start, ("auto", *STARTS), ", or points")
    check.instance("progress", progress, Callable | None, "a function, or None")
    check.instance("watch", watch, Callable | None, "a function, or None")
    if tolerance is not None and not (isinstance(start, str) and start == "auto"):
        raise ValueError("start cannot be used with tolerance, whose search chooses where each descent begins.")
    rng = check.generator("seed", seed)
    if seconds is not None:
        seconds = check.positive("seconds", seconds)
        began += load(method)
    search = Search(
        kernel, data, n or 1, rng, seconds=seconds, iterations=iterations, level=level, progress=progress, watch=watch,
        began=began,
    )  # fmt: skip
    if targets is not None:
        return predicting(search, targets, start)
    if tolerance is not None:
        return ToleranceSearch(search, tolerance, method).run()
    return search.run(method, start)


def load(method: str = "auto") -> float:
    """Have the loops of a method compiled or read from the cache, once in a process; the seconds that took."""
    if method in _loaded:
        return 0.0
    began = time.perf_counter()
    points = np.random.default_rng(0).standard_normal((2700, 2))  # enough for several threads to share
    find_landmarks(Gaussian(1.0), points, 200, method=method, iterations=2)
    _loaded.add(method)
    return time.perf_counter() - began


_loaded: set[str] = set()


def warm_up() -> float:
    """Compile every loop for double precision, or load it from the cache.

    A first use on a new machine compiles for up to a minute; the code is kept on disk, and later processes load it in a
    second or two. Call this before measuring time, or before many processes start at once.

    Returns
    -------
    float
        The seconds it took.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> nl.warm_up() > 0
    True
    """
    begin = time.perf_counter()
    kernel = Gaussian(1.0)
    points = np.random.default_rng(0).standard_normal((2700, 6))
    sample = points[:20].copy()
    stochastic_gradient_descent(kernel, points, sample, step=1e-9, iterations=1, batch_size=20, seed=0)
    LocalTraceError(kernel, points[:50]).gradient(sample)
    nystrom_errors(kernel, points, sample, precision="double")
    kernel.matrix(points[:300])
    initial_sample(kernel, points, 20, "kmeans", seed=0)
    load()
    nystrom_errors(kernel, points[:50], sample, precision="extended")
    radial_skd_hessian(kernel, points[:50], sample[:2])
    return time.perf_counter() - begin
