"""Step rules.

A step rule turns gradients into moves. It is a frozen dataclass of its settings; :meth:`StepRule.begin` returns the
function that moves one sample. :class:`Engine` joins an objective and a rule. Where the two have a compiled loop of
their own, :meth:`StepRule.engine` returns an engine that runs it instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize
from scipy.spatial import cKDTree

from .. import _validation as check
from .._core import profiles, trace
from .._sums import PairSums
from .._validation import Array
from .objectives import RadialSKD, TraceError
from .objectives.base import EVERYTHING, Objective
from .objectives.trace_error import TraceLoops

LENGTH = 0.3  #: of Adam's first step, in units of the geometric mean of the kernel's width and the sample's spacing
MAX_SPACINGS = 4_000  #: landmarks whose nearest neighbours are computed at most
_TOO_LARGE = 1e150  # replaces a value that is not finite, so that the line search takes a shorter step

#: ``move(sample, value, gradient, scale)`` returns the next sample, a new array. ``scale`` multiplies the step length:
#: it falls with the budget where the rule decays, and is halved at each restart.
Move = Callable[[Array, float, Array, float], Array]


class StepRule:
    """From gradient to move."""

    #: Its name in experiments.
    name: ClassVar[str]
    #: Whether it needs exact values and gradients, so that batches are refused.
    exact_only: ClassVar[bool] = False
    #: How often a descent that diverged is restarted with shorter steps.
    restarts: ClassVar[int] = 8
    #: Whether steps decay linearly to 0 as the budget is used up.
    decay: bool = False

    def begin(self, objective: Objective, sample: Array) -> Move:
        """The moves of one descent, which share a state."""
        raise TypeError(f"{type(self).__name__} gives no single steps; use descend.")

    def engine(self, objective: Objective, sample: Array, batch_size: int) -> Engine:
        """The engine that takes the steps, each from ``batch_size`` points; 0 means all of them."""
        return Engine(self, objective, sample, batch_size)


class Engine:
    """Steps of any rule on any objective."""

    def __init__(self, rule: StepRule, objective: Objective, sample: Array, batch_size: int) -> None:
        self._rule, self._objective, self._first, self._scale = rule, objective, sample.copy(), 1.0
        self._evaluate = objective.prepare(len(sample), batch_size or len(objective.data))
        self._move = rule.begin(objective, sample)
        self._sample = self._good = self._first

    def advance(self, batches: NDArray[np.int64], used: float, per_step: float) -> int:
        """Take a step for each row of ``batches``; empty rows stand for all of the data.

        The used share of the budget grows from ``used`` by ``per_step``. Returns how many steps stayed finite; if not
        all did, the sample is back where its gradient was finite.
        """
        for i, batch in enumerate(batches):
            value, gradient = self._evaluate(self._sample, batch)
            if not np.isfinite(gradient).all():
                self._sample = self._good
                return i
            self._good = self._sample
            scale = self._scale * (1.0 - (used + i * per_step) if self._rule.decay else 1.0)
            with np.errstate(over="ignore", invalid="ignore"):
                moved = self._move(self._sample, value, gradient, scale)
            if not np.isfinite(moved).all():
                return i
            self._sample = moved
        return len(batches)

    def take(self) -> Array:
        """A copy of the current sample."""
        return self._sample.copy()

    def step_back(self) -> Array:
        """The last sample whose gradient was finite."""
        return self._good.copy()

    def restart(self) -> None:
        """After divergence: reset the state of the rule and halve its steps."""
        self._scale *= 0.5
        self._move = self._rule.begin(self._objective, self._first)


@dataclass(frozen=True)
class FixedStep(StepRule):
    r"""A fixed step: :math:`S^{(t+1)} = S^{(t)} - \gamma\nabla f(S^{(t)})`, paper §2–4.

    A step size set by the user is never changed: a descent that diverges is not restarted.

    Parameters
    ----------
    step
        γ > 0.
    scale_free
        Use the gradient :math:`\nabla f/|f|` of :math:`\log|f|` instead: then γ depends on lengths alone, not on N, n
        or the kernel's height. For the radial SKD, :math:`|f|=T_1^2/\|\mathbf K_S\|_F^2`.
    decay
        Whether the step decays linearly to 0 as the budget is used up.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> objective = nl.RadialSKD(nl.Gaussian(rho=1.0), [[0.0], [0.5], [1.0]])
    >>> nl.descend(objective, [[0.2]], nl.FixedStep(0.05), iterations=50).sample.round(3)
    array([[0.5]])
    """

    step: float
    scale_free: bool = False
    decay: bool = False

    name: ClassVar[str] = "fixed"
    restarts: ClassVar[int] = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "step", check.positive("step", self.step))

    def length(self, value: float, scale: float) -> float:
        """What the gradient is multiplied by."""
        if not self.scale_free:
            return self.step * scale
        return self.step * scale / abs(value) if value else 0.0

    def begin(self, objective: Objective, sample: Array) -> Move:
        """No state."""
        return lambda sample, value, gradient, scale: sample - self.length(value, scale) * gradient

    def engine(self, objective: Objective, sample: Array, batch_size: int) -> Engine:
        """The radial SKD has a compiled loop."""
        if type(self) is FixedStep and type(objective) is RadialSKD and not self.scale_free and not self.decay:
            return RadialEngine(objective, sample, batch_size, self.step)
        return super().engine(objective, sample, batch_size)


class RadialEngine(PairSums, Engine):
    """The compiled descent on the radial SKD, one or two samples a batch, Eq. (5)–(7)."""

    def __init__(self, objective: RadialSKD, sample: Array, batch_size: int, step: float) -> None:
        super().__init__(objective.kernel, objective.data, sample, batch_size)
        self._step, self._first_part = step, objective.first_part

    def advance(self, batches: NDArray[np.int64], used: float, per_step: float) -> int:
        """Many steps a call."""
        return self.descend(batches, self._first_part, len(batches), self._step)


@dataclass(frozen=True)
class Momentum(FixedStep):
    r"""Heavy-ball momentum: :math:`v\leftarrow\beta v+\gamma\nabla f`, :math:`S\leftarrow S-v`.

    Where gradients agree the steps grow to γ/(1 − β); gradients in opposite directions cancel.

    Parameters
    ----------
    step, scale_free, decay
        As for :class:`FixedStep`; here the step decays by default.
    beta
        β, from 0 (a fixed step) to below 1.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> objective = nl.RadialSKD(nl.Gaussian(rho=1.0), [[0.0], [0.5], [1.0]])
    >>> nl.descend(objective, [[0.2]], nl.Momentum(0.02), iterations=100).sample.round(2)
    array([[0.5]])
    """

    decay: bool = True
    beta: float = 0.9

    name: ClassVar[str] = "momentum"
    restarts: ClassVar[int] = StepRule.restarts

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "beta", check.fraction("beta", self.beta))

    def begin(self, objective: Objective, sample: Array) -> Move:
        """The velocity is 0 at first."""
        velocity = np.zeros_like(sample)

        def move(sample: Array, value: float, gradient: Array, scale: float) -> Array:
            nonlocal velocity
            velocity = self.beta * velocity + self.length(value, scale) * gradient
            moved: Array = sample - velocity
            return moved

        return move


@dataclass(frozen=True)
class Adam(StepRule):
    r"""Adam with one second moment per landmark: all landmarks move by about the same length.

    A landmark's gradient is divided by a running root mean square of its own norm, not coordinate by coordinate: its
    direction is kept, and the result does not depend on how the axes lie.

    Parameters
    ----------
    step
        The length σ of the first steps. By default :math:`0.3\sqrt{\ell s}`, with the distance ℓ at which the kernel
        has fallen to :math:`e^{-1/2}` and the median distance s between neighbours in the first sample, clipped to
        between ℓ/100 and 100 ℓ.
    beta1, beta2
        The decay rates of the moments.
    decay
        Whether the steps decay linearly to 0 as the budget is used up.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> objective = nl.TraceError(nl.Gaussian(rho=1.0), [[0.0], [0.5], [1.0]])
    >>> nl.descend(objective, [[0.2]], nl.Adam(), iterations=100).sample.round(2)
    array([[0.5]])
    """

    step: float | None = None
    beta1: float = 0.9
    beta2: float = 0.95
    decay: bool = True

    name: ClassVar[str] = "adam"

    def __post_init__(self) -> None:
        if self.step is not None:
            object.__setattr__(self, "step", check.positive("step", self.step))
        for name in ("beta1", "beta2"):
            object.__setattr__(self, name, check.fraction(name, getattr(self, name)))

    def length(self, objective: Objective, sample: Array) -> float:
        """σ for a descent from this sample."""
        if self.step is not None:
            return self.step
        width, apart = objective.kernel._width, spacing(sample)
        if not math.isfinite(width):  # the root mean square distance from the mean instead
            some = np.asarray(objective.data[:10_000], dtype=np.float64)
            width = float(np.sqrt(np.square(some - some.mean(axis=0)).sum(axis=1).mean()))
        if not (math.isfinite(apart) and apart > 0.0):
            apart = width
        return LENGTH * width * math.sqrt(min(max(apart / width, 0.01), 100.0)) if width > 0.0 else 0.0

    def begin(self, objective: Objective, sample: Array) -> Move:
        """Moments at 0."""
        length, steps = self.length(objective, sample), 0
        first, second = np.zeros_like(sample), np.zeros(len(sample))

        def move(sample: Array, value: float, gradient: Array, scale: float) -> Array:
            nonlocal first, second, steps
            steps += 1
            first = self.beta1 * first + (1.0 - self.beta1) * gradient
            second = self.beta2 * second + (1.0 - self.beta2) * np.square(gradient).sum(axis=1)
            norms = np.sqrt(second / (1.0 - self.beta2**steps))
            factors = np.zeros_like(norms)
            np.divide(length * scale / (1.0 - self.beta1**steps), norms, out=factors, where=norms > 0.0)
            moved: Array = sample - factors[:, None] * first
            return moved

        return move

    def engine(self, objective: Objective, sample: Array, batch_size: int) -> Engine:
        """The trace error has a compiled loop."""
        if type(objective) is TraceError:
            return TraceEngine(self, objective, sample, batch_size)
        return super().engine(objective, sample, batch_size)


class TraceEngine(Engine):
    """The compiled descent on the trace error by Adam."""

    def __init__(self, rule: Adam, objective: TraceError, sample: Array, batch_size: int) -> None:
        self._rule: Adam = rule
        self._objective: TraceError = objective
        self._loops = TraceLoops(objective, len(sample), batch_size or len(objective.data))
        self._length = rule.length(objective, sample)
        self._moments = np.zeros_like(sample), np.zeros(len(sample))
        self._steps = 0
        self._sample = np.array(sample, order="C")
        self._gradient = np.empty_like(self._sample)
        self._centre = self._loops.centre(sample)

    def advance(self, batches: NDArray[np.int64], used: float, per_step: float) -> int:
        """Many steps a call."""
        rule, state = self._rule, self._loops.work.state
        self._good = self._sample.copy()
        start, fall = (1.0 - used, per_step) if rule.decay else (1.0, 0.0)
        if self._steps == 0:
            state[trace.RIDGE] = 0.0
            if self._objective.kernel._family == profiles.CUSTOM:  # raises an error if its functions fail at the start
                self._loops.gradient(self._sample, batches[0], self._gradient)
        state[trace.STEPS] = self._steps
        rates = np.array([self._length * start, self._length * fall, rule.beta1, rule.beta2])
        self._loops.run(self._sample, batches, self._centre, self._gradient, (rates, *self._moments))
        taken = int(state[trace.STEPS]) - self._steps
        self._steps += taken
        if taken == len(batches) and np.isfinite(self._sample).all():
            return taken
        self._sample[:] = self._good
        return min(taken, len(batches) - 1)

    def restart(self) -> None:
        """Halve the length and reset the moments."""
        self._length *= 0.5
        self._steps = 0
        for moment in self._moments:
            moment[:] = 0.0


def spacing(sample: Array) -> float:
    """The median distance between neighbouring landmarks; infinite for a single one."""
    if len(sample) < 2:
        return math.inf
    distances, _ = cKDTree(sample).query(sample[:: -(-len(sample) // MAX_SPACINGS)], k=2)
    return float(np.median(distances[:, 1]))


@dataclass(frozen=True)
class LBFGS(StepRule):
    r"""Limited-memory BFGS with a line search: ``scipy.optimize.minimize(method="L-BFGS-B")``.

    The value never rises. Each step evaluates all of the data once or a few times, so this is for small N; for large N
    use :class:`Adam` with batches. It ends where no step lowers the value any more.

    Parameters
    ----------
    memory
        The number of past steps that the curvature is estimated from.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> objective = nl.TraceError(nl.Gaussian(rho=1.0), [[0.0], [0.5], [1.0]])
    >>> nl.descend(objective, [[0.2]], nl.LBFGS(), iterations=10).sample.round(4)
    array([[0.5]])
    """

    memory: int = 20

    name: ClassVar[str] = "lbfgs"
    exact_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "memory", check.integer("memory", self.memory, least=1))

    def minimise(
        self, objective: Objective, sample: Array, iterations: int, after_step: Callable[[Array], None]
    ) -> bool:
        """Minimise, with a call after each step; False if the start has no gradient."""
        length = Adam().length(objective, sample) or 1.0  # scipy's first step is one unit long
        start = sample.ravel() / length
        evaluate = objective.prepare(len(sample), len(objective.data))

        def value_and_gradient(scaled: Array) -> tuple[float, Array]:
            value, gradient = evaluate(length * scaled.reshape(sample.shape), EVERYTHING)
            if not (np.isfinite(value) and np.isfinite(gradient).all()):
                return _TOO_LARGE, np.zeros(sample.size)
            return value, length * gradient.ravel()

        def callback(intermediate_result: OptimizeResult) -> None:
            after_step(length * intermediate_result.x.reshape(sample.shape))

        if value_and_gradient(start)[0] == _TOO_LARGE:
            return False
        options = {"maxcor": self.memory, "maxiter": iterations, "maxfun": 10**9, "ftol": 0.0, "gtol": 0.0}
        minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", callback=callback, options=options)
        return True
