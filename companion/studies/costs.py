"""How long evaluations and steps take as a size grows (§1.2, §1.3, §3), as processor time of the process.

The library may run compiled loops in a thread of its own, which the time of the calling thread would miss.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

import nystrom_lib as nl

from ..experiments.outcome import Array
from ..figures import style


def seconds(call: Callable[[], object]) -> float:
    """Processor time of the quickest of 3 to 200 calls, which end after a tenth of a second."""
    call()  # compiled and cached before the clock starts
    times: list[float] = []
    while len(times) < 3 or (sum(times) < 0.1 and len(times) < 200):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def criteria(kernel: nl.Kernel, data: Array, sample: Array) -> dict[str, Callable[[], object]]:
    """R, its gradient and the three norms of the error, each as a call to time."""
    norms = {title: partial(nl.nystrom_errors, kernel, data, sample, title.lower(), precision="double")
             for title in ("trace", "Frobenius", "spectral")}  # fmt: skip
    return {
        "R without its constant": lambda: nl.radial_skd(kernel, data, sample, constant=False),
        "∇R": lambda: nl.radial_skd_gradient(kernel, data, sample),
        **norms,
    }


#: A single call checks all its data first, in a time that grows with N; the steps of a descent do that once.
STEPS = 50


def steps(kernel: nl.Kernel, data: Array, sample: Array, batch_size: int) -> dict[str, Callable[[], object]]:
    """:data:`STEPS` steps of an exact and of a stochastic descent, each as a call to time; S hardly moves."""
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
    """Columns size, what, seconds: each call timed at each size, and divided by ``per``."""
    rows = [(size, what, seconds(call) / per) for size in sizes for what, call in calls(size).items()]
    return pd.DataFrame(rows, columns=["size", "what", "seconds"])


def exponents(timings: pd.DataFrame) -> dict[str, float]:
    """The power of the size by which each time grows between the two largest sizes.

    Examples
    --------
    >>> timings = pd.DataFrame({"size": [10, 20], "what": ["a", "a"], "seconds": [1.0, 4.0]})
    >>> round(exponents(timings)["a"], 6)
    2.0
    """
    ends = {str(what): group.sort_values("size").tail(2) for what, group in timings.groupby("what", sort=False)}
    return {what: exponent(last["size"], last["seconds"]) for what, last in ends.items()}


def exponent(sizes: Sequence[float] | pd.Series, seconds: Sequence[float] | pd.Series) -> float:
    """The power of the size by which a time grows: the slope of the straight line through the logarithms."""
    slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    return slope if abs(slope) > 1e-12 else 0.0  # rounding, if nothing grows


@style.drawn
def figure_times(timings: pd.DataFrame) -> Figure:
    """A line for each thing timed; both axes are logarithmic, so that a power of N is a straight line."""
    figure, panels = style.subplots(1, 1, height=3.0)
    axes = panels[0, 0]
    for k, (what, group) in enumerate(timings.groupby("what", sort=False)):
        look: Any = {"marker": "osD^v"[k % 5], "color": style.CYCLE[k % 5], "linestyle": style.DASHES[k % 5]}
        axes.plot(group["size"], 1e3 * group["seconds"], label=str(what), **look)
    axes.set_xscale("log")
    axes.set_yscale("log")
    sizes = sorted(timings["size"].unique())
    axes.set_xticks(sizes, [f"{value:,}" for value in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    low, high = axes.get_ylim()  # whole powers of ten, so that there are ticks to read
    axes.set_ylim(10.0 ** np.floor(np.log10(low)), 10.0 ** np.ceil(np.log10(high)))
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    style.label(axes, "$N$", "milliseconds")
    return figure
