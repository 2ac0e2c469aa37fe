"""Adam (Kingma and Ba 2015) for landmarks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from .._core import profiles, trace
from .._validation import Array
from ..objectives import TraceError
from ..objectives.base import Objective
from ..objectives.trace_error import TraceLoops
from .base import Engine, Move, StepRule
from .units import extent, spacing

LENGTH = 0.3  #: of a first step, in units of the mean of the kernel's width and the sample's spacing


@dataclass(frozen=True)
class Adam(StepRule):
    r"""Adam with one second moment per landmark: each moves by about the same length, whatever its gradient's.

    A landmark's gradient is divided by a running root mean square of its own norm, not coordinate by coordinate: its
    direction is kept, and the result does not depend on how the axes lie.

    Parameters
    ----------
    step
        The length σ of the first steps. By default :math:`0.3\sqrt{\ell s}`, the mean of two lengths: ℓ, at which the
        kernel has fallen to :math:`e^{-1/2}`, and s, the median distance between neighbours of the first sample, taken
        to be within a hundredth and a hundred of ℓ.
    beta1, beta2
        How long gradients and their squares are remembered.
    decay
        Whether the steps fall to 0 in a straight line as the budget is used up.

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
            beta = check.real(name, getattr(self, name))
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"{name} is {beta!r}; it must be at least 0 and below 1.")
            object.__setattr__(self, name, beta)

    def length(self, objective: Objective, sample: Array) -> float:
        """σ for a descent from this sample."""
        if self.step is not None:
            return self.step
        wide = objective.kernel._width
        if not math.isfinite(wide):
            wide = extent(objective.data)
        apart = spacing(sample)
        if not (math.isfinite(apart) and apart > 0.0):
            apart = wide
        return LENGTH * wide * math.sqrt(min(max(apart / wide, 0.01), 100.0)) if wide > 0.0 else 0.0

    def begin(self, objective: Objective, sample: Array) -> Move:
        """Moments at 0."""
        return Adaptive(self, self.length(objective, sample), sample)

    def engine(self, objective: Objective, sample: Array, batch_size: int) -> Engine:
        """The trace error has a loop of its own."""
        if type(objective) is TraceError:
            return TraceEngine(self, objective, sample, batch_size)
        return super().engine(objective, sample, batch_size)


class Adaptive:
    """The moments of one descent."""

    def __init__(self, rule: Adam, length: float, sample: Array) -> None:
        self.rule, self.length = rule, length
        self.first, self.second = np.zeros_like(sample), np.zeros(len(sample))
        self.steps = 0

    def __call__(self, sample: Array, value: float, gradient: Array, used: float) -> Array:
        self.steps += 1
        length = self.length * (1.0 - used) if self.rule.decay else self.length
        beta1, beta2 = self.rule.beta1, self.rule.beta2
        self.first[:] = beta1 * self.first + (1.0 - beta1) * gradient
        self.second[:] = beta2 * self.second + (1.0 - beta2) * np.square(gradient).sum(axis=1)
        size = np.sqrt(self.second / (1.0 - beta2**self.steps))
        scale = np.divide(length / (1.0 - beta1**self.steps), size, out=np.zeros_like(size), where=size > 0.0)
        moved: Array = sample - scale[:, None] * self.first
        return moved

    def restart(self) -> None:
        """Halve the length and reset the moments."""
        self.length *= 0.5
        self.first[:], self.second[:] = 0.0, 0.0
        self.steps = 0


class TraceEngine(Engine):
    """The compiled descent on the trace error by Adam."""

    def __init__(self, rule: Adam, objective: TraceError, sample: Array, batch_size: int) -> None:
        self._objective = objective
        self._loops = TraceLoops(objective, len(sample), batch_size or len(objective.data))
        self._adaptive = self._move = Adaptive(rule, rule.length(objective, sample), sample)
        self._sample = np.array(sample, order="C")
        self._gradient = np.empty_like(self._sample)
        self._centre = self._loops.centre(sample)

    def advance(self, batches: NDArray[np.int64], used: float, per_step: float) -> int:
        """Many steps a call."""
        loops, move, kernel = self._loops, self._adaptive, self._objective.kernel
        rule, state = move.rule, loops.work.state
        self._good = self._sample.copy()
        start, fall = (1.0 - used, per_step) if rule.decay else (1.0, 0.0)
        if move.steps == 0:
            state[trace.RIDGE] = 0.0
            if kernel._family == profiles.CUSTOM:
                loops.gradient(self._sample, batches[0], 0.0, self._gradient)  # do its functions work at the start?
        state[trace.STEPS] = move.steps
        rates = np.array([move.length * start, move.length * fall, rule.beta1, rule.beta2])
        adam = rates, move.first, move.second
        loops.run(self._sample, batches, self._centre, self._gradient, adam, descent=True)
        taken = int(state[trace.STEPS]) - move.steps
        move.steps += taken
        if taken == len(batches) and np.isfinite(self._sample).all():
            return taken
        self._sample[:] = self._good
        return min(taken, len(batches) - 1)
