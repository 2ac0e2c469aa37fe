"""The picture of chapter 9: the reader's data in a plane, the landmarks' way through it, and how R fell."""

from __future__ import annotations

from matplotlib.figure import Figure

from ..studies.own_data import Optimised, plane, thinned
from ..wording import mathtext
from . import decay, paths, style


@style.drawn
def report(found: Optimised) -> Figure:
    """Two panels side by side; up to two columns are shown in their own units, more in a plane through them."""
    data, results = found.dataset, found.results
    (iterations, path), shown, view = results.path(0), thinned(data.X), plane(data)
    if data.d <= 2:
        shown, path = data.in_original_units(shown), data.in_original_units(path)
    points, ways, labels = view(shown), view(path), view.labels
    if data.d == 1:  # across the one column, how far the descent has come
        ways[:, :, 1] = iterations[:, None]
        labels = labels[0], "iteration"
    figure, panels = style.subplots(1, 2, height=3.9, width_ratios=[1, 0.9])
    paths.landmarks(panels[0, 0], points, ways)
    style.label(panels[0, 0], *map(mathtext, labels))
    panels[0, 0].set_aspect("auto")
    quantity = "$R(S^{(t)})$" if results.experiment.constant else r"$R(S^{(t)}) - \|\mathbf{K}\|_F^2$"
    decay.panel(panels[0, 1], {"": (iterations, results.curves["R"])}, quantity=quantity)
    return figure
