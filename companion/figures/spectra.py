"""Leading eigenvalues of kernel matrices: how fast a spectrum falls says what a sample of n landmarks can do."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from . import style


@style.drawn
def spectra(eigenvalues: Mapping[str, ArrayLike], *, n: int | None = None, height: float = 3.2) -> Figure:
    """The eigenvalues of several matrices on a logarithmic axis, largest first.

    Parameters
    ----------
    eigenvalues : mapping of str to array
        By the name that the legend gives them.
    n : int, optional
        Mark this number of landmarks: what lies to its right is what K_n leaves out.
    height : float
        Inches.
    """
    figure, panels = style.subplots(height=height)
    axes = panels[0, 0]
    for place, (name, values) in enumerate(eigenvalues.items()):
        values = np.asarray(values, dtype=float)
        axes.plot(
            np.arange(1, len(values) + 1),
            values,
            label=name,
            color=style.CYCLE[place % len(style.CYCLE)],
            linestyle=style.DASHES[place % len(style.DASHES)],
        )
    axes.set_yscale("log")
    if n is not None:
        axes.axvline(n, color=style.REFERENCE, linewidth=0.9, linestyle=(0, (4, 2)), zorder=0.9)
        axes.annotate(f"$n$ = {n:,}", (n, 0.97), (4, 0), xycoords=("data", "axes fraction"), textcoords="offset points",
                      va="top", color=style.REFERENCE)  # fmt: skip
    axes.legend()
    style.label(axes, r"$k$", r"$\lambda_k(\mathbf{K})$")
    return figure
