"""Find landmarks: choose a start, an objective and a step rule, descend, and report every choice."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _validation as check
from .._local import NEIGHBOURS, affordable_residuals, by_nearest
from .._threads import limit_blas_threads
from .._validation import Array, as_writable
from ..approximation import check_factor_memory
from ..descent import Budget, DescentError, Draw, Watch, independent_batches, no_batches, run_descent, shuffled_batches
from ..kernels import Gaussian, Kernel, require
from ..sources import Source, open_data
from . import supervised
from .bounds import best_error_bound, error_and_bound, largest_diagonal
from .exchange import AdamWithExchanges
from .objectives import OBJECTIVES, Objective
from .objectives.prediction_error import checked_targets
from .starts import STARTS, Drawn, at, rpcholesky
from .step_size import choose_step
from .steps import LBFGS, Adam, FixedStep, StepRule
from .tolerance import ToleranceSearch

__all__ = ["Landmarks", "find_landmarks"]

#: What ``method`` may be: the rule, an objective to descend on, or a method that chooses points.
METHODS = ("auto", *OBJECTIVES, *STARTS)

MIN_BATCH = 96  #: smallest batch: smaller ones are noisier and hardly faster
CANDIDATES = 4  #: points per landmark, among which a descent on the trace error looks for its start
MIN_TIME_FACTOR = 15.0  #: below this many times the seconds of one evaluation of the error, the start is uniform
COMPARED = 2_048  #: points on which the errors of start and end are computed
EPOCHS = 1_000_000  #: up to this many points, batches go through the data in shuffled order, without repeats
MAX_VALUES = 2**26  #: coordinates of a source that are held in memory at most: half a gigabyte
MIN_LOCAL = 2_000  #: above this number of landmarks, each point uses only those nearest to it
TRIALS = 0.5  #: share of the seconds given that the search for the step of a radial descent may take
MAX_EXACT_POINTS = 5_000  #: up to this many points, radial descents have exact gradients; the weighted one needs them

_ENDING = 5e-4  # seconds it takes to end a descent, besides computing its error
_LOOK = 0.2  # seconds between two calls of ``watch``, which may take a twentieth of the time


Problem = tuple[Kernel, Source, float]  #: kernel, data and confidence level


@dataclass(frozen=True)
class Landmarks:
    """The result of :func:`find_landmarks`.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> found = nl.find_landmarks(nl.Gaussian(rho=1.0), [[0.0], [0.5], [3.0]], 2, method="greedy")
    >>> found.sample.ravel(), found.error < 0.2 and found.best_error_bound <= found.error_bound
    (array([0., 3.]), True)
    """

    sample: Array  #: the landmarks, shape (n, d)
    method: str  #: the objective that was descended on, or the method that chose the points
    reasons: tuple[str, ...]  #: a sentence for each choice
    start_error: float  #: mean of K(x, x) − K̂(x, x) before the descent, over at most 2,048 points
    error: float  #: the same of ``sample``; times N it estimates the trace error, or a bound of it from n = 4,001 on
    # (with targets both are mean squared errors on held-out points, as shares of the targets' variance)
    indices: NDArray[np.int64] | None  #: the indices of the landmarks, if they are data points
    steps: int  #: steps of descent taken
    start: Array  #: the sample before the descent
    mean_diagonal: float = 1.0  #: mean of K(x, x), which ``relative_error`` divides by
    problem: Problem | None = field(default=None, repr=False, compare=False)  #: what the bounds are computed from

    @property
    def relative_error(self) -> float:
        """The error divided by the mean of K(x, x): the trace error as a share of the trace."""
        return self.error / self.mean_diagonal

    @cached_property
    def error_bound(self) -> float:
        """An upper confidence bound of the mean residual over all the data; exact up to 100,000 points.

        Computed when it is first asked for. The level is 0.95, or that of :func:`find_landmarks`.
        """
        kernel, source, level = self._problem()
        return error_and_bound(kernel, source, self.sample, 1.0 - level, np.random.default_rng(1))[1]

    @cached_property
    def best_error_bound(self) -> float:
        """A lower confidence bound of the mean residual that any n landmarks leave: :func:`best_error_bound`.

        Computed when it is first asked for, in a second or two.
        """
        kernel, source, level = self._problem()
        return best_error_bound(kernel, source, len(self.sample), level=level)

    def _problem(self) -> Problem:
        if self.problem is None:
            raise ValueError("These landmarks were stored without their data, so bounds cannot be computed.")
        return self.problem

    def __repr__(self) -> str:
        n, d = self.sample.shape
        head = f"Landmarks(n={n}, d={d}, method={self.method!r}, error={self.error:.4g}"
        return "\n  ".join((f"{head}, relative_error={self.relative_error:.4g}, steps={self.steps})", *self.reasons))

    def __getstate__(self) -> dict[str, Any]:
        """The data do not go along when landmarks are pickled; bounds computed before do."""
        return {**self.__dict__, "problem": None}


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
    level = check.fraction("level", level, 1e-12)
    if iterations is not None:
        iterations = check.integer("iterations", iterations, least=0)
    if seconds is not None:
        seconds = check.positive("seconds", seconds)
    check.choice("method", method, METHODS)
    for name, call in (("progress", progress), ("watch", watch)):
        check.instance(name, call, Callable | None, "a function, or None")
    rng = check.generator("seed", seed)
    if seconds is not None:
        began += load(method)
    search = Search(kernel, data, n or 1, rng, progress, watch, began, level)
    if targets is not None:
        if method != "auto" or n is None:
            raise ValueError("With targets, n must be given, and method must be 'auto'.")
        if watch is not None:
            raise ValueError("watch cannot be used with targets; use progress.")
        return search.predictive(checked_targets(targets, len(data)), start, seconds, iterations)
    if tolerance is not None:
        return search.within(check.fraction("tolerance", tolerance, 1e-12), method, seconds, iterations)
    if method in STARTS:
        return search.choose(method)
    name, objective = search.named(method)
    return search.descend(name, objective, search.begin(start, name, seconds), iterations, seconds)


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


class Search:
    """One call of :func:`find_landmarks`, with a generator for each thing that is drawn."""

    def __init__(
        self,
        kernel: Kernel,
        data: NDArray[Any] | Source,
        n: int,
        rng: np.random.Generator,
        progress: Callable[[int], object] | None,
        watch: Callable[[float, float], object] | None,
        began: float,
        level: float = 0.95,
    ) -> None:
        self.kernel, self.n, self.watch, self.began, self.level = kernel, n, watch, began, level
        self.stopped = False  # whether the caller has ended the descent
        self.progress = None if progress is None else self._noticing(progress)
        self.for_start, self.for_batches, self.for_exchanges, self.for_validation = rng.spawn(4)
        self.reasons: list[str] = []
        self.beyond: Source | None = None  # what the data at hand are only a part of, and where they stand in it
        self.numbers: NDArray[np.int64] | None = None
        self.data = self.at_hand(data, rng) if isinstance(data, Source) else data
        self.source = self.beyond or open_data(self.data)

    def _noticing(self, progress: Callable[[int], object]) -> Callable[[int], object]:
        def noticing(done: int) -> None:
            try:
                progress(done)
            except StopIteration:
                self.stopped = True
                raise

        return noticing

    def with_number(self, n: int) -> Search:
        """The same search for another number of landmarks."""
        search = copy.copy(self)
        search.n, search.reasons, search.began = n, [], time.perf_counter()
        return search

    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self.began

    def landmarks(
        self,
        sample: Array,
        method: str,
        before: float,
        after: float,
        steps: int = 0,
        start: Array | None = None,
        indices: NDArray[np.int64] | None = None,
    ) -> Landmarks:
        """The result; without a start the landmarks are their own."""
        start = sample if start is None else start
        return Landmarks(
            sample, method, tuple(self.reasons), before, after, indices, steps, start, self.mean_diagonal,
            (self.kernel, self.source, self.level),
        )  # fmt: skip

    def within(self, tolerance: float, method: str, seconds: float | None, iterations: int | None) -> Landmarks:
        """About the fewest landmarks that keep a tolerance."""
        search = ToleranceSearch(self, tolerance, method, seconds, iterations, self.level)
        best = search.run()
        relative = best.error / self.mean_diagonal
        if best.bound > search.limit:
            why = f"The tolerance {tolerance:g} was not met: {best.n:,} landmarks leave {relative:.4g}."
        else:
            kept = f"a relative error of {relative:.4g}"
            if best.bound != best.error:
                bound = best.bound / self.mean_diagonal
                kept = f"a relative error of at most {bound:.4g} at level {self.level:g}"
            why = f"n = {best.n:,}, the smallest number tried that keeps the tolerance {tolerance:g}, with {kept}."
        tried = ", ".join(f"{each.n:,}" for each in search.tried)
        self.reasons += [why, f"Tried: {tried}.", *best.reasons]
        found = self.landmarks(best.sample, best.method, best.start_error, best.error, best.steps, best.start)
        found.__dict__["error_bound"] = best.bound
        return found

    def predictive(
        self, targets: Array, start: str | ArrayLike, seconds: float | None, iterations: int | None
    ) -> Landmarks:
        """Landmarks that predict targets."""
        if not self.kernel.radial:
            raise ValueError(f"kernel is {self.kernel!r}; it must be radial, a function of the distance.")
        given = self.given_start(start)
        name = "" if given is not None else "kmeans" if start == "auto" else str(start)

        def begin(points: NDArray[Any], n: int) -> Array:
            if given is not None:
                return given[:n]
            return STARTS[name](self.kernel, points, n, self.for_start).points

        search = supervised.Search(
            self.kernel, self.n, self.for_validation, begin, np.ones(self.data.shape[1]), iterations=iterations,
            seconds=seconds, progress=self.progress, folds=False, began=self.began,
        )  # fmt: skip
        Y = targets if self.numbers is None else targets[self.numbers]
        found = supervised.find(search, supervised.Points(self.data, Y))
        how = "the points given" if given is not None else f"a sample chosen by {name!r}"
        first = f"The descent starts from {how}."
        self.reasons += ["A descent on 'prediction': targets are given.", first, *search.reasons]
        return self.landmarks(
            found.model.sample, "prediction", found.start_error, found.error, found.model.steps, found.start.sample
        )

    @cached_property
    def mean_diagonal(self) -> float:
        """The mean of K(x, x) over all the data."""
        if self.kernel.radial:
            return float(self.kernel.diagonal(np.zeros((1, self.source.d)))[0])
        totals = [
            float(self.kernel.diagonal(block.astype(np.float64, copy=False)).sum()) for block in self.source.blocks()
        ]
        return math.fsum(totals) / len(self.source)

    @cached_property
    def largest_diagonal(self) -> float:
        """The maximum of K(x, x) over all the data."""
        return largest_diagonal(self.kernel, self.source)

    def at_hand(self, source: Source, rng: np.random.Generator) -> NDArray[Any]:
        """All points of a source, or as many as a descent can make use of."""
        most = max(self.n, min(EPOCHS, MAX_VALUES // source.d))
        if len(source) <= most:
            return source.all().astype(np.float64, copy=False)
        self.beyond, self.numbers = source, source.choose(most, rng.spawn(1)[0])
        self.reasons.append(f"It uses {most:,} of {len(source):,} points, drawn at random.")
        return source.rows(self.numbers).astype(np.float64, copy=False)

    # --- choices

    def named(self, method: str) -> tuple[str, Objective]:
        """The objective, by name or by rule."""
        if method == "auto":
            local = self.n > MIN_LOCAL and self.kernel.radial
            method = "local-trace" if local else "trace"
            why = f"n = {self.n:,} is large: each point uses its nearest landmarks" if local else "the error itself"
            self.reasons.append(f"A descent on {method!r}: {why}.")
        else:
            self.reasons.append(f"A descent on {method!r}, as asked.")
        if method == "trace":
            instead = "method='local-trace'" if self.kernel.radial else ""
            check_factor_memory(self.n, f"n is {self.n:,}; it must be", instead)
        data = self.data
        if method == "weighted-skd" and len(data) > MAX_EXACT_POINTS:
            self.reasons.append(f"It needs exact gradients, and uses {MAX_EXACT_POINTS:,} of the points.")
            data = np.ascontiguousarray(data[self.for_batches.choice(len(data), MAX_EXACT_POINTS, replace=False)])
        return method, OBJECTIVES[method](self.kernel, data)

    def begin(self, start: str | ArrayLike, method: str, seconds: float | None) -> tuple[float, Drawn]:
        """Where to begin, and the error there."""
        given = self.given_start(start)
        if given is not None:
            self.reasons.append("The descent starts from the points given.")
            return self.measured(Drawn(given, None))
        if start == "auto" and method == "trace":
            return self.better_start(seconds)
        start = "uniform" if start == "auto" else str(start)
        self.reasons.append(f"The descent starts from a sample chosen by {start!r}.")
        return self.drawn(start)

    def drawn(self, name: str) -> tuple[float, Drawn]:
        """The points that a start chooses, and the error there."""
        return self.measured(STARTS[name](self.kernel, self.data, self.n, self.for_start))

    def given_start(self, start: str | ArrayLike) -> Array | None:
        """The points to begin at, or None where ``start`` is a name."""
        if isinstance(start, str):
            check.choice("start", start, ("auto", *STARTS), ", or points")
            return None
        points = check.float_points("start", start, dimension=self.data.shape[1])
        if len(points) != self.n:
            raise ValueError(f"start has {len(points)} points; it must have n = {self.n}.")
        return points.copy()

    def better_start(self, seconds: float | None) -> tuple[float, Drawn]:
        """A uniform sample, or pivots among a few points if these are better: they are where it would leave gaps."""
        N = len(self.data)
        few = self.for_start.choice(N, min(CANDIDATES * self.n, N), replace=False)
        uniform = self.measured(at(self.data, few[: self.n]))
        if seconds is not None and seconds < MIN_TIME_FACTOR * self.seconds_of_error:
            self.reasons.append("The descent starts from a sample chosen by 'uniform', because time is short.")
            return uniform
        candidates = np.ascontiguousarray(self.data[few])
        pivots = rpcholesky(self.kernel, candidates, self.n, self.for_start).indices
        chosen = self.measured(at(self.data, few[pivots]))
        better = chosen[0] < uniform[0]
        how = f"'rpcholesky' among {len(few):,} points, better than 'uniform'" if better else "'uniform'"
        self.reasons.append(f"The descent starts from a sample chosen by {how}.")
        return chosen if better else uniform

    def plan(
        self, method: str, objective: Objective, first: Array, seconds: float | None
    ) -> tuple[StepRule, int, Draw, int]:
        """Rule, batch size, batches, and how many steps by default."""
        N = len(objective.data)
        if method == "radial-skd":
            size = 0 if N <= MAX_EXACT_POINTS else max(50, self.n // 5)  # as in the paper for n = 50 … 1,000
            for_trials = math.inf if seconds is None else TRIALS * self.left(seconds)
            rule = FixedStep(choose_step(self.kernel, self.data, first, size or None, for_trials))
            draw = independent_batches(N, size, self.for_batches) if size else no_batches
            return rule, size, draw, 5_000 if size else 1_000  # paper §4: 1,000 exact, 3,000 to 10,000 stochastic
        if method == "weighted-skd":
            return LBFGS(), 0, no_batches, 100
        size = min(max(self.n, MIN_BATCH), N)
        draw = (shuffled_batches if N <= EPOCHS else independent_batches)(N, size, self.for_batches)
        adam = AdamWithExchanges(rng=self.for_exchanges) if method == "trace" else Adam()
        return adam, size, draw, default_iterations(self.n)

    # --- descents

    def choose(self, method: str) -> Landmarks:
        """Points without a descent."""
        error, drawn = self.drawn(method)
        self.reasons.extend((f"Chosen by {method!r}, as asked.", *self.caveats))
        return self.landmarks(drawn.points, method, error, error, indices=drawn.indices)

    def descend(
        self,
        method: str,
        objective: Objective,
        begun: tuple[float, Drawn],
        iterations: int | None,
        seconds: float | None,
    ) -> Landmarks:
        """Move, and keep the better of start and end."""
        before, (first, indices) = begun
        self.reasons.extend(self.caveats)
        steps = 0
        if before > self.rounding:
            sample, after, steps = self.moved(method, objective, first, iterations, seconds)
            if after < before:
                return self.landmarks(sample, method, before, after, steps, first)
            worse = "The approximation got worse; the start is better and was kept."
            self.reasons.append(worse if after > before else "The descent gained nothing: the start was kept.")
        else:
            self.reasons.append("The start leaves no error: nothing to descend on.")
        return self.landmarks(first, method, before, before, steps, indices=indices)

    def moved(
        self,
        method: str,
        objective: Objective,
        first: Array,
        iterations: int | None,
        seconds: float | None,
        share: float = 1.0,
    ) -> tuple[Array, float, int]:
        """The sample at the end of the descent, its error, and the steps taken."""
        rule, size, draw, usual = self.plan(method, objective, first, seconds)
        if iterations is None and seconds is None:
            iterations = math.ceil(share * usual)
        budget = Budget(iterations, None if seconds is None else self.left(seconds))
        watch = None if self.watch is None else self.watcher(self.watch, budget)
        try:
            run = run_descent(objective, first, rule, budget, size, draw, progress=self.progress, watch=watch)
            sample, taken = run.sample, run.steps
        except DescentError as end:
            sample, taken = end.sample, end.iteration - 1
            self.reasons.append("The descent diverged (non-finite value) and was ended.")
        points = f"{size:,}" if size else f"all {len(objective.data):,}"
        self.reasons.append(f"{taken:,} steps by {type(rule).__name__}, each from {points} points.")
        return sample, self.validation_error(sample), taken

    def left(self, seconds: float) -> float:
        """The seconds that remain for a descent, without those for the validation error at its end."""
        spent = time.perf_counter() - self.began
        return max(seconds - spent - self.seconds_of_error - _ENDING, 1e-9)

    # --- errors

    @cached_property
    def validation_points(self) -> NDArray[Any]:
        """The points on which the errors of samples are compared."""
        if self.beyond is not None:
            return self.beyond.rows(self.beyond.choose(COMPARED, self.for_validation)).astype(np.float64)
        N = len(self.data)
        chosen = self.for_validation.choice(N, COMPARED, replace=False) if N > COMPARED else slice(None)
        return np.ascontiguousarray(self.data[chosen])

    @cached_property
    def rounding(self) -> float:
        """An error that is rounding."""
        return 1e-14 * float(self.kernel.diagonal(self.validation_points).mean())

    @property
    def caveats(self) -> tuple[str, ...]:
        """Remarks on the errors."""
        if not by_nearest(self.kernel, self.n):
            return ()
        return (f"Errors are upper bounds, from the {NEIGHBOURS} landmarks nearest to each point.",)

    def validation_error(self, sample: Array) -> float:
        """The mean residual at the validation points."""
        return float(affordable_residuals(self.kernel, sample, self.validation_points).mean())

    def measured(self, drawn: Drawn) -> tuple[float, Drawn]:
        """A start with its validation error and its indices in all of the data; the time this takes is kept."""
        began = time.perf_counter()
        error = self.validation_error(drawn.points)
        self.seconds_of_error = time.perf_counter() - began
        if drawn.indices is not None and self.numbers is not None:
            drawn = Drawn(drawn.points, self.numbers[drawn.indices])
        return error, drawn

    def watcher(self, watch: Callable[[float, float], object], budget: Budget) -> Watch:
        """Report the validation error during the descent, but not so often that it costs much."""
        due = 0.0

        def look(done: int, sample: Callable[[], Array]) -> None:
            nonlocal due
            now = time.perf_counter()
            if now >= due:
                error = self.validation_error(sample())
                due = time.perf_counter() + max(_LOOK, 20.0 * (time.perf_counter() - now))
                watch(budget.used(done), error)

        return look


def default_iterations(n: int) -> int:
    """Steps on the trace error after which more gain little."""
    return int(min(2000, max(100, 20_000 / n**0.6)))
