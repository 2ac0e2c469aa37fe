"""∇R (Eq. 5, 10), ∇c_S (Eq. 13), the Hessian (Eq. 11-12) and products with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import nystrom_lib as nl
from tests import oracle
from tests.cases import DIMENSIONS, EVERY, RADIAL, SMOOTH, close, cloud, pair, paired

SHAPES = {1: (9, 4), 2: (9, 4), 8: (6, 3), 50: (4, 2)}


# On the line every linear K has rank one and R vanishes identically: a case of its own below.
CASES = [(name, d) for name in EVERY for d in DIMENSIONS if (name, d) != ("linear", 1)]


@pytest.mark.parametrize("name, d", CASES)
def test_derivatives_agree_with_the_oracle(name: str, d: int) -> None:
    """Catches any slip in Eq. (5), (10)-(13): the oracle differentiates Eq. (3) and knows none of them."""
    kernel, reference = pair(name)
    X, S = cloud(d, *SHAPES[d])
    exact = oracle.radial_skd(reference, X, S)
    assert close(nl.radial_skd_gradient(kernel, X, S), exact.gradient, 1e-11)
    assert nl.skd_coefficient(kernel, X, S) == pytest.approx(exact.c, rel=1e-13)
    assert close(nl.skd_coefficient_gradient(kernel, X, S), exact.c_gradient, 1e-11)
    assert close(nl.radial_skd_hessian(kernel, X, S), exact.hessian, 1e-11)


def test_linear_kernel_on_the_line() -> None:
    """Catches terms of Eq. (5), (11) and (12) that do not cancel although R is 0 for every S."""
    kernel, _ = pair("linear")
    X, S = cloud(1, 9, 4)
    size = nl.squared_frobenius_norm(kernel, X)
    assert np.max(np.abs(nl.radial_skd_gradient(kernel, X, S))) <= 1e-13 * size
    assert np.max(np.abs(nl.radial_skd_hessian(kernel, X, S))) <= 1e-12 * size


@pytest.mark.parametrize("name", SMOOTH)
def test_landmarks_on_data_points_and_on_each_other(name: str) -> None:
    """Catches NaN or a wrong limit at r = 0: every descent starts with landmarks that are data points."""
    kernel, reference = pair(name)
    X, _ = cloud(2, 8, 1)
    S = X[[0, 3, 5, 5]]
    exact = oracle.radial_skd(reference, X, S)
    assert close(nl.radial_skd_gradient(kernel, X, S), exact.gradient, 1e-11)
    assert close(nl.radial_skd_hessian(kernel, X, S), exact.hessian, 1e-11)


@pytest.mark.parametrize("name", EVERY)
def test_hessian_products_need_no_hessian(name: str) -> None:
    """Catches a Hessian-vector product that is not the product with the Hessian."""
    kernel, _ = pair(name)
    X, S = cloud(3, 40, 6)
    H = nl.radial_skd_hessian(kernel, X, S)
    assert np.max(np.abs(H - H.T)) <= 1e-13 * np.max(np.abs(H))
    V = np.random.default_rng(5).normal(size=S.shape)
    product = nl.derivatives.hessian_vector_product(kernel, X, S, V)
    assert close(product, (H @ V.ravel()).reshape(S.shape), 1e-12)


@pytest.mark.parametrize("name", ["gaussian", "matern32", "polynomial"])
def test_largest_hessian_eigenvalue(name: str) -> None:
    """Catches an iteration that stops early or returns the other end of the spectrum."""
    kernel, _ = pair(name)
    X, S = cloud(3, 40, 6)
    spectrum = np.linalg.eigvalsh(nl.radial_skd_hessian(kernel, X, S))
    assert nl.largest_hessian_eigenvalue(kernel, X, S) == pytest.approx(spectrum[-1], rel=1e-7)


lattice = st.integers(-3 * 2**12, 3 * 2**12).map(lambda k: k / 2**12)
clouds = arrays(np.float64, (6, 2), elements=lattice)
samples = st.integers(1, 4).flatmap(lambda n: arrays(np.float64, (n, 2), elements=lattice, unique=True))
# Matérn 1/2 has no derivative where points coincide, and the linear kernel none where S = 0.
kernels = st.sampled_from([pair(name)[0] for name in (*SMOOTH, "polynomial", "user_radial", "user_dot")])
radial = st.sampled_from([pair(name)[0] for name in (*SMOOTH, "user_radial")])


@given(kernel=kernels, X=clouds, S=samples, seed=st.integers(0, 99))
def test_permuting_landmarks_permutes_derivatives(kernel: nl.Gaussian, X: np.ndarray, S: np.ndarray, seed: int) -> None:
    """Catches a sum that leaves out the wrong j ≠ k, or a block put in the wrong place."""
    order = np.random.default_rng(seed).permutation(len(S))
    gradient, H = nl.radial_skd_gradient(kernel, X, S), nl.radial_skd_hessian(kernel, X, S)
    permuted, H_permuted = (f(kernel, X[::-1], S[order]) for f in (nl.radial_skd_gradient, nl.radial_skd_hessian))
    d = S.shape[1]
    rows = (order[:, None] * d + np.arange(d)).ravel()
    size = 1 + np.max(np.abs(H)) + np.max(np.abs(gradient))
    assert permuted == pytest.approx(gradient[order], rel=1e-10, abs=1e-11 * size)
    assert H_permuted == pytest.approx(H[np.ix_(rows, rows)], rel=1e-10, abs=1e-11 * size)
    assert H == pytest.approx(H.T, rel=1e-10, abs=1e-11 * size)


@pytest.mark.parametrize("name, d", paired(RADIAL, [2, 8, 50, 100]))
def test_an_offset_of_a_million_does_not_reduce_accuracy(name: str, d: int) -> None:
    """Catches ‖s‖² + ‖x‖² - 2⟨s, x⟩ without centring: six digits would be lost."""
    kernel, _ = pair(name)
    X, S = (np.round(A * 2**24) / 2**24 for A in cloud(d, 600, 30))  # so that the offset is exact
    expected = nl.radial_skd_gradient(kernel, X, S)
    moved = nl.radial_skd_gradient(kernel, X + 1e6, S + 1e6)
    assert close(moved, expected, 1e-11)
    value = nl.radial_skd(kernel, X, S)
    assert nl.radial_skd(kernel, X + 1e6, S + 1e6) == pytest.approx(value, rel=1e-11)
    batch = np.arange(0, 600, 7)
    assert close(
        nl.one_sample_gradient(kernel, X + 1e6, S + 1e6, batch),
        nl.one_sample_gradient(kernel, X, S, batch),
        1e-11,
    )
    assert close(kernel.matrix(S + 1e6, X + 1e6), kernel.matrix(S, X), 1e-13)


@pytest.mark.parametrize("d", [2, 50])
def test_two_distant_clusters_keep_their_digits(d: int) -> None:
    """Catches centring that cannot help: no one centre is near both clusters."""
    kernel, far = nl.Gaussian(rho=0.7), 2.0**17
    X, S = (np.round(A * 2**24) / 2**24 for A in cloud(d, 300, 20))
    both_X, both_S = np.vstack([X - far, X + far]), np.vstack([S - far, S + far])
    one, both = nl.radial_skd_gradient(kernel, X, S), nl.radial_skd_gradient(kernel, both_X, both_S)
    # ε·2¹⁷ = 3e-11 is what any shift of the origin costs; ε·2³⁴ = 4e-6 is the square that must not enter.
    assert close(both[:20], one, 1e-8) and close(both[20:], one, 1e-8)


def test_the_hessian_of_a_far_sample_is_zero() -> None:
    """Catches an eigenvalue solver that is handed the zero operator and gives up."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    far = 1e4 * np.random.default_rng(1).normal(size=(6, 3))
    assert nl.largest_hessian_eigenvalue(nl.Gaussian(rho=1.0), X, far) == 0.0
