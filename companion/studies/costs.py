"""How long things take as N grows (§1.2, §1.3, §3): measured, so never the same twice.

Processor time of the process, not wall-clock time, so that other work on the machine hardly matters. (The library may
run compiled loops in a thread of its own, which the time of the calling thread would miss.)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

import nystrom_lib as nl

from ..experiments.outcome import Array


def seconds(call: Callable[[], object], *, least: float = 0.1, most_calls: int = 200) -> float:
    """Processor time of the quickest of some calls: at least three, and until ``least`` seconds have gone."""
    call()  # compiled and cached before the clock starts
    shortest, began = np.inf, time.process_time()
    for calls in range(1, most_calls + 1):
        start = time.process_time()
        call()
        now = time.process_time()
        shortest = min(shortest, now - start)
        if calls >= 3 and now - began > least:
            break
    return float(shortest)


def criteria(kernel: nl.Kernel, data: Array, sample: Array) -> dict[str, Callable[[], object]]:
    """What §1.2 and §1.3 set against each other, each as a call to time."""
    return {
        "R without its constant": lambda: nl.radial_skd(kernel, data, sample, constant=False),
        "∇R": lambda: nl.radial_skd_gradient(kernel, data, sample),
        "trace": lambda: nl.nystrom_errors(kernel, data, sample, "trace", precision="double"),
        "Frobenius": lambda: nl.nystrom_errors(kernel, data, sample, "frobenius", precision="double"),
        "spectral": lambda: nl.nystrom_errors(kernel, data, sample, "spectral", precision="double"),
    }


#: A single call checks all its data first, which takes as long as N says; steps of a descent do that once.
STEPS = 50


def steps(kernel: nl.Kernel, data: Array, sample: Array, batch_size: int) -> dict[str, Callable[[], object]]:
    """:data:`STEPS` steps of an exact and of a stochastic descent, each as a call to time; the step hardly moves S."""
    how: dict[str, Any] = {"step": 1e-12, "iterations": STEPS}
    return {
        "exact, Eq. (5)": lambda: nl.gradient_descent(kernel, data, sample, **how),
        "one-sample, Eq. (6)": lambda: nl.stochastic_gradient_descent(
            kernel, data, sample, **how, batch_size=batch_size, seed=0
        ),
    }


@nl.threads(1)
def against(
    sizes: Iterable[int], calls: Callable[[int], Mapping[str, Callable[[], object]]], per: int = 1
) -> pd.DataFrame:
    """Columns size, what, seconds: each call timed at each size, and divided by the ``per`` things it does."""
    rows: list[tuple[int, str, float]] = []
    for size in sizes:
        rows += [(size, what, seconds(call) / per) for what, call in calls(size).items()]
    return pd.DataFrame(rows, columns=["size", "what", "seconds"])


def exponents(timings: pd.DataFrame) -> dict[str, float]:
    """The power of the size by which each time grows between the two largest sizes.

    Examples
    --------
    >>> timings = pd.DataFrame({"size": [10, 20], "what": ["a", "a"], "seconds": [1.0, 4.0]})
    >>> round(exponents(timings)["a"], 6)
    2.0
    """
    powers: dict[str, float] = {}
    group: Any
    for what, group in timings.groupby("what", sort=False):
        last = group.sort_values("size").tail(2)
        powers[str(what)] = exponent(last["size"], last["seconds"])
    return powers


def exponent(sizes: Sequence[float] | pd.Series, seconds: Sequence[float] | pd.Series) -> float:
    """The power of the size by which a time grows: the slope of the straight line through the logarithms."""
    slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    return slope if abs(slope) > 1e-12 else 0.0  # of what does not grow, rounding
