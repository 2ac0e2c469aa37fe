"""Pictures of Theorem 2.1: how much each bound of the proof gives away, the curvature, descents by step (§2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from ..experiments.outcome import Array
from ..studies import drift as counterexample
from ..studies.steps import Run
from ..studies.vanishing import Thrown, over_plane
from ..wording import number
from . import decay, style

#: How a step of the proof is written on an axis.
_STEPS = {
    "Eq. (14)": r"(14)  $n\alpha \leqslant \|\mathbf{K}_{\mathcal{S}}\|_{\mathrm{F}}^2$",
    "Eq. (15)": r"(15)  $T_1 \leqslant \|\mathbf{K}_{\mathcal{S}}\|_{\mathrm{F}}\|\mathbf{K}\|_{\mathrm{F}}$",
    "Eq. (16)": r"(16)  $c_{\mathcal{S}} \leqslant C_0$",
    "Eq. (17)": r"(17)  $|\partial c_{\mathcal{S}}| \leqslant C_1$",
    "Eq. (18)": r"(18)  same landmark",
    "Eq. (19)": r"(19)  two landmarks",
    "‖∇²R‖_F ≤ L": r"$\|\nabla^2R\|_{\mathrm{F}} \leqslant L$",
    "‖∇²R‖₂ ≤ L": r"$\|\nabla^2R\|_2 \leqslant L$",
}


@style.drawn
def step_lengths(guaranteed: float, used: float, curvature: float) -> Figure:
    """1/L, γ and 2/λ on one axis: what the theorem covers, what is used, and where descents become unstable.

    Parameters
    ----------
    guaranteed, used : float
        1/L and γ.
    curvature : float
        λ, the largest eigenvalue of ∇²R along a descent.
    """
    figure, panels = style.subplots(1, 1, height=1.7)
    axes = panels[0, 0]
    limit = 2.0 / curvature
    low, high = min(guaranteed, used) / 30.0, max(limit, used) * 30.0
    for left, right, colour, words in (
        (low, guaranteed, style.OPTIMISED, "$R$ falls at each\nstep: proved"),
        (guaranteed, limit, style.INITIAL, "$R$ falls: seen, not proved"),
        (limit, high, style.ACCENT, "unstable"),
    ):
        axes.axvspan(left, right, color=colour, alpha=0.16, linewidth=0)
        axes.annotate(words, ((left * right) ** 0.5, 0.5), ha="center", va="center")
    for place, words, side in (
        (guaranteed, "$1/L$", "center"),
        (used, r"the paper's $\gamma$", "right" if used < limit else "left"),
        (limit, r"$2/\lambda$", "left" if used < limit else "right"),
    ):
        axes.axvline(place, color=style.INK, linewidth=1.2, linestyle="-")
        axes.annotate(
            f"{words} = {number(place)}", (place, 1.0), (0, 3), textcoords="offset points", ha=side, va="bottom"
        )
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(0.0, 1.0)
    axes.set_yticks([])
    axes.grid(False)
    axes.spines["left"].set_visible(False)
    style.label(axes, "length of a step (logarithmic)")
    return figure


@style.drawn
def proof(ratios: pd.DataFrame) -> Figure:
    """For each step of the proof the largest value over its bound: at 1 the bound is sharp, beyond it would fail.

    Parameters
    ----------
    ratios : DataFrame
        A row for each step, a column for each kernel.
    """
    figure, panels = style.subplots(1, 1, height=3.4)
    axes = panels[0, 0]
    place = np.arange(len(ratios))[::-1]
    markers = ("o", "s", "D", "^", "v")
    for k, kernel in enumerate(ratios.columns):
        axes.plot(ratios[kernel], place, markers[k % 5], color=style.CYCLE[k % 5], linestyle="none", label=kernel)
    axes.axvline(1.0, color=style.REFERENCE, linestyle="-", linewidth=0.9)
    axes.axvspan(1.0, 6.0, color=style.ACCENT, alpha=0.08, linewidth=0)
    axes.set_xscale("log")
    axes.set_xlim(right=6.0)
    axes.set_yticks(place, [_STEPS.get(name, name) for name in ratios.index])
    axes.legend(loc="upper left")
    style.label(axes, "largest value found, divided by its bound")
    return figure


@style.drawn
def curvature(
    iterations: ArrayLike, curves: Mapping[str, ArrayLike], bounds: Mapping[str, float], step: float
) -> Figure:
    """The largest eigenvalue of ∇²R along a descent for some kernels, their L far above, and 2/γ between.

    Parameters
    ----------
    iterations : array
        Where along the descent.
    curves, bounds : mapping of str to array, of str to float
        The eigenvalue along the way, and L, by the name of the kernel.
    step : float
        γ: the descent is stable where the eigenvalue stays below 2/γ.
    """
    figure, panels = style.subplots(1, 1, height=3.3)
    axes = panels[0, 0]
    t = np.asarray(iterations)
    for k, (kernel, values) in enumerate(curves.items()):
        colour, dash = style.CYCLE[k % 5], style.DASHES[k % 5]
        axes.plot(t, np.asarray(values), color=colour, linestyle=dash, label=kernel)
        axes.plot(t[[0, -1]], [bounds[kernel]] * 2, color=colour, linestyle=dash, linewidth=0.9)
    axes.axhline(2.0 / step, color=style.ACCENT, linewidth=1.0, linestyle="-")
    top, low = max(bounds.values()), max(float(np.max(values)) for values in curves.values())
    axes.annotate(
        r"$2/\gamma$", (t[-1], 2.0 / step), (0, 4), textcoords="offset points", ha="right", color=style.ACCENT
    )
    axes.annotate("$L$", (t[-1], top), (0, 4), textcoords="offset points", ha="right")
    axes.annotate(
        r"largest eigenvalue of $\nabla^2R(\mathcal{S}^{(t)})$",
        (t[-1], low),
        (0, 8),
        textcoords="offset points",
        ha="right",
    )
    axes.set_yscale("log")
    axes.set_ylim(top=6.0 * top)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    style.label(axes, "iteration $t$", "curvature")
    return figure


@style.drawn
def descents(runs: Mapping[str, Run], ceiling: float) -> Figure:
    """R along descents that differ in their step; ``ceiling`` is ‖K‖_F², where no landmark is near the data."""
    figure, panels = style.subplots(1, 1, height=3.4)
    axes = panels[0, 0]
    for k, (name, run) in enumerate(runs.items()):
        t = np.arange(len(run.values))
        axes.plot(
            t + 1,
            run.values,
            color=(*style.CYCLE, style.INK)[k % 6],
            linestyle=(*style.DASHES, (0, (2, 2)))[k % 6],
            label=name,
            linewidth=1.0 if run.increases else 1.5,
        )
    axes.axhline(ceiling, color=style.REFERENCE, linewidth=0.9, linestyle="-")
    axes.annotate(
        r"$\|\mathbf{K}\|_{\mathrm{F}}^2$", (1.0, ceiling), (2, 5), textcoords="offset points", color=style.REFERENCE
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(top=8.0 * ceiling)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    style.label(axes, "iteration $t + 1$", decay.R_ALONG)
    return figure


@style.drawn
def drift(run: pd.DataFrame) -> Figure:
    """A landmark that drifts off for ever: its place, the gradient, and R above its limit, from ``studies.drift``."""
    figure, panels = style.subplots(1, 3, height=2.6)
    t = run["step"].to_numpy()[1:]
    above = run["R"].to_numpy()[1:] - counterexample.limit()
    for axes, values, what in (
        (panels[0, 0], run["place"].to_numpy()[1:], "place of the fourth landmark"),
        (panels[0, 1], run["gradient"].to_numpy()[1:], r"$\|\nabla R(\mathcal{S}^{(t)})\|$"),
        (panels[0, 2], above, r"$R(\mathcal{S}^{(t)})$ above its limit"),
    ):
        axes.plot(t, values, color=style.OPTIMISED, marker=".", markersize=4)
        axes.set_xscale("log")
        style.label(axes, "step $t$", what)
    panels[0, 1].set_yscale("log")
    panels[0, 2].set_yscale("log")
    return figure


@style.drawn
def vanishing(data: Array, runs: Sequence[Thrown], reach: float = 1.2) -> Figure:
    """R of one landmark over the plane with the first step from each start, and R along the descents.

    Parameters
    ----------
    data : array, (N, 2)
        The points.
    runs : sequence of Thrown
        From ``studies.vanishing``.
    reach : float
        The picture shows [−reach, reach]².
    """
    figure, panels = style.subplots(1, 2, height=3.2)
    plane, decays = panels[0]
    image = over_plane(data, reach, 200)
    plane.imshow(image, origin="lower", extent=(-reach, reach, -reach, reach), interpolation="bilinear", alpha=0.75)
    for k, run in enumerate(runs):
        colour = (style.ACCENT, style.PAPER, style.INITIAL, style.INK)[k % 4]
        marker, dash = "osD^"[k % 4], style.DASHES[k % 5]
        plane.plot(*run.path[:2].T, color=colour, linestyle="-", linewidth=1.2)
        plane.plot(*run.path[0], marker, color=colour, markeredgecolor=style.INK, markeredgewidth=0.6)
        above = (run.values - run.lowest) / (run.values[0] - run.lowest)
        curve = style.CYCLE[k % 5]
        decays.plot(np.arange(len(above)) + 1, above, color=curve, linestyle=dash, label=f"{run.length:g}")
    plane.set(xlim=(-reach, reach), ylim=(-reach, reach))
    plane.grid(False)
    decays.set_xscale("log")
    decays.set_yscale("log")
    decays.set_ylim(bottom=1e-4)
    decays.legend(title="distance at the start", loc="lower left")
    style.label(plane, title="$R$ of one landmark, dark where it is low")
    style.label(decays, "iteration $t + 1$", "$R$ above its lowest value, the start being 1")
    return figure
