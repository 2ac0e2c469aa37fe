"""Heavy-ball momentum (Polyak 1964), which the paper's Conclusion names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .. import _validation as check
from .._validation import Array
from ..objectives.base import Objective
from .base import Engine, Move, StepRule
from .fixed import Along, FixedStep


@dataclass(frozen=True)
class Momentum(FixedStep):
    r"""Steps along a fading sum of gradients: :math:`v\leftarrow\beta v+\gamma\nabla f`, :math:`S\leftarrow S-v`.

    Where gradients agree the steps grow to γ/(1 − β); gradients in opposite directions cancel.

    Parameters
    ----------
    step, scale_free, decay
        As for :class:`FixedStep`; here the step falls by default.
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
        beta = check.real("beta", self.beta)
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"beta is {self.beta!r}; it must be at least 0 and below 1.")
        object.__setattr__(self, "beta", beta)

    def begin(self, objective: Objective, sample: Array) -> Move:
        """The velocity is 0 at first."""
        return Rolling(self, sample)

    def engine(self, objective: Objective, sample: Array, batch_size: int) -> Engine:
        """No loop of its own."""
        return Engine(self, objective, sample, batch_size)


class Rolling(Along):
    """Steps with the velocity of heavy-ball momentum."""

    def __init__(self, rule: Momentum, sample: Array) -> None:
        super().__init__(rule)
        self.beta = rule.beta
        self.velocity = np.zeros_like(sample)

    def __call__(self, sample: Array, value: float, gradient: Array, used: float) -> Array:
        self.velocity = self.beta * self.velocity + self.length(value, used) * gradient
        moved: Array = sample - self.velocity
        return moved

    def restart(self) -> None:
        """Halve the step and reset the velocity."""
        super().restart()
        self.velocity = np.zeros_like(self.velocity)
