"""Pictures of the stochastic gradients: bias and spread against b, and the descents they make (§3)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from . import style

_LOOK = {
    "one-sample": (style.OPTIMISED, "-", "o"),
    "two-sample": (style.INITIAL, (0, (5, 1.5)), "s"),
    "four-sample": (style.ACCENT, (0, (1, 1.2)), "^"),
    "exact": (style.REFERENCE, "-", ""),
}


@style.drawn
def bias_and_spread(table: pd.DataFrame) -> Figure:
    """Left the bias, found and in closed form; right the standard deviation; both over ‖∇R‖, against b.

    Parameters
    ----------
    table : DataFrame
        Of :func:`~nystrom_lib.companion.studies.estimators.moments`.
    """
    figure, panels = style.subplots(1, 2, height=3.2)
    left, right = panels[0]
    one = table[table["estimator"] == "one-sample"]
    left.plot(one["b"], one["exact"], "-", color=style.OPTIMISED, label="one-sample, closed form")
    # the length of a mean over finitely many batches has a part of its own
    expected = np.sqrt(one["exact"] ** 2 + one["noise"] ** 2)
    left.plot(one["b"], expected, ":", color=style.REFERENCE, label="closed form and chance")
    left.plot(one["b"], one["bias"], "o", color=style.OPTIMISED, linestyle="none", label="found over the batches")
    for kind, group in table.groupby("estimator", sort=False):
        colour, dash, marker = _LOOK[str(kind)]
        right.plot(group["b"], group["deviation"], marker=marker, linestyle=dash, color=colour, label=str(kind))
    for axes, quantity in ((left, r"bias / $\|\nabla R\|$"), (right, r"standard deviation / $\|\nabla R\|$")):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        sizes = one["b"].to_numpy()
        axes.set_xticks(sizes, [str(b) for b in sizes])
        axes.legend()
        style.label(axes, "batch size $b$", quantity)
    return figure


@style.drawn
def descents(table: pd.DataFrame) -> Figure:
    """A panel for each b: R along the descents, the median over repetitions and their range.

    Parameters
    ----------
    table : DataFrame
        Of :func:`~nystrom_lib.companion.studies.estimators.descents`.
    """
    sizes = [b for b in table["b"].unique() if (table.loc[table["b"] == b, "estimator"] != "exact").any()]
    figure, panels = style.subplots(1, len(sizes), height=3.0, sharey=True)
    exact = table[table["estimator"] == "exact"]
    for axes, b in zip(panels[0], sizes, strict=True):
        axes.plot(exact["iteration"], exact["R"], color=style.REFERENCE, linewidth=1.0, linestyle="-", label="exact")
        chosen = table[(table["b"] == b) & (table["estimator"] != "exact")]
        for kind, group in chosen.groupby("estimator", sort=False):
            colour, dash, _ = _LOOK[str(kind)]
            over = group.groupby("iteration")["R"]
            t = np.array(list(over.groups))
            axes.fill_between(t, over.min(), over.max(), color=colour, alpha=0.2, linewidth=0)
            axes.plot(t, over.median(), linestyle=dash, color=colour, label=str(kind))
        axes.set_yscale("log")
        style.label(axes, "iteration $t$", "$R(S^{(t)})$" if axes is panels[0, 0] else "", f"$b$ = {b}")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure
