"""The reader's data with their landmarks in a plane, and the error of uniform landmarks beside ours."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.decomposition import PCA

from ..studies.own_data import Optimised, some_points
from . import style, trajectories


@style.drawn
def report(optimised: Optimised) -> Figure:
    """Two panels side by side; up to two columns are shown in their own units, more in a plane through them."""
    data = optimised.dataset
    points, ends = some_points(data.X), np.stack([optimised.result.start, optimised.result.sample])
    if data.d > 2:
        principal = PCA(2, svd_solver="full").fit(points)
        points, ends = principal.transform(points), np.stack([principal.transform(each) for each in ends])
        labels = ["first principal component", "second principal component"]
    else:
        points, ends = map(data.in_original_units, (points, ends))
        labels = [*data.columns, "before and after"][:2]
    if data.d == 1:  # across the one column, before and after
        points, ends = (np.concatenate([each, np.zeros_like(each)], axis=-1) for each in (points, ends))
        ends[1, :, 1] = 1.0
    figure, panels = style.subplots(1, 2, height=3.9, width_ratios=[1, 0.9])
    trajectories.paths(panels[0, 0], points, ends)
    style.label(panels[0, 0], *(label.replace("$", r"\$") for label in labels))  # no formulas
    panels[0, 0].set_aspect("auto")
    _uniform(panels[0, 1], optimised)
    return figure


def _uniform(axes: Axes, optimised: Optimised) -> None:
    """The mean error against the number of landmarks: uniform ones, ours, and the best possible."""
    errors, enough = optimised.uniform
    widest = 2 * max(optimised.n, enough or max(errors))
    shown = {m: error for m, error in errors.items() if m <= widest}
    axes.plot(list(shown), list(shown.values()), "o-", color=style.INITIAL, markersize=3, label="uniform landmarks")
    axes.plot([optimised.n], [optimised.ours], "o", color=style.OPTIMISED, label="optimised")
    least = optimised.least[: 2 * optimised.n + 1]
    axes.plot(range(1, len(least)), least[1:], color=style.REFERENCE, label="best possible")
    axes.axhline(optimised.ours, color=style.OPTIMISED, linestyle=":")
    if min(shown.values()) > 0.0 and optimised.ours > 0.0:
        axes.set_yscale("log")
    style.label(axes, "number of landmarks", "mean error of a point")
    axes.legend()
