"""A descent at 1/L whose iterates have no limit, because one landmark drifts to infinity (§2).

Two data points and four landmarks on a line. Three of them settle, the outermost of the three beyond the data; far out,
the repulsion of that one outweighs the attraction of the data, and the fourth landmark always moves outward.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import nystrom_lib as nl

from ..experiments.outcome import Array

DATA: Array = np.array([[-1.0], [1.0]])
KERNEL = nl.Gaussian(rho=0.25)
START: Array = np.array([[-1.2064], [0.0], [1.2064], [5.0]])
STRETCHES, STEPS = 40, 10_000


@nl.threads(1)
def follow() -> pd.DataFrame:
    """The descent at 1/L at the end of each stretch of so many steps.

    Columns step, place (of the fourth landmark), R, gradient (its norm) and others (how far the other three are from
    where they settle).
    """
    run = nl.gradient_descent(
        KERNEL, DATA, START, step=step(), iterations=STRETCHES * STEPS, record_every=STEPS, keep_path=True,
    )  # fmt: skip
    assert run.path is not None
    settled = settled_landmarks()
    return pd.DataFrame(
        {
            "step": run.iterations,
            "place": run.path[:, 3, 0],
            "R": run.values + nl.squared_frobenius_norm(KERNEL, DATA),
            "gradient": [float(np.linalg.norm(nl.radial_skd_gradient(KERNEL, DATA, sample))) for sample in run.path],
            "others": np.abs(run.path[:, :3] - settled).max(axis=(1, 2)),
        }
    )


def step() -> float:
    """1/L."""
    return nl.lipschitz_bound(KERNEL, DATA, len(START)).step


@nl.threads(1)
def settled_landmarks() -> Array:
    """Where the other three settle with the fourth infinitely far away, (3, 1)."""
    far = START.copy()
    far[3] = 1e3  # K² is 0 in double precision: R there is the R of the limit problem
    return nl.gradient_descent(KERNEL, DATA, far, step=step(), iterations=20_000).sample[:3]


def force(places: Array) -> Array:
    """−∂R/∂s of a fourth landmark at each place s, the other three settled: outward where it is positive.

    Term by term from Eq. (10): at s = 30 it is about 1e-180, which a sum over differences of coordinates would lose.
    """
    settled = settled_landmarks()
    forces = np.empty(len(places))
    for k, place in enumerate(places):
        fourth = np.array([[place]])
        c = nl.skd_coefficient(KERNEL, DATA, np.concatenate([settled, fourth]))
        repulsion = float(KERNEL.squared_left(fourth, settled).sum())
        attraction = float(KERNEL.squared_left(fourth, DATA).sum())
        forces[k] = 2.0 * c * (attraction - c * repulsion)
    return forces
