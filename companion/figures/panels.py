"""Panels for many problems: a grid of them, and axes for factors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from . import style


def grid(count: int, columns: int, height: float) -> tuple[Figure, list[Axes]]:
    """A figure with this many panels of a height in inches; the last row may be shorter."""
    columns = min(columns, count)
    rows = math.ceil(count / columns)
    figure, axes = style.subplots(rows, columns, height=height * rows)
    panels = list(axes.ravel())
    for panel in panels[count:]:
        panel.remove()
    return figure, panels[:count]


def factors(panel: Axes, values: Sequence[float], axis: str = "y") -> None:
    """Make an axis logarithmic, with plain numbers, where the values span decades."""
    if style.spans_decades(values, 1.3):
        getattr(panel, f"set_{axis}scale")("log")
        where = getattr(panel, f"{axis}axis")
        where.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        where.set_minor_formatter(NullFormatter())
