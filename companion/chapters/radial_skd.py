"""Chapter 2, §1.3: the radial SKD, its inequalities and its gradient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import nystrom_lib as nl

from ..experiments.outcome import Array
from ..figures import style
from ..settings import setting
from .base import Chapter
from .points import OnBigaussian, number_of_points


@dataclass(frozen=True)
class RadialSKDParameters(OnBigaussian):
    """The parameters of chapter 2; the defaults are the values of §4.1 where it has them."""

    N: int = number_of_points(50, 20_000)
    n: int = setting(5, at_least=2, at_most=200, meaning="number of landmark points in the surface")
    iterations: int = setting(400, at_least=1, at_most=10_000, meaning="steps of the descents in the pictures")
    check_N: int = setting(500, at_least=10, at_most=5000, meaning="data points on which the inequalities are tried")
    check_rhos: tuple[float, ...] = setting((0.1, 1.0, 16.0), above=0, meaning="kernel parameters they are tried with")
    m: int = setting(240, at_least=4, at_most=10_000, meaning="random samples they are tried on")
    gradient_n: int = setting(20, at_least=1, at_most=200, meaning="number of landmark points for the gradient")
    seed: int = setting(456, at_least=0, meaning="seed of the samples")

    def check(self) -> None:
        """Refuse more landmarks than points."""
        self.at_most_N("n", "gradient_n", "check_N")


CHAPTER = Chapter(
    name="radial_skd",
    number=2,
    title="The radial squared-kernel discrepancy",
    section="paper §1.3",
    parameters=RadialSKDParameters,
    profiles={
        "quick": {"N": 1000, "m": 80},
        "smoke": {"N": 200, "check_N": 100, "m": 24, "iterations": 100, "gradient_n": 6},
    },
)

# -- R as a surface --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Surface:
    """R over a grid of places for one landmark, the others fixed, and the path of a descent in which only it moves."""

    axis: Array
    values: Array
    others: Array
    path: Array


@nl.threads(1)
def surface(p: RadialSKDParameters, sample: Array, side: int = 61) -> Surface:
    """R as the first landmark of a sample moves over the square."""
    kernel, data, others = p.kernel(), p.data(), sample[1:]
    constant = nl.squared_frobenius_norm(kernel, data)
    axis = np.linspace(-1.0, 1.0, side)
    places = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    # Eq. (3) for all places at once: the terms of the moving landmark in T₁ and in ‖K_S‖_F², and those of the others
    T1 = kernel.squared(places, data).sum(axis=1)
    norm = kernel.diagonal(places) ** 2
    if len(others):
        T1 = T1 + float(kernel.squared(others, data).sum())
        norm = norm + float(kernel.squared(others).sum()) + 2.0 * kernel.squared(places, others).sum(axis=1)
    now, hessian = sample.copy(), nl.radial_skd_hessian(kernel, data, sample)
    step = 0.5 / float(np.abs(np.linalg.eigvalsh(hessian)).max())
    path = [now[0].copy()]
    for _ in range(p.iterations):
        now[0] -= step * nl.radial_skd_gradient(kernel, data, now)[0]
        path.append(now[0].copy())
    return Surface(axis, (constant - T1**2 / norm).reshape(side, side), others, np.array(path))


@style.drawn
def figure_surfaces(data: Array, shown: Mapping[int, Surface]) -> Figure:
    """R by shades and contour lines as one landmark moves, and where gradient descent takes it, by n."""
    figure, panels = style.subplots(1, len(shown), height=3.9)
    for axes, (n, each) in zip(panels[0], shown.items(), strict=True):
        shades = axes.pcolormesh(each.axis, each.axis, each.values, shading="gouraud", rasterized=True)
        axes.contour(each.axis, each.axis, each.values, levels=14, colors=style.PAPER, linewidths=0.5, alpha=0.7)
        figure.colorbar(shades, ax=axes, location="top", shrink=0.9, label=r"$R(\mathcal{S})$")
        style.dots(axes, data[::4], color=style.PAPER, linewidth=1.0, alpha=0.45, snap=False)
        axes.plot(*each.path.T, "-", color=style.ACCENT, linewidth=1.8, label="gradient descent")
        for points, marker, colour, name in (
            (each.path[:1], "s", style.INITIAL, "start"),
            (each.path[-1:], "o", style.ACCENT, "end"),
            (each.others, "D", style.DATA, "fixed landmarks"),
        ):
            axes.plot(*points.T, marker, color=colour, markeredgecolor=style.INK, label=name, markersize=6)
        axes.set_aspect("equal")
        axes.set(xlim=(-1, 1), ylim=(-1, 1))
        axes.grid(False)
        style.label(axes, "first coordinate", "second coordinate" if axes is panels[0, 0] else "", f"$n$ = {n}")
    _legend_below(figure, panels[0, -1], 4)
    return figure


def _legend_below(figure: Figure, axes: Axes, columns: int) -> None:
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=columns)


# -- the inequalities ------------------------------------------------------------------------------------------

#: Where the landmarks of a random sample lie.
PLACES = ("points of the data", "anywhere in the square", "in and around the square", "copies of one point")
#: The three inequalities between norms, left side and right, by the names of :func:`sides`.
CHAINS = (("spectral", "frobenius"), ("frobenius", "R"), ("trace", "frobenius"))


def _random_sample(data: Array, n: int, place: str, rng: np.random.Generator) -> Array:
    d = data.shape[1]
    if place == PLACES[0]:
        return nl.uniform_sample(data, min(n, len(data)), rng)
    if place == PLACES[3]:
        return np.repeat(rng.uniform(-1, 1, (1, d)), n, axis=0)
    return rng.uniform(-1, 1, (n, d)) * (1.0 if place == PLACES[1] else 3.0)


def sides(
    kernel: nl.Kernel, data: Array, sample: Array, constant: float, matrix: Array | None = None
) -> dict[str, float]:
    """Every quantity of the inequalities of §1.3 at one sample: squared norms (trace: over N), R, ‖K‖_F²."""
    errors = nl.nystrom_errors(kernel, data, sample, matrix=matrix)
    return {
        "spectral": errors.spectral**2,
        "frobenius": errors.frobenius**2,
        "trace": errors.trace**2 / len(data),
        "R": nl.radial_skd(kernel, data, sample, constant=constant),
        "constant": constant,
    }


@nl.threads(1)
def inequalities(p: RadialSKDParameters) -> pd.DataFrame:
    """Columns place and those of :func:`sides`, for m random samples."""
    rng, data = np.random.default_rng(p.seed), p.data()[: p.check_N]
    known = {rho: (nl.Gaussian(rho), nl.Gaussian(rho).matrix(data)) for rho in p.check_rhos}
    rows = []
    for j in range(p.m):
        place, (kernel, K) = PLACES[j % len(PLACES)], known[p.check_rhos[j % len(known)]]
        sample = _random_sample(data, int(rng.integers(1, 41)), place, rng)
        rows.append({"place": place, **sides(kernel, data, sample, float(np.sum(K * K)), K)})
    return pd.DataFrame(rows)


@style.drawn
def figure_inequalities(table: pd.DataFrame) -> Figure:
    """Left sides against right sides: below the diagonal an inequality holds."""
    figure, panels = style.subplots(1, 3, height=3.0)
    error = r"\|\mathbf{K}-\hat{\mathbf{K}}\|"
    pairs = (
        ("R", "frobenius", r"$R(\mathcal{S})$", rf"${error}_{{\mathrm{{F}}}}^2$"),
        ("frobenius", "spectral", rf"${error}_{{\mathrm{{F}}}}^2$", rf"${error}_2^2$"),
        ("frobenius", "trace", rf"${error}_{{\mathrm{{F}}}}^2$", rf"${error}_*^2/N$"),
    )
    floor = 1e-14 * float(table["constant"].max())
    for axes, (x, y, right, left) in zip(panels[0], pairs, strict=True):
        for k, place in enumerate(PLACES):
            some = table[(table["place"] == place) & (table[x] > floor) & (table[y] > floor)]
            look = {"color": style.CYCLE[k], "linestyle": "none", "markersize": 3.2, "alpha": 0.8, "label": place}
            axes.plot(some[x], some[y], "osD^"[k], **look)
        axes.set_xscale("log")
        axes.set_yscale("log")
        ends, low, top = axes.get_xlim(), axes.get_ylim()[0], max(axes.get_xlim()[1], axes.get_ylim()[1])
        axes.plot(ends, ends, "-", color=style.REFERENCE, linewidth=0.9, zorder=0)
        axes.fill_between(ends, ends, top, color=style.ACCENT, alpha=0.08, linewidth=0, zorder=0)
        axes.set(xlim=ends, ylim=(low, top))
        style.label(axes, right, left)
    _legend_below(figure, panels[0, 0], 4)
    return figure


# -- the gradient ----------------------------------------------------------------------------------------------


def forces(kernel: nl.Kernel, data: Array, sample: Array) -> tuple[Array, Array]:
    """The two terms of −∇R at each landmark, Eq. (10): attraction by the data, repulsion by the other landmarks."""
    c = nl.skd_coefficient(kernel, data, sample)
    attraction: Array = 2.0 * c * kernel.squared_left(sample, data).sum(axis=1)
    return attraction, -nl.radial_skd_gradient(kernel, data, sample) - attraction


@style.drawn
def figure_forces(kernel: nl.Kernel, data: Array, stages: Mapping[str, Array]) -> Figure:
    """The two forces on each landmark, a panel for each stage of a descent."""
    figure, panels = style.subplots(1, len(stages), height=4.0)
    found = {title: forces(kernel, data, sample) for title, sample in stages.items()}
    longest = float(np.linalg.norm(np.concatenate([np.concatenate(each) for each in found.values()]), axis=1).max())
    for axes, (title, sample) in zip(panels[0], stages.items(), strict=True):
        style.dots(axes, data[::2], snap=False)
        names = ("attraction by the data", "repulsion by the other landmarks")
        for force, colour, name in zip(found[title], (style.OPTIMISED, style.ACCENT), names, strict=True):
            axes.quiver(
                *sample.T, *(0.5 * force / longest).T, angles="xy", scale_units="xy", scale=1.0, color=colour,
                width=0.006, label=name, zorder=2,
            )  # fmt: skip
        axes.plot(*sample.T, "s", color=style.INITIAL, markeredgecolor=style.INK, markersize=4.5, linestyle="none")
        axes.set_aspect("equal")
        axes.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4))
        axes.grid(False)
        style.label(axes, "first coordinate", "second coordinate" if axes is panels[0, 0] else "", title)
    _legend_below(figure, panels[0, 0], 2)
    return figure
