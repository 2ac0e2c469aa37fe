"""The gradient of Eq. (5) against differences of Eq. (3)."""

from __future__ import annotations

import numpy as np
import pandas as pd

import nystrom_lib as nl

from ..experiments.outcome import Array


def central_difference(kernel: nl.Kernel, data: Array, sample: Array, direction: Array, h: float) -> float:
    """(R(S + hv) − R(S − hv)) / 2h."""
    above, below = (nl.radial_skd(kernel, data, sample + sign * h * direction, constant=False) for sign in (1, -1))
    return (above - below) / (2.0 * h)


@nl.threads(1)
def deviations(kernels: dict[str, nl.Kernel], data: Array, sample: Array, hs: Array, seed: int) -> pd.DataFrame:
    """For each kernel and each h the difference between ⟨∇R(S), v⟩ and its central difference, relative to it.

    The direction v is random, of length 1. Columns kernel, h, deviation.
    """
    direction = np.random.default_rng(seed).standard_normal(sample.shape)
    direction /= np.linalg.norm(direction)
    rows = []
    for name, kernel in kernels.items():
        slope = float(np.sum(nl.radial_skd_gradient(kernel, data, sample) * direction))
        for h in hs:
            difference = central_difference(kernel, data, sample, direction, float(h))
            rows.append((name, float(h), abs(difference - slope) / abs(slope)))
    return pd.DataFrame(rows, columns=["kernel", "h", "deviation"])
