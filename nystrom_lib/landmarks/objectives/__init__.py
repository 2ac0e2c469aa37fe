"""Objectives. ``base`` states the contract."""

from .base import Objective
from .prediction_error import PredictionError
from .skd import RadialSKD, WeightedSKD
from .trace_error import LocalTraceError, TraceError

__all__ = ["OBJECTIVES", "LocalTraceError", "Objective", "PredictionError", "RadialSKD", "TraceError", "WeightedSKD"]

#: By name; PredictionError needs targets, and is not among them.
OBJECTIVES: dict[str, type[Objective]] = {
    cls.name: cls for cls in (RadialSKD, WeightedSKD, TraceError, LocalTraceError)
}
