"""The whole paper in one picture: how far a Nyström sample is from the best possible, before and after the descent."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from . import style


@style.drawn
def before_and_after(panels: Mapping[str, Mapping[str, pd.DataFrame]]) -> Figure:
    """A line for each experiment: where the samples begin, where they end, and 1, which none can pass.

    ``panels`` has, by title, the experiments that share an axis: their names, and the tables of their results.
    """
    rows = [len(tables) for tables in panels.values()]
    height = 0.34 * sum(rows) + 0.6 * len(rows) + 0.6
    figure, axes = style.subplots(len(rows), height=height, height_ratios=[count + 0.5 for count in rows])
    for panel, (title, tables) in zip(axes[:, 0], panels.items(), strict=True):
        _rows(panel, tables)
        panel.set_title(title, loc="left")
    axes[-1, 0].set_xlabel("trace error over the smallest possible at the same rank (1 is best; logarithmic)")
    keys = [
        Line2D([], [], color=style.INITIAL, marker="o", linewidth=3, linestyle="-", label="drawn from the data"),
        Line2D([], [], color=style.OPTIMISED, marker="o", linewidth=3, linestyle="-", label="after the descent"),
    ]
    figure.legend(handles=keys, loc="outside upper left", ncols=2)
    return figure


def _rows(panel: Axes, tables: Mapping[str, pd.DataFrame]) -> None:
    for place, table in enumerate(tables.values()):
        ends = []
        for (stage, colour), shift in zip(style.COLOURS.items(), (-0.13, 0.13), strict=True):
            values = table.loc[table["stage"] == stage, "E_tr"].dropna()
            low, middle, high = np.quantile(values.to_numpy(dtype=float), (0.05, 0.5, 0.95))
            panel.plot([low, high], [place + shift] * 2, color=colour, linestyle="-", linewidth=3, alpha=0.55)
            panel.plot([middle], [place + shift], color=colour, marker="o", markersize=6, linestyle="none")
            ends.append((middle, place + shift))
        arrow = {"arrowstyle": "-|>", "color": style.REFERENCE, "linewidth": 0.9, "shrinkA": 5, "shrinkB": 5}
        panel.annotate("", xy=ends[1], xytext=ends[0], arrowprops=arrow, zorder=1)
    panel.axvline(1.0, color=style.REFERENCE, linewidth=0.9, linestyle=(0, (4, 2)), zorder=0)
    panel.set_xscale("log")
    panel.set_yticks(range(len(tables)), list(tables))
    panel.set_ylim(len(tables) - 0.5, -0.5)
    panel.grid(False, axis="y")
