"""Chapter 3, §2 and the Appendix: Theorem 2.1, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import nystrom_lib as nl

from ..experiments.outcome import Array
from ..experiments.paper import value
from ..figures import style, trajectories
from ..settings import setting
from ..studies import curvature
from ..wording import number
from .base import Chapter
from .points import OnBigaussian


@dataclass(frozen=True)
class ConvergenceParameters(OnBigaussian):
    """The parameters of chapter 3; the defaults are those of Figure 1."""

    n: int = setting(value(1, "n"), at_least=5, at_most=200, meaning="number of landmark points")
    step: float = setting(value(1, "descent.step"), above=0, meaning="the paper's step γ")
    beyond: tuple[float, ...] = setting(
        (0.5, 1.5, 5.0, 100.0), above=0, meaning="further steps, as multiples of 1 over the true curvature"
    )
    iterations: int = setting(
        value(1, "descent.iterations"), at_least=10, at_most=100_000, meaning="number of steps T of each descent"
    )
    m: int = setting(6, at_least=2, at_most=1000, meaning="samples on which the bounds are tried")
    seed: int = setting(456, at_least=0, meaning="seed of the samples; 456 is the authors' initial sample")

    def check(self) -> None:
        """Refuse more landmarks than points."""
        self.at_most_N("n")

    def samples(self) -> list[Array]:
        """Samples to try the bounds on: drawn from the data, squeezed together and spread far apart, in turn."""
        # Not the seed alone: the first would then be the start of the descent, and a quotient of differences between
        # a sample and itself is one of rounding errors.
        rng, drawn = np.random.default_rng([self.seed, self.m]), []
        for j in range(self.m):
            sample = nl.uniform_sample(self.data(), self.n, rng)
            centre = sample.mean(axis=0)
            drawn.append(centre + (1.0, 0.05, 3.0)[j % 3] * (sample - centre))
        return drawn


CHAPTER = Chapter(
    name="convergence",
    number=3,
    title="A convergence result",
    section="paper §2 and Appendix",
    parameters=ConvergenceParameters,
    profiles={
        "quick": {"N": 1000, "step": 4e-6, "iterations": 500, "m": 3},
        # The gradient is about as large as N², so fewer points want a longer step.
        "smoke": {"N": 200, "n": 10, "step": 2e-5, "iterations": 100, "m": 3},
    },
)

# -- the theorem -----------------------------------------------------------------------------------------------


def assumptions(kernels: Mapping[str, nl.Kernel]) -> pd.DataFrame:
    """α, M₁ and M₂ of each kernel, and the largest derivatives found."""
    rows = []
    for name, kernel in kernels.items():
        assert kernel.constants is not None
        found, known = curvature.largest_derivatives(kernel), kernel.constants
        rows.append((name, known.alpha, known.M1, found["M1"], known.M2, found["M2"]))
    columns = ["kernel", "α", "M₁", "largest slope found", "M₂", "largest second derivative found"]
    return pd.DataFrame(rows, columns=columns)


@nl.threads(1)
def curvature_along(p: ConvergenceParameters, start: Array) -> pd.DataFrame:
    """The largest eigenvalue of ∇²R at some iterations of a descent with the paper's step, a column for each kernel."""
    found = {}
    for name, kernel in curvature.kernels(p.rho).items():
        run = nl.gradient_descent(
            kernel, p.data(), start, step=p.step, iterations=p.iterations, record_every=p.iterations // 8,
            keep_path=True,
        )  # fmt: skip
        assert run.path is not None
        largest = [nl.largest_hessian_eigenvalue(kernel, p.data(), sample, tolerance=1e-6) for sample in run.path]
        found[name] = pd.Series(largest, index=run.iterations)
    return pd.DataFrame(found)


@style.drawn
def figure_steps(guaranteed: float, used: float, limit: float) -> Figure:
    """1/L, γ and 2/λ on one axis."""
    figure, panels = style.subplots(1, 1, height=1.7)
    axes = panels[0, 0]
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
        words = f"{words} = {number(place)}"
        axes.annotate(words, (place, 1.0), (0, 3), textcoords="offset points", ha=side, va="bottom")
    axes.set_xscale("log")
    axes.set(xlim=(low, high), ylim=(0.0, 1.0), yticks=[])
    axes.grid(False)
    axes.spines["left"].set_visible(False)
    style.label(axes, "length of a step (logarithmic)")
    return figure


def curvature_table(curves: pd.DataFrame, bounds: Mapping[str, Any], step: float) -> pd.DataFrame:
    """L against the largest curvature found, by kernel."""
    rows = [
        (name, bound.L, top, bound.L / top, bound.step, step * bound.L, 2 / top)
        for (name, bound), top in zip(bounds.items(), curves.max(), strict=True)
    ]
    columns = ["kernel", "L", "largest curvature", "L / curvature", "1/L", "γL", "stable up to 2 / curvature"]
    return pd.DataFrame(rows, columns=columns)


# -- descents --------------------------------------------------------------------------------------------------


@nl.threads(1)
def descents(p: ConvergenceParameters, start: Array, steps: Mapping[str, float]) -> dict[str, nl.Descent]:
    """Descents from the same start with several steps; R is recorded at each iteration."""
    kernel, data, runs = p.kernel(), p.data(), {}
    constant = nl.squared_frobenius_norm(kernel, data)
    for name, step in steps.items():
        run = nl.gradient_descent(kernel, data, start, step=step, iterations=p.iterations, record_every=1)
        runs[name] = replace(run, values=run.values + constant)
    return runs


def descents_table(
    p: ConvergenceParameters, runs: Mapping[str, nl.Descent], steps: Mapping[str, float], L: float
) -> pd.DataFrame:
    """The step against 1/L, how R and its gradient ended, and how far the landmarks went."""
    rows = []
    for name, run in runs.items():
        rises = int(np.sum(np.diff(run.values) > 1e-12 * run.values[0]))
        gradient = float(np.linalg.norm(nl.radial_skd_gradient(p.kernel(), p.data(), run.sample)))
        reach = float(np.abs(run.sample).max() / np.abs(p.data()).max())
        rows.append((name, steps[name], steps[name] * L, run.values[-1], rises, gradient, reach))
    columns = ["step", "γ", "γL", "R at the end", "steps that raised R", "‖∇R‖ at the end", "reach of S over that of D"]
    return pd.DataFrame(rows, columns=columns)


@style.drawn
def figure_descents(runs: Mapping[str, nl.Descent], ceiling: float) -> Figure:
    """R along descents that differ in their step; ``ceiling`` is ‖K‖_F², where no landmark is near the data."""
    figure, panels = style.subplots(1, 1, height=3.4)
    axes = panels[0, 0]
    for k, (name, run) in enumerate(runs.items()):
        look: Any = {"color": (*style.CYCLE, style.INK)[k % 6], "linestyle": (*style.DASHES, (0, (2, 2)))[k % 6]}
        axes.plot(run.iterations + 1, run.values, label=name, linewidth=1.2, **look)
    axes.axhline(ceiling, color=style.REFERENCE, linewidth=0.9, linestyle="-")
    name = r"$\|\mathbf{K}\|_{\mathrm{F}}^2$"
    axes.annotate(name, (1.0, ceiling), (2, 5), textcoords="offset points", color=style.REFERENCE)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(top=8.0 * ceiling)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    style.label(axes, "iteration $t + 1$", trajectories.R_ALONG)
    return figure
