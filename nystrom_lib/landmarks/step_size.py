"""The step size of a radial descent on data for which nothing was tuned."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._threads import threads
from .._validation import Array
from ..bandwidth import subsample, unchecked_rho
from ..derivatives import radial_skd_gradient
from ..descent import Descent, DescentError, gradient_descent, stochastic_gradient_descent
from ..kernels import Gaussian, Kernel, Matern, RationalQuadratic
from ..lipschitz import lipschitz_bound
from ..radial_skd import radial_skd

_MAX_POINTS = 2_000  # on which step sizes are tried
_EXACT_STEPS, _STOCHASTIC_STEPS = 60, 240  # of a trial: the noise of a stochastic descent must show
_FIRST_MOVE = 0.02  # the first step size moves the landmark that moves most by this part of the kernel's width
_MAX_TRIALS = 40
_ROUNDING = 1e-12  # differences below this part of R may be rounding errors
_FEW_LANDMARKS = 200

# Seed of the batches drawn in trials; no descent draws from it. Do not change it: results depend on it.
_BATCHES = np.random.SeedSequence(0, spawn_key=(2, 2**31))


def choose_step(
    kernel: Kernel, data: NDArray[Any], start: Array, batch_size: int | None = None, seconds: float = math.inf
) -> float:
    """γ: half the step size that lowers R most in a short trial.

    Step sizes are tried from S⁽⁰⁾ on at most 2,000 of the data, each double or half the one before, until R stops
    decreasing. R and its gradient grow with N², so a step size found on N′ points is divided by (N/N′)². After
    ``seconds`` the best step size so far is taken, or the first, which moves no landmark far.
    """
    end = time.perf_counter() + seconds
    points = subsample(data, _MAX_POINTS, 0)

    def stop_in_time(done: int) -> None:
        if time.perf_counter() > end:
            raise TimeoutError

    descend: Callable[..., Descent] = partial(gradient_descent, iterations=_EXACT_STEPS)
    if batch_size is not None:
        descend = partial(
            stochastic_gradient_descent, iterations=_STOCHASTIC_STEPS, batch_size=batch_size, seed=_BATCHES
        )

    def value_after(step: float) -> float:
        try:
            reached = descend(kernel, points, start, step=step, progress=stop_in_time).sample
        except DescentError:
            return math.inf
        return radial_skd(kernel, points, reached, constant=False)

    # with few landmarks a step is too short for a second thread to pay
    with threads(1) if len(start) <= _FEW_LANDMARKS else nullcontext():
        best = _best_step(value_after, _first_step(kernel, points, start))
    return float(f"{0.5 * best * (len(points) / len(data)) ** 2:.1e}")


def _first_step(kernel: Kernel, data: Array, sample: Array) -> float:
    """A step size that moves the landmarks by a small part of the kernel's width."""
    largest = float(np.linalg.norm(radial_skd_gradient(kernel, data, sample), axis=1).max())
    size = abs(radial_skd(kernel, data, sample, constant=False))
    width = _width(kernel, data)
    if largest * width > _ROUNDING * size:
        return _FIRST_MOVE * width / largest
    # a critical point: nothing to gain, so a step size that does no harm
    if kernel.constants is None:
        return _ROUNDING * width**2 / size
    return lipschitz_bound(kernel, data, len(sample)).step


def _best_step(value: Callable[[float], float], first: float) -> float:
    """Double, or else halve, until two in a row are no better than the best so far, or time is over; the best."""
    best = first
    try:
        lowest = value(first)
        for factor in (2.0, 0.5):
            step, worse, trials = best, 0, 0
            while worse < 2 and trials < _MAX_TRIALS:
                step, trials = step * factor, trials + 1
                now = value(step)
                if now < lowest - _ROUNDING * abs(lowest):
                    best, lowest, worse = step, now, 0
                else:
                    worse += 1
            if best != first:
                break
    except TimeoutError:
        pass
    return best


def _width(kernel: Kernel, data: Array) -> float:
    """The distance at which K has fallen to about e⁻¹."""
    if isinstance(kernel, Gaussian):
        return float(kernel.rho**-0.5)
    if isinstance(kernel, Matern | RationalQuadratic):
        return float(2.0**0.5 * kernel.lengthscale)
    return float(max(unchecked_rho(data), 1e-300) ** -0.5)  # squared distances beyond 1e300 overflow
