"""The rules for data nobody has tuned anything for."""

import dataclasses

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib import advice
from nystrom_lib.advice import KERNEL_NAMES

CLOUD = nl.datasets.bigaussian(N=300).X


def decay(data, made, start=None, record_every=1, seed=0):
    """R along the advised descent, from the sample that is drawn where none is given."""
    start = nl.uniform_sample(data, made.n, seed) if start is None else start
    how = {"step": made.step, "iterations": made.iterations, "record_every": record_every}
    how["constant"] = nl.squared_frobenius_norm(made.kernel, data)
    if made.batch_size is None:
        return nl.gradient_descent(made.kernel, data, start, **how).values
    return nl.stochastic_gradient_descent(made.kernel, data, start, batch_size=made.batch_size, seed=1, **how).values


# -- ρ


def test_median_rule():
    points = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])  # distances 5, 5, 10
    assert nl.median_rho(points) == 0.04
    assert nl.median_rho(np.repeat(points, 50, axis=0)) == 0.04  # equal points do not count
    assert nl.median_rho(points + 1e6) == 0.04


def test_median_rule_of_many_points_is_that_of_some():
    data = nl.datasets.magic().X
    assert nl.median_rho(data) == nl.median_rho(data)
    assert nl.median_rho(data, seed=1) == pytest.approx(nl.median_rho(data), rel=0.1)


def test_one_point_many_times_has_no_width():
    with pytest.raises(ValueError, match="data holds one point only"):
        nl.median_rho(np.ones((5, 2)))


@pytest.mark.parametrize(("scale", "how"), [(1e-60, "close together"), (1e60, "far apart"), (1e200, "far apart")])
def test_data_of_absurd_units_are_blamed_not_rho(scale: float, how: str) -> None:
    """Catches ρ = 0, and a sentence about a ρ that nobody gave."""
    with pytest.raises(ValueError, match=f"^data holds points too {how} for a kernel of their width"):
        nl.median_rho(scale * np.array([[0.0], [1.0], [3.0]]))


@pytest.mark.parametrize("rho", [1e-100, 1e100])
@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_every_rho_has_its_length(name, rho):
    """Catches a ρ that is allowed, of whose length scale a user who gave none is told that it is not."""
    assert nl.kernel_by_name(name, rho).matrix([[0.0]]) == 1.0
    with pytest.raises(ValueError, match=r"^rho is .*; it must be from 1e-100 to 1e\+100"):
        nl.kernel_by_name(name, rho**2)


@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_every_kernel_is_as_wide_as_rho_says(name):
    narrow, wide = (nl.kernel_by_name(name, rho).matrix([[0.0]], [[1.0]])[0, 0] for rho in (4.0, 0.25))
    assert 0 < narrow < 0.3 < 0.6 < wide < 1


def test_unknown_kernel_is_refused():
    with pytest.raises(ValueError, match="kernel is 'cosine'; it must be 'gaussian'"):
        nl.kernel_by_name("cosine", 1.0)


# -- γ


@pytest.mark.parametrize("n", [1, 7, 40])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
def test_exact_descent_falls_at_every_step_whatever_the_scale(scale, n):
    data = 3.0 * scale + scale * CLOUD
    made = nl.advise(data, n, iterations=150, seed=1)
    values = decay(data, made, seed=1)
    assert np.all(np.diff(values) <= 1e-9 * values[0])
    assert values[-1] < (0.9 if n == 1 else 0.1) * values[0]


def test_step_grows_with_the_square_of_the_scale():
    small, large = (nl.advise(scale * CLOUD, 10) for scale in (1.0, 1000.0))
    assert large.step == pytest.approx(1e6 * small.step, rel=0.05)
    assert large.rho == pytest.approx(1e-6 * small.rho, rel=1e-9)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("d", [1, 12])
def test_other_kernels_and_dimensions(kernel, d):
    data = np.random.default_rng(d).standard_normal((200, d))
    values = decay(data, nl.advise(data, 8, kernel=kernel, iterations=200))
    assert np.all(np.diff(values) <= 1e-9 * values[0])
    assert values[-1] < 0.8 * values[0]


def test_stochastic_descent_on_more_points_than_are_tried():
    data = nl.datasets.magic().X
    made = nl.advise(data, 20, iterations=1000)
    assert (made.iterations, made.batch_size) == (1000, 50)
    values = decay(data, made, record_every=500)
    assert values[-1] < 0.15 * values[0]


def test_outliers_and_repeats():
    rng = np.random.default_rng(0)
    for data in (rng.standard_cauchy((300, 3)), np.repeat(rng.standard_normal((6, 2)), 30, axis=0)):
        values = decay(data, nl.advise(data, 5, iterations=100))
        assert np.all(np.diff(values) <= 1e-9 * values[0])
        assert values[-1] < values[0]


def test_nothing_to_gain_does_no_harm():
    data = CLOUD[:40]
    values = decay(data, nl.advise(data, 40))
    assert values == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("kernel", [nl.Polynomial(degree=2), nl.Matern(0.5)], ids=lambda kernel: kernel.name)
def test_step_for_a_kernel_without_a_width_or_constants(kernel):
    data = CLOUD[:60]
    step = nl.advised_step(kernel, data, data[:6])
    values = nl.gradient_descent(kernel, data, data[:6], step=step, iterations=100, record_every=1).values
    assert np.all(np.diff(values) < 0) and values[-1] < 1.1 * values[0] < 0


def test_nothing_to_gain_for_a_kernel_without_constants():
    data, kernel = CLOUD[:60], nl.Polynomial(degree=2)
    step = nl.advised_step(kernel, data, data)
    values = nl.gradient_descent(kernel, data, data, step=step, iterations=100, record_every=1).values
    assert values == pytest.approx(values[0], rel=1e-12)


def test_step_for_whom_time_is_short(clock):
    """No time gives half the first step tried, enough time the one that was searched for."""
    kernel, start = nl.Gaussian(rho=1.0), CLOUD[:8]
    half = 0.5 * advice._first_step(kernel, CLOUD, start)
    clock.tick = 1.0
    assert nl.advised_step(kernel, CLOUD, start, seconds=0.5) == pytest.approx(half, rel=0.05)
    clock.tick = 0.0
    found = nl.advised_step(kernel, CLOUD, start)
    assert nl.advised_step(kernel, CLOUD, start, seconds=600.0) == found > 2.0 * half
    with pytest.raises(ValueError, match="seconds is 0"):
        nl.advised_step(kernel, CLOUD, start, seconds=0)


def test_step_is_tried_where_the_descent_begins():
    start = CLOUD[np.argsort(np.linalg.norm(CLOUD, axis=1))[:8]] / 10  # huddled together in the middle
    made = nl.advise(CLOUD, 8, sample=start)
    assert made.step == nl.advised_step(made.kernel, CLOUD, start) != nl.advise(CLOUD, 8).step
    values = decay(CLOUD, made, start)
    assert np.all(np.diff(values) <= 1e-9 * values[0])


@pytest.mark.parametrize(
    ("N", "n", "seed", "batch_size", "expected"),
    [(2500, 30, 5, None, (1.01, 2e-6, 1000, None)), (300, 7, 18, 3, (1.03, 3.6e-7, 5000, 3))],
)
def test_choices_stay_what_they_are(N, n, seed, batch_size, expected):
    """Catches a change in what is drawn for the trials: the same seed must go on giving the same report."""
    data = nl.datasets.bigaussian(N=N).X
    start = nl.uniform_sample(data, n, np.random.SeedSequence(seed, spawn_key=(1, 0)))
    made = nl.advise(data, n, batch_size=batch_size, sample=start, seed=seed)
    assert (made.rho, made.step, made.iterations, made.batch_size) == expected


# -- all together


def test_what_is_given_is_used():
    made = nl.advise(CLOUD, 5, rho=2.0, step=1e-5, iterations=7, batch_size=3)
    assert made.kernel == nl.Gaussian(rho=2.0)
    assert (made.rho, made.n, made.step, made.iterations, made.batch_size) == (2.0, 5, 1e-5, 7, 3)
    assert all("as given" in reason for reason in made.reasons)


def test_batch_size_zero_is_the_exact_gradient():
    large = np.tile(CLOUD, (20, 1))
    assert nl.advise(large, 5, step=1e-9).batch_size == 50
    exact = nl.advise(large, 5, step=1e-9, batch_size=0)
    assert (exact.step, exact.iterations, exact.batch_size) == (1e-9, 1000, None)


def test_what_is_printed_gives_the_same_run_when_typed_in():
    made = nl.advise(CLOUD, 5, kernel="matern-5/2")
    again = nl.advise(CLOUD, 5, kernel="matern-5/2", rho=float(f"{made.rho:g}"), step=float(f"{made.step:g}"))
    assert dataclasses.replace(again, reasons=made.reasons) == made
    for value in (made.rho, made.step):
        assert any(f"{value:g}" in reason for reason in made.reasons)


REFUSED = [
    ({"n": 0}, "n is 0; it must be from 1 to 300, the number of data points"),
    ({"n": 301}, "n is 301; it must be from 1 to 300, the number of data points"),
    ({"batch_size": -1}, r"batch_size is -1; it must be at least 0 \(0 is the exact gradient\)"),
    ({"rho": 0.0}, "rho is 0.0; it must be a finite number greater than 0"),
    ({"step": float("nan")}, "step is nan; it must be finite"),
    ({"iterations": 2.5}, "iterations is 2.5; it must be a whole number"),
    ({"seed": -3}, "seed is -3; it must be at least 0"),
    ({"kernel": "cosine"}, "kernel is 'cosine'; it must be"),
    ({"sample": CLOUD[:4]}, "sample holds 4 points; it must hold n = 3"),
    ({"sample": CLOUD[:3, :1]}, "sample has points of 1 coordinates; those of data have 2"),
    ({"data": CLOUD[0]}, "data has shape"),
]


@pytest.mark.parametrize(("wrong", "said"), REFUSED, ids=[said.split(";")[0] for _, said in REFUSED])
def test_what_makes_no_sense_is_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        nl.advise(**{"data": CLOUD, "n": 3} | wrong)
