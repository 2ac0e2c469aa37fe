"""Pictures of R: as a surface, as a parabola in c, against what it bounds, and its gradient (§1.3)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from ..studies.landscape import PLACES, Surface
from . import style


@style.drawn
def surfaces(data: ArrayLike, shown: Mapping[str, tuple[Surface, ArrayLike]]) -> Figure:
    """R by shades and contour lines as one landmark moves, and where gradient descent takes it.

    Parameters
    ----------
    data : array, (N, 2)
        The points of D.
    shown : mapping of str to (Surface, array)
        By their titles, surfaces and the path of the landmark that moves.
    """
    figure, panels = style.subplots(1, len(shown), height=3.9)
    for axes, (title, (surface, path)) in zip(panels[0], shown.items(), strict=True):
        _surface(figure, axes, data, surface, np.asarray(path))
        style.label(axes, "first coordinate", "second coordinate" if axes is panels[0, 0] else "", title)
    handles, labels = panels[0, -1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def _surface(figure: Figure, axes: Axes, data: ArrayLike, surface: Surface, path: np.ndarray) -> None:
    shades = axes.pcolormesh(surface.x, surface.y, surface.values, shading="gouraud", rasterized=True)
    axes.contour(surface.x, surface.y, surface.values, levels=14, colors=style.PAPER, linewidths=0.5, alpha=0.7)
    figure.colorbar(shades, ax=axes, location="top", shrink=0.9, label=r"$R(\mathcal{S})$")
    style.dots(axes, np.asarray(data)[::4], color=style.PAPER, linewidth=1.0, alpha=0.45, snap=False)
    axes.plot(path[:, 0], path[:, 1], "-", color=style.ACCENT, linewidth=1.8, label="gradient descent")
    for points, marker, colour, name in (
        (path[:1], "s", style.INITIAL, "start"),
        (path[-1:], "o", style.ACCENT, "end"),
        (surface.others, "D", style.DATA, "landmarks that stay"),
    ):
        if len(points) or name.startswith("landmarks"):
            axes.plot(
                points[:, 0], points[:, 1], marker, color=colour, markeredgecolor=style.INK, label=name, markersize=6
            )
    axes.set_aspect("equal")
    axes.set_xlim(surface.x[0], surface.x[-1])
    axes.set_ylim(surface.y[0], surface.y[-1])
    axes.grid(False)


@style.drawn
def parabolas(c: ArrayLike, curves: Mapping[str, tuple[ArrayLike, float, float]]) -> Figure:
    """‖μ_D − c μ_S‖² against c for some samples, with c_S and R(S) at the lowest point.

    Parameters
    ----------
    c : array
        Where the curves are drawn.
    curves : mapping of str to (values, c_S, R)
        By the name of the sample.
    """
    figure, panels = style.subplots(1, 1, height=3.0)
    axes = panels[0, 0]
    for k, (name, (values, c_S, R)) in enumerate(curves.items()):
        colour = (style.INITIAL, style.OPTIMISED)[k % 2]
        axes.plot(c, values, linestyle=style.DASHES[k % 5], color=colour, label=name)
        axes.plot([c_S], [R], "o", color=colour, markeredgecolor=style.INK)
        axes.annotate(r"$(c_{\mathcal{S}},\ R(\mathcal{S}))$", (c_S, R), (6, 8), textcoords="offset points")
    axes.set_ylim(bottom=0.0)
    axes.legend()
    style.label(axes, "$c$", r"$\|\mu_{\mathcal{D}} - c\,\mu_{\mathcal{S}}\|^2$")
    return figure


@style.drawn
def bounded(table: pd.DataFrame) -> Figure:
    """Each random sample as a point: the squared Frobenius error, and below it the other two, against R.

    Parameters
    ----------
    table : DataFrame
        Of :func:`~companion.studies.landscape.inequalities`.
    """
    figure, panels = style.subplots(1, 3, height=3.1)
    frobenius = r"$\|\mathbf{K}-\hat{\mathbf{K}}\|_{\mathrm{F}}^2$"
    pairs = (
        ("R", "frobenius", r"$R(\mathcal{S})$", frobenius),
        ("frobenius", "spectral", frobenius, r"$\|\mathbf{K}-\hat{\mathbf{K}}\|_2^2$"),
        ("frobenius", "trace", frobenius, r"$\|\mathbf{K}-\hat{\mathbf{K}}\|_*^2/N$"),
    )
    markers = ("o", "s", "D", "^")
    floor = 1e-14 * float(table["constant"].max())
    for axes, (x, y, right, left) in zip(panels[0], pairs, strict=True):
        for k, place in enumerate(PLACES):
            some = table[(table["place"] == place) & (table[x] > floor) & (table[y] > floor)]
            axes.plot(
                some[x],
                some[y],
                markers[k],
                color=style.CYCLE[k],
                linestyle="none",
                markersize=3.2,
                alpha=0.8,
                label=place,
            )
        _diagonal(axes)
        style.label(axes, right, left)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def _diagonal(axes: Axes) -> None:
    """Below the line the inequality holds."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    x, y = axes.get_xlim(), axes.get_ylim()
    top = max(x[1], y[1])
    axes.plot(x, x, "-", color=style.REFERENCE, linewidth=0.9, zorder=0)
    axes.fill_between(x, x, top, color=style.ACCENT, alpha=0.08, linewidth=0, zorder=0)
    axes.set_xlim(x)
    axes.set_ylim(y[0], top)


@style.drawn
def deviations(table: pd.DataFrame) -> Figure:
    """How far central differences are from the gradient, against h: first h², then rounding."""
    figure, panels = style.subplots(1, 1, height=3.1)
    axes = panels[0, 0]
    for k, (kernel, group) in enumerate(table.groupby("kernel", sort=False)):
        axes.plot(
            group["h"],
            np.maximum(group["deviation"], 1e-12),
            color=(*style.CYCLE, style.INK)[k % 6],
            linestyle=(*style.DASHES, (0, (2, 2)))[k % 6],
            label=str(kernel),
        )
    h = np.array([1e-4, 1e-1])
    axes.plot(h, 0.002 * h**2, color=style.REFERENCE, linewidth=0.9, linestyle="-")
    axes.annotate("$h^2$", (h[0], 0.002 * h[0] ** 2), (8, -2), textcoords="offset points", color=style.REFERENCE)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    style.label(axes, "$h$", "relative deviation")
    return figure
