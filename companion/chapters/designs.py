"""Chapter 12: designs of experiments, and landmarks on a manifold (paper §1.1 and Conclusion)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.stats import qmc

import nystrom_lib as nl

from ..experiments.outcome import Array
from ..figures import style
from ..settings import Settings, setting
from .base import Chapter

#: The two objectives, by what the chapter calls a descent on them, and their methods of find_landmarks.
OBJECTIVES: Mapping[str, Any] = {"descent on R": nl.RadialSKD, "descent on trace error": nl.TraceError}
DESCENTS = {"descent on R": "radial-skd", "descent on trace error": "auto"}
DESIGNS = ("uniform", "Latin hypercube", "Sobol", *DESCENTS)
#: The designs to beat.
CLASSICAL = ["Latin hypercube", "Sobol"]
REGIONS = ("square", "bay")


# -- parameters ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DesignsParameters(Settings):
    """The parameters of chapter 12."""

    N: int = setting(2_000, at_least=50, at_most=50_000, meaning="points over which the variance is averaged")
    n: tuple[int, ...] = setting((10, 20, 40), at_least=2, meaning="numbers of points of the designs")
    rho: float = setting(10.0, above=0, meaning="ρ of the process that the designs are for")
    seeds: int = setting(5, at_least=1, at_most=100, meaning="repetitions of each design and of each descent")
    sphere_N: int = setting(2_000, at_least=20, at_most=50_000, meaning="number of data points on the sphere")
    sphere_n: tuple[int, ...] = setting((12, 30, 60), at_least=2, meaning="numbers of landmarks on the sphere")
    sphere_rho: float = setting(4.0, above=0, meaning="ρ on the sphere")
    steps: int = setting(300, at_least=1, at_most=10**6, meaning="steps of each descent on the sphere")
    shown: int = setting(40, at_least=2, at_most=500, meaning="landmarks in the picture of the globe")
    seed: int = setting(7, at_least=0, meaning="seed of the points on the sphere and of the starts there")


CHAPTER = Chapter(
    name="designs",
    number=12,
    title="Designs and manifolds",
    section="paper §1.1, Conclusion",
    parameters=DesignsParameters,
    profiles={
        "quick": {"seeds": 2, "sphere_n": (12, 30), "steps": 100},
        "smoke": {
            "N": 200, "n": (6, 10), "seeds": 2, "sphere_N": 200, "sphere_n": (6, 12), "steps": 20, "shown": 10,
        },
    },
)  # fmt: skip


# -- designs ---------------------------------------------------------------------------------------------------


def inside(region: str, points: Array) -> NDArray[np.bool_]:
    """Which points lie in [0, 1]²; in the bay, also outside a disc at the right side of the square."""
    in_square = np.asarray(((points >= 0.0) & (points <= 1.0)).all(axis=1))
    return in_square & (np.hypot(points[:, 0] - 1.0, points[:, 1] - 0.5) > 0.4) if region == "bay" else in_square


def grid(region: str, N: int) -> Array:
    """N points spread evenly over a region: those of an unscrambled Sobol sequence that lie in it."""
    points = np.asarray(qmc.Sobol(2, scramble=False).random(4 * 2 ** int(np.ceil(np.log2(N)))))
    return np.ascontiguousarray(points[inside(region, points)][:N])


def design(method: str, region: str, n: int, kernel: nl.Kernel, data: Array, seed: int) -> Array:
    """n points of a region to measure at; a landmark that left the region is replaced by its nearest data point."""
    if method in DESCENTS:
        with nl.threads(1):
            moved = nl.find_landmarks(kernel, data, n, method=DESCENTS[method], seed=seed).sample
        return np.where(inside(region, moved)[:, None], moved, data[cdist(moved, data).argmin(axis=1)])
    if method == "uniform":
        return nl.uniform_sample(data, n, seed)
    # Enough points that n are inside: a hypercube is drawn anew, a sequence is continued.
    sobol = np.asarray(qmc.Sobol(2, rng=seed).random(4 * 2 ** int(np.ceil(np.log2(n)))))
    cube = qmc.LatinHypercube(2, rng=seed)
    for count in range(n, 4 * n):
        drawn = np.asarray(cube.random(count)) if method == "Latin hypercube" else sobol[:count]
        kept = drawn[inside(region, drawn)]
        if len(kept) >= n:
            return np.ascontiguousarray(kept[:n])
    raise ValueError(f"{method} has no {n} points in the region {region}.")


def variances(p: DesignsParameters) -> pd.DataFrame:
    """The mean posterior variance, tr(K − K̂(S))/N: medians over the seeds by region and n, a column per design."""
    kernel, rows = nl.Gaussian(rho=p.rho), []
    for region, n, method, seed in itertools.product(REGIONS, p.n, DESIGNS, range(p.seeds)):
        data = grid(region, p.N)
        approximation = nl.NystromApproximation(kernel, design(method, region, n, kernel, data, seed))
        rows.append((region, n, method, float(approximation.residuals(data).mean())))
    table = pd.DataFrame(rows, columns=["region", "n", "design", "variance"])
    return table.groupby(["region", "n", "design"])["variance"].median().unstack("design")[list(DESIGNS)]


def over_classical(table: pd.DataFrame, method: str = "descent on trace error") -> dict[str, float]:
    """The variance of one design over the lower of the classical ones', by region and n."""
    quotients = table[method] / table[CLASSICAL].min(axis=1)
    return {f"{region}, n = {n}": float(value) for (region, n), value in quotients.items()}


@style.drawn
def figure_designs(p: DesignsParameters) -> Figure:
    """The designs for the second number of points."""
    data, n = grid("bay", p.N), p.n[min(1, len(p.n) - 1)]
    figure, axes = style.subplots(1, 4, height=style.WIDTH / 4 + 0.3, sharey=True)
    for panel, method in zip(axes[0], DESIGNS[1:], strict=True):
        sample = design(method, "bay", n, nl.Gaussian(rho=p.rho), data, 0)
        style.dots(panel, data[::3], linewidth=1.2)
        panel.plot(*sample.T, "o", color=style.OPTIMISED, linestyle="none", markersize=4)
        panel.set_aspect("equal")
        style.label(panel, title=method)
    return figure


# -- the sphere ------------------------------------------------------------------------------------------------


def lattice(n: int) -> Array:
    """n points of a Fibonacci lattice: equal steps in height, the golden angle between consecutive points.

    Examples
    --------
    >>> np.linalg.norm(lattice(5), axis=1).round(12)
    array([1., 1., 1., 1., 1.])
    """
    height = 1.0 - (2.0 * np.arange(n) + 1.0) / n
    angle = np.pi * (1.0 + 5.0**0.5) * np.arange(n)
    radius = np.sqrt(1.0 - height**2)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height])


def scattered(n: int, seed: int) -> Array:
    """n points drawn uniformly from the sphere."""
    return project(np.random.default_rng(seed).standard_normal((n, 3)))


def clustered(N: int, seed: int) -> Array:
    """N points: half of them around three places, half of them drawn uniformly."""
    rng = np.random.default_rng(seed)
    places = scattered(3, seed)[rng.integers(0, 3, N // 2)]
    around = project(places + 0.3 * rng.standard_normal(places.shape))
    return np.concatenate([around, scattered(N - N // 2, seed + 1)])


def project(points: Array) -> Array:
    """The nearest points of the sphere."""
    nearest: Array = points / np.linalg.norm(points, axis=1, keepdims=True)
    return nearest


def tangent(points: Array, vectors: Array) -> Array:
    """The components of vectors that are tangent to the sphere at points.

    Examples
    --------
    >>> tangent(np.array([[0.0, 0.0, 1.0]]), np.array([[1.0, 2.0, 3.0]]))
    array([[1., 2., 0.]])
    """
    along: Array = vectors - (vectors * points).sum(axis=1, keepdims=True) * points
    return along


def descend(objective: Any, start: Array, steps: int) -> Array:
    """A descent that stays on the sphere: the tangent part of the gradient, a step by Adam, and a projection."""
    move = nl.Adam().begin(objective, start)
    sample = start
    for step in range(steps):
        sample = project(move(sample, 0.0, tangent(sample, objective.gradient(sample)), step / steps))
    return sample


def globe(p: DesignsParameters) -> tuple[Array, dict[str, Array], dict[str, float]]:
    """Clustered data, samples by name (uniform, a lattice, and descents on both objectives) and their trace errors."""
    kernel, data = nl.Gaussian(rho=p.sphere_rho), clustered(p.sphere_N, p.seed)
    start = nl.uniform_sample(data, p.shown, p.seed)
    samples = {"uniform": start, "Fibonacci lattice": lattice(p.shown)}
    samples |= {name: descend(f(kernel, data), start, p.steps) for name, f in OBJECTIVES.items()}
    error = nl.TraceError(kernel, data).value
    return data, samples, {name: error(sample) for name, sample in samples.items()}


@style.drawn
def figure_globe(data: Array, samples: Mapping[str, Array]) -> Figure:
    """The samples in parallel projection."""
    up, around = np.radians((20.0, 30.0))
    turn = np.array([[-np.sin(around), np.cos(around), 0.0],
                     [-np.sin(up) * np.cos(around), -np.sin(up) * np.sin(around), np.cos(up)],
                     [np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)]])  # fmt: skip

    def near(points: Array) -> Array:
        seen = points @ turn.T
        front: Array = seen[seen[:, 2] > 0.0, :2]
        return front

    figure, axes = style.subplots(1, len(samples), height=style.WIDTH / len(samples) + 0.3)
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    for panel, (title, sample) in zip(axes[0], samples.items(), strict=True):
        panel.plot(np.cos(angle), np.sin(angle), color=style.REFERENCE, linewidth=0.8, linestyle="-")
        style.dots(panel, near(data)[::2], linewidth=1.2)
        panel.plot(*near(sample).T, "o", color=style.OPTIMISED, linestyle="none", markersize=3.5)
        panel.set_aspect("equal")
        panel.set_axis_off()
        panel.set_title(title)
    return figure


def against_lattice(p: DesignsParameters) -> pd.DataFrame:
    """Trace errors over data spread evenly, medians over the starts: by n, the lattice, random points, descents."""
    kernel, data = nl.Gaussian(rho=p.sphere_rho), lattice(p.sphere_N)
    error, rows = nl.TraceError(kernel, data).value, []
    for n in p.sphere_n:
        ends = {"lattice": [lattice(n)], "random": [scattered(n, p.seed + j) for j in range(p.seeds)]}
        for name, objective in OBJECTIVES.items():
            ends[name] = [descend(objective(kernel, data), start, p.steps) for start in ends["random"]]
        rows.append({"n": n} | {name: float(np.median(list(map(error, samples)))) for name, samples in ends.items()})
    return pd.DataFrame(rows)


def over_lattice(table: pd.DataFrame, method: str = "descent on trace error") -> dict[str, float]:
    """The error after a descent over that of the lattice, by n."""
    return {f"n = {row['n']:.0f}": float(row[method] / row["lattice"]) for _, row in table.iterrows()}
