"""Heavy-ball momentum (Polyak 1964), which the paper's Conclusion names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ... import _validation as check
from ..._validation import Array
from ..objectives.base import Objective
from .base import Move, StepRule
from .fixed import FixedStep


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
