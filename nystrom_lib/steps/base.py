r"""The contract of a step rule.

A step rule turns gradients into moves. It is a frozen dataclass of its settings; :meth:`StepRule.begin` returns a
:class:`Move` with the state of one descent. A new rule is a class in a file of its own and a line in ``STEP_RULES``.

:class:`Engine` joins an objective and a rule. Where the two have a compiled loop of their own, :meth:`StepRule.engine`
returns an engine that runs it instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from .._validation import Array
from ..objectives.base import Objective


class Move(Protocol):
    """Moves one sample."""

    def __call__(self, sample: Array, value: float, gradient: Array, used: float) -> Array:
        """The next sample, a new array; ``used`` is the share of the budget used, from 0 to 1."""

    def restart(self) -> None:
        """Reset the state and take shorter steps: the last move was not finite."""


class StepRule(ABC):
    """From gradient to move."""

    #: Its name in the registry.
    name: ClassVar[str]
    #: Whether it needs exact values and gradients, so that batches are refused.
    exact_only: ClassVar[bool] = False
    #: How often a descent that diverged is restarted with shorter steps.
    restarts: ClassVar[int] = 8

    @abstractmethod
    def begin(self, objective: Objective, sample: Array) -> Move:
        """The moves of this sample."""

    def engine(self, objective: Objective, sample: Array, batch_size: int) -> Engine:
        """Takes the steps, each from ``batch_size`` points; 0 means all of them."""
        return Engine(self, objective, sample, batch_size)


class Engine:
    """Steps of any rule on any objective."""

    def __init__(self, rule: StepRule, objective: Objective, sample: Array, batch_size: int) -> None:
        self._evaluate = objective.prepare(len(sample), batch_size or len(objective.data))
        self._move = rule.begin(objective, sample)
        self._sample = self._good = sample.copy()

    def advance(self, batches: NDArray[np.int64], used: float, per_step: float) -> int:
        """A step for each row of ``batches``, which may be empty rows: all of the data.

        The share of the budget grows from ``used`` by ``per_step``. Returns how many steps stayed finite; if not all
        did, the sample is back where its gradient was finite.
        """
        for i, batch in enumerate(batches):
            value, gradient = self._evaluate(self._sample, batch)
            if not np.isfinite(gradient).all():
                self._sample = self._good
                return i
            self._good = self._sample
            with np.errstate(over="ignore", invalid="ignore"):  # looked at below
                moved = self._move(self._sample, value, gradient, used + i * per_step)
            if not np.isfinite(moved).all():
                return i
            self._sample = moved
        return len(batches)

    def take(self) -> Array:
        """The sample as it is now."""
        return self._sample.copy()

    def step_back(self) -> Array:
        """The last sample whose gradient was finite."""
        return self._good.copy()

    def restart(self) -> None:
        """After a step that was not finite."""
        self._move.restart()
