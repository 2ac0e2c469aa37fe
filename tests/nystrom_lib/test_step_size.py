"""ρ by the median rule, and the step size, batch size and number of steps of a radial descent."""

from typing import Any

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib.landmarks import step_size
from nystrom_lib.landmarks.step_size import choose_step

from .conftest import Clock

CLOUD = nl.datasets.bigaussian(N=300).X
KERNELS = [nl.Gaussian(rho=1.0), nl.Matern(1.5), nl.Matern(2.5), nl.RationalQuadratic()]


def values_along(
    data: Any, kernel: nl.Kernel, start: Any, iterations: int, batch_size: int | None = None, record_every: int = 1
) -> Any:
    """R along a descent with the chosen step size."""
    how: dict[str, Any] = {"iterations": iterations, "record_every": record_every}
    how["step"] = choose_step(kernel, data, start, batch_size)
    constant = nl.squared_frobenius_norm(kernel, data)
    if batch_size is None:
        return constant + nl.gradient_descent(kernel, data, start, **how).values
    return constant + nl.stochastic_gradient_descent(kernel, data, start, batch_size=batch_size, seed=1, **how).values


# -- ρ


def test_median_rule() -> None:
    points = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])  # distances 5, 5, 10
    assert nl.median_rho(points) == 0.04
    assert nl.median_rho(np.repeat(points, 50, axis=0)) == 0.04  # equal points do not count
    assert nl.median_rho(points + 1e6) == 0.04


def test_copies_of_one_point_have_no_width() -> None:
    with pytest.raises(ValueError, match="data holds one point only"):
        nl.median_rho(np.ones((5, 2)))


@pytest.mark.parametrize(("scale", "how"), [(1e-60, "close together"), (1e60, "far apart"), (1e200, "far apart")])
def test_the_error_names_the_data_and_not_rho(scale: float, how: str) -> None:
    """Catches ρ = 0, and an error about a ρ that the caller did not give."""
    with pytest.raises(ValueError, match=f"^data holds points too {how} for a kernel of their width"):
        nl.median_rho(scale * np.array([[0.0], [1.0], [3.0]]))


# -- γ


@pytest.mark.parametrize(("scale", "n"), [(1e-4, 1), (1.0, 7), (1e5, 40)])
def test_exact_descent_decreases_at_every_step_on_any_scale(scale: float, n: int) -> None:
    data = 3.0 * scale + scale * CLOUD
    values = values_along(data, nl.Gaussian(nl.median_rho(data)), nl.uniform_sample(data, n, seed=1), 150)
    assert np.all(np.diff(values) <= 1e-9 * values[0])
    assert values[-1] < (0.9 if n == 1 else 0.1) * values[0]


def test_step_grows_with_the_square_of_the_scale() -> None:
    rhos = [nl.median_rho(scale * CLOUD) for scale in (1.0, 1000.0)]
    small, large = (
        choose_step(nl.Gaussian(rho), scale * CLOUD, scale * CLOUD[:10])
        for rho, scale in zip(rhos, (1.0, 1000.0), strict=True)
    )
    assert large == pytest.approx(1e6 * small, rel=0.05)
    assert rhos[1] == pytest.approx(1e-6 * rhos[0], rel=1e-9)


@pytest.mark.parametrize(("kernel", "d"), list(zip(KERNELS, (1, 12, 1, 12), strict=True)), ids=str)
def test_other_kernels_and_dimensions(kernel: nl.Kernel, d: int) -> None:
    data = np.random.default_rng(d).standard_normal((200, d)) / np.sqrt(d)
    values = values_along(data, kernel, data[:8], 200)
    assert np.all(np.diff(values) <= 1e-9 * values[0])
    assert values[-1] < 0.8 * values[0]


def test_stochastic_descent_on_more_points_than_are_tried() -> None:
    data = nl.datasets.magic().X
    start = nl.uniform_sample(data, 20, seed=0)
    values = values_along(data, nl.Gaussian(nl.median_rho(data)), start, 1000, batch_size=50, record_every=500)
    assert values[-1] < 0.15 * values[0]


def test_outliers_and_repeats() -> None:
    rng = np.random.default_rng(0)
    for data in (rng.standard_cauchy((300, 3)), np.repeat(rng.standard_normal((6, 2)), 30, axis=0)):
        values = values_along(data, nl.Gaussian(nl.median_rho(data)), nl.uniform_sample(data, 5, seed=0), 100)
        assert np.all(np.diff(values) <= 1e-9 * values[0])
        assert values[-1] < values[0]


@pytest.mark.parametrize("kernel", [nl.Polynomial(degree=2), nl.Matern(0.5)], ids=lambda kernel: kernel.name)
def test_step_for_a_kernel_without_a_width_or_constants(kernel: nl.Kernel) -> None:
    data = CLOUD[:60]
    step = choose_step(kernel, data, data[:6])
    values = nl.gradient_descent(kernel, data, data[:6], step=step, iterations=100, record_every=1).values
    assert np.all(np.diff(values) < 0) and values[-1] < 1.1 * values[0] < 0


def test_a_time_limit_ends_the_search(clock: Clock) -> None:
    """Once the time is over the step size is half the first one; with time left it is the one searched for."""
    kernel, start = nl.Gaussian(rho=1.0), CLOUD[:8]
    half = 0.5 * step_size._first_step(kernel, CLOUD, start)
    found = choose_step(kernel, CLOUD, start)
    assert found > 2.0 * half
    clock.tick = 1.0
    assert choose_step(kernel, CLOUD, start, seconds=0.5) == pytest.approx(half, rel=0.05)
    assert choose_step(kernel, CLOUD, start, seconds=1e9) == found
