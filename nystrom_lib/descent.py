r"""Descents: an objective, a step rule, and the one loop that joins them; those of paper §2–4 among them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _validation as check
from ._sums import PairSums
from ._threads import limit_blas_threads
from ._validation import Array, as_writable
from .kernels import Kernel
from .objectives import Objective, RadialSKD
from .objectives.base import EVERYTHING
from .radial_skd import checked
from .steps import LBFGS, FixedStep, StepRule
from .steps.base import Engine
from .steps.fixed import RadialEngine
from .stochastic import LARGEST_BATCH

__all__ = ["Descent", "DescentError", "descend", "gradient_descent", "stochastic_gradient_descent"]

_CHUNK = 1e8  # products of coordinates between two calls of progress, or checks for Ctrl-C: some hundredths of a second
_LOOKS = 50  # of a budget in seconds: so often the clock is looked at
_MOMENT = 5e-4  # seconds: more often than that is not worth the while


@dataclass(frozen=True)
class Descent:
    """What a descent leaves behind."""

    sample: Array  #: S⁽ᵀ⁾, shape (n, d)
    values: Array  #: R at the recorded iterations (up to ‖K‖_F² unless it was given)
    iterations: NDArray[np.int64]  #: which iterations those are: 0, k, 2k, …, and the last
    path: Array | None  #: the sample at the recorded iterations, or at every one; shape (records, n, d)
    steps: int = 0  #: how many steps were taken


class DescentError(ArithmeticError):
    """A step would have made the sample, or R, infinite or NaN. ``iteration`` and the last good ``sample`` are kept."""

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
    constant: float = 0.0,
    progress: Callable[[int], object] | None = None,
    dtype: Any = np.float64,
) -> Descent:
    r"""Gradient descent :math:`S^{(t+1)} = S^{(t)} - \gamma\nabla R(S^{(t)})` with the exact gradient, Eq. (5).

    Parameters
    ----------
    kernel, data, sample
        As in :func:`radial_skd`; ``sample`` is :math:`S^{(0)}` and is not modified.
    step
        The step γ > 0; below 1/L (:func:`lipschitz_bound`) R never increases.
    iterations
        The number of steps T.
    record_every
        Record R every so many steps, and at the first and last; 0 records nothing.
    keep_path
        Keep the sample at the recorded iterations too (at every iteration if none is recorded).
    constant
        Added to the recorded values: :math:`\|\mathbf K\|_F^2` makes them R itself.
    progress
        Called with the number of steps done so far, from time to time.
    dtype
        ``numpy.float32`` runs the descent in single precision; the result is float64 all the same.

    Raises
    ------
    DescentError
        If a step would not be finite.

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
    return _radial_descent(
        kernel, data, sample, step=step, iterations=iterations, record_every=record_every, keep_path=keep_path,
        constant=constant, progress=progress, dtype=dtype,
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
    constant: float = 0.0,
    estimator: str = "one-sample",
    progress: Callable[[int], object] | None = None,
    dtype: Any = np.float64,
) -> Descent:
    r"""Stochastic gradient descent with i.i.d. batches, paper §3–4: a step costs O(n² + nb) whatever N.

    Give ``batch_size`` and ``seed``, or the ``batches`` themselves.

    Parameters
    ----------
    kernel, data, sample, step, iterations, record_every, keep_path, constant, progress, dtype
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
    kernel, data, sample = checked(kernel, data, sample)
    iterations = check.integer("iterations", iterations, least=0)
    draw: Draw
    if (batches is None) == (batch_size is None):
        raise ValueError("Give either batch_size (with a seed) or batches, not both and not neither.")
    if batches is not None:
        if seed is not None:
            raise ValueError("seed goes with batch_size; batches given as an array need none.")
        if iterations == 0:
            supplied = np.empty((0, 1), dtype=np.int64)
        else:
            supplied = check.indices("batches", batches, len(data), ndim=2)
        if len(supplied) != iterations:
            raise ValueError(f"batches has {len(supplied)} rows; it must have one for each of the {iterations} steps.")
        size = supplied.shape[1]
        position = 0

        def draw(count: int) -> NDArray[np.int64]:
            nonlocal position
            position += count
            return as_writable(supplied[position - count : position])

    else:
        size = check.integer("batch_size", batch_size, least=1, most=LARGEST_BATCH)
        rng = check.generator("seed", seed)

        def draw(count: int) -> NDArray[np.int64]:
            return rng.integers(0, len(data), size=(count, size))

    check.choice("estimator", estimator, ("one-sample", "two-sample"))
    first_part = size // 2 if estimator == "two-sample" else 0
    if estimator == "two-sample" and size < 2:
        raise ValueError(f"batch_size is {size}; the two-sample estimator needs at least 2.")
    return _radial_descent(
        kernel, data, sample, step=step, iterations=iterations, record_every=record_every, keep_path=keep_path,
        constant=constant, progress=progress, dtype=dtype, batch=size, first_part=first_part, draw=draw,
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
    r"""Any step rule on any objective.

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
        the result is the same to the last bit on any number of threads and in every run. The first descent of a
        process loads its loops, or compiles them, while the clock runs: :func:`warm_up` does so before.
    batch_size, seed
        Batches of so many indices, independent and uniform, drawn from the seed; None for the exact gradient.
    record_every, keep_path
        Record the objective's value every so many steps, and at the first and last; keep the sample there too (at
        every step if no value is recorded).
    progress
        Called with the number of steps done so far, from time to time; if it raises ``StopIteration``, the descent
        ends there.

    Raises
    ------
    DescentError
        If the descent diverges, and restarts with shorter steps do not help.

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
    check.callback("progress", progress)
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

#: Gives so many batches, a row each.
Draw = Callable[[int], NDArray[np.int64]]
#: Told from time to time how many steps were taken, and where to have the sample as it is then.
Look = Callable[[int, Callable[[], Array]], object]


def no_batches(count: int) -> NDArray[np.int64]:
    """No batches: rows of nothing stand for all of the data."""
    return np.empty((count, 0), dtype=np.int64)


def independent_batches(N: int, size: int, rng: np.random.Generator) -> Draw:
    """Independent uniform indices, paper §3."""
    return lambda count: rng.integers(0, N, size=(count, size))


def shuffled_batches(N: int, size: int, rng: np.random.Generator) -> Draw:
    """All indices in shuffled order, then again in another: no point comes twice before every other has."""
    rest = np.empty(0, dtype=np.int64)

    def draw(count: int) -> NDArray[np.int64]:
        nonlocal rest
        while len(rest) < count * size:
            rest = np.concatenate([rest, rng.permutation(N)])
        batches, rest = rest[: count * size], rest[count * size :]
        return np.ascontiguousarray(batches.reshape(count, size))

    return draw


class Budget:
    """Steps, seconds, or both, whichever ends first; the clock runs from here on."""

    def __init__(self, iterations: int | None, seconds: float | None) -> None:
        if iterations is None and seconds is None:
            raise ValueError("Give iterations, or seconds, or both: a descent needs an end.")
        self.iterations = None if iterations is None else check.integer("iterations", iterations, least=0)
        self.seconds = None if seconds is None else check.positive("seconds", seconds)
        self.begin = time.perf_counter()

    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self.begin

    def used(self, done: int) -> float:
        """The share that is used up, from 0 to 1."""
        shares = [0.0]
        if self.iterations is not None:
            shares.append(done / self.iterations if self.iterations else 1.0)
        if self.seconds is not None:
            shares.append(self.elapsed() / self.seconds)
        return min(max(shares), 1.0)

    def share(self, pace: float) -> float:
        """The share that a step takes, at so many seconds; 0 as long as nobody knows."""
        by_steps = 1.0 / self.iterations if self.iterations else 0.0
        return max(by_steps, pace / self.seconds if self.seconds is not None else 0.0)

    def affordable(self, pace: float) -> int:
        """Steps until the next look at the clock, at so many seconds a step."""
        if self.seconds is None:
            return 10**9
        slice_ = min(max(self.seconds / _LOOKS, _MOMENT), max(self.seconds - self.elapsed(), 0.0))
        return int(min(max(1.0, slice_ / pace), 1e9)) if pace > 0.0 else 1


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
    onlooker: Look | None = None,
) -> Descent:
    """:func:`descend` with a budget whose clock runs already, any batches, and a second callback."""
    record_every = check.integer("record_every", record_every, least=0)
    value = objective.value if record_every else None if objective.kernel.radial else _glance(objective, len(sample))
    watch = _Watch(sample, record_every, keep_path, value)

    def report(done: int, take: Callable[[], Array]) -> None:
        if progress is not None:
            progress(done)
        if onlooker is not None:
            onlooker(done, take)

    if isinstance(rule, LBFGS):
        return _by_scipy(rule, objective, sample, budget, watch, report)
    engine = rule.engine(objective, sample, batch)
    chunk = _chunk(objective.cost(len(sample), batch or len(objective.data)))
    return _steps(engine, budget, draw, chunk, watch, rule.restarts, getattr(rule, "step", None), report)


def _by_scipy(
    rule: LBFGS,
    objective: Objective,
    sample: Array,
    budget: Budget,
    watch: _Watch,
    report: Callable[[int, Callable[[], Array]], None],
) -> Descent:
    """L-BFGS, the one rule whose loop is not ours: scipy calls back after each step."""
    most = 10**9 if budget.iterations is None else budget.iterations
    done, now, ended = 0, sample.copy(), budget.used(0) >= 1.0

    def look(last: bool) -> None:
        if not watch.look(done, now, last):
            raise DescentError(done, now, None)

    def after_step(moved: Array) -> None:
        nonlocal done, now, ended
        done, now, ended = done + 1, moved, True
        if done < most and done == watch.next_stop(done - 1):
            look(last=False)
        report(done, lambda: now.copy())
        if budget.used(done) >= 1.0:
            raise StopIteration
        ended = False

    if not ended:
        if not np.isfinite(objective.prepare(len(sample), len(objective.data))(sample, EVERYTHING)[1]).all():
            raise DescentError(1, sample, None)
        if watch.every:
            look(last=False)
        rule.minimise(objective, sample, most, after_step)
    if not ended and budget.iterations is not None:  # converged: the sample stays where it is
        while (stop := watch.next_stop(done)) < most:
            done = stop
            look(last=False)
        done = most
    if done == 0 or done not in watch.iterations[-1:]:
        look(last=True)
    return watch.result(done)


def _glance(objective: Objective, n: int) -> Callable[[Array], float]:
    """A value from a few points. A radial kernel is bounded; with others even the last sample may have none."""
    few = np.arange(min(n, len(objective.data)))
    evaluate = objective.prepare(n, len(few))
    return lambda sample: evaluate(sample, few)[0]


@limit_blas_threads
def _radial_descent(
    kernel: Kernel,
    data: ArrayLike,
    sample: ArrayLike,
    *,
    step: float,
    iterations: int,
    record_every: int,
    keep_path: bool,
    constant: float,
    progress: Callable[[int], object] | None,
    dtype: Any,
    batch: int = 0,
    first_part: int = 0,
    draw: Draw = no_batches,
) -> Descent:
    """The paper's descents, which know a few things more: two samples, single precision, a constant given."""
    kernel, data, sample = checked(kernel, data, sample)
    rule = FixedStep(step)
    budget = Budget(iterations, None)
    record_every = check.integer("record_every", record_every, least=0)
    constant = check.real("constant", constant)
    kind = _float_kind(dtype)
    engine = RadialEngine(RadialSKD(kernel, data), sample, batch, rule.step, first_part, kind)
    # a radial kernel is bounded, so R is finite wherever S is; with others the last sample is always looked at
    recorder = PairSums(kernel, data, sample) if record_every or not kernel.radial else None

    def value(now: Array) -> float:
        assert recorder is not None
        recorder.place(now)
        norm, total = recorder.totals()
        return constant - (total * (total / norm) if norm > 0.0 else 0.0)

    watch = _Watch(sample, record_every, keep_path, value if recorder else None)
    chunk = _chunk(engine.pairs * data.shape[1])
    call = check.callback("progress", progress) or (lambda done: None)
    return _steps(engine, budget, draw, chunk, watch, 0, rule.step, lambda done, take: call(done))


def _chunk(products: float) -> int:
    return int(min(1000, max(1, _CHUNK / products)))


class _Watch:
    """What is looked at on the way: values and samples at 0, k, 2k, … and the last step."""

    def __init__(
        self, sample: Array, record_every: int, keep_path: bool, value: Callable[[Array], float] | None
    ) -> None:
        keep_path = check.flag("keep_path", keep_path)
        self.every = record_every or (1 if keep_path else 0)
        self.record, self.keep_path, self.value = bool(record_every), keep_path, value
        self.now = sample.copy()
        self.values: list[float] = []
        self.path: list[Array] = []
        self.iterations: list[int] = []

    def next_stop(self, done: int) -> int:
        """The next step after which to look."""
        return done - done % self.every + self.every if self.every else 10**18

    def look(self, done: int, now: Array, last: bool) -> bool:
        """Returns whether the value, if it was looked at, is finite."""
        self.now = now
        if self.record or (last and self.value is not None):
            assert self.value is not None
            try:
                value = check.finite("The value", self.value(now))
            except check.NotFinite:
                return False
            self.values.append(value)
        if self.keep_path:
            self.path.append(now)
        self.iterations.append(done)
        return True

    def result(self, done: int) -> Descent:
        """Everything that was seen."""
        return Descent(
            self.now,
            np.array(self.values if self.record else []),
            np.array(self.iterations if self.every else [], dtype=np.int64),
            np.array(self.path) if self.keep_path else None,
            done,
        )


def _steps(
    engine: Engine,
    budget: Budget,
    draw: Draw,
    chunk: int,
    watch: _Watch,
    restarts: int,
    step: float | None,
    report: Callable[[int, Callable[[], Array]], object],
) -> Descent:
    """The loop of all descents but L-BFGS: chunks of steps; values, path and clock are checked in between."""
    most = 10**18 if budget.iterations is None else budget.iterations
    done, used, pace = 0, budget.used(0), 0.0
    looked = -1
    if watch.every and most > 0:
        if not watch.look(0, watch.now, last=False):
            raise DescentError(0, watch.now, step)
        looked = 0
    while used < 1.0:
        count = min(chunk, watch.next_stop(done) - done, most - done, budget.affordable(pace))
        began = budget.elapsed()
        taken = engine.advance(draw(count), used, budget.share(pace))
        done += taken
        pace = (budget.elapsed() - began) / max(taken, 1)
        if taken < count:
            if restarts == 0:
                raise DescentError(done + 1, engine.take(), step)
            restarts -= 1
            engine.restart()
        used = budget.used(done)
        try:
            report(done, engine.take)
        except StopIteration:
            used = 1.0
        if used < 1.0 and taken == count and done == watch.next_stop(done - 1):
            if not watch.look(done, engine.take(), last=False):
                raise DescentError(done, engine.step_back(), step)
            looked = done
    if looked < done or done == 0:
        now = engine.take() if done else watch.now
        if not watch.look(done, now, last=True):
            raise DescentError(done, engine.step_back() if done else now, step)
    return watch.result(done)


def _float_kind(dtype: Any) -> type:
    try:
        kind = np.dtype(dtype)
    except Exception:  # what is no type may fail in any way, even when numpy quotes it
        kind = np.dtype(object)
    if dtype is None or kind not in (np.float32, np.float64):
        raise ValueError(f"dtype is {check.quoted(dtype)}; it must be numpy.float64 or numpy.float32.")
    return np.float32 if kind == np.float32 else np.float64
