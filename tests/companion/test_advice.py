"""The rules for data nobody has tuned anything for."""

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib.companion.errors import ConfigurationError
from nystrom_lib.companion.experiments.components import BiGaussian, GradientDescent, StochasticGradientDescent, Uniform
from nystrom_lib.companion.experiments.seeds import Axis, seed_for
from nystrom_lib.companion.studies import advice

CLOUD = nl.datasets.bigaussian(N=300).X


def decay(data, made, seed=0, **how):
    """R along the advised descent, from the experiment's first initial sample."""
    kernel = made.family.build()
    start = Uniform().draw(kernel, data, made.n, seed_for(seed, Axis.INITIAL_SAMPLE))
    constant = nl.squared_frobenius_norm(kernel, data)
    how = {"record_every": 1, "keep_path": False, "constant": constant, "progress": None} | how
    return made.descent.descend(kernel, data, start, seed_for(seed, Axis.BATCHES), **how).values


# -- ρ


def test_median_rule():
    points = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])  # distances 5, 5, 10
    assert advice.median_rho(points) == 0.04
    assert advice.median_rho(np.repeat(points, 50, axis=0)) == 0.04  # equal points do not count
    assert advice.median_rho(points + 1e6) == 0.04


def test_median_rule_of_many_points_is_that_of_some():
    data = nl.datasets.magic().X
    assert advice.median_rho(data) == advice.median_rho(data)
    assert advice.median_rho(data, seed=1) == pytest.approx(advice.median_rho(data), rel=0.1)


def test_one_point_many_times_has_no_width():
    with pytest.raises(ConfigurationError, match="data holds one point only"):
        advice.median_rho(np.ones((5, 2)))


@pytest.mark.parametrize("name", advice.KERNEL_NAMES)
def test_every_kernel_is_as_wide_as_rho_says(name):
    narrow, wide = (advice.kernel_family(name, rho).build().matrix([[0.0]], [[1.0]])[0, 0] for rho in (4.0, 0.25))
    assert 0 < narrow < 0.3 < 0.6 < wide < 1


def test_unknown_kernel_is_refused():
    with pytest.raises(ConfigurationError, match="kernel is 'cosine'; it must be one of 'gaussian'"):
        advice.kernel_family("cosine", 1.0)


# -- γ


@pytest.mark.parametrize("n", [1, 7, 40])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
def test_exact_descent_falls_at_every_step_whatever_the_scale(scale, n):
    data = 3.0 * scale + scale * CLOUD
    made = advice.advise(data, n, iterations=150)
    values = decay(data, made)
    assert np.all(np.diff(values) <= 1e-9 * values[0])
    assert values[-1] < (0.9 if n == 1 else 0.1) * values[0]


def test_step_grows_with_the_square_of_the_scale():
    small, large = (advice.advise(scale * CLOUD, 10) for scale in (1.0, 1000.0))
    assert large.step == pytest.approx(1e6 * small.step, rel=0.05)
    assert large.rho == pytest.approx(1e-6 * small.rho, rel=1e-9)


@pytest.mark.parametrize("kernel", advice.KERNEL_NAMES)
@pytest.mark.parametrize("d", [1, 12])
def test_other_kernels_and_dimensions(kernel, d):
    data = np.random.default_rng(d).standard_normal((200, d))
    values = decay(data, advice.advise(data, 8, kernel=kernel, iterations=200))
    assert np.all(np.diff(values) <= 1e-9 * values[0])
    assert values[-1] < 0.8 * values[0]


def test_stochastic_descent_on_more_points_than_are_tried():
    data = nl.datasets.magic().X
    made = advice.advise(data, 20, iterations=1000)
    assert made.descent == StochasticGradientDescent(step=made.step, iterations=1000, batch_size=50)
    values = decay(data, made, record_every=500)
    assert values[-1] < 0.15 * values[0]


def test_outliers_and_repeats():
    rng = np.random.default_rng(0)
    for data in (rng.standard_cauchy((300, 3)), np.repeat(rng.standard_normal((6, 2)), 30, axis=0)):
        values = decay(data, advice.advise(data, 5, iterations=100))
        assert np.all(np.diff(values) <= 1e-9 * values[0])
        assert values[-1] < values[0]


def test_nothing_to_gain_does_no_harm():
    data = CLOUD[:40]
    values = decay(data, advice.advise(data, 40))
    assert values == pytest.approx(0.0, abs=1e-9)


# -- all together


def test_what_is_given_is_used():
    made = advice.advise(CLOUD, 5, rho=2.0, step=1e-5, iterations=7, batch_size=3)
    assert made.family.build() == nl.Gaussian(rho=2.0)
    assert made.descent == StochasticGradientDescent(step=1e-5, iterations=7, batch_size=3)
    assert (made.step, made.batch_size) == (1e-5, 3)
    assert all("as given" in reason for reason in made.reasons)


def test_batch_size_zero_is_the_exact_gradient():
    large = np.tile(CLOUD, (20, 1))
    assert advice.advise(large, 5, step=1e-9).batch_size == 50
    exact = advice.advise(large, 5, step=1e-9, batch_size=0)
    assert exact.descent == GradientDescent(step=1e-9, iterations=1000)
    assert exact.batch_size is None


def test_what_is_printed_gives_the_same_run_when_typed_in():
    made = advice.advise(CLOUD, 5, kernel="matern-5/2")
    again = advice.advise(CLOUD, 5, kernel="matern-5/2", rho=float(f"{made.rho:g}"), step=float(f"{made.step:g}"))
    assert (again.family, again.descent) == (made.family, made.descent)
    for value in (made.rho, made.step):
        assert any(f"{value:g}" in reason for reason in made.reasons)


@pytest.mark.parametrize("n", [0, 301])
def test_n_out_of_range_is_refused(n):
    with pytest.raises(ConfigurationError, match=f"n is {n}; it must be at least 1 and at most 300"):
        advice.advise(CLOUD, n)


def test_negative_batch_size_is_refused():
    with pytest.raises(ConfigurationError, match="batch_size is -1; it must be at least 0"):
        advice.advise(CLOUD, 3, batch_size=-1)


def test_experiment_measures_what_it_can_afford():
    made = advice.advise(CLOUD, 3, step=1e-6, iterations=350)
    small = advice.experiment(BiGaussian(N=300), 300, made, seed=4)
    assert (small.norms, small.factors, small.constant, small.seed) == (
        ("trace", "frobenius", "spectral"), True, True, 4,
    )  # fmt: skip
    assert small.record.path and small.record.every == 3
    large = advice.experiment(BiGaussian(N=300), 10**6, made)
    assert (large.norms, large.factors, large.constant) == (("trace",), False, False)
