"""The contract of a step rule.

A step rule turns gradients into moves. It is a frozen dataclass of its settings; :meth:`StepRule.begin` returns the
function that moves one sample. A new rule is a class in a file of its own and a line in ``STEP_RULES``.

:class:`Engine` joins an objective and a rule. Where the two have a compiled loop of their own, :meth:`StepRule.engine`
returns an engine that runs it instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._validation import Array
from ..objectives.base import Objective

#: ``move(sample, value, gradient, scale)`` returns the next sample, a new array. ``scale`` multiplies the step length:
#: it falls with the budget where the rule decays, and is halved at each restart.
Move = Callable[[Array, float, Array, float], Array]


class StepRule(ABC):
    """From gradient to move."""

    #: Its name in the registry.
    name: ClassVar[str]
    #: Whether it needs exact values and gradients, so that batches are refused.
    exact_only: ClassVar[bool] = False
    #: How often a descent that diverged is restarted with shorter steps.
    restarts: ClassVar[int] = 8
    #: Whether steps decay linearly to 0 as the budget is used up.
    decay: bool = False

    @abstractmethod
    def begin(self, objective: Objective, sample: Array) -> Move:
        """The moves of one descent, which share a state."""

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
