"""Theorem 2.1: C₀, C₁, the bounds (14)-(19) and L, as numbers and as inequalities."""

from __future__ import annotations

import numpy as np
import pytest

import nystrom_lib as nl
from tests import oracle
from tests.cases import SMOOTH, cloud, pair


@pytest.mark.parametrize("N, n, d", [(1, 1, 1), (50, 1, 2), (30, 7, 3), (400, 20, 8)])
@pytest.mark.parametrize("name", SMOOTH)
def test_numbers_of_the_appendix(name: str, N: int, n: int, d: int) -> None:
    """Catches a wrong count of terms in (16)-(19) or in L: the oracle adds the Appendix's terms singly."""
    kernel, _ = pair(name)
    X, _ = cloud(d, N, n)
    norm = float(np.sqrt(np.sum(kernel.matrix(X) ** 2)))
    constants = kernel.constants
    exact = oracle.lipschitz(norm, N, n, d, constants.alpha, constants.M1, constants.M2)
    bound = nl.lipschitz_bound(kernel, X, n)
    for what in ("C0", "C1", "same_bound", "different_bound", "L"):
        assert getattr(bound, what) == pytest.approx(getattr(exact, what), rel=1e-12), what
    assert bound.step == pytest.approx(1 / bound.L, rel=1e-15)


@pytest.mark.parametrize("name", SMOOTH)
def test_theorem_holds_on_random_samples(name: str) -> None:
    """Catches an L, a C₀, a C₁ or an entrywise bound that the true derivatives exceed (claim T1)."""
    kernel, _ = pair(name)
    rng, n, d, h = np.random.default_rng(3), 4, 2, 1e-5
    X, _ = cloud(d, 25, n)
    bound = nl.lipschitz_bound(kernel, X, n)

    def gradient(Z: np.ndarray) -> np.ndarray:
        return nl.radial_skd_gradient(kernel, X, Z.reshape(n, d)).ravel()

    for scale in (0.05, 0.3, 1.0, 3.0):
        S, other = rng.normal(size=(2, n, d)) * scale
        steps = np.eye(n * d) * h
        H = np.array([(gradient(S.ravel() + e) - gradient(S.ravel() - e)) / (2 * h) for e in steps])
        blocks = np.abs(H).reshape(n, d, n, d).max(axis=(1, 3))
        assert np.linalg.norm(H, 2) <= np.linalg.norm(H) <= bound.L
        assert np.all(np.diag(blocks) <= bound.same_bound)
        assert np.all(blocks[~np.eye(n, dtype=bool)] <= bound.different_bound)
        assert np.linalg.norm(gradient(S) - gradient(other)) <= bound.L * np.linalg.norm(S - other)
        assert 0 <= nl.skd_coefficient(kernel, X, S) <= bound.C0
        assert np.max(np.abs(nl.skd_coefficient_gradient(kernel, X, S))) <= bound.C1
        assert np.sum(kernel.squared(S)) >= n * kernel.constants.alpha
        lhs = np.sum(kernel.squared(S, X))
        assert lhs**2 <= np.sum(kernel.squared(S)) * np.sum(kernel.squared(X)) * (1 + 1e-14)


@pytest.mark.parametrize("name", ["matern12", "polynomial", "linear"])
def test_no_bound_without_constants(name: str) -> None:
    """Catches a made-up L for a kernel that breaks the assumptions of Theorem 2.1."""
    kernel, _ = pair(name)
    X, _ = cloud(2, 10, 1)
    with pytest.raises((ValueError, TypeError), match=r"kernel is .*no Lipschitz bound"):
        nl.lipschitz_bound(kernel, X, 3)
