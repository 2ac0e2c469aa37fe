r"""Descents: the paper's (§2–4), and the loop that joins any objective with any step rule."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _validation as check
from ._sums import PairSums
from ._threads import limit_blas_threads
from ._validation import Array
from .kernels import Kernel
from .landmarks.objectives import Objective, RadialSKD
from .landmarks.steps import LBFGS, FixedStep, StepRule
from .radial_skd import validate_arguments
from .stochastic import LARGEST_BATCH

_CHUNK = 1e8  # products of coordinates between two calls of progress or checks for Ctrl-C: a few hundredths of a second
_READINGS = 50  # the clock is read at least this often in a budget of seconds,
_MIN_INTERVAL = 5e-4  # but not again within this many seconds


@dataclass(frozen=True)
class Descent:
    """The result of a descent.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> kernel, data = nl.Gaussian(rho=1.0), [[0.0], [1.0]]
    >>> run = nl.gradient_descent(kernel, data, [[0.2]], step=0.05, iterations=50, keep_path=True)
    >>> run.steps, run.path.shape
    (50, (51, 1, 1))
    """

    sample: Array  #: S⁽ᵀ⁾, shape (n, d)
    values: Array  #: the objective's values at the recorded iterations; for the paper's descents R up to ‖K‖_F²
    iterations: NDArray[np.int64]  #: which iterations those are: 0, k, 2k, …, and the last
    path: Array | None  #: the sample at the recorded iterations, or at every one; shape (records, n, d)
    steps: int = 0  #: the number of steps taken


class DescentError(ArithmeticError):
    """The descent diverged: a step made the sample, or R, infinite or NaN.

    ``iteration`` is that step, ``sample`` the last finite sample.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> try:
    ...     nl.gradient_descent(nl.Gaussian(rho=1.0), [[0.0], [1.0]], [[0.2]], step=1e308, iterations=5)
    ... except nl.DescentError as error:
    ...     print(error.iteration, error.sample)
    1 [[0.2]]
    """

    def __init__(self, iteration: int, sample: Array, step: float | None) -> None:
        with_step = "" if step is None else f" with step {step:g}"
        super().__init__(
            f"The descent diverged (non-finite value) at iteration {iteration}{with_step}; try a smaller step."
        )
        self.iteration = iteration
        self.sample = sample


def gradient_descent(
    kernel: Kernel,
    data: ArrayLike,
    sample: ArrayLike,
    *,
    step: float,
    iterations: int,
    record_every: int = 0,
    keep_path: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Descent:
    r"""Gradient descent :math:`S^{(t+1)} = S^{(t)} - \gamma\nabla R(S^{(t)})` with the exact gradient, Eq. (5).

    Parameters
    ----------
    kernel, data, sample
        As in :func:`radial_skd`; ``sample`` is :math:`S^{(0)}` and is not modified.
    step
        The step γ > 0; below 1/L (:func:`lipschitz_bound`) R never increases. If it is so long that the descent
        diverges, :class:`DescentError` is raised.
    iterations
        The number of steps T.
    record_every
        Record R up to ‖K‖_F² at iterations 0, k, 2k, … and the last; 0 records nothing.
    keep_path
        Keep the sample at the recorded iterations too (at every iteration if none is recorded).
    progress
        Called with the number of steps done so far, from time to time.

    Returns
    -------
    Descent
        ``.sample`` is where it ended; ``.values`` and ``.path`` are what was recorded.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> kernel, data = nl.Gaussian(rho=1.0), [[0.0], [0.5], [1.0]]
    >>> run = nl.gradient_descent(kernel, data, [[0.2]], step=0.05, iterations=50, record_every=25)
    >>> run.sample.round(3), run.values.round(4), run.iterations
    (array([[0.5]]), array([-4.147 , -4.8976, -4.8976]), array([ 0, 25, 50]))
    """
    arguments = validate_arguments(kernel, data, sample)
    return _radial_descent(
        *arguments, step, iterations, 0, no_batches, record_every=record_every, keep_path=keep_path,
        progress=progress,
    )  # fmt: skip


def stochastic_gradient_descent(
    kernel: Kernel,
    data: ArrayLike,
    sample: ArrayLike,
    *,
    step: float,
    iterations: int,
    batch_size: int | None = None,
    seed: Any = None,
    batches: ArrayLike | None = None,
    record_every: int = 0,
    keep_path: bool = False,
    estimator: str = "one-sample",
    progress: Callable[[int], object] | None = None,
) -> Descent:
    r"""Stochastic gradient descent with i.i.d. batches, paper §3–4: a step costs O(n² + nb) whatever N.

    Give ``batch_size`` and ``seed``, or the ``batches`` themselves.

    Parameters
    ----------
    kernel, data, sample, step, iterations, record_every, keep_path, progress
        As in :func:`gradient_descent`. Recording R costs O(nN) each time.
    batch_size, seed
        Batches of b indices, drawn from the seed as rows of ``integers(0, N, size=(T, b))``.
    batches
        Or a (T, b) array of indices into the data.
    estimator
        ``"one-sample"``, Eq. (6), or ``"two-sample"``, Eq. (7): then the first ⌊b/2⌋ indices of a batch are X, the
        rest Y.

    Returns
    -------
    Descent
        ``.sample`` is where it ended; ``.values`` and ``.path`` are what was recorded.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> kernel, data = nl.Gaussian(rho=1.0), [[0.0], [0.5], [1.0]]
    >>> run = nl.stochastic_gradient_descent(
    ...     kernel, data, [[2.0]], step=0.002, iterations=4000, batch_size=2, seed=0, record_every=4000
    ... )
    >>> bool(run.values[-1] < run.values[0]), bool(abs(run.sample[0, 0] - 0.5) < 0.2)
    (True, True)
    """
    kernel, data, sample = validate_arguments(kernel, data, sample)
    iterations = check.integer("iterations", iterations, least=0)
    if (batches is None) == (batch_size is None):
        raise ValueError("Give either batch_size (with a seed) or batches, not both and not neither.")
    if batches is None:
        size = check.integer("batch_size", batch_size, least=1, most=LARGEST_BATCH)
        draw = independent_batches(len(data), size, check.generator("seed", seed))
    else:
        if seed is not None:
            raise ValueError("seed goes with batch_size; batches given as an array need none.")
        given = check.indices("batches", batches, len(data), ndim=2) if iterations else np.empty((0, 1), np.int64)
        if len(given) != iterations:
            raise ValueError(f"batches has {len(given)} rows; it must have one for each of the {iterations} steps.")
        size, draw = given.shape[1], given_batches(given)
    check.choice("estimator", estimator, ("one-sample", "two-sample"))
    first_part = size // 2 if estimator == "two-sample" else 0
    if estimator == "two-sample" and size < 2:
        raise ValueError(f"batch_size is {size}; the two-sample estimator needs at least 2.")
    return _radial_descent(
        kernel, data, sample, step, iterations, size, draw, first_part, record_every=record_every,
        keep_path=keep_path, progress=progress,
    )  # fmt: skip


def descend(
    objective: Objective,
    sample: ArrayLike,
    rule: StepRule,
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    batch_size: int | None = None,
    seed: Any = None,
    record_every: int = 0,
    keep_path: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Descent:
    r"""Descend on any objective by any step rule.

    Parameters
    ----------
    objective
        What to descend on, such as :class:`TraceError`.
    sample
        :math:`S^{(0)}`, which is not modified.
    rule
        How to move, such as :class:`Adam`.
    iterations, seconds
        The budget: a number of steps, seconds of wall clock, or both, whichever ends first. With ``iterations`` alone
        the result is deterministic: bit-for-bit the same on any number of threads. Seconds include the time in which
        loops are compiled or loaded from the cache, unless :func:`warm_up` was called before.
    batch_size, seed
        Batches of ``batch_size`` independent uniform indices drawn from ``seed``; None for the exact gradient.
    record_every, keep_path
        Record the objective's value at iterations 0, k, 2k, … and the last; keep the sample there too (at every step
        if no value is recorded).
    progress
        Called with the number of steps done so far, from time to time; ``StopIteration`` raised there ends the descent
        (early stopping).

    Returns
    -------
    Descent
        ``.sample`` is where it ended, after ``.steps`` steps; ``.values`` and ``.path`` are what was recorded.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> data, kernel = nl.datasets.bigaussian().X, nl.Gaussian(rho=16.0)
    >>> start = nl.uniform_sample(data, 50, seed=456)
    >>> objective = nl.TraceError(kernel, data)
    >>> run = nl.descend(objective, start, nl.Adam(), iterations=300, batch_size=100, seed=0)
    >>> print(f"{objective.value(start):.0f} -> {objective.value(run.sample):.0f}")
    560 -> 272
    """
    check.instance("objective", objective, Objective, "an objective, such as TraceError(kernel, data)")
    check.instance("rule", rule, StepRule, "a step rule, such as Adam()")
    draw: Draw
    if batch_size is None:
        size, draw = 0, no_batches
    elif rule.exact_only:
        raise ValueError(f"batch_size is {batch_size!r}; {type(rule).__name__} needs the exact gradient.")
    else:
        size = check.integer("batch_size", batch_size, least=1, most=LARGEST_BATCH)
        draw = independent_batches(len(objective.data), size, check.generator("seed", seed))
    return run_descent(
        objective, objective.checked(sample), rule, Budget(iterations, seconds), size, draw,
        record_every=record_every, keep_path=keep_path, progress=progress,
    )  # fmt: skip


# --- batches and budgets ----------------------------------------------------------------------------------------

#: A function that draws a number of batches, as rows.
Draw = Callable[[int], NDArray[np.int64]]
#: A callback that receives the number of steps done and a function that returns the current sample.
Watch = Callable[[int, Callable[[], Array]], object]


def no_batches(count: int) -> NDArray[np.int64]:
    """Empty rows: each step uses all data."""
    return np.empty((count, 0), dtype=np.int64)


def given_batches(batches: NDArray[np.int64]) -> Draw:
    """Take the rows of an array, in order."""
    rows = iter(batches)
    return lambda count: np.array(list(islice(rows, count)))


def independent_batches(N: int, size: int, rng: np.random.Generator) -> Draw:
    """Draw independent uniform indices, paper §3."""
    return lambda count: rng.integers(0, N, size=(count, size))


def shuffled_batches(N: int, size: int, rng: np.random.Generator) -> Draw:
    """Draw from random permutations of all indices: each epoch has every index once."""
    rest = np.empty(0, dtype=np.int64)

    def draw(count: int) -> NDArray[np.int64]:
        nonlocal rest
        while len(rest) < count * size:
            rest = np.concatenate([rest, rng.permutation(N)])
        batches, rest = rest[: count * size], rest[count * size :]
        return np.ascontiguousarray(batches.reshape(count, size))

    return draw


class Budget:
    """A number of steps, of seconds, or both, whichever ends first; the clock starts at once."""

    def __init__(self, iterations: int | None, seconds: float | None) -> None:
        if iterations is None and seconds is None:
            raise ValueError("Give iterations, or seconds, or both: a descent needs an end.")
        self.iterations = math.inf if iterations is None else check.integer("iterations", iterations, least=0)
        self.seconds = math.inf if seconds is None else check.positive("seconds", seconds)
        self.begin = time.perf_counter()

    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self.begin

    def used(self, done: int) -> float:
        """The share used so far, from 0 to 1."""
        by_steps = done / self.iterations if self.iterations else 1.0
        return min(max(by_steps, self.elapsed() / self.seconds), 1.0)

    def share(self, pace: float) -> float:
        """The share of a step of ``pace`` seconds; a pace of 0 is not known yet."""
        return max(1.0 / self.iterations, pace / self.seconds)

    def affordable(self, pace: float) -> int:
        """The number of steps of ``pace`` seconds before the clock is read again."""
        if self.seconds == math.inf:
            return 10**9
        interval = min(max(self.seconds / _READINGS, _MIN_INTERVAL), max(self.seconds - self.elapsed(), 0.0))
        return int(min(max(1.0, interval / pace), 1e9)) if pace > 0.0 else 1


# --- the loop ---------------------------------------------------------------------------------------------------


@limit_blas_threads
def run_descent(
    objective: Objective,
    sample: Array,
    rule: StepRule,
    budget: Budget,
    batch: int,
    draw: Draw,
    *,
    record_every: int = 0,
    keep_path: bool = False,
    progress: Callable[[int], object] | None = None,
    watch: Watch | None = None,
    value: Callable[[Array], float] | None = None,
) -> Descent:
    """:func:`descend` with a budget whose clock is running, any batches, and a callback that reads the sample.

    Between chunks of steps, values are recorded, the callbacks are called and the clock is read. ``value`` replaces
    that of the objective.
    """
    record_every = check.integer("record_every", record_every, least=0)
    check.instance("keep_path", keep_path, bool | np.bool_, "True or False")
    check.instance("progress", progress, Callable | None, "a function of one argument, or None")
    value = value or (objective.value if record_every else partial(_value_of_few_points, objective))
    if not record_every and objective.kernel.radial:
        value = None  # bounded, unlike that of other kernels, which is always checked at the end
    run = _Run(rule, budget, record_every, keep_path, value, progress, watch, sample.copy())
    if isinstance(rule, LBFGS):
        _minimise(run, objective, rule)
        return run.result()
    engine = rule.engine(objective, sample, batch)
    run.take, run.step_back = engine.take, engine.step_back
    chunk = int(min(1000, max(1, _CHUNK / objective.cost(len(sample), batch or len(objective.data)))))
    restarts, pace = rule.restarts, 0.0
    while run.used < 1.0:
        count = int(min(chunk, run.until_record(), budget.iterations - run.done, budget.affordable(pace)))
        began = budget.elapsed()
        taken = engine.advance(draw(count), run.used, budget.share(pace))
        pace = (budget.elapsed() - began) / max(taken, 1)
        if taken < count:
            if restarts == 0:
                raise DescentError(run.done + taken + 1, engine.take(), run.step)
            restarts -= 1
            engine.restart()
        run.after(taken)
    return run.result()


def _minimise(run: _Run, objective: Objective, rule: LBFGS) -> None:
    """L-BFGS by scipy, which has a loop of its own and calls back after each step."""

    def after_step(moved: Array) -> None:
        run.take = run.step_back = moved.copy
        run.after(1)
        if run.used >= 1.0:
            raise StopIteration

    most = run.budget.iterations
    if run.used < 1.0 and not rule.minimise(objective, run.now, int(min(most, 10**9)), after_step):
        raise DescentError(1, run.now, None)
    if run.used < 1.0 and most < math.inf:  # converged: the remaining steps do not move the sample
        while run.done + run.until_record() < most:
            run.done += run.until_record()
            run.record()
        run.done = int(most)


def _value_of_few_points(objective: Objective, sample: Array) -> float:
    """The value from a few points, which shows whether a kernel that is not radial overflows at the last sample."""
    few = np.arange(min(len(sample), len(objective.data)))
    return objective.prepare(len(sample), len(few))(sample, few)[0]


@dataclass
class _Run:
    """A descent under way: its records at iterations 0, k, 2k, … and the last, its callback and its clock."""

    rule: StepRule
    budget: Budget
    record_every: int
    keep_path: bool
    value: Callable[[Array], float] | None
    progress: Callable[[int], object] | None
    watch: Watch | None
    now: Array  # the sample last recorded
    done: int = 0
    values: list[float] = field(default_factory=list)
    path: list[Array] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.step, self.used = getattr(self.rule, "step", None), self.budget.used(0)
        self.every = self.record_every or int(self.keep_path)
        self.take: Callable[[], Array] = self.now.copy  # the current sample
        self.step_back: Callable[[], Array] = self.take  # the sample before the last step
        if self.every and self.used < 1.0:
            self.record()

    def until_record(self) -> int:
        """The number of steps to the next record."""
        return self.every - self.done % self.every if self.every else 10**18

    def record(self, last: bool = False) -> None:
        """Add a record; an error has the last sample with a finite value."""
        self.now = self.take() if self.done else self.now
        if self.value is not None and (self.record_every or last):
            try:
                self.values.append(check.finite("The value", self.value(self.now)))
            except check.NotFinite:
                raise DescentError(self.done, self.step_back() if self.done else self.now, self.step) from None
        if self.keep_path:
            self.path.append(self.now)
        self.iterations.append(self.done)

    def after(self, taken: int) -> None:
        """Read the clock, call back and record after some steps."""
        due = taken == self.until_record()
        self.done += taken
        self.used = self.budget.used(self.done)
        try:
            if self.progress is not None:
                self.progress(self.done)
            if self.watch is not None:
                self.watch(self.done, self.take)
        except StopIteration:
            self.used = 1.0
        if due and self.used < 1.0:
            self.record()

    def result(self) -> Descent:
        """The records, the last among them, and the last sample."""
        if self.iterations[-1:] != [self.done]:
            self.record(last=True)
        return Descent(
            self.now,
            np.array(self.values if self.record_every else []),
            np.array(self.iterations if self.every else [], dtype=np.int64),
            np.array(self.path) if self.keep_path else None,
            self.done,
        )


def _radial_descent(
    kernel: Kernel,
    data: NDArray[Any],
    sample: Array,
    step: float,
    iterations: int,
    batch: int,
    draw: Draw,
    first_part: int = 0,
    **options: Any,
) -> Descent:
    """The paper's descents; ``first_part`` indices of a batch are X of Eq. (7)."""
    objective, sums = RadialSKD(kernel, data), PairSums(kernel, data, sample)
    objective.first_part = first_part

    def value(now: Array) -> float:
        sums.place(now)
        norm, total = sums.totals()
        return 0.0 - total * (total / norm) if norm > 0.0 else 0.0

    return run_descent(
        objective, sample, FixedStep(step), Budget(iterations, None), batch, draw, value=value, **options
    )
