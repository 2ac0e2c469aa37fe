"""Pictures of the stochastic gradients: bias and spread against b, and the descents they make (§3)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from ..experiments.outcome import Array
from ..studies.estimators import Terms, one_sample_bias
from . import decay, style

_LOOK = {
    "one-sample": (style.OPTIMISED, "-", "o"),
    "two-sample": (style.INITIAL, (0, (5, 1.5)), "s"),
    "four-sample": (style.ACCENT, (0, (1, 1.2)), "^"),
    "exact": (style.REFERENCE, "-", ""),
}


@style.drawn
def clouds(terms: Terms, estimates: Mapping[str, ArrayLike], b: int) -> Figure:
    """The estimates of the gradient of one landmark, a panel for each estimator.

    Parameters
    ----------
    terms : Terms
        At the sample whose gradient it is; the data are in the plane.
    estimates : mapping of str to array, (batches, 2n)
        Of :func:`~companion.studies.estimators.clouds`.
    b : int
        The batch size.
    """
    figure, panels = style.subplots(1, len(estimates), height=3.4, sharex=True, sharey=True)
    exact, bias = terms.gradient.reshape(-1, 2), one_sample_bias(terms, b).reshape(-1, 2)
    which = int(np.argmax(np.linalg.norm(exact, axis=1)))  # the landmark with the longest gradient
    for axes, (kind, found) in zip(panels[0], estimates.items(), strict=True):
        dots = np.asarray(found).reshape(len(np.asarray(found)), -1, 2)[:, which]
        colour = _LOOK[kind][0]
        style.dots(axes, dots, color=colour, linewidth=2.4, alpha=0.7)
        mean = exact[which] + (bias[which] if kind == "one-sample" else 0.0)
        _ellipse(axes, mean, np.cov(dots.T), colour)
        axes.plot(*mean, "o", color="none", markeredgecolor=style.INK, markersize=8, markeredgewidth=1.3, label="mean")
        axes.plot(*exact[which], "x", color=style.INK, markersize=8, markeredgewidth=1.6, label="exact gradient")
        axes.set_aspect("equal")
        style.label(axes, "first coordinate", "second coordinate", f"{kind}, $b$ = {b}")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def _ellipse(axes: Axes, centre: Array, covariance: Array, colour: str) -> None:
    """Where two thirds of normally distributed dots lie."""
    t = np.linspace(0.0, 2.0 * np.pi, 200)
    values, vectors = np.linalg.eigh(covariance)
    radius = np.sqrt(2.0 * np.log(3.0))
    edge = centre[:, None] + vectors @ (radius * np.sqrt(values)[:, None] * np.array([np.cos(t), np.sin(t)]))
    axes.plot(edge[0], edge[1], color=colour, linestyle="-", linewidth=1.6)


@style.drawn
def bias_and_spread(table: pd.DataFrame) -> Figure:
    """Left the bias, found and in closed form; right the standard deviation; both over ‖∇R‖, against b.

    Parameters
    ----------
    table : DataFrame
        Of :func:`~companion.studies.estimators.moments`.
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
        Of :func:`~companion.studies.estimators.descents`.
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
        style.label(axes, "iteration $t$", decay.R_ALONG if axes is panels[0, 0] else "", f"$b$ = {b}")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure
