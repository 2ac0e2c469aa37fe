"""What to descend on. ``base`` states the contract; each objective has a file."""

from .base import Objective
from .radial_skd import RadialSKD
from .trace_error import TraceError

__all__ = ["OBJECTIVES", "Objective", "RadialSKD", "TraceError"]

#: By name.
OBJECTIVES: dict[str, type[Objective]] = {cls.name: cls for cls in (RadialSKD, TraceError)}
