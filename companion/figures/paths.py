"""The paths of landmarks in the plane over the data: Figure 1."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from . import style


@style.drawn
def landmarks(axes: Axes, data: ArrayLike, path: ArrayLike) -> None:
    """The data as light dots, squares at S⁽⁰⁾, dots at S⁽ᵀ⁾, and the lines between."""
    path = np.asarray(path, dtype=float)
    style.dots(axes, data, label="data")
    gap = np.full((1, path.shape[1], 2), np.nan)
    lines = np.concatenate([path, gap]).swapaxes(0, 1).reshape(-1, 2)
    axes.plot(lines[:, 0], lines[:, 1], color=style.PATH, linestyle="-", linewidth=1.0, zorder=2, label="path")
    _mark(axes, path[0], "s", "initial", 4.2)
    _mark(axes, path[-1], "o", "optimised", 4.6)
    axes.set_aspect("equal")
    axes.grid(False)
    style.label(axes, "first coordinate", "second coordinate")
    handles, labels = axes.get_legend_handles_labels()
    # The data are one path of many dots, which a legend would show as a line.
    handles[0] = Line2D([], [], color=style.DATA, marker="o", markersize=2.5, linestyle="none")
    axes.legend(
        handles, labels, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, handlelength=1.2, columnspacing=1.2
    )


def _mark(axes: Axes, points: np.ndarray, marker: str, stage: str, size: float) -> None:
    axes.plot(
        points[:, 0],
        points[:, 1],
        marker=marker,
        markersize=size,
        linestyle="none",
        markerfacecolor=style.COLOURS[stage],
        markeredgecolor=style.INK,
        markeredgewidth=0.6,
        zorder=3,
        label=style.SAMPLES[stage],
    )
