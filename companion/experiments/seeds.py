"""Seeds by axis: what repetition j draws depends on the experiment's seed and on j, and on nothing else.

Each source of randomness has its own axis, so that, say, another batch size changes the batches and leaves every
initial sample as it was.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Axis(IntEnum):
    """The sources of randomness. Do not renumber them: stored results depend on these values."""

    DATA = 0
    INITIAL_SAMPLE = 1
    BATCHES = 2


def seed_for(seed: int, axis: Axis, repetition: int = 0) -> np.random.SeedSequence:
    """The seed of one axis of one repetition.

    Examples
    --------
    >>> seed_for(7, Axis.BATCHES, 17).spawn_key
    (2, 17)
    """
    return np.random.SeedSequence(seed, spawn_key=(int(axis), repetition))
