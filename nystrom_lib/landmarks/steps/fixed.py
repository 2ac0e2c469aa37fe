"""The paper's rule: γ times the gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ... import _validation as check
from ..._sums import PairSums
from ..._validation import Array
from ..objectives import RadialSKD
from ..objectives.base import Objective
from .base import Engine, Move, StepRule


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


class RadialEngine(Engine):
    """The compiled descent on the radial SKD, one or two samples a batch, Eq. (5)–(7)."""

    def __init__(
        self,
        objective: RadialSKD,
        sample: Array,
        batch_size: int,
        step: float,
        first_part: int = 0,
        kind: type = np.float64,
    ) -> None:
        self._sums = PairSums(objective.kernel, objective.data, sample, batch_size, kind)
        self._step, self._first_part = step, first_part
        self.pairs = self._sums.pairs

    def advance(self, batches: NDArray[np.int64], used: float, per_step: float) -> int:
        """Many steps a call."""
        return self._sums.descend(batches, self._first_part, len(batches), self._step)

    def take(self) -> Array:
        """The current sample."""
        return self._sums.take()

    def step_back(self) -> Array:
        """The sample before the last step."""
        return self._sums.step_back()
