"""Two sets of results against each other, quantity by quantity, within the stated tolerances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from nystrom_lib import LBFGS, Adam

from ..errors import VerificationError
from ..experiments.components import Descent, FindLandmarks, InitialSample
from ..experiments.outcome import STAGES, TIMINGS, Array, Outcome
from ..wording import FACTORS
from .table import Results
from .tolerances import Tolerance, tolerance_after_drift, tolerance_for


def check(table: pd.DataFrame) -> pd.DataFrame:
    """The table of a comparison; VerificationError unless every difference is within its tolerance."""
    worst = table[~table["within"]]
    if len(worst):
        listed = "; ".join(
            f"{row.quantity} ({row.stage}) of repetition {row.repetition} is {row.found!r}, stored {row.stored!r}, "
            f"allowed {row.tolerance}"
            for row in worst.itertuples()
        )
        raise VerificationError(f"The numbers differ by more than their tolerance: {listed}.")
    return table


def differences(found: Mapping[int, Outcome], stored: Mapping[int, Outcome], results: Results) -> pd.DataFrame:
    """Outcomes compared, with the tolerances that the constants of ``results`` give.

    For each quantity and stage: the largest difference, where, the tolerance and its reason, and whether it is kept.
    """
    pairs: dict[tuple[str, str], list[tuple[int, float, float]]] = {}
    for j in sorted(set(found) & set(stored)):
        ours, theirs = found[j], stored[j]
        for name in {**ours.numbers, **theirs.numbers}:
            quantity, _, stage = name.partition(".")
            if quantity not in TIMINGS:
                pair = j, ours.numbers.get(name, np.nan), theirs.numbers.get(name, np.nan)
                pairs.setdefault((quantity, stage), []).append(pair)
        # Where rounding errors grow, paths part long before their ends do.
        for name in {} if drifts(results.experiment.descent) else {**ours.arrays, **theirs.arrays}:
            elements = _elements(j, ours.arrays.get(name), theirs.arrays.get(name))
            pairs.setdefault((name, STAGES[-1]), []).extend(elements)
    return pd.DataFrame([row(*name, each, results) for name, each in pairs.items()])


def row(quantity: str, stage: str, pairs: list[tuple[int, float, float]], results: Results) -> dict[str, Any]:
    """One row of that table: of (repetition, found, stored) the one furthest beyond, or nearest to, what is allowed."""
    tolerance = _after_drift(quantity, stage, results) or tolerance_for(quantity, results.constants)
    j, found, stored = max(pairs, key=lambda pair: tolerance.excess(pair[1], pair[2]))
    return {
        "quantity": quantity,
        "stage": stage,
        "difference": abs(found - stored),
        "repetition": j,
        "found": found,
        "stored": stored,
        "tolerance": str(tolerance),
        "within": tolerance.excess(found, stored) <= 1.0,
        "reason": tolerance.reason,
    }


def drifts(component: InitialSample | Descent) -> bool:
    """Whether rounding errors grow until they show in the result of a start or a descent.

    They do where steps adapt, and in MiniBatchKMeans, which moves a centre by the number of the points near it.
    """
    adapts = isinstance(component, FindLandmarks) or isinstance(getattr(component, "rule", None), Adam | LBFGS)
    return adapts or getattr(component, "by", "") == "MiniBatchKMeans"


def _after_drift(quantity: str, stage: str, results: Results) -> Tolerance | None:
    """What is allowed where rounding errors grew, at this stage or before it; None where they did not."""
    initial, descent = results.experiment.initial, results.experiment.descent
    if drifts(initial) and stage in STAGES:
        return tolerance_after_drift(quantity, lowered=False)
    if not drifts(descent) or stage != STAGES[-1]:
        return None
    objective = getattr(descent, "objective", None) or getattr(descent, "method", None)
    lowered = (objective == "radial-skd") if quantity == "R" else (objective not in ("radial-skd", "weighted-skd"))
    unit = {"trace": 1.0, FACTORS["trace"]: results.constants.get("trace", 0.0)}.get(quantity, 0.0)
    floor = 3e-8 * results.provenance["data"]["N"] / unit if unit else 0.0
    return tolerance_after_drift(quantity, lowered, floor)


def _elements(j: int, found: Array | None, stored: Array | None) -> list[tuple[int, float, float]]:
    """Entry by entry; an array that is missing or has another shape differs without bound."""
    if found is None or stored is None or found.shape != stored.shape:
        return [(j, np.nan, 0.0)]
    return [(j, float(a), float(b)) for a, b in zip(found.ravel(), stored.ravel(), strict=True)]
