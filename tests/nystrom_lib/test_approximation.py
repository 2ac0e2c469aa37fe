"""The Nyström approximation from columns (Eq. 1) and from landmarks (Eq. 2)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nystrom_lib as nl
from tests import oracle
from tests.cases import BUILT_IN, EVERY, cloud, notebook_data, notebook_sample, pair


@pytest.mark.parametrize("name", EVERY)
def test_matrix_agrees_with_the_oracle(name: str) -> None:
    """Catches a wrong factor: K - K̂ is compared entry by entry with 300 bits."""
    kernel, reference = pair(name)
    X, S = cloud(4, 20, 4)
    residual = oracle.rounded(oracle.residual_matrix(reference, X, S))
    approximation = nl.NystromApproximation(kernel, S)
    K = kernel.matrix(X)
    assert K - approximation.matrix(X) == pytest.approx(residual, abs=1e-12 * np.max(np.abs(K)))
    assert approximation.rank == 4


def test_features_blocks_and_matrix_agree() -> None:
    """Catches features of new points that do not reproduce Eq. (2)."""
    X, S = notebook_data()[:50], notebook_sample(15)
    approximation = nl.NystromApproximation(nl.Gaussian(rho=16.0), S)
    F, G = approximation.features(X), approximation.features(notebook_data()[50:60])
    assert F.shape == (50, approximation.rank)
    block = approximation.block(X, notebook_data()[50:60])
    assert block.shape == (50, 10)
    assert F @ G.T == pytest.approx(block, rel=1e-10, abs=1e-13)
    assert F @ F.T == pytest.approx(approximation.matrix(X), rel=1e-10, abs=1e-13)
    assert approximation.block(X, S) == pytest.approx(nl.Gaussian(rho=16.0).matrix(X, S), abs=1e-10)


@pytest.mark.parametrize("name", BUILT_IN)
def test_full_rank_returns_the_kernel_matrix(name: str) -> None:
    """Catches a regularisation: with S = D nothing may be lost."""
    kernel, _ = pair(name)
    X, _ = cloud(5, 18, 1)
    K = kernel.matrix(X)
    assert nl.NystromApproximation(kernel, X).matrix(X) == pytest.approx(K, abs=1e-9 * np.max(K))
    assert nl.nystrom_from_columns(K, np.arange(18)) == pytest.approx(K, abs=1e-9 * np.max(K))


def test_columns_agree_with_landmarks() -> None:
    """Catches Eq. (1) and Eq. (2) disagreeing where both apply, repeats included."""
    kernel, X = nl.Gaussian(rho=16.0), notebook_data()[:60]
    K, indices = kernel.matrix(X), np.array([3, 17, 17, 59, 0, 3])
    by_columns = nl.nystrom_from_columns(K, indices)
    assert by_columns == pytest.approx(nl.NystromApproximation(kernel, X[indices]).matrix(X), abs=1e-12)
    C, W = K[:, [0, 3, 17, 59]], K[np.ix_([0, 3, 17, 59], [0, 3, 17, 59])]
    assert by_columns == pytest.approx(C @ np.linalg.solve(W, C.T), abs=1e-12)
    assert nl.NystromApproximation(kernel, X[indices]).rank == 4


def test_columns_of_any_positive_matrix() -> None:
    """Catches a function that needs a kernel matrix with ones on its diagonal, or of full rank."""
    B = np.random.default_rng(0).normal(size=(12, 5)) * 10
    K = B @ B.T
    assert nl.nystrom_from_columns(K, [0, 3, 5, 7, 9, 11, 2]) == pytest.approx(K, abs=1e-8 * np.max(K))
    two = nl.nystrom_from_columns(K, [0, 3])
    assert np.linalg.matrix_rank(two) == 2
    assert two[[0, 3]] == pytest.approx(K[[0, 3]], rel=1e-10)


@given(seed=st.integers(0, 200), n=st.integers(1, 6))
def test_residual_is_positive_and_vanishes_on_landmarks(seed: int, n: int) -> None:
    """Catches a K̂ that is no projection (Remark 1.1): K - K̂ must stay positive and be 0 at the landmarks."""
    X, S = cloud(2, 15, n, seed)
    kernel = nl.Gaussian(rho=3.0)
    both = np.vstack([X, S])
    E = kernel.matrix(both) - nl.NystromApproximation(kernel, S).matrix(both)
    assert np.linalg.eigvalsh((E + E.T) / 2)[0] > -1e-10
    assert np.max(np.abs(E[15:])) < 1e-7
    assert np.min(np.diag(E)) > -1e-12


def test_repeats_far_points_and_zeros_stay_finite() -> None:
    """Catches NaN features for a singular K_S."""
    X, S = notebook_data()[:20], notebook_sample(5)
    kernel = nl.Gaussian(rho=16.0)
    odd = np.vstack([S, S, S + 1e-9, [[1e5, 1e5]]])
    approximation = nl.NystromApproximation(kernel, odd)
    plain = nl.NystromApproximation(kernel, S).matrix(X)
    assert 5 <= approximation.rank <= 11
    assert np.all(np.isfinite(approximation.features(X)))
    # Landmarks 1e-9 apart may add derivative directions, never take anything away.
    assert np.all(np.diag(approximation.matrix(X)) >= np.diag(plain) - 1e-9)
    assert np.all(np.diag(approximation.matrix(X)) <= 1 + 1e-9)
    zero = nl.NystromApproximation(nl.Polynomial(degree=1, offset=0.0), np.zeros((2, 2)))
    assert zero.rank == 0 and not zero.matrix(X).any()
