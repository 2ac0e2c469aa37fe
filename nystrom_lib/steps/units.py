"""Lengths that scale the first step of a descent."""

from __future__ import annotations

import math

import numpy as np

from .._validation import Array

ASKED = 4_000  #: landmarks that are asked at most how near the next one is


def spacing(sample: Array) -> float:
    """The median distance of a landmark to the nearest other one, of thousands from some; infinite for a single one."""
    from scipy.spatial import cKDTree

    if len(sample) < 2:
        return math.inf
    distances, _ = cKDTree(sample).query(sample[:: -(-len(sample) // ASKED)], k=2)
    return float(np.median(distances[:, 1]))


def extent(data: Array) -> float:
    """A length of the data where the kernel has none: the root mean square deviation from their mean."""
    some = np.asarray(data[:10_000], dtype=np.float64)
    return float(np.sqrt(np.square(some - some.mean(axis=0)).sum(axis=1).mean()))
