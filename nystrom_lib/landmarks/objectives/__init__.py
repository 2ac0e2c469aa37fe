"""Objectives. ``base`` states the contract; each objective has a file."""

from .base import Objective
from .local_trace_error import LocalTraceError
from .prediction_error import PredictionError
from .radial_skd import RadialSKD
from .trace_error import TraceError
from .weighted_skd import WeightedSKD

__all__ = ["OBJECTIVES", "LocalTraceError", "Objective", "PredictionError", "RadialSKD", "TraceError", "WeightedSKD"]

#: By name; PredictionError needs targets, and is not among them.
OBJECTIVES: dict[str, type[Objective]] = {
    cls.name: cls for cls in (RadialSKD, WeightedSKD, TraceError, LocalTraceError)
}
