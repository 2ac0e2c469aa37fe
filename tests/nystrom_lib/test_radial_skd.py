"""R(S) (Eq. 3), ‖K‖_F², c_S (Eq. 9) and the inequalities of Section 1.3."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import nystrom_lib as nl
from tests import oracle
from tests.cases import DIMENSIONS, EVERY, RADIAL, cloud, pair


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("name", EVERY)
def test_value_agrees_with_the_oracle(name: str, d: int) -> None:
    """Catches a wrong sum, a wrong square or a lost constant in Eq. (3) and (9)."""
    kernel, reference = pair(name)
    X, S = cloud(d, 9, 3)
    with oracle.precision():
        norm2 = float(oracle.squared_frobenius_norm(reference, X))
    value = oracle.radial_skd_value(reference, X, S)
    without = oracle.radial_skd_value(reference, X, S, constant=False)
    assert nl.squared_frobenius_norm(kernel, X) == pytest.approx(norm2, rel=1e-13)
    assert nl.radial_skd(kernel, X, S) == pytest.approx(value, abs=1e-13 * norm2)
    assert nl.radial_skd(kernel, X, S, constant=False) == pytest.approx(without, rel=1e-13)
    assert nl.radial_skd(kernel, X, S, constant=norm2) == pytest.approx(value, abs=1e-13 * norm2)
    c = nl.skd_coefficient(kernel, X, S)
    assert -c * c * np.sum(kernel.squared(S)) == pytest.approx(without, rel=1e-13)


def test_convention_when_the_sample_has_no_norm() -> None:
    """Catches 0/0 where ‖K_S‖_F = 0: the paper sets R(S) = ‖K‖_F²."""
    linear = nl.Polynomial(degree=1, offset=0.0)
    X, _ = cloud(3, 8, 1)
    S = np.zeros((2, 3))
    assert nl.radial_skd(linear, X, S) == nl.squared_frobenius_norm(linear, X)
    assert nl.radial_skd(linear, X, S, constant=False) == 0.0


@pytest.mark.parametrize("name", EVERY)
def test_the_data_set_itself_is_a_perfect_sample(name: str) -> None:
    """Catches a weight that depends on n: R vanishes at S = D, and at D repeated."""
    kernel, _ = pair(name)
    X, _ = cloud(2, 12, 1)
    norm2 = nl.squared_frobenius_norm(kernel, X)
    for S in (X, np.vstack([X, X])):
        assert abs(nl.radial_skd(kernel, X, S)) <= 1e-12 * norm2


clouds = arrays(np.float64, (6, 2), elements=st.floats(-3, 3, width=32))
samples = st.integers(1, 4).flatmap(lambda n: arrays(np.float64, (n, 2), elements=st.floats(-3, 3, width=32)))
kernels = st.sampled_from([pair(name)[0] for name in EVERY])
radial = st.sampled_from([pair(name)[0] for name in (*RADIAL, "user_radial")])


@given(kernel=kernels, X=clouds, S=samples)
def test_bounds(kernel: nl.Gaussian, X: np.ndarray, S: np.ndarray) -> None:
    """Catches a criterion outside [0, ‖K‖_F²] (claim R1)."""
    norm2 = nl.squared_frobenius_norm(kernel, X)
    assert -1e-12 * norm2 <= nl.radial_skd(kernel, X, S) <= norm2


@given(kernel=radial, X=clouds, S=samples)
@settings(max_examples=40)
def test_inequalities_of_section_1_3(kernel: nl.Gaussian, X: np.ndarray, S: np.ndarray) -> None:
    """Catches norms or an R that break ‖·‖₂² ≤ ‖·‖_F² ≤ R and ‖·‖_*²/N ≤ ‖·‖_F² (claim R2)."""
    errors = nl.nystrom_errors(kernel, X, S)
    R, slack = nl.radial_skd(kernel, X, S), 1e-10 * nl.squared_frobenius_norm(kernel, X)
    assert errors.spectral**2 <= errors.frobenius**2 * (1 + 1e-9) + slack
    assert errors.frobenius**2 <= R + slack
    assert errors.trace**2 / len(X) <= errors.frobenius**2 * (1 + 1e-9) + slack
