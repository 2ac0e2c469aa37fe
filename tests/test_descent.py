"""Gradient descent and stochastic gradient descent with a fixed step (Section 2 and 4)."""

from __future__ import annotations

import numpy as np
import pytest

import nystrom_lib as nl
from tests import oracle
from tests.cases import EVERY, SMOOTH, cloud, notebook_data, notebook_sample, pair


@pytest.mark.parametrize("d", [1, 2, 8])
@pytest.mark.parametrize("name", EVERY)
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
    assert result.iterations == 3


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
    """Catches a wrong sign or an L too small (claim T2); 1/L moves little, so 2000/L is tried as well."""
    kernel, _ = pair(name)
    X, S = cloud(2, 60, 5)
    step = nl.lipschitz_bound(kernel, X, 5).step
    for factor in (1, 2000):
        result = nl.gradient_descent(kernel, X, S, step=factor * step, iterations=200, record_every=1)
        values = np.asarray(result.values)
        assert np.all(np.diff(values) <= 1e-15 * abs(values[0]))
        assert values[-1] < values[0]


def test_recorded_values_and_path() -> None:
    """Catches values recorded at other samples than those of the path, or off by one iteration."""
    kernel, _ = pair("gaussian")
    X, S = cloud(2, 50, 4)
    result = nl.gradient_descent(kernel, X, S, step=1e-4, iterations=20, record_every=5, keep_path=True)
    assert result.path.shape == (21, 4, 2)
    assert np.array_equal(result.path[0], S) and np.array_equal(result.path[-1], result.sample)
    expected = [nl.radial_skd(kernel, X, result.path[t], constant=False) for t in (0, 5, 10, 15, 20)]
    assert np.asarray(result.values) == pytest.approx(np.array(expected), rel=1e-13)
    for t in range(20):
        gradient = nl.radial_skd_gradient(kernel, X, result.path[t])
        assert result.path[t + 1] == pytest.approx(result.path[t] - 1e-4 * gradient, rel=1e-13, abs=1e-15)


def test_recording_does_not_change_the_descent() -> None:
    """Catches a recording that disturbs the random batches or the sample."""
    kernel, _ = pair("gaussian")
    X, S = cloud(2, 50, 4)
    options = {"step": 1e-4, "iterations": 23, "batch_size": 7, "seed": 11}
    plain = nl.stochastic_gradient_descent(kernel, X, S, **options)
    full = nl.stochastic_gradient_descent(kernel, X, S, **options, record_every=4, keep_path=True)
    assert np.array_equal(plain.sample, full.sample)
    assert np.array_equal(full.path[-1], full.sample)
    again = nl.stochastic_gradient_descent(kernel, X, S, **options)
    assert np.array_equal(plain.sample, again.sample)


def test_no_iterations_give_the_sample_back() -> None:
    """Catches a descent that always takes one step, or that hands out the caller's own array."""
    kernel, _ = pair("gaussian")
    X, S = cloud(2, 10, 4)
    result = nl.gradient_descent(kernel, X, S, step=1e-4, iterations=0)
    assert np.array_equal(result.sample, S) and not np.shares_memory(result.sample, S)


def test_seed_draws_the_batches_one_would_supply() -> None:
    """Catches a seeded descent that cannot be replayed from its batches."""
    kernel, _ = pair("gaussian")
    X, S = cloud(2, 50, 4)
    seeded = nl.stochastic_gradient_descent(kernel, X, S, step=1e-4, iterations=30, batch_size=6, seed=42)
    batches = nl.draw_batch(50, 30 * 6, 42).reshape(30, 6)
    supplied = nl.stochastic_gradient_descent(kernel, X, S, step=1e-4, iterations=30, batches=batches)
    assert np.array_equal(seeded.sample, supplied.sample)


def test_stochastic_descent_lowers_R_on_the_notebook_data() -> None:
    """Catches a stochastic step of the wrong scale (N/b twice, or not at all)."""
    kernel, X, S = nl.Gaussian(rho=16.0), notebook_data(), notebook_sample()
    result = nl.stochastic_gradient_descent(
        kernel, X, S, step=2e-7, iterations=1200, batch_size=50, seed=1, record_every=400
    )
    assert len(result.values) == 4
    assert result.values[-1] < 1.05 * result.values[0] < 0  # R less its constant: more negative is better
    exact = nl.gradient_descent(kernel, X, S, step=1e-6, iterations=400, record_every=400)
    constant = nl.squared_frobenius_norm(kernel, X)
    gains = [values[0] - values[-1] for values in (result.values, exact.values)]
    assert 0.5 * gains[1] < gains[0] < 1.2 * gains[1] < constant


def test_divergence_is_reported_with_the_last_good_sample() -> None:
    """Catches NaN handed back as a result, or an error that forgets where it happened."""
    kernel, _ = pair("polynomial")
    X, S = cloud(2, 20, 3)
    with pytest.raises(nl.DescentError) as caught:
        nl.gradient_descent(kernel, X, S, step=10.0, iterations=500)
    error = caught.value
    assert 1 <= error.iteration < 500 and str(error.iteration) in str(error)
    assert error.sample.shape == S.shape and np.all(np.isfinite(error.sample))
    replay = nl.gradient_descent(kernel, X, S, step=10.0, iterations=error.iteration - 1)
    assert np.array_equal(replay.sample, error.sample)
    batches = np.tile(np.arange(20), (500, 1))
    with pytest.raises(nl.DescentError, match=r"\d"):
        nl.stochastic_gradient_descent(kernel, X, S, step=10.0, iterations=500, batches=batches)


def test_an_overflowing_first_step_is_reported() -> None:
    """Catches a check made only when R is recorded, or only on R: the Gaussian R stays finite at infinity."""
    kernel, _ = pair("gaussian")
    X, S = cloud(2, 20, 3)
    with pytest.raises(nl.DescentError) as caught:
        nl.gradient_descent(kernel, X, S, step=1e308, iterations=5)
    assert caught.value.iteration == 1
    assert np.array_equal(caught.value.sample, S)


def test_single_precision_is_close_to_double() -> None:
    """Catches a float32 descent that hands back float64, or loses more than single precision must."""
    kernel, X, S = nl.Gaussian(rho=16.0), notebook_data(), notebook_sample()
    options = {"step": 1e-6, "iterations": 50}
    double = nl.gradient_descent(kernel, X, S, **options)
    single = nl.gradient_descent(kernel, X.astype(np.float32), S.astype(np.float32), **options)
    assert single.sample.dtype == np.float32 and double.sample.dtype == np.float64
    assert np.max(np.abs(single.sample - double.sample)) < 1e-3
    batches = np.random.default_rng(0).integers(0, 2000, (50, 50))
    one, two = (
        nl.stochastic_gradient_descent(kernel, X.astype(t), S.astype(t), **options, batches=batches).sample
        for t in (np.float32, np.float64)
    )
    assert one.dtype == np.float32 and np.max(np.abs(one - two)) < 1e-3


def test_progress_is_called_as_the_descent_goes_on() -> None:
    """Catches a callback that is never called, or called with iterations out of order."""
    kernel, _ = pair("gaussian")
    X, S = cloud(2, 20, 3)
    seen: list[int] = []
    nl.gradient_descent(kernel, X, S, step=1e-4, iterations=30, progress=lambda t, *rest: seen.append(t))
    assert seen and seen == sorted(seen) and seen[-1] == 30
    seen.clear()
    nl.stochastic_gradient_descent(
        kernel, X, S, step=1e-4, iterations=30, batch_size=3, seed=1, progress=lambda t, *rest: seen.append(t)
    )
    assert seen and seen == sorted(seen) and seen[-1] == 30


def test_a_far_landmark_stays_where_it_is() -> None:
    """Catches 0/0 for a landmark whose K² with everything underflows: its gradient is exactly zero."""
    kernel = nl.Gaussian(rho=16.0)
    X, S = cloud(2, 30, 4)
    S[2] = 1e4
    result = nl.gradient_descent(kernel, X, S, step=1e-5, iterations=20)
    assert np.array_equal(result.sample[2], S[2])
    assert not np.array_equal(result.sample[0], S[0])
