"""The picture of chapter 9: the reader's data in a plane, the landmarks' way through it, and how R fell."""

from __future__ import annotations

from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from . import decay, paths, style


@style.drawn
def report(
    data: ArrayLike, path: ArrayLike, labels: tuple[str, str], iterations: ArrayLike, values: ArrayLike, quantity: str
) -> Figure:
    """Two panels side by side.

    Parameters
    ----------
    data : array, (·, 2)
        Data points in the plane.
    path : array, (k, n, 2)
        The landmarks in the plane at the iterations kept.
    labels : tuple of str
        What the plane's axes are.
    iterations, values : array, (k,)
        Those iterations, and R there.
    quantity : str
        What the values are called: R, or R without its constant.
    """
    figure, panels = style.subplots(1, 2, height=3.9, width_ratios=[1, 0.9])
    paths.landmarks(panels[0, 0], data, path)
    style.label(panels[0, 0], *labels)
    panels[0, 0].set_aspect("auto")
    decay.panel(panels[0, 1], {"": (iterations, values)}, quantity=quantity)
    return figure
