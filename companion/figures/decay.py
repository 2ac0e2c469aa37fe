"""How R falls along a descent: Figures 1, 4 and 5."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from . import style

#: What falls along a descent.
R_ALONG = r"$R(\mathcal{S}^{(t)})$"


@style.drawn
def decay_curves(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    quantity: str = R_ALONG,
    title: str = "",
    height: float = 3.0,
) -> Figure:
    """One panel with a curve for each descent.

    Parameters
    ----------
    curves : mapping of str to (iterations, values)
        The descents, by the name that the legend gives them; a single one needs no legend.
    quantity : str
        What falls.
    title : str
        Whose decay it is.
    height : float
        Inches.
    """
    figure, axes = style.subplots(height=height)
    panel(axes[0, 0], curves, quantity=quantity)
    axes[0, 0].set_title(title)
    return figure


@style.drawn
def panel(axes: Axes, curves: Mapping[str, tuple[ArrayLike, ArrayLike]], *, quantity: str = R_ALONG) -> None:
    """The same in axes that are there already; logarithmic where the values span decades."""
    for place, (name, (iterations, values)) in enumerate(curves.items()):
        axes.plot(
            np.asarray(iterations),
            np.asarray(values),
            label=name,
            color=style.CYCLE[place % len(style.CYCLE)],
            linestyle=style.DASHES[place % len(style.DASHES)],
        )
    if style.spans_decades(np.concatenate([np.asarray(values, dtype=float) for _, values in curves.values()])):
        axes.set_yscale("log")
    if len(curves) > 1:
        axes.legend()
    style.label(axes, "iteration $t$", quantity)
