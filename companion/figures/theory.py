"""Pictures for the theory: a projection, a distance from a line, and the two forces on a landmark (§1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

import nystrom_lib as nl

from ..experiments.outcome import Array
from ..studies.landscape import Forces
from ..wording import number
from . import style

#: The second axis of a space goes away from the reader, drawn to the upper right; the third stands.
_OBLIQUE = np.array([[1.0, 0.0], [0.5, 0.42], [0.0, 1.0]])


@style.drawn
def projection(kernel: nl.Kernel, landmarks: Sequence[float], x: float) -> Figure:
    """P_S k_x, Remark 1.1: left as vectors, with the lengths and angles they have; right as functions on the line.

    Parameters
    ----------
    kernel
        A kernel on the line.
    landmarks : two numbers
        The sample S.
    x : number
        The point whose k_x is projected.
    """
    sample = np.array([[float(s)] for s in landmarks])
    figure, panels = style.subplots(1, 2, height=3.1)
    _as_vectors(panels[0, 0], in_space(kernel, sample, x))
    _as_functions(panels[0, 1], kernel, sample, x)
    return figure


def in_space(kernel: nl.Kernel, sample: Array, x: float) -> Array:
    """k_{s₁}, k_{s₂} and k_x as rows in three dimensions: vectors with the same inner products."""
    return np.asarray(np.linalg.cholesky(kernel.matrix(np.concatenate([sample, [[x]]]))), dtype=np.float64)


def _as_vectors(axes: Axes, vectors: Array) -> None:
    one, two, k_x = vectors
    foot = k_x * np.array([1.0, 1.0, 0.0])
    corners = np.array([[-0.15, -0.15, 0], [1.25, -0.15, 0], [1.25, 1.1, 0], [-0.15, 1.1, 0]]) @ _OBLIQUE
    axes.fill(corners[:, 0], corners[:, 1], color=style.INITIAL, alpha=0.22, linewidth=0)
    axes.annotate(r"$\mathcal{H}_{\mathcal{S}}$", corners[1], (-14, -12), textcoords="offset points")
    for vector, name, colour, shift in (
        (one, r"$k_{s_1}$", style.INITIAL, (4, 3)),
        (two, r"$k_{s_2}$", style.INITIAL, (4, -10)),
        (foot, r"$P_{\mathcal{S}}k_x$", style.OPTIMISED, (6, -8)),
        (k_x, "$k_x$", style.INK, (4, 3)),
    ):
        end = vector @ _OBLIQUE
        axes.annotate(
            "", end, (0.0, 0.0), arrowprops={"arrowstyle": "-|>", "color": colour, "shrinkA": 0, "shrinkB": 0}
        )
        axes.annotate(name, end, shift, textcoords="offset points")
    ends = np.array([k_x, foot]) @ _OBLIQUE
    axes.plot(ends[:, 0], ends[:, 1], color=style.ACCENT, linestyle=style.DASHES[1])
    axes.annotate("what is missing", ends.mean(axis=0), (5, 0), textcoords="offset points", color=style.ACCENT)
    axes.set_aspect("equal")
    axes.margins(0.12)
    axes.axis("off")


def _as_functions(axes: Axes, kernel: nl.Kernel, sample: Array, x: float) -> None:
    t = np.linspace(-2.6, 2.6, 300)[:, None]
    point = np.array([[x]])
    for s in sample:
        axes.plot(t, kernel.matrix(t, s[None]), color=style.INITIAL, linestyle="-", linewidth=1.0)
    whole = kernel.matrix(t, point)[:, 0]
    part = nl.NystromApproximation(kernel, sample).block(t, point)[:, 0]
    axes.fill_between(t[:, 0], part, whole, color=style.ACCENT, alpha=0.18, linewidth=0)
    axes.plot(t, whole, color=style.INK, linestyle="-", label="$k_x$")
    axes.plot(t, part, color=style.OPTIMISED, linestyle=style.DASHES[1], label=r"$P_{\mathcal{S}}k_x$")
    axes.plot(sample[:, 0], np.zeros(len(sample)), "s", color=style.INITIAL, markeredgecolor=style.INK, clip_on=False)
    axes.plot([x], [0.0], "o", color=style.INK, clip_on=False)
    axes.set_ylim(0.0, 1.15)
    axes.legend(loc="upper left")
    style.label(axes, "$t$", "value at $t$")


@style.drawn
def distances(length: float, samples: Mapping[str, float]) -> Figure:
    """R as a squared distance from a line, Eq. (M), in the plane of both, with the angle it has.

    Parameters
    ----------
    length : float
        ‖K‖_F, the length of A.
    samples : mapping of str to float
        R before and after a descent, by the name of the sample.
    """
    figure, panels = style.subplots(1, 1, height=3.0)
    axes = panels[0, 0]
    axes.annotate(
        "", (length, 0.0), (0.0, 0.0), arrowprops={"arrowstyle": "-|>", "color": style.INK, "shrinkA": 0, "shrinkB": 0}
    )
    axes.annotate(
        rf"$A$, of length $\|\mathbf{{K}}\|_{{\mathrm{{F}}}}$ = {number(length)}",
        (0.0, 0.0),
        (10, -12),
        textcoords="offset points",
    )
    for (name, R), colour in zip(samples.items(), style.COLOURS.values(), strict=True):
        sine = np.sqrt(R) / length
        along = np.array([np.sqrt(1.0 - sine**2), sine])
        foot = along * length * along[0]
        axes.plot(*np.column_stack([[0.0, 0.0], 1.12 * length * along]), color=colour, linestyle="-")
        axes.plot(*np.column_stack([[length, 0.0], foot]), color=colour, linestyle=style.DASHES[1])
        axes.plot(*foot, "o", color=colour, markeredgecolor=style.INK)
        axes.annotate(
            rf"$c\,B_{{\mathcal{{S}}}}$, {name}", 1.12 * length * along, (4, 0), textcoords="offset points", va="center"
        )
        axes.annotate(
            rf"$\sqrt{{R}}$ = {number(np.sqrt(R))}",
            0.65 * foot + 0.35 * np.array([length, 0.0]),
            (6, 3),
            textcoords="offset points",
        )
    axes.set_aspect("equal")
    axes.set_xlim(-0.03 * length, 1.75 * length)
    axes.axis("off")
    return figure


@style.drawn
def forces(data: ArrayLike, stages: Mapping[str, Forces]) -> Figure:
    """What draws each landmark and what pushes it, Eq. (5), a panel for each stage of a descent.

    Parameters
    ----------
    data : array, (N, 2)
        The points of D.
    stages : mapping of str to Forces
        By the title of the panel.
    """
    figure, panels = style.subplots(1, len(stages), height=4.0)
    every = [force for each in stages.values() for force in (each.attraction, each.repulsion)]
    longest = float(np.linalg.norm(np.concatenate(every), axis=1).max())
    for axes, (title, each) in zip(panels[0], stages.items(), strict=True):
        style.dots(axes, np.asarray(data)[::2], snap=False)
        for force, colour, name in (
            (each.attraction, style.OPTIMISED, "attraction by the data"),
            (each.repulsion, style.ACCENT, "repulsion by the other landmarks"),
        ):
            axes.quiver(
                *each.sample.T, *(0.5 * force / longest).T, angles="xy", scale_units="xy", scale=1.0, color=colour,
                width=0.006, label=name, zorder=2,
            )  # fmt: skip
        axes.plot(*each.sample.T, "s", color=style.INITIAL, markeredgecolor=style.INK, markersize=4.5, linestyle="none")
        axes.set_aspect("equal")
        axes.set_xlim(-1.2, 1.2)
        axes.set_ylim(-1.2, 1.2)
        axes.grid(False)
        style.label(axes, "first coordinate", "second coordinate" if axes is panels[0, 0] else "", title)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure
