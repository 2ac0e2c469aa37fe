"""L-BFGS (Liu and Nocedal 1989) for exact gradients."""

from __future__ import annotations

import warnings
from collections import deque
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .. import _validation as check
from .._validation import Array
from ..objectives.base import EVERYTHING, Evaluate, Objective
from .adam import Adam
from .base import Move, StepRule


@dataclass(frozen=True)
class LBFGS(StepRule):
    r"""Limited-memory BFGS with a line search by ``scipy.optimize.line_search`` (strong Wolfe conditions).

    The value never rises. Each step looks at the whole of the data once or a few times, so this is for small N; for
    large N take :class:`Adam` with batches. Where not even the direction of the gradient leads lower, it stays.

    Parameters
    ----------
    memory
        How many of the last steps the curvature is learnt from.

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

    def begin(self, objective: Objective, sample: Array, evaluate: Evaluate) -> Move:
        """The first step is as long as Adam's would be."""
        return Curved(self.memory, Adam().length(objective, sample), evaluate)


class Curved:
    """The last steps and changes of gradient of one descent."""

    def __init__(self, memory: int, length: float, evaluate: Evaluate) -> None:
        self.past: deque[tuple[Array, Array, float]] = deque(maxlen=memory)
        self.length, self.evaluate = length, evaluate
        self.before: tuple[Array, Array] | None = None
        self.arrived = False

    def __call__(self, sample: Array, value: float, gradient: Array, used: float) -> Array:
        if self.arrived:
            return sample.copy()
        if self.before is not None:
            self._learn(sample - self.before[0], gradient - self.before[1])
        self.before = sample, gradient
        direction = self._direction(gradient)
        moved: Array = sample + self._search(sample, value, gradient, direction) * direction
        return moved

    def _learn(self, step: Array, change: Array) -> None:
        curvature = float(np.vdot(step, change))
        if curvature > 1e-12 * float(np.linalg.norm(step) * np.linalg.norm(change)):
            self.past.append((step, change, curvature))

    def _direction(self, gradient: Array) -> Array:
        """−Hg by the two loops."""
        q = gradient.copy()
        weights = []
        for step, change, curvature in reversed(self.past):
            weight = float(np.vdot(step, q)) / curvature
            q -= weight * change
            weights.append(weight)
        if self.past:
            _, change, curvature = self.past[-1]
            q *= curvature / float(np.vdot(change, change))
        else:
            largest = float(np.sqrt(np.square(gradient).sum(axis=1).max()))
            q *= self.length / largest if largest > 0.0 else 0.0
        for (step, change, curvature), weight in zip(self.past, reversed(weights), strict=True):
            q += (weight - float(np.vdot(change, q)) / curvature) * step
        return -q

    def _search(self, sample: Array, value: float, gradient: Array, direction: Array) -> float:
        """How far to go: 0 where nothing lower is found, and then the past is forgotten; without one, that is it."""
        from scipy.optimize import line_search

        look = _Look(self.evaluate, sample.shape)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns where it fails, which is looked at here
            length = line_search(
                look.value, look.gradient, sample.ravel(), direction.ravel(), gradient.ravel(), value, maxiter=20
            )[0]
        # after its last try it gives back a length that it has not judged
        if length is None or not look.value((sample + length * direction).ravel()) < value:
            length = _backtrack(look, sample, value, gradient, direction)
        if length == 0.0:
            self.arrived = not self.past
            self.past.clear()
            self.length *= 0.25
        return float(length)

    def restart(self) -> None:
        """Forget the past, shorter first steps."""
        self.past.clear()
        self.before = None
        self.arrived = False
        self.length *= 0.25


class _Look:
    """Value and gradient of flat samples, for which scipy asks apart."""

    def __init__(self, evaluate: Evaluate, shape: tuple[int, ...]) -> None:
        self.evaluate, self.shape = evaluate, shape

    def value(self, flat: Array) -> float:
        return self.evaluate(flat.reshape(self.shape), EVERYTHING)[0]

    def gradient(self, flat: Array) -> Array:
        return self.evaluate(flat.reshape(self.shape), EVERYTHING)[1].ravel()


def _backtrack(look: _Look, sample: Array, value: float, gradient: Array, direction: Array) -> float:
    """The first of 1, 1/4, 1/16, … that lowers the value enough (Armijo)."""
    slope = float(np.vdot(gradient, direction))
    length = 1.0
    for _ in range(12):
        if look.value((sample + length * direction).ravel()) < value + 1e-4 * length * slope:
            return length
        length *= 0.25
    return 0.0
