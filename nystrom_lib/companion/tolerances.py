"""How far a recomputed number may lie from a stored one, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerance:
    """|found − stored| ≤ relative · |stored| + absolute, for a stated reason."""

    relative: float
    absolute: float
    reason: str

    def excess(self, found: float, stored: float) -> float:
        """The difference as a multiple of what is allowed: at most 1 is within."""
        difference = abs(found - stored)
        if difference == 0.0:
            return 0.0
        allowed = self.relative * abs(stored) + self.absolute
        return math.inf if math.isnan(difference) or allowed == 0.0 else difference / allowed

    def __str__(self) -> str:
        parts = [f"{self.relative:.0e} relative"] if self.relative else []
        parts += [f"{self.absolute:.0e} absolute"] if self.absolute else []
        return " + ".join(parts) or "none"


def tolerance_for(quantity: str, stage: str, constants: Mapping[str, float], origin: Mapping[str, Any]) -> Tolerance:
    """The tolerance of one quantity of one experiment."""
    return Tolerance(1e-9, 0.0, "to be measured")
