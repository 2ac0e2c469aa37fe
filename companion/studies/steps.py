"""Gradient descents that differ in their step alone, §2: at 1/L, at the paper's γ, and beyond."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

import nystrom_lib as nl

from ..experiments.outcome import Array


@dataclass(frozen=True)
class Run:
    """One descent: its step, R at every iteration, and where it ended."""

    step: float
    values: Array
    sample: Array
    gradient: float  #: ‖∇R‖ at the end
    stopped: bool = False  #: left the finite numbers

    @property
    def increases(self) -> int:
        """How many steps made R larger, rounding apart."""
        return int(np.sum(np.diff(self.values) > 1e-12 * self.values[0]))


@nl.threads(1)
def descend(kernel: nl.Kernel, data: Array, start: Array, step: float, iterations: int, constant: float) -> Run:
    """One gradient descent with R at every step."""
    try:
        run = nl.gradient_descent(
            kernel, data, start, step=step, iterations=iterations, record_every=1, constant=constant
        )
    except nl.DescentError as error:
        value = nl.radial_skd(kernel, data, error.sample, constant=constant)
        return Run(step, np.array([value]), error.sample, np.nan, stopped=True)
    gradient = float(np.linalg.norm(nl.radial_skd_gradient(kernel, data, run.sample)))
    return Run(step, run.values, run.sample, gradient)


def descents(
    kernel: nl.Kernel, data: Array, start: Array, steps: dict[str, float], iterations: int, constant: float
) -> dict[str, Run]:
    """The same start, several steps."""
    return {name: descend(kernel, data, start, step, iterations, constant) for name, step in steps.items()}


def summary(runs: dict[str, Run], L: float, data: Array) -> pd.DataFrame:
    """A row for each step: how it compares with 1/L, what became of R, and how far the landmarks were thrown."""
    reach = float(np.abs(data).max())
    rows = [
        (
            name,
            run.step,
            run.step * L,
            run.values[-1],
            run.increases,
            run.gradient,
            float(np.abs(run.sample).max()) / reach,
        )
        for name, run in runs.items()
    ]
    columns = ["step", "γ", "γL", "R at the end", "steps that raised R", "‖∇R‖ at the end", "reach of S over that of D"]
    return pd.DataFrame(rows, columns=columns)


@nl.threads(1)
def guaranteed_decrease(
    kernel: nl.Kernel, data: Array, start: Array, step: float, iterations: int
) -> tuple[float, float]:
    """The descent lemma on every step: smallest and largest of (R(S⁽ᵗ⁾) − R(S⁽ᵗ⁺¹⁾)) / (γ ‖∇R(S⁽ᵗ⁾)‖²).

    With γ ≤ 1/L it lies between 1/2, which is what makes the theorem work, and 3/2; near 1 R is as good as linear
    over a step.
    """
    run = nl.gradient_descent(kernel, data, start, step=step, iterations=iterations, record_every=1, keep_path=True)
    assert run.path is not None
    squares = np.array([np.sum(nl.radial_skd_gradient(kernel, data, sample) ** 2) for sample in run.path[:-1]])
    gain = -np.diff(run.values) / (step * squares)
    return float(gain.min()), float(gain.max())
