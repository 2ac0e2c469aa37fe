"""A given number of landmarks: choose a start, an objective and a step rule, descend, and report every choice."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _validation as check
from .._local import NEIGHBOURS, affordable_residuals, by_nearest
from .._validation import Array
from ..approximation import check_factor_memory
from ..descent import Budget, DescentError, Draw, Watch, independent_batches, no_batches, run_descent, shuffled_batches
from ..kernels import Kernel
from ..sources import Source, open_data
from .bounds import best_error_bound, error_and_bound, mean_diagonal
from .exchange import AdamWithExchanges
from .objectives import OBJECTIVES, Objective
from .starts import STARTS, Drawn, Indices, at, rpcholesky
from .step_size import choose_step
from .steps import LBFGS, Adam, FixedStep, StepRule

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
    indices: Indices | None  #: the indices of the landmarks, if they are data points
    steps: int  #: steps of descent taken
    start: Array  #: the sample before the descent
    mean_diagonal: float = 1.0  #: mean of K(x, x), which ``relative_error`` divides by
    problem: Problem | None = field(default=None, repr=False, compare=False)  #: what the bounds are computed from

    @property
    def relative_error(self) -> float:
        """The error divided by the mean of K(x, x): the trace error as a share of the trace; 0 if both are 0."""
        return self.error / self.mean_diagonal if self.mean_diagonal > 0.0 else 0.0

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


@dataclass(eq=False)
class Search:
    """One call of :func:`find_landmarks`, with a generator for each thing that is drawn."""

    kernel: Kernel
    data: Any  #: points at hand; before, perhaps a source of more
    n: int
    rng: InitVar[np.random.Generator]
    seconds: float | None
    iterations: int | None
    level: float
    progress: Callable[[int], object] | None
    watch: Callable[[float, float], object] | None
    began: float
    share: float = 1.0  #: of the usual number of steps
    stopped: bool = False  #: whether the caller has ended a descent
    reasons: list[str] = field(default_factory=list)
    numbers: Indices | None = None  #: which rows of the source the data at hand are, if they are only a part

    def __post_init__(self, rng: np.random.Generator) -> None:
        self.for_start, self.for_batches, self.for_exchanges, self.for_validation = rng.spawn(4)
        given = self.data
        self.data = self.at_hand(given, rng) if isinstance(given, Source) else given
        self.source = open_data(self.data) if self.numbers is None else given

    def at_hand(self, source: Source, rng: np.random.Generator) -> NDArray[Any]:
        """All points of a source, or as many as a descent can make use of."""
        most = max(self.n, min(EPOCHS, MAX_VALUES // source.d))
        if len(source) <= most:
            return source.all().astype(np.float64, copy=False)
        self.numbers = source.choose(most, rng.spawn(1)[0])
        self.reasons.append(f"It uses {most:,} of {len(source):,} points, drawn at random.")
        return source.rows(self.numbers).astype(np.float64, copy=False)

    def run(self, method: str, start: str | ArrayLike | Drawn) -> Landmarks:
        """Choose points, or descend on an objective and keep the better of start and end."""
        if method in STARTS:
            error, drawn = self.measured(STARTS[method](self.kernel, self.data, self.n, self.for_start))
            self.reasons += [f"Chosen by {method!r}, as asked.", *self.caveats]
            return self.landmarks(method, drawn, error, drawn, error)
        objective = self.objective(method)
        before, first = self.begin(start, objective.name)
        self.reasons += self.caveats
        if before <= self.rounding:
            self.reasons.append("The start leaves no error: nothing to descend on.")
            return self.landmarks(objective.name, first, before, first, before)
        sample, after, steps = self.descend(objective, first.points)
        if after < before:
            return self.landmarks(objective.name, first, before, Drawn(sample, None), after, steps)
        worse = "The approximation got worse; the start is better and was kept."
        self.reasons.append(worse if after > before else "The descent gained nothing: the start was kept.")
        return self.landmarks(objective.name, first, before, first, before, steps)

    def landmarks(
        self, method: str, first: Drawn, before: float, last: Drawn, after: float, steps: int = 0
    ) -> Landmarks:
        """The result, from the start and the end of a descent with their errors."""
        return Landmarks(
            last.points, method, tuple(self.reasons), before, after, last.indices, steps, first.points,
            self.mean_diagonal, (self.kernel, self.source, self.level),
        )  # fmt: skip

    # --- choices

    def objective(self, method: str) -> Objective:
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
        return OBJECTIVES[method](self.kernel, data)

    def begin(self, start: str | ArrayLike | Drawn, method: str) -> tuple[float, Drawn]:
        """Where to begin, and the error there."""
        if isinstance(start, Drawn):
            self.reasons.append("The descent starts from the landmarks tried before, some added or removed.")
            return self.measured(start)
        if not isinstance(start, str):
            self.reasons.append("The descent starts from the points given.")
            return self.measured(Drawn(self.given(start), None))
        if start == "auto" and method == "trace":
            how, begun = self.better_start()
        else:
            start = "uniform" if start == "auto" else start
            how, begun = repr(start), self.measured(STARTS[start](self.kernel, self.data, self.n, self.for_start))
        self.reasons.append(f"The descent starts from a sample chosen by {how}.")
        return begun

    def given(self, start: ArrayLike) -> Array:
        """The points that the caller wants to begin at."""
        points = check.float_points("start", start, dimension=self.data.shape[1])
        if len(points) != self.n:
            raise ValueError(f"start has {len(points)} points; it must have n = {self.n}.")
        return points.copy()

    def better_start(self) -> tuple[str, tuple[float, Drawn]]:
        """A uniform sample, or pivots among a few points if these are better: they are where it would leave gaps."""
        N = len(self.data)
        few = self.for_start.choice(N, min(CANDIDATES * self.n, N), replace=False)
        uniform = self.measured(at(self.data, few[: self.n]))
        if self.seconds is not None and self.seconds < MIN_TIME_FACTOR * self.seconds_of_error:
            return "'uniform', because time is short", uniform
        candidates = np.ascontiguousarray(self.data[few])
        pivots = rpcholesky(self.kernel, candidates, self.n, self.for_start).indices
        chosen = self.measured(at(self.data, few[pivots]))
        if chosen[0] < uniform[0]:
            return f"'rpcholesky' among {len(few):,} points, better than 'uniform'", chosen
        return "'uniform'", uniform

    def plan(self, objective: Objective, first: Array) -> tuple[StepRule, int, Draw, int]:
        """Rule, batch size, batches, and how many steps by default."""
        N = len(objective.data)
        if objective.name == "radial-skd":
            size = 0 if N <= MAX_EXACT_POINTS else max(50, self.n // 5)  # as in the paper for n = 50 … 1,000
            for_trials = math.inf if self.seconds is None else TRIALS * self.seconds_left()
            rule = FixedStep(choose_step(self.kernel, self.data, first, size or None, for_trials))
            draw = independent_batches(N, size, self.for_batches) if size else no_batches
            return rule, size, draw, 5_000 if size else 1_000  # paper §4: 1,000 exact, 3,000 to 10,000 stochastic
        if objective.name == "weighted-skd":
            return LBFGS(), 0, no_batches, 100
        size = min(max(self.n, MIN_BATCH), N)
        draw = (shuffled_batches if N <= EPOCHS else independent_batches)(N, size, self.for_batches)
        adam = AdamWithExchanges(rng=self.for_exchanges) if objective.name == "trace" else Adam()
        return adam, size, draw, default_iterations(self.n)

    # --- the descent

    def descend(self, objective: Objective, first: Array) -> tuple[Array, float, int]:
        """The sample at the end of the descent, its error, and the steps taken."""
        rule, size, draw, usual = self.plan(objective, first)
        iterations = self.iterations
        if iterations is None and self.seconds is None:
            iterations = math.ceil(self.share * usual)
        budget = Budget(iterations, None if self.seconds is None else self.seconds_left())
        try:
            run = run_descent(objective, first, rule, budget, size, draw, watch=self.report(budget))
            sample, taken = run.sample, run.steps
        except DescentError as end:
            sample, taken = end.sample, end.iteration - 1
            self.reasons.append("The descent diverged (non-finite value) and was ended.")
        points = f"{size:,}" if size else f"all {len(objective.data):,}"
        self.reasons.append(f"{taken:,} steps by {type(rule).__name__}, each from {points} points.")
        return sample, self.validation_error(sample), taken

    def seconds_left(self) -> float:
        """The seconds that remain for a descent, without those for the validation error at its end."""
        assert self.seconds is not None
        return max(self.seconds - (time.perf_counter() - self.began) - self.seconds_of_error - _ENDING, 1e-9)

    def report(self, budget: Budget) -> Watch:
        """Call ``progress``, and ``watch`` with the validation error, but not so often that this costs much."""
        due = 0.0

        def report(done: int, sample: Callable[[], Array]) -> None:
            nonlocal due
            try:
                if self.progress is not None:
                    self.progress(done)
                if self.watch is not None and (now := time.perf_counter()) >= due:
                    error = self.validation_error(sample())
                    due = time.perf_counter() + max(_LOOK, 20.0 * (time.perf_counter() - now))
                    self.watch(budget.used(done), error)
            except StopIteration:
                self.stopped = True
                raise

        return report

    # --- errors

    @cached_property
    def mean_diagonal(self) -> float:
        """The mean of K(x, x) over all the data."""
        return mean_diagonal(self.kernel, self.source)

    @cached_property
    def validation_points(self) -> NDArray[Any]:
        """The points on which the errors of samples are compared."""
        if self.numbers is not None:
            return self.source.rows(self.source.choose(COMPARED, self.for_validation)).astype(np.float64)
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


def default_iterations(n: int) -> int:
    """Steps on the trace error after which more gain little."""
    return int(min(2000, max(100, 20_000 / n**0.6)))
