"""Times against a size, both logarithmic: a power of the size is a straight line."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from . import style


@style.drawn
def times(timings: pd.DataFrame, *, size: str = "$N$", height: float = 3.0, unit: str = "milliseconds") -> Figure:
    """A line for each thing timed.

    Parameters
    ----------
    timings : DataFrame
        Of :func:`~companion.studies.costs.against`.
    size : str
        What the size is called.
    height : float
        Inches.
    unit : str
        ``"milliseconds"`` or ``"seconds"``.
    """
    figure, panels = style.subplots(1, 1, height=height)
    axes = panels[0, 0]
    factor = {"milliseconds": 1e3, "seconds": 1.0}[unit]
    markers = ("o", "s", "D", "^", "v")
    for k, (what, group) in enumerate(timings.groupby("what", sort=False)):
        axes.plot(
            group["size"],
            factor * group["seconds"],
            marker=markers[k % 5],
            color=style.CYCLE[k % 5],
            linestyle=style.DASHES[k % 5],
            label=str(what),
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    sizes = sorted(timings["size"].unique())
    axes.set_xticks(sizes, [f"{value:,}" for value in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    low, high = axes.get_ylim()  # whole powers of ten, so that there are ticks to read
    axes.set_ylim(10.0 ** np.floor(np.log10(low)), 10.0 ** np.ceil(np.log10(high)))
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    style.label(axes, size, unit)
    return figure
