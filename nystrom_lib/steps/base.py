r"""How to move: the contract of a step rule.

A step rule turns gradients into moves. It is a frozen dataclass of its settings; :meth:`StepRule.begin` makes what
moves one sample: a function of (sample, value, gradient, share of the budget used) with whatever state it needs, that
gives the next sample. A new rule is a class in a file of its own and a line in ``STEP_RULES``.

:class:`Engine` joins an objective and a rule. Where the two have a compiled loop of their own, the rule gives an
engine that runs it instead (:meth:`StepRule.engine`), behind the same door.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from .._validation import Array
from ..objectives.base import Evaluate, Indices, Objective


class Move(Protocol):
    """Moves one sample."""

    def __call__(self, sample: Array, value: float, gradient: Array, used: float) -> Array:
        """The next sample, a new array; ``used`` is the share of the budget used, from 0 to 1."""

    def restart(self) -> None:
        """Forget the past and take shorter steps: the last move left the finite numbers."""


class StepRule(ABC):
    """From gradient to move."""

    #: Its name in the registry.
    name: ClassVar[str]
    #: Whether it compares values from step to step, and so cannot do with estimates.
    exact_only: ClassVar[bool] = False
    #: How often a descent that leaves the finite numbers is taken up again before it is given up.
    restarts: ClassVar[int] = 8

    @abstractmethod
    def begin(self, objective: Objective, sample: Array, evaluate: Evaluate) -> Move:
        """What moves this sample; ``evaluate`` is for rules that look before they leap."""

    def engine(self, objective: Objective, sample: Array, batch_size: int) -> Engine:
        """What takes the steps, from so many points each; 0 is all of them."""
        return Engine(self, objective, sample, batch_size)


class Remembered:
    """Evaluates all of the data, and remembers the last sample: a line search ends where the next step begins."""

    def __init__(self, evaluate: Evaluate) -> None:
        self._evaluate = evaluate
        self._key, self._last = b"", (0.0, np.empty(0))

    def __call__(self, sample: Array, batch: Indices) -> tuple[float, Array]:
        key = sample.tobytes()
        if key != self._key:
            self._key, self._last = key, self._evaluate(sample, batch)
        return self._last


class Engine:
    """Steps of any rule on any objective."""

    #: Whether no further step would lead anywhere, which a rule tells by an attribute of this name of its move.
    arrived: bool = False

    def __init__(self, rule: StepRule, objective: Objective, sample: Array, batch_size: int) -> None:
        evaluate = objective.prepare(len(sample), batch_size or len(objective.data))
        self._evaluate = Remembered(evaluate) if rule.exact_only else evaluate
        self._move = rule.begin(objective, sample, self._evaluate)
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
        self.arrived = getattr(self._move, "arrived", False)
        return len(batches)

    def take(self) -> Array:
        """The sample as it is now."""
        return self._sample.copy()

    def step_back(self) -> Array:
        """The last sample whose gradient was finite."""
        return self._good.copy()

    def restart(self) -> None:
        """After a step that would have left the finite numbers."""
        self._move.restart()
