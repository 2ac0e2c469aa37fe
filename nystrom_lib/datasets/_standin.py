"""Artificial data in the shape of MiniBooNE, for where the real data are not."""

from __future__ import annotations

import numpy as np

from ._dataset import FloatArray

ROWS = 129_592
COLUMNS = 50
SEED = 20_050_199
FACTORS = 6
#: Share of the first class, about that of the signal events in MiniBooNE.
FIRST_CLASS = 0.28

CITATION = (
    "Stand-in, not the MiniBooNE data: artificial points with the same number of rows and columns, drawn "
    "from a fixed seed. No statement about MiniBooNE can rest on them."
)


def draw() -> FloatArray:
    """129,592 points with 50 features, the same on every machine and in every run.

    Two classes overlap; six common factors carry most of the variance; features are skewed and have heavy
    tails of unequal weight. The weights were chosen so that the spread of the features' central halves,
    in units of their standard deviations, is about that of MiniBooNE (0.85 of a Gaussian's at the median).

    Only additions, products, quotients and square roots act on the random numbers: unlike exponentials and
    matrix products, they round in the same way everywhere.
    """
    rng = np.random.default_rng(SEED)
    strength = np.array([1.6, 1.2, 0.9, 0.7, 0.5, 0.4])
    loadings = rng.standard_normal((FACTORS, COLUMNS)) * strength[:, None]
    shift = 0.8 * rng.standard_normal(COLUMNS)
    skew = 0.1 * rng.standard_normal(COLUMNS)
    cubic = 0.014 * rng.random(COLUMNS)
    first = rng.random(ROWS) < FIRST_CLASS
    factors = rng.standard_normal((ROWS, FACTORS))
    X = rng.standard_normal((ROWS, COLUMNS))
    # Divided by the fourth root of a uniform number, noise gets a tail like that of Student's t with four
    # degrees of freedom.
    X /= np.sqrt(np.sqrt(1.0 - rng.random((ROWS, COLUMNS))))
    X *= 0.7
    for k in range(FACTORS):
        X += factors[:, k, None] * loadings[k]
    X[first] += shift
    return X + X * X * (skew + cubic * X)
