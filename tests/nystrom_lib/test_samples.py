"""Initial samples: uniform without replacement (Section 4)."""

from __future__ import annotations

import numpy as np

import nystrom_lib as nl
from tests.cases import cloud


def test_sample_is_made_of_distinct_data_points() -> None:
    """Catches drawing with replacement, or points that are not in the data."""
    X, _ = cloud(3, 40, 1)
    for seed in range(30):
        S = nl.uniform_sample(X, 25, seed)
        assert S.shape == (25, 3)
        assert len(np.unique(S, axis=0)) == 25
        assert {tuple(row) for row in S} <= {tuple(row) for row in X}
        assert np.array_equal(S, X[nl.samples.uniform_indices(40, 25, seed)])


def test_every_point_is_equally_likely() -> None:
    """Catches a draw that favours some indices: 3 of 10, 20,000 times."""
    counts = np.zeros(10)
    first = np.zeros(10)
    for seed in range(20_000):
        chosen = nl.samples.uniform_indices(10, 3, seed)
        counts[chosen] += 1
        first[chosen[0]] += 1
    assert np.all(np.abs(counts - 6000) < 5 * np.sqrt(20_000 * 0.3 * 0.7))
    assert np.all(np.abs(first - 2000) < 5 * np.sqrt(20_000 * 0.1 * 0.9))
