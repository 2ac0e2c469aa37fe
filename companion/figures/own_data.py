"""The reader's data with their landmarks in a plane, and the error of uniform landmarks beside ours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import nystrom_lib as nl

from ..experiments.outcome import Array
from ..studies.own_data import Optimised, some_points
from ..wording import mathtext
from . import paths, style


class Plane(NamedTuple):
    """The plane of two coordinates, or of the first two principal components."""

    centre: Array  #: the origin, (d,)
    axes: Array  #: the two directions, (d, 2)
    labels: tuple[str, str]  #: of the axes
    share: float  #: of the data's variance

    def project(self, points: Array) -> Array:
        """Points in the plane; any shape whose last axis is d."""
        shown: Array = (np.asarray(points, dtype=np.float64) - self.centre) @ self.axes
        return shown


def plane(dataset: nl.datasets.Dataset) -> Plane:
    """The plane for these data; with one column, that column and nothing across it."""
    d = dataset.d
    if d <= 2:
        names = (*dataset.columns, "")[:2]
        return Plane(np.zeros(d), np.eye(d, 2), (names[0], names[1]), 1.0)
    some = some_points(dataset.X)
    centre = some.mean(axis=0)
    _, lengths, directions = np.linalg.svd(some - centre, full_matrices=False)
    axes = directions[:2].T
    # the sign of a principal component is arbitrary: its largest entry is made positive
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    share = float(np.sum(lengths[:2] ** 2) / np.sum(lengths**2))
    return Plane(centre, axes, ("first principal component", "second principal component"), share)


@style.drawn
def report(optimised: Optimised) -> Figure:
    """Two panels side by side; up to two columns are shown in their own units, more in a plane through them."""
    data, view = optimised.dataset, plane(optimised.dataset)
    shown, ends = some_points(data.X), np.stack([optimised.result.start, optimised.result.sample])
    if data.d <= 2:
        shown, ends = data.in_original_units(shown), data.in_original_units(ends)
    points, lines, labels = view.project(shown), view.project(ends), view.labels
    if data.d == 1:  # across the one column, before and after
        lines[:, :, 1] = np.array([0.0, 1.0])[:, None]
        labels = labels[0], "before and after"
    figure, panels = style.subplots(1, 2, height=3.9, width_ratios=[1, 0.9])
    paths.landmarks(panels[0, 0], points, lines)
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
