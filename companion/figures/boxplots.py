"""Boxplots of the criteria before and after the optimisation: Figures 2, 3 and 4.

A row of panels is an experiment and a column a criterion. On a logarithmic axis the whiskers are computed from
logarithms; otherwise a skewed distribution would show most of its upper half as outliers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cbook import boxplot_stats
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import ArrayLike

from ..experiments.outcome import STAGES
from ..wording import FACTORS, SYMBOLS
from . import style, trajectories


@style.drawn
def before_and_after(rows: Mapping[str, pd.DataFrame], criteria: Sequence[str], title: str) -> Figure:
    """One row of panels for each table of results, one column for each criterion."""
    figure, panels = style.subplots(len(rows), len(criteria), height=1.75 * len(rows) + 0.2)
    _fill(panels, rows, criteria)
    figure.suptitle(title, fontsize=9.5)
    return figure


@style.drawn
def with_decay(
    rows: Mapping[str, pd.DataFrame], criteria: Sequence[str], iterations: ArrayLike, values: ArrayLike, title: str
) -> Figure:
    """The same panels, and at their right, over all rows, the decay of R with its own title: Figure 4."""
    layout: Any = [[*(f"{row}/{criterion}" for criterion in criteria), "decay"] for row in rows]
    figure = Figure(figsize=(style.WIDTH, 1.9 * len(rows) + 0.2), layout="constrained")
    panels = figure.subplot_mosaic(layout, width_ratios=[*[1.0] * len(criteria), 1.7])
    _fill([[panels[f"{row}/{criterion}"] for criterion in criteria] for row in rows], rows, criteria)
    trajectories.decay(panels["decay"], {"R": (iterations, values)})
    panels["decay"].set_title(title)
    return figure


def _fill(panels: Iterable[Sequence[Axes]], rows: Mapping[str, pd.DataFrame], criteria: Sequence[str]) -> None:
    for place, (line, (name, table)) in enumerate(zip(panels, rows.items(), strict=True)):
        for axes, criterion in zip(line, criteria, strict=True):
            panel(axes, table, criterion)
            if place == 0:
                axes.set_title(SYMBOLS[criterion])
        line[0].set_ylabel(name)


def panel(axes: Axes, table: pd.DataFrame, criterion: str) -> None:
    """Two boxes, before and after; for a factor of Eq. (8) also the best possible value, 1."""
    table = table[np.isfinite(table[criterion])]  # a descent that diverged has no optimised value
    logarithmic = style.spans_decades(table[criterion])
    scaled = table.assign(value=np.log(table[criterion]) if logarithmic else table[criterion])
    if logarithmic:
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(NullFormatter())
    for place, stage in enumerate(STAGES):
        some = scaled.loc[scaled["stage"] == stage, "value"].to_numpy()
        for stats in boxplot_stats(some) if len(some) else ():
            # a white median would cover a flat box
            flat = stats["q3"] - stats["q1"] < 0.06 * np.ptp(scaled["value"])
            _box(axes, place, {key: np.exp(each) for key, each in stats.items()} if logarithmic else stats, flat)
    if criterion in FACTORS.values():
        axes.axhline(1.0, color=style.REFERENCE, linewidth=0.9, linestyle=(0, (4, 2)), zorder=0.9)
    axes.set_xlim(-0.6, len(STAGES) - 0.4)
    axes.set_xticks(range(len(STAGES)), [style.SAMPLES[stage] for stage in STAGES])
    axes.grid(False, axis="x")


def _box(axes: Axes, place: int, stats: dict[str, Any], flat: bool) -> None:
    """Quartiles, median, whiskers of 1.5 interquartile ranges, and a light dash for each outlier."""
    colour = style.COLOURS[STAGES[place]]
    line = {"color": style.INK, "linewidth": 0.9}
    axes.bxp(
        [stats],
        positions=[place],
        widths=0.6,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": colour, "edgecolor": style.INK, "linewidth": 0.9},
        medianprops=line if flat or colour == style.INITIAL else line | {"color": "white"},
        whiskerprops=line,
        capprops=line,
        flierprops={"marker": "_", "markersize": 6, "markeredgecolor": colour, "markeredgewidth": 0.7, "alpha": 0.75},
    )
