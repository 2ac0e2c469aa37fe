"""The bi-Gaussian example (paper §4.1): two Gaussians, restricted to a square."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .. import _validation as check
from ._dataset import Dataset, frozen, sha256_of

#: The modes of the paper.
MODES = ((-0.8, 0.8), (0.8, -0.8))
#: After MIN_DRAWS draws at least this share must be inside the square.
MIN_ACCEPTED, MIN_DRAWS = 1e-3, 10_000

CITATION = (
    "Hutchings, M., & Gauthier, B. (2022). Local optimisation of Nyström samples through stochastic gradient "
    "descent. arXiv:2203.13284, Section 4.1."
)


def bigaussian(
    N: int = 2000,
    seed: int | Sequence[int] | np.random.SeedSequence | None = 123,
    *,
    modes: ArrayLike = MODES,
    covariance: float = 0.5,
    half_width: float = 1.0,
) -> Dataset:
    """Independent points from a mixture of Gaussians restricted to a square.

    With the defaults these are, bit for bit, the 2,000 points of the authors' notebook: from
    ``numpy.random.default_rng(123)`` a mode is chosen, then a point about it, which is kept if none of its
    coordinates exceeds 1 in absolute value.

    Parameters
    ----------
    N
        The number of points, at least 2.
    seed
        For ``numpy.random.default_rng``; None for fresh entropy.
    modes
        The means, a row each, all equally likely.
    covariance
        The variance of each Gaussian in every direction.
    half_width
        Half the side of the square (or cube) about the origin; ``inf`` for no restriction.

    Returns
    -------
    Dataset
        ``removed`` has the number of draws outside the square. The points are not standardised.

    Examples
    --------
    >>> from nystrom_lib.datasets import bigaussian
    >>> data = bigaussian()
    >>> data.X.shape, data.removed
    ((2000, 2), (('draws outside the square', 3323),))
    """
    N = check.integer("N", N, least=2)
    if half_width != np.inf:
        half_width = check.positive("half_width", half_width)
    means = check.float_points("modes", modes)
    covariance = check.positive("covariance", covariance)
    rng, deviation = np.random.default_rng(seed), np.sqrt(covariance)
    X = np.empty((N, means.shape[1]))
    kept = draws = 0
    while kept < N:  # bit for bit the authors' rng.choice(['A', 'B']) and rng.multivariate_normal(mode, covariance)
        mode = means[rng.integers(0, len(means))]
        point = mode + deviation * rng.standard_normal(len(mode))
        draws += 1
        if np.abs(point).max() <= half_width:
            X[kept] = point
            kept += 1
        elif draws >= MIN_DRAWS and kept < MIN_ACCEPTED * draws:
            raise ValueError(
                f"half_width = {half_width!r} leaves {kept} of {draws:,} draws; it must leave at least 1 in "
                f"{round(1 / MIN_ACCEPTED):,}."
            )
    covariances = (covariance * np.eye(means.shape[1])).tolist()
    return Dataset(
        X=frozen(X),
        name="bi-Gaussian",
        sha256=sha256_of(X),
        removed=(("draws outside the square", draws - N),),
        stand_in=False,
        citation=CITATION,
        licence="drawn on the spot, no licence needed",
        columns=tuple(f"x{j + 1}" for j in range(means.shape[1])),
        source=(
            f"numpy.random.default_rng, seed {seed!r}, modes {means.tolist()}, covariance {covariances}, "
            f"half width {half_width!r}"
        ),
    )
