"""The pictures beyond the paper: starts, objectives, step rules, and the arena."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from ..experiments.outcome import Array
from ..experiments.problems import PROBLEMS
from ..wording import SYMBOLS
from . import style

#: A point for each stage of a comparison of starts, told apart by colour and shape.
_ENDS = (
    ("start alone", style.INITIAL, "o"),
    ("after radial SKD", style.ACCENT, "s"),
    ("after trace", style.OPTIMISED, "D"),
)


def _grid(count: int, columns: int, height: float) -> tuple[Figure, list[Axes]]:
    """So many panels; those of the last row that are too many are taken away."""
    columns = min(columns, count)
    rows = math.ceil(count / columns)
    figure, axes = style.subplots(rows, columns, height=height * rows)
    panels = list(axes.ravel())
    for panel in panels[count:]:
        panel.remove()
    return figure, panels[:count]


def _factors(panel: Axes, values: Sequence[float], axis: str = "y") -> None:
    """A logarithmic axis with plain numbers where factors span decades, else a linear one."""
    if style.spans_decades(values, 1.3):
        getattr(panel, f"set_{axis}scale")("log")
        where = getattr(panel, f"{axis}axis")
        where.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        where.set_minor_formatter(NullFormatter())


# -- starts ------------------------------------------------------------------------------------------------------


@style.drawn
def starts(before: pd.DataFrame, radial: pd.DataFrame, trace: pd.DataFrame) -> Figure:
    """A panel for each problem, a row for each start: E_tr of the start and of what two descents make of it."""
    figure, panels = _grid(len(before), 2, 1.75)
    for panel, problem in zip(panels, before.index, strict=True):
        names = list(before.columns)
        places = np.arange(len(names))[::-1]
        for table, (label, colour, marker) in zip((before, radial, trace), _ENDS, strict=True):
            panel.plot(table.loc[problem, names], places, marker, color=colour, linestyle="none", label=label)
        low = [min(float(table.loc[problem, name]) for table in (before, radial, trace)) for name in names]
        high = [max(float(table.loc[problem, name]) for table in (before, radial, trace)) for name in names]
        panel.hlines(places, low, high, color=style.GRID, zorder=0)
        panel.set_yticks(places, names)
        _factors(panel, [*low, *high], "x")
        style.label(panel, title=PROBLEMS[str(problem)].title)
    for panel in panels[-2:]:
        panel.set_xlabel(SYMBOLS["E_tr"])
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


# -- objectives --------------------------------------------------------------------------------------------------


@style.drawn
def minimisers(data: Array, samples: Mapping[str, Array]) -> Figure:
    """The data, and in each panel the landmarks one objective leads to."""
    figure, axes = style.subplots(1, len(samples), height=style.WIDTH / len(samples) + 0.3, sharey=True)
    for panel, (title, sample) in zip(axes[0], samples.items(), strict=True):
        style.dots(panel, data, linewidth=1.2)
        panel.plot(*sample.T, "o", color=style.OPTIMISED, markersize=3.5, linestyle="none")
        panel.set_aspect("equal")
        style.label(panel, title=title)
    return figure


@style.drawn
def agreement(tables: Mapping[str, pd.DataFrame]) -> Figure:
    """A panel for each problem: E_tr against R, samples before a descent on R and after it."""
    figure, panels = _grid(len(tables), 4, 1.9)
    for panel, (problem, table) in zip(panels, tables.items(), strict=True):
        for stage, colour in style.COLOURS.items():
            some = table[table["stage"] == stage]
            panel.plot(some["R"], some["E_tr"], "o", color=colour, markersize=2.5, linestyle="none")
        panel.set_xscale("log")
        panel.xaxis.set_minor_formatter(NullFormatter())
        low, high = np.log10([table["R"].min(), table["R"].max()])
        panel.set_xlim(10.0 ** np.floor(low), 10.0 ** np.ceil(high))  # in so narrow a panel only powers of ten fit
        _factors(panel, list(table["E_tr"]))
        style.label(panel, "$R$", SYMBOLS["E_tr"], PROBLEMS[problem].title)
    return figure


# -- descents ----------------------------------------------------------------------------------------------------


@style.drawn
def decays(curves: Mapping[str, Mapping[str, pd.DataFrame]], against: str = "iteration") -> Figure:
    """A panel for each problem: R against steps, or against seconds, for each rule.

    The median and, shaded, all repetitions.
    """
    figure, axes = style.subplots(1, len(curves), height=2.9)
    for panel, (problem, rules) in zip(axes[0], curves.items(), strict=True):
        for (rule, curve), look in zip(rules.items(), _looks(), strict=False):
            some = curve[curve[against] > 0.0] if against == "seconds" else curve
            panel.plot(some[against], some["median"], label=rule, **look)
            panel.fill_between(some[against], some["low"], some["high"], color=look["color"], alpha=0.12, lw=0)
        panel.set_yscale("log")
        if against == "seconds":
            panel.set_xscale("log")
        style.label(panel, "step" if against == "iteration" else against, "$R$", PROBLEMS[problem].title)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def _looks() -> Iterator[dict[str, Any]]:
    yield from ({"color": colour, "linestyle": dash} for colour, dash in zip(style.CYCLE, style.DASHES, strict=True))


# -- the arena ---------------------------------------------------------------------------------------------------

#: The ways a picture shows by name, each with its marker; the rest are small grey dots.
_MARKED = {
    "uniform": ("o", style.INITIAL),
    "kmeans": ("^", "#4c9a8f"),
    "rpcholesky": ("v", "#8d97a1"),
    "KMeans": ("s", "#4c9a8f"),
    "MiniBatchKMeans": ("P", "#4c9a8f"),
    "Faiss": ("*", "#4c9a8f"),
}
_LINES = {
    "trace": (style.OPTIMISED, "-"),
    "weighted": (style.PATH, (0, (1, 1))),
    "radial": (style.ACCENT, (0, (5, 1.5))),
}


@style.drawn
def arena(table: pd.DataFrame) -> Figure:
    """A panel for each problem: E_tr against seconds, both logarithmic.

    Parameters
    ----------
    table : DataFrame
        Columns problem, way, budget (NaN for ways that end of themselves), seconds, E_tr: medians.
    """
    problems = list(dict.fromkeys(table["problem"]))
    figure, panels = _grid(len(problems), 2, 2.3)
    for panel, problem in zip(panels, problems, strict=True):
        some = table[table["problem"] == problem]
        for way, (colour, dash) in _LINES.items():
            line = some[some["way"] == way].sort_values("budget")
            panel.plot(line["seconds"], line["E_tr"], color=colour, linestyle=dash, marker="o", markersize=3, label=way)
        for row in some[some["budget"].isna()].itertuples():
            marker, colour = _MARKED.get(row.way, (".", style.REFERENCE))
            label = row.way if row.way in _MARKED else "others"
            panel.plot(row.seconds, row.E_tr, marker, color=colour, linestyle="none", label=label)
        panel.set_xscale("log")
        panel.axhline(1.0, color=style.REFERENCE, linestyle="--", linewidth=0.7)
        _factors(panel, list(some["E_tr"]))
        if panel.get_yscale() == "linear":  # or one bad choice would press all the others together
            panel.set_ylim(top=1.05 * some.loc[some["way"] != "greedy", "E_tr"].max())
        style.label(panel, "seconds", SYMBOLS["E_tr"], PROBLEMS[problem].title)
    named = dict(zip(*reversed(panels[0].get_legend_handles_labels()), strict=True))
    figure.legend(named.values(), named.keys(), loc="outside upper center", ncols=5)
    return figure
