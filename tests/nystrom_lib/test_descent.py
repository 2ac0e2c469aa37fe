"""Gradient descent and stochastic gradient descent with a fixed step (Section 2 and 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nystrom_lib as nl
from tests import oracle
from tests.cases import EVERY, SMOOTH, cloud, pair, paired


@pytest.mark.parametrize("name, d", paired(EVERY, (2, 8, 1)))
def test_steps_follow_the_oracle(name: str, d: int) -> None:
    """Catches a wrong step, a landmark updated before the others are read, or one iteration too many."""
    kernel, reference = pair(name)
    X, S = cloud(d, 6, 3)
    step = 0.02 / np.max(np.abs(nl.radial_skd_gradient(kernel, X, S)))
    expected = S.copy()
    for _ in range(3):
        expected -= step * oracle.radial_skd(reference, X, expected).gradient
    result = nl.gradient_descent(kernel, X, S, step=step, iterations=3)
    assert result.sample == pytest.approx(expected, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("name", EVERY)
def test_stochastic_steps_follow_the_oracle(name: str) -> None:
    """Catches batches taken in the wrong order or an estimator other than Eq. (6)."""
    kernel, reference = pair(name)
    X, S = cloud(2, 6, 3)
    step = 0.02 / np.max(np.abs(nl.radial_skd_gradient(kernel, X, S)))
    batches, expected = np.array([[0, 0], [5, 2], [3, 1]]), S.copy()
    for batch in batches:
        expected -= step * oracle.Estimators(reference, X, expected).one(batch.tolist())
    result = nl.stochastic_gradient_descent(kernel, X, S, step=step, iterations=3, batches=batches)
    assert result.sample == pytest.approx(expected, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("name", SMOOTH)
def test_step_of_the_theorem_never_increases_R(name: str) -> None:
    """Catches a wrong sign or an L too small (claim T2)."""
    kernel, _ = pair(name)
    X, S = cloud(2, 60, 5)
    step = nl.lipschitz_bound(kernel, X, 5).step
    values = nl.gradient_descent(kernel, X, S, step=step, iterations=2000, record_every=20).values
    assert len(values) == 101
    assert np.all(np.diff(values) <= 1e-13 * np.abs(values).max())
    # The descent lemma promises γ‖∇R‖²/2 at the first step; a sum of such gains must be visible.
    assert values[0] - values[1] >= 0.45 * 20 * step * np.sum(nl.radial_skd_gradient(kernel, X, S) ** 2)


@pytest.mark.parametrize("name, step", [("polynomial", 1e60), ("user_dot", 1e5), ("linear", 1e100)])
def test_divergence_is_reported_with_the_last_good_sample(name: str, step: float) -> None:
    """Catches NaN returned as a result, or a "good" sample at which R is not finite any more."""
    kernel, _ = pair(name)
    X, S = cloud(2, 20, 3)
    batches = np.tile(np.arange(20), (50, 1))
    runs: list[Callable[[int], Any]] = [
        lambda T: nl.gradient_descent(kernel, X, S, step=step, iterations=T),
        lambda T: nl.stochastic_gradient_descent(kernel, X, S, step=step, iterations=T, batches=batches[:T]),
    ]
    for run in runs:
        with pytest.raises(nl.DescentError) as caught:
            run(50)
        error = caught.value
        assert 1 <= error.iteration < 50 and f"iteration {error.iteration}" in str(error)
        assert np.isfinite(nl.radial_skd(kernel, X, error.sample))
        assert np.array_equal(run(error.iteration - 1).sample, error.sample)


def test_an_overflowing_first_step_is_reported() -> None:
    """Catches a check made only when R is recorded, or only on R: the Gaussian R stays finite at infinity."""
    kernel, _ = pair("gaussian")
    X, S = cloud(2, 20, 3)
    with pytest.raises(nl.DescentError) as caught:
        nl.gradient_descent(kernel, X, S, step=1e308, iterations=5)
    assert caught.value.iteration == 1
    assert np.array_equal(caught.value.sample, S)


def test_a_far_landmark_stays_where_it_is() -> None:
    """Catches 0/0 for a landmark whose K² with everything underflows: its gradient is exactly zero."""
    kernel = nl.Gaussian(rho=16.0)
    X, S = cloud(2, 30, 4)
    S[2] = 1e4
    result = nl.gradient_descent(kernel, X, S, step=1e-5, iterations=20)
    assert np.array_equal(result.sample[2], S[2])
    assert not np.array_equal(result.sample[0], S[0])
