"""The reader's data with their landmarks in a plane, and the error of uniform landmarks beside ours."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import nystrom_lib as nl

from ..experiments.outcome import Array
from ..studies.own_data import Optimised, some_points
from ..wording import mathtext
from . import paths, style


def plane(dataset: nl.datasets.Dataset) -> tuple[Array, Array, float]:
    """The mean, the directions of the first two principal components, (d, 2), and their share of the variance."""
    some = some_points(dataset.X)
    centre = some.mean(axis=0)
    _, lengths, directions = np.linalg.svd(some - centre, full_matrices=False)
    axes = directions[:2].T
    # the sign of a principal component is arbitrary: its largest entry is made positive
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    return centre, axes, float(np.sum(lengths[:2] ** 2) / np.sum(lengths**2))


@style.drawn
def report(optimised: Optimised) -> Figure:
    """Two panels side by side; up to two columns are shown in their own units, more in a plane through them."""
    data = optimised.dataset
    points, ends = some_points(data.X), np.stack([optimised.result.start, optimised.result.sample])
    if data.d > 2:
        centre, axes, _ = plane(data)
        points, ends = ((each - centre) @ axes for each in (points, ends))
        labels = ["first principal component", "second principal component"]
    else:
        points, ends = map(data.in_original_units, (points, ends))
        labels = [*data.columns, "before and after"][:2]
    if data.d == 1:  # across the one column, before and after
        points, ends = (np.concatenate([each, np.zeros_like(each)], axis=-1) for each in (points, ends))
        ends[1, :, 1] = 1.0
    figure, panels = style.subplots(1, 2, height=3.9, width_ratios=[1, 0.9])
    paths.landmarks(panels[0, 0], points, ends)
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
