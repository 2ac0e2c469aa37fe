"""Pictures of Nyström approximations: the matrices, the landmarks, the error as landmarks are added (§1.1, §1.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from ..wording import NORMS
from . import style


@style.drawn
def matrices(data: ArrayLike, sample: ArrayLike, K: ArrayLike, K_hat: ArrayLike) -> Figure:
    """Landmarks on the data, and K, K̂(S) and K − K̂(S) as images.

    Parameters
    ----------
    data, sample : array, (·, 2)
        All data points and the landmarks.
    K, K_hat : array, (k, k)
        Both matrices for some of the points, in an order that shows the structure.
    """
    K, K_hat = np.asarray(K), np.asarray(K_hat)
    figure, panels = style.subplots(2, 2, height=5.6)
    _landmarks(panels[0, 0], data, sample)
    top = max(float(K.max()), float(K_hat.max()))
    _image(figure, panels[0, 1], K, r"$\mathbf{K}$", vmin=0.0, vmax=top)
    _image(figure, panels[1, 0], K_hat, r"$\hat{\mathbf{K}}(\mathcal{S})$", vmin=0.0, vmax=top)
    # Off the diagonal the difference has both signs: white is 0, and each sign has a hue of its own.
    far = float(np.abs(K - K_hat).max())
    title = r"$\mathbf{K}-\hat{\mathbf{K}}(\mathcal{S})$"
    _image(figure, panels[1, 1], K - K_hat, title, vmin=-far, vmax=far, cmap=style.DIVERGING)
    return figure


def _landmarks(axes: Axes, data: ArrayLike, sample: ArrayLike) -> None:
    points = np.asarray(sample)
    style.dots(axes, data, snap=False)
    axes.plot(points[:, 0], points[:, 1], "s", color=style.INITIAL, markeredgecolor=style.INK, markeredgewidth=0.6)
    axes.set_aspect("equal")
    axes.grid(False)
    style.label(axes, "first coordinate", "second coordinate", "data and landmark points")


def _image(figure: Figure, axes: Axes, matrix: Any, title: str, **limits: Any) -> None:
    image = axes.imshow(matrix, interpolation="nearest", **limits)
    figure.colorbar(image, ax=axes, shrink=0.85)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)
    axes.set_title(title)


@style.drawn
def error_against_n(random: pd.DataFrame, optimal: pd.DataFrame) -> Figure:
    """Median and range over random samples for each norm, and the optimum that no sample can beat.

    Parameters
    ----------
    random, optimal : DataFrame
        Of :func:`~companion.studies.growth.random_errors` and ``optimal_errors``.
    """
    figure, panels = style.subplots(1, 3, height=2.7, sharey=True)
    for axes, (norm, title) in zip(panels[0], NORMS.items(), strict=True):
        group = random.groupby("n")[norm]
        n = np.array(list(group.groups))
        axes.fill_between(n, group.min(), group.max(), color=style.INITIAL, alpha=0.35, linewidth=0)
        axes.plot(n, group.median(), "-s", color=style.INITIAL, label="random samples")
        axes.plot(optimal["n"], optimal[norm], "--", color=style.REFERENCE, label=r"optimal, $\mathbf{K}_n$")
        axes.set_yscale("log")
        style.label(axes, "$n$", "error" if norm == "trace" else "", title)
    panels[0, 0].legend(loc="lower left")
    return figure


@style.drawn
def digits(relative: pd.DataFrame) -> Figure:
    """For each way to the trace error its relative error at each n; a full bar has lost every digit."""
    figure, panels = style.subplots(1, 1, height=0.55 + 0.42 * len(relative))
    axes = panels[0, 0]
    place = np.arange(len(relative))[::-1]
    markers = ("o", "s", "D", "^", "v")
    for k, n in enumerate(relative.columns):
        error = np.clip(np.abs(relative[n].to_numpy()), 1e-14, 1e3)
        axes.plot(error, place, markers[k % 5], color=style.CYCLE[k % 5], label=f"$n$ = {n}", linestyle="none")
    axes.axvline(1.0, color=style.ACCENT, linewidth=0.9, linestyle="-")
    axes.annotate(
        "no digit left", (1.0, 0.03), (4, 0), xycoords=("data", "axes fraction"), textcoords="offset points",
        color=style.ACCENT, rotation=90,
    )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yticks(place, [name.replace("`", "") for name in relative.index])
    axes.set_ylim(-0.6, len(relative) - 0.4)
    axes.grid(axis="y", visible=False)
    axes.legend(loc="upper left", ncols=len(relative.columns), bbox_to_anchor=(0, -0.16))
    style.label(axes, r"relative error of the trace error ($10^{-14}$: none)")
    return figure
