"""What goes wrong where the diagonal of the kernel vanishes (paper §2): one landmark and the linear kernel.

With K(x, t) = ⟨x, t⟩ numerator and denominator of Eq. (3) grow alike with the length of the landmarks, so that R sees
directions alone, R(aS) = R(S) for every a > 0. Hence ∇R(aS) = ∇R(S)/a, which has no bound near the origin, and it is
orthogonal to S: a step leads away from the origin, the further the nearer to it one began.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

import nystrom_lib as nl

from ..experiments.outcome import Array

KERNEL = nl.Polynomial(degree=1, offset=0.0)
#: How far from the origin the landmark begins.
LENGTHS = (1.0, 0.3, 0.1, 0.01)
#: How far from the best direction it begins, in radians.
OFF = 0.5
#: The step, over 1 / the largest curvature at length 1: short enough there.
CAUTION = 0.2
#: A landmark has arrived when so much of what R can lose is lost.
NEARLY = 0.99


@dataclass(frozen=True)
class Thrown:
    """A descent from one length."""

    length: float  #: ‖s‖ at the start
    gradient: float  #: ‖∇R‖ there
    path: Array  #: the landmark at each step, (T + 1, 2)
    values: Array  #: R there
    lowest: float  #: R of the best direction

    @property
    def distance(self) -> float:
        """From the origin, after one step."""
        return float(np.linalg.norm(self.path[1]))

    @property
    def turned(self) -> float:
        """By how many degrees the first step turned the landmark, seen from the origin."""
        before, after = self.path[0], self.path[1]
        cosine = before @ after / (np.linalg.norm(before) * np.linalg.norm(after))
        return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))

    @property
    def arrived(self) -> int | None:
        """The first step at which nearly all that R can lose is lost; None if there is none."""
        close = self.values <= self.lowest + (1.0 - NEARLY) * (self.values[0] - self.lowest)
        return int(np.argmax(close)) if close.any() else None


def best_direction(data: Array) -> Array:
    """Where R is lowest with one landmark: along the largest eigenvector of XᵀX, of length 1."""
    direction: Array = np.linalg.eigh(data.T @ data)[1][:, -1]
    return direction if direction[0] > 0.0 else -direction


def over_plane(data: Array, reach: float, count: int) -> Array:
    """R of one landmark at the points of a grid over [−reach, reach]², ‖K‖_F² − (sᵀXᵀXs)²/‖s‖⁴; (count, count).

    The count is even: at the origin, where R is not continuous, lies no point.
    """
    places = np.linspace(-reach, reach, count)
    grid = np.stack(np.meshgrid(places, places), axis=-1)
    gram = data.T @ data
    values: Array = (gram**2).sum() - (((grid @ gram) * grid).sum(axis=-1) / (grid**2).sum(axis=-1)) ** 2
    return values


@nl.threads(1)
def descents(data: Array, iterations: int, lengths: Sequence[float] = LENGTHS) -> list[Thrown]:
    """Descents with one step from starts in one direction that differ in their length alone."""
    best = best_direction(data)
    turn = np.array([[np.cos(OFF), -np.sin(OFF)], [np.sin(OFF), np.cos(OFF)]])
    direction = (turn @ best)[None]
    constant = nl.squared_frobenius_norm(KERNEL, data)
    step = CAUTION / nl.largest_hessian_eigenvalue(KERNEL, data, best[None])
    lowest = nl.radial_skd(KERNEL, data, best[None], constant)
    found = []
    for length in lengths:
        start = length * direction
        run = nl.gradient_descent(
            KERNEL, data, start, step=step, iterations=iterations, record_every=1, keep_path=True, constant=constant
        )
        assert run.path is not None
        gradient = float(np.linalg.norm(nl.radial_skd_gradient(KERNEL, data, start)))
        found.append(Thrown(length, gradient, run.path[:, 0], run.values, lowest))
    return found


def summary(runs: Sequence[Thrown]) -> pd.DataFrame:
    """A row for each start."""
    rows = [
        {
            "distance at the start": run.length,
            "‖∇R‖ there": run.gradient,
            "distance after one step": run.distance,
            "turned by, degrees": run.turned,
            "steps to the best direction": "more" if run.arrived is None else f"{run.arrived:,}",
        }
        for run in runs
    ]
    return pd.DataFrame(rows)
