"""How R falls along a descent, and what becomes of the trace factor meanwhile: Figures 1, 4 and 5."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from ..studies.along import Along
from ..wording import SYMBOLS, number
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


@style.drawn
def with_trace_factor(descents: Mapping[str, Along]) -> Figure:
    """R and the trace factor along descents, each over its value at the start; the dashes are the best factor, 1.

    Parameters
    ----------
    descents : mapping of str to Along
        By the title of their panel.
    """
    figure, axes = style.subplots(1, len(descents), height=3.2)
    for panel_axes, (title, along) in zip(axes[0], descents.items(), strict=True):
        for name, values, colour, dash in (
            ("R", along.R, style.OPTIMISED, style.DASHES[0]),
            ("E_tr", along.E_tr, style.ACCENT, style.DASHES[1]),
        ):
            share = values / values[0]
            panel_axes.plot(along.iterations, share, color=colour, linestyle=dash)
            panel_axes.annotate(
                f"{SYMBOLS[name]}: {number(values[0])} → {number(values[-1])}",
                (along.iterations[-1], share[len(share) // 2]),  # above the curve for all its length
                (0, 5),
                textcoords="offset points",
                ha="right",
                color=colour,
            )
        panel_axes.axhline(1.0 / along.E_tr[0], color=style.ACCENT, linewidth=0.9, linestyle=(0, (4, 2)), alpha=0.7)
        panel_axes.annotate(
            f"best possible {SYMBOLS['E_tr']}",
            (along.iterations[-1], 1.0 / along.E_tr[0]),
            (0, 4),
            textcoords="offset points",
            ha="right",
            color=style.ACCENT,
        )
        panel_axes.set_yscale("log")
        style.label(panel_axes, "iteration $t$", "value over that at the start", title)
    return figure
