"""The picture of what landmarks are worth in models."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

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
