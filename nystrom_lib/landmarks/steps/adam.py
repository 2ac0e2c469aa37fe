"""Adam (Kingma and Ba 2015) for landmarks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ... import _validation as check
from ..._core import profiles, trace
from ..._validation import Array
from ..objectives import TraceError
from ..objectives.base import Objective
from ..objectives.trace_error import TraceLoops
from .base import Engine, Move, StepRule

LENGTH = 0.3  #: of a first step, in units of the geometric mean of the kernel's width and the sample's spacing
MAX_SPACINGS = 4_000  #: landmarks whose nearest neighbours are computed at most


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
        width = objective.kernel._width
        if not math.isfinite(width):
            width = extent(objective.data)
        apart = spacing(sample)
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
            if self._objective.kernel._family == profiles.CUSTOM:
                # raises an error if the user's functions fail at the start
                self._loops.gradient(self._sample, batches[0], 0.0, self._gradient)
        state[trace.STEPS] = self._steps
        rates = np.array([self._length * start, self._length * fall, rule.beta1, rule.beta2])
        adam = rates, *self._moments
        self._loops.run(self._sample, batches, self._centre, self._gradient, adam, descent=True)
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
    from scipy.spatial import cKDTree

    if len(sample) < 2:
        return math.inf
    distances, _ = cKDTree(sample).query(sample[:: -(-len(sample) // MAX_SPACINGS)], k=2)
    return float(np.median(distances[:, 1]))


def extent(data: Array) -> float:
    """A length scale of the data for kernels without a width: the root mean square distance from the mean."""
    some = np.asarray(data[:10_000], dtype=np.float64)
    return float(np.sqrt(np.square(some - some.mean(axis=0)).sum(axis=1).mean()))
