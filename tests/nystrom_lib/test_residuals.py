"""Features, residuals and errors of an approximation at the edges of their tiles, against the formulas in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import solve_triangular

import nystrom_lib as nl
from tests.cases import cloud
from tests.formulas import NARROW, matrix

FEATURES = [
    *((name, n, N, d) for name in ("gaussian", "matern32") for n, N, d in (
        (1, 1, 1), (3, 5, 2), (8, 257, 3), (15, 96, 2), (16, 97, 8), (17, 256, 17), (33, 3, 9), (50, 500, 50),
        (64, 47, 16), (65, 255, 8), (129, 513, 17), (257, 300, 50),
    )),
    ("polynomial", 1, 3, 2), ("polynomial", 5, 97, 2), ("polynomial", 17, 257, 8), ("polynomial", 65, 256, 16),
    ("polynomial", 129, 300, 50),
]  # fmt: skip


@pytest.mark.parametrize("name, n, N, d", FEATURES)
def test_features_and_residuals(name: str, n: int, N: int, d: int) -> None:
    """Catches a block of the triangular solve packed or taken in the wrong order, and a last tile of few points."""
    kernel, (X, S) = NARROW[name](d), cloud(d, N, n)
    approximation = nl.NystromApproximation(kernel, S)
    assert approximation.rank == n and approximation.smallest_pivot > 1e-4
    factor, pivots = approximation._factor, approximation._pivots
    W = matrix(kernel, S, S)[np.ix_(pivots, pivots)]
    assert np.max(np.abs(factor @ factor.T - W)) < 1e-13 * np.max(W)
    expected = solve_triangular(factor, matrix(kernel, S[pivots], X), lower=True).T
    size = np.sqrt(np.max(matrix(kernel, X, X)))
    # Both solves are backward stable, the pivots above 1e-4: two digits beyond rounding, one more for 257 rows.
    assert np.max(np.abs(approximation.features(X) - expected)) < 1e-12 * size
    left = np.diag(matrix(kernel, X, X)) - np.sum(expected**2, axis=1)
    assert np.max(np.abs(approximation.residuals(X) - left)) < 1e-12 * size**2


@pytest.mark.parametrize("name, n, N, d", [case for case in FEATURES[::2] if case[2] > 1])
def test_errors(name: str, n: int, N: int, d: int) -> None:
    """Catches a tile of K − K̂ counted once off the diagonal, or a half of it that is read but never written."""
    kernel, (X, S) = NARROW[name](d), cloud(d, N, n)
    K, C, W = matrix(kernel, X, X), matrix(kernel, S, X), matrix(kernel, S, S)
    E = K - C.T @ np.linalg.solve(W, C)
    spectral = np.linalg.eigvalsh((E + E.T) / 2)[-1]
    slack = 1e-12 * np.max(K) * N  # each entry to twelve digits of the largest, and there are N × N
    for found in (nl.nystrom_errors(kernel, X, S), nl.nystrom_errors(kernel, X, S, matrix=K)):
        assert found.rank == n and found.precision == "double"
        assert found.trace == pytest.approx(np.trace(E), rel=1e-12, abs=slack)
        assert found.frobenius == pytest.approx(np.linalg.norm(E), rel=1e-12, abs=slack)
        # Lanczos stops where the eigenvalue's error is the square of 1e-7 over a gap.
        assert found.spectral == pytest.approx(spectral, rel=1e-10, abs=slack)


@pytest.mark.parametrize("d", [2, 16, 17, 50])
def test_a_far_point_does_not_reduce_accuracy(d: int) -> None:
    """Catches the same in features and residuals: a landmark, or a point, far away changes nothing near."""
    kernel, (X, S) = nl.Gaussian(rho=8.0), cloud(d, 97, 9)
    far = np.full((1, d), 1e9)
    plain = nl.nystrom_errors(kernel, X, S)
    for data, sample in ((X, np.vstack([S, far])), (np.vstack([far, X]), np.vstack([S, far]))):
        found = nl.nystrom_errors(kernel, data, sample)
        values = (found.trace, found.frobenius, found.spectral)
        assert values == pytest.approx((plain.trace, plain.frobenius, plain.spectral), rel=1e-12)
