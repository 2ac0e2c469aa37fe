"""The step size of a radial descent on data for which nothing was tuned."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _validation as check
from .._threads import threads
from .._validation import Array
from ..bandwidth import subsample, unchecked_rho
from ..derivatives import radial_skd_gradient
from ..descent import DescentError, gradient_descent, stochastic_gradient_descent
from ..kernels import Gaussian, Kernel, Matern, RationalQuadratic
from ..lipschitz import lipschitz_bound
from ..radial_skd import radial_skd, validate_arguments

_MAX_POINTS = 2_000  # on which steps are tried
_TRIAL_STEPS = {False: 60, True: 240}  # exact, stochastic: the noise of a stochastic descent must show
_FIRST_MOVE = 0.02  # the first step size moves the landmark that moves most by this part of the kernel's width
_MAX_TRIALS = 40
_ROUNDING = 1e-12  # differences below this part of R may be rounding errors
_FEW_LANDMARKS = 200

# Key of the batches drawn in trials; no descent draws from it. Do not change it: results depend on it.
_BATCHES = (2, 2**31)


class _TrialsOver(Exception):
    """The seconds for trials are over."""


def choose_step(
    kernel: Kernel,
    data: ArrayLike,
    sample: ArrayLike,
    batch_size: int | None = None,
    *,
    seed: int = 0,
    seconds: float | None = None,
) -> float:
    """γ: half the step size that lowers R most in a short trial.

    Step sizes are tried from S⁽⁰⁾ on at most 2,000 of the data, each double or half the one before, until R stops
    decreasing. R and its gradient grow with N², so a step size found on N′ points is divided by (N/N′)². After
    ``seconds`` the best step size so far is taken, or the first, which moves no landmark far.
    """
    end = float("inf") if seconds is None else time.perf_counter() + check.positive("seconds", seconds)
    kernel, data, start = validate_arguments(kernel, data, sample)
    points = subsample(data, _MAX_POINTS, seed)

    def stop_in_time(done: int) -> None:
        if time.perf_counter() > end:
            raise _TrialsOver

    options: dict[str, Any] = {"iterations": _TRIAL_STEPS[batch_size is not None], "progress": stop_in_time}
    if batch_size is not None:
        options |= {"batch_size": batch_size, "seed": np.random.SeedSequence(seed, spawn_key=_BATCHES)}

    def value_after(step: float) -> float:
        descend = gradient_descent if batch_size is None else stochastic_gradient_descent
        try:
            reached = descend(kernel, points, start, step=step, **options).sample
        except DescentError:
            return float("inf")
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
    """Double or halve until two in a row are no better than the best so far, or time is over; the best."""
    best = first
    try:
        lowest = value(first)
        for factor in (2.0, 0.5):
            step, worse = best, 0
            for _ in range(_MAX_TRIALS):
                step *= factor
                now = value(step)
                if now < lowest - _ROUNDING * abs(lowest):
                    best, lowest, worse = step, now, 0
                else:
                    worse += 1
                if worse == 2:
                    break
            if best != first:
                break
    except _TrialsOver:
        pass
    return best


def _width(kernel: Kernel, data: Array) -> float:
    """The distance at which K has fallen to about e⁻¹."""
    if isinstance(kernel, Gaussian):
        return float(kernel.rho**-0.5)
    if isinstance(kernel, Matern | RationalQuadratic):
        return float(2.0**0.5 * kernel.lengthscale)
    return float(max(unchecked_rho(data), 1e-300) ** -0.5)  # squared distances beyond 1e300 overflow
