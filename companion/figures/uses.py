"""The pictures of what landmarks are for, and of landmarks on a sphere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ..experiments.outcome import Array
from . import style

_MARKERS = "osD^"


@style.drawn
def losses(tables: Mapping[str, tuple[pd.DataFrame, float]]) -> Figure:
    """A panel for each task: the test loss against n for each way, and, dashed, that of the kernel itself."""
    figure, axes = style.subplots(1, len(tables), height=2.8)
    for panel, (label, (table, exact)) in zip(axes[0], tables.items(), strict=True):
        for way, marker, colour in zip(table.columns, _MARKERS, style.CYCLE, strict=False):
            panel.plot(table.index, table[way], marker=marker, color=colour, linestyle="-", label=way)
        panel.axhline(exact, color=style.REFERENCE, linestyle="--", linewidth=0.9, label="every point a landmark")
        style.label(panel, "$n$", label)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


@style.drawn
def designs(panels: Sequence[tuple[str, Array, Array]]) -> Figure:
    """Designs side by side: a title, the points of the region, the points to measure at."""
    figure, axes = style.subplots(1, len(panels), height=style.WIDTH / len(panels) + 0.3, sharey=True)
    for panel, (title, data, sample) in zip(axes[0], panels, strict=True):
        style.dots(panel, data, linewidth=1.0)
        panel.plot(*sample.T, "o", color=style.OPTIMISED, linestyle="none", markersize=4)
        panel.set_aspect("equal")
        style.label(panel, title=title)
    return figure


@style.drawn
def components(panels: Mapping[str, Array], classes: Array) -> Figure:
    """Two principal components in each panel, a colour for each class."""
    figure, axes = style.subplots(1, len(panels), height=style.WIDTH / len(panels) + 0.3, sharex=True, sharey=True)
    for panel, (title, scores) in zip(axes[0], panels.items(), strict=True):
        panel.scatter(*scores.T, c=classes, s=4, cmap=style.COLOUR_MAP, linewidths=0, rasterized=True)
        style.label(panel, "first component", "", title)
    axes[0, 0].set_ylabel("second component")
    return figure


@style.drawn
def globe(data: Array, samples: Mapping[str, Array], view: tuple[float, float] = (20.0, 30.0)) -> Figure:
    """The near side of the sphere in parallel projection: data in grey, landmarks in blue."""
    up, round_ = np.radians(view)
    turn = np.array([[-np.sin(round_), np.cos(round_), 0.0],
                     [-np.sin(up) * np.cos(round_), -np.sin(up) * np.sin(round_), np.cos(up)],
                     [np.cos(up) * np.cos(round_), np.cos(up) * np.sin(round_), np.sin(up)]])  # fmt: skip
    figure, axes = style.subplots(1, len(samples), height=style.WIDTH / len(samples) + 0.3)
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    for panel, (title, sample) in zip(axes[0], samples.items(), strict=True):
        panel.plot(np.cos(angle), np.sin(angle), color=style.REFERENCE, linewidth=0.8, linestyle="-")
        for points, draw in ((data, style.dots), (sample, None)):
            seen = points @ turn.T
            near = seen[seen[:, 2] > 0.0, :2]
            if draw is not None:
                draw(panel, near, linewidth=1.2)
            else:
                panel.plot(*near.T, "o", color=style.OPTIMISED, linestyle="none", markersize=4.5)
        panel.set_aspect("equal")
        panel.set_axis_off()
        panel.set_title(title)
    return figure
