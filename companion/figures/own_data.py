"""The picture of chapter 13: the reader's data in a plane with the landmarks, and what uniform ones would cost."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..studies.own_data import Optimised, plane, thinned
from ..wording import mathtext
from . import paths, style


@style.drawn
def report(optimised: Optimised) -> Figure:
    """Two panels side by side; up to two columns are shown in their own units, more in a plane through them."""
    data, view = optimised.dataset, plane(optimised.dataset)
    shown, ends = thinned(data.X), np.stack([optimised.result.start, optimised.result.sample])
    if data.d <= 2:
        shown, ends = data.in_original_units(shown), data.in_original_units(ends)
    points, ways, labels = view(shown), view(ends), view.labels
    if data.d == 1:  # across the one column, before and after
        ways[:, :, 1] = np.array([0.0, 1.0])[:, None]
        labels = labels[0], "before and after"
    figure, panels = style.subplots(1, 2, height=3.9, width_ratios=[1, 0.9])
    paths.landmarks(panels[0, 0], points, ways)
    style.label(panels[0, 0], *map(mathtext, labels))
    panels[0, 0].set_aspect("auto")
    _uniform(panels[0, 1], optimised)
    return figure


def _uniform(axes: Axes, optimised: Optimised) -> None:
    """The mean error against the number of landmarks: uniform ones, ours, and the best possible."""
    numbers, errors = zip(*optimised.uniform.items(), strict=True)
    axes.plot(numbers, errors, "o-", color=style.COLOURS["initial"], markersize=3, label="uniform landmarks")
    axes.plot([optimised.request.n], [optimised.ours], "o", color=style.COLOURS["optimised"], label="optimised")
    most = min(2 * max(numbers[0], optimised.request.n), len(optimised.least) - 1)
    axes.plot(range(1, most + 1), optimised.least[1 : most + 1], color=style.REFERENCE, label="best possible")
    axes.axhline(optimised.ours, color=style.COLOURS["optimised"], linestyle=":")
    if min(errors) > 0.0 and optimised.ours > 0.0:
        axes.set_yscale("log")
    style.label(axes, "number of landmarks", "mean error of a point")
    axes.legend()
