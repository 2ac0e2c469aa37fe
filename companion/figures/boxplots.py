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
from . import decay, style

_HALF_BOX, _HALF_DASH = 0.3, 0.09
_FLAT = 0.06


@style.drawn
def before_and_after(
    rows: Mapping[str, pd.DataFrame],
    criteria: Sequence[str] = ("R", *FACTORS.values()),
    *,
    title: str = "",
    row_height: float = 1.75,
) -> Figure:
    """One row of panels for each table of results, one column for each criterion; ``row_height`` is in inches."""
    figure, panels = style.subplots(len(rows), len(criteria), height=row_height * len(rows) + 0.2)
    _fill(panels, rows, criteria)
    if title:
        figure.suptitle(title, fontsize=9.5)
    return figure


@style.drawn
def with_decay(
    rows: Mapping[str, pd.DataFrame],
    criteria: Sequence[str],
    iterations: ArrayLike,
    values: ArrayLike,
    *,
    title: str = "",
) -> Figure:
    """The same panels, and at their right, over all rows, the decay of R with its own title: Figure 4."""
    layout: Any = [[*(f"{row}/{criterion}" for criterion in criteria), "decay"] for row in rows]
    figure = Figure(figsize=(style.WIDTH, 1.9 * len(rows) + 0.2), layout="constrained")
    panels = figure.subplot_mosaic(layout, width_ratios=[*[1.0] * len(criteria), 1.7])
    _fill([[panels[f"{row}/{criterion}"] for criterion in criteria] for row in rows], rows, criteria)
    decay.panel(panels["decay"], {"R": (iterations, values)})
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
    values = {stage: _values(table, stage, criterion) for stage in STAGES}
    every = np.concatenate(list(values.values()))
    logarithmic = style.spans_decades(every)
    within = float(np.ptp(np.log(every) if logarithmic else every)) if len(every) else 0.0
    if logarithmic:
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(NullFormatter())
    for place, stage in enumerate(STAGES):
        if len(values[stage]):
            box(axes, place, values[stage], style.COLOURS[stage], logarithmic=logarithmic, within=within)
    if criterion in FACTORS.values():
        axes.axhline(1.0, color=style.REFERENCE, linewidth=0.9, linestyle=(0, (4, 2)), zorder=0.9)
    axes.set_xlim(-0.6, len(STAGES) - 0.4)
    axes.set_xticks(range(len(STAGES)), [style.SAMPLES[stage] for stage in STAGES])
    axes.grid(False, axis="x")


def box(axes: Axes, place: float, values: Any, colour: str, *, logarithmic: bool = False, within: float = 0.0) -> None:
    """One box: quartiles, median, whiskers of 1.5 interquartile ranges, and a light dash for each outlier.

    ``within`` is the range of the axis. The median is white on a dark box, unless the box is so flat that white would
    cover it.
    """
    (stats,) = boxplot_stats(np.log(values) if logarithmic else values)
    flat = stats["q3"] - stats["q1"] < _FLAT * within
    if logarithmic:
        stats = {name: np.exp(value) for name, value in stats.items()}
    line = {"color": style.INK, "linewidth": 0.9}
    axes.bxp(
        [stats],
        positions=[place],
        widths=2 * _HALF_BOX,
        showfliers=False,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": colour, "edgecolor": style.INK, "linewidth": 0.9},
        medianprops={"color": style.INK if flat or colour == style.INITIAL else "white", "linewidth": 0.9},
        whiskerprops=line,
        capprops=line,
    )
    outliers = np.asarray(stats["fliers"], dtype=float)
    gap = np.full(len(outliers), np.nan)
    x = np.tile([place - _HALF_DASH, place + _HALF_DASH, np.nan], len(outliers))
    y = np.column_stack([outliers, outliers, gap]).ravel()
    axes.plot(x, y, color=colour, linewidth=0.7, linestyle="-", alpha=0.75, label="outliers")


def _values(table: pd.DataFrame, stage: str, criterion: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The finite values: a descent that diverged has no optimised value."""
    values = table.loc[table["stage"] == stage, criterion].to_numpy(dtype=float)
    return np.asarray(values[np.isfinite(values)])
