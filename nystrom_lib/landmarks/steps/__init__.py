"""Step rules. ``base`` states the contract; each rule has a file."""

from .adam import Adam
from .base import StepRule
from .fixed import FixedStep
from .lbfgs import LBFGS
from .momentum import Momentum

__all__ = ["LBFGS", "STEP_RULES", "Adam", "FixedStep", "Momentum", "StepRule"]

#: By name.
STEP_RULES: dict[str, type[StepRule]] = {cls.name: cls for cls in (FixedStep, Momentum, Adam, LBFGS)}
