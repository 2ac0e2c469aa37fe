"""Momentum beside the plain step, at the same effective step and without decay."""

from __future__ import annotations

import nystrom_lib as nl

from ..experiments.outcome import Array
from ..experiments.problems import FREE_STEP, Problem
from ..experiments.seeds import Axis, seed_for

#: β; a constant gradient is followed with the effective step γ/(1 − β).
BETA = 0.9
#: Effective steps, in units of the scale-free rule's.
EFFECTIVE = (1.0, 10.0)


def compared(this: Problem, data: Array, n: int, steps: int, seed: int) -> dict[str, float]:
    """R after so many steps from the first initial sample, by rule and effective step."""
    objective = nl.RadialSKD(nl.Gaussian(rho=this.rho), data)
    start = nl.uniform_sample(data, n, seed_for(seed, Axis.INITIAL_SAMPLE, 0))
    found: dict[str, float] = {}
    for multiple in EFFECTIVE:
        step = multiple * FREE_STEP * n / this.rho
        rules = {
            "fixed": nl.FixedStep(step, scale_free=True, decay=False),
            "momentum": nl.Momentum((1.0 - BETA) * step, scale_free=True, decay=False, beta=BETA),
        }
        for name, rule in rules.items():
            end = nl.descend(objective, start, rule, iterations=steps).sample
            found[f"{name}, {multiple:g} γ"] = objective.value(end)
    return found
