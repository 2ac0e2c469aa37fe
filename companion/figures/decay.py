"""How R falls along a descent: Figures 1, 4 and 5."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from . import style

#: What falls along a descent.
R_ALONG = r"$R(\mathcal{S}^{(t)})$"


@style.drawn
def panel(axes: Axes, curves: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> None:
    """A curve (iterations, values) for each descent by name; logarithmic where the values span decades."""
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
    style.label(axes, "iteration $t$", R_ALONG)
