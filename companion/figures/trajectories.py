"""What a descent does: how R falls, and the paths of landmarks in the plane; Figures 1, 4 and 5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from ..experiments.outcome import STAGES
from . import style

#: What falls along a descent.
R_ALONG = r"$R(\mathcal{S}^{(t)})$"


@style.drawn
def decay(axes: Axes, curves: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> None:
    """A curve (iterations, values) for each descent by name; logarithmic where the values span decades."""
    for place, (name, (iterations, values)) in enumerate(curves.items()):
        look: Any = {"color": style.CYCLE[place % 5], "linestyle": style.DASHES[place % 5]}
        axes.plot(np.asarray(iterations), np.asarray(values), label=name, **look)
    if style.spans_decades(np.concatenate([np.asarray(values, dtype=float) for _, values in curves.values()])):
        axes.set_yscale("log")
    if len(curves) > 1:
        axes.legend()
    style.label(axes, "iteration $t$", R_ALONG)


@style.drawn
def paths(axes: Axes, data: ArrayLike, path: ArrayLike) -> None:
    """The data as light dots, squares at S⁽⁰⁾, dots at S⁽ᵀ⁾, and the paths of the landmarks between."""
    path = np.asarray(path, dtype=float)
    style.dots(axes, data, label="data")
    gap = np.full((1, path.shape[1], 2), np.nan)
    lines = np.concatenate([path, gap]).swapaxes(0, 1).reshape(-1, 2)
    axes.plot(lines[:, 0], lines[:, 1], color=style.PATH, linestyle="-", linewidth=1.0, zorder=2, label="path")
    for stage, points, marker, size in zip(STAGES, (path[0], path[-1]), "so", (4.2, 4.6), strict=True):
        axes.plot(
            *points.T, marker, markersize=size, color=style.COLOURS[stage], markeredgecolor=style.INK,
            markeredgewidth=0.6, linestyle="none", zorder=3, label=style.SAMPLES[stage],
        )  # fmt: skip
    axes.set_aspect("equal")
    axes.grid(False)
    style.label(axes, "first coordinate", "second coordinate")
    handles, labels = axes.get_legend_handles_labels()
    # The data are one path of many dots, which a legend would show as a line.
    handles[0] = Line2D([], [], color=style.DATA, marker="o", markersize=2.5, linestyle="none")
    axes.legend(
        handles, labels, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, handlelength=1.2, columnspacing=1.2
    )
