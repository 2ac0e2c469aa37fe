"""Chapter 4, §3: stochastic approximations of the gradient, their bias, their variance and their cost."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

import nystrom_lib as nl

from ..errors import ConfigurationError
from ..experiments.outcome import Array
from ..experiments.paper import value
from ..figures import style, trajectories
from ..settings import setting
from .base import Chapter
from .points import OnBigaussian, number_of_points


@dataclass(frozen=True)
class StochasticParameters(OnBigaussian):
    """The parameters of chapter 4; data, ρ, n and γ are those of §4.1, the batch size that of §4.2."""

    N: int = number_of_points(10, 100_000)
    n: int = setting(value(1, "n"), at_least=1, at_most=500, meaning="number of landmark points")
    step: float = setting(value(1, "descent.step"), above=0, meaning="step γ of the descents")
    iterations: int = setting(1000, at_least=10, at_most=10**6, meaning="number of steps T of the descents")
    batch_sizes: tuple[int, ...] = setting(
        (10, 50, 200), at_least=2, at_most=100_000, meaning="batch sizes b of the descents; 50 is that of paper §4.2"
    )
    repetitions: int = setting(5, at_least=1, at_most=1000, meaning="descents for each estimator and batch size")
    sizes: tuple[int, ...] = setting(
        (8, 16, 32, 64, 128, 256), at_least=4, at_most=10_000, meaning="batch sizes for bias and variance"
    )
    batches: int = setting(4000, at_least=100, at_most=10**6, meaning="batches drawn for bias and variance")
    cost_Ns: tuple[int, ...] = setting(
        (1000, 4000, 16_000, 64_000), at_least=100, at_most=10**6, meaning="numbers of points for the timings"
    )
    seed: int = setting(456, at_least=0, meaning="seed of samples and batches")

    def check(self) -> None:
        """Refuse what no single parameter shows."""
        self.at_most_N("n")
        if len(self.cost_Ns) < 2:
            raise ConfigurationError("cost_Ns", f"is {list(self.cost_Ns)}; a slope needs two or more.")


CHAPTER = Chapter(
    name="stochastic_gradients",
    number=4,
    title="Stochastic gradients",
    section="paper §3",
    parameters=StochasticParameters,
    profiles={
        "quick": {"batches": 1000, "repetitions": 3, "cost_Ns": (1000, 4000, 16_000)},
        # The gradient is about as large as N², so fewer points want a longer step.
        "smoke": {
            "N": 200,
            "n": 10,
            "step": 2e-5,
            "iterations": 200,
            "batch_sizes": (10, 50),
            "repetitions": 2,
            "sizes": (8, 32),
            "batches": 500,
            "cost_Ns": (500, 2000),
        },
    },
)

# -- the estimators --------------------------------------------------------------------------------------------

#: How many independent parts a batch is divided into.
PARTS = {"one-sample": 1, "two-sample": 2, "four-sample": 4}


@dataclass(frozen=True)
class Terms:
    """What the estimators at one sample S are made of, for all data points: a batch is then a mean over some rows."""

    first: Array  #: N Σ_j K²(s_j, x_i), shape (N,): its mean over a batch is T̂₁
    second: Array  #: N ∂K²(s_k, x_i), shape (N, n·d): its mean over a batch is T̂₂
    upsilon: Array  #: Υ(S), shape (n·d,)
    norm: float  #: ‖K_S‖_F²

    def combine(self, T1_a: Array, T1_b: Array, T1_c: Array, T2: Array) -> Array:
        """T₁ᵃT₁ᵇ Υ/‖K_S‖⁴ − 2 T₁ᶜT₂/‖K_S‖², a row for each batch."""
        linear = (T1_a * T1_b / self.norm**2)[:, None] * self.upsilon
        result: Array = linear - (2.0 * T1_c / self.norm)[:, None] * T2
        return result

    @property
    def gradient(self) -> Array:
        """∇R(S), Eq. (5), from the same terms."""
        T1 = np.atleast_1d(self.first.mean())
        exact: Array = self.combine(T1, T1, T1, self.second.mean(axis=0)[None])[0]
        return exact


def terms(kernel: nl.Kernel, data: Array, sample: Array) -> Terms:
    """Compute them once."""
    N, n = len(data), len(sample)
    second = kernel.squared_left(sample, data).transpose(1, 0, 2).reshape(N, -1)
    among = kernel.squared_left(sample, sample)
    among[np.arange(n), np.arange(n)] = 0.0
    upsilon = (kernel.squared_diagonal(sample) + 2.0 * among.sum(axis=1)).ravel()
    first = kernel.squared(sample, data).sum(axis=0)
    second *= N  # in place: it is by far the largest array
    return Terms(N * first, second, upsilon, float(kernel.squared(sample).sum()))


def estimates(parts: Terms, batches: NDArray[np.int64], kind: str) -> Array:
    """The estimate of ∇R from each batch, a row of indices: Eq. (6), Eq. (7) or Remark 3.1; shape (batches, n·d)."""
    pieces = np.array_split(batches, PARTS[kind], axis=1)
    first = [parts.first[piece].mean(axis=1) for piece in pieces]
    last = pieces[-1]
    T2 = np.zeros((len(batches), parts.second.shape[1]))
    for column in range(last.shape[1]):  # one place of the batch at a time: no (batches, b, n·d) array
        T2 += parts.second[last[:, column]]
    T2 /= last.shape[1]
    b, c = {"one-sample": (0, 0), "two-sample": (1, 0), "four-sample": (1, 2)}[kind]
    return parts.combine(first[0], first[b], first[c], T2)


def every_batch(parts: Terms, b: int, kind: str) -> Array:
    """The estimate from each of the N^b equally likely batches."""
    return estimates(parts, np.array(list(itertools.product(range(len(parts.first)), repeat=b))), kind)


def relative_bias(parts: Terms, estimated: Array) -> float:
    """How far the mean of some estimates is from ∇R, over ‖∇R‖."""
    return float(np.linalg.norm(estimated.mean(axis=0) - parts.gradient)) / float(np.linalg.norm(parts.gradient))


def total_variance(estimated: Array) -> float:
    """The variance of some estimates, summed over the coordinates."""
    return float(estimated.var(axis=0).sum())


def one_sample_bias(parts: Terms, b: int) -> Array:
    """The bias of Eq. (6) in closed form, Eq. (B)."""
    centred = parts.first - parts.first.mean()
    variance, covariance = np.mean(centred**2) / b, centred @ parts.second / len(centred) / b
    bias: Array = variance / parts.norm**2 * parts.upsilon - 2.0 / parts.norm * covariance
    return bias


def exact_variances(parts: Terms, b: int) -> dict[str, float]:
    """The total variances of Eq. (6) and Eq. (7) at batch size b, by the proposition on them, for any b."""
    b_X, b_Y = (len(part) for part in np.array_split(np.arange(b), 2))
    T1, c = float(parts.first.mean()), 1.0 / parts.norm
    v, one, two = parts.first - T1, 0.0, 0.0
    for columns in np.array_split(np.arange(parts.second.shape[1]), -(-parts.second.shape[1] // 64)):
        T2, a = parts.second[:, columns].mean(axis=0), parts.upsilon[columns] * c**2
        w = parts.second[:, columns] - T2
        p, u = v[:, None] * (a * T1 - 2.0 * c * T2), v[:, None] * a - 2.0 * c * w
        q, vu = T1 * u, v[:, None] * u
        product, covariance = np.mean(v**2) * np.mean(u**2, axis=0), vu.mean(axis=0)
        kappa = np.mean(vu**2, axis=0) - product - 2.0 * covariance**2
        second = 2.0 * np.mean((p + q) * vu, axis=0) + product + covariance**2
        one += float((np.mean((p + q) ** 2, axis=0) / b + second / b**2 + kappa / b**3).sum())
        two += float((np.mean(p**2, axis=0) / b_X + np.mean(q**2, axis=0) / b_Y + product / (b_X * b_Y)).sum())
    return {"one-sample": one, "two-sample": two}


def enumeration(parts: Terms, b: int) -> pd.DataFrame:
    """Over all batches of size b, a multiple of 4: the distance of the mean from ∇R and the variance."""
    size = float(np.linalg.norm(parts.gradient))
    rows = []
    for kind in PARTS:
        estimated = every_batch(parts, b, kind)
        rows.append((kind, len(estimated), relative_bias(parts, estimated), total_variance(estimated) / size**2))
    return pd.DataFrame(rows, columns=["estimator", "batches", "bias / ‖∇R‖", "variance / ‖∇R‖²"])


def moments(parts: Terms, p: StochasticParameters) -> pd.DataFrame:
    """Bias (in closed form) and standard deviations (over many batches) over ‖∇R‖, by batch size.

    The last two columns are the quotient of two variances, as found and as the proposition has it.
    """
    size, rows = float(np.linalg.norm(parts.gradient)), []
    for b in p.sizes:
        batches = np.random.default_rng([p.seed, b]).integers(0, len(parts.first), size=(p.batches, b))
        found = {kind: float(np.sqrt(total_variance(estimates(parts, batches, kind)))) / size for kind in PARTS}
        exact = exact_variances(parts, b)
        row = {"b": b, "bias, one-sample": float(np.linalg.norm(one_sample_bias(parts, b))) / size}
        row |= {f"deviation, {kind}": deviation for kind, deviation in found.items()}
        row["variance two / one"] = (found["two-sample"] / found["one-sample"]) ** 2
        rows.append(row | {"the same, exactly": exact["two-sample"] / exact["one-sample"]})
    return pd.DataFrame(rows)


@nl.threads(1)
def descents(kernel: nl.Kernel, data: Array, start: Array, p: StochasticParameters) -> pd.DataFrame:
    """R along an exact and stochastic descents from one start; columns estimator, b, repetition, iteration, R."""
    common: dict[str, Any] = {
        "step": p.step,
        "iterations": p.iterations,
        "record_every": max(1, p.iterations // 60),
    }
    constant = nl.squared_frobenius_norm(kernel, data)  # which the descents leave out of R
    runs = [("exact", len(data), 0, nl.gradient_descent(kernel, data, start, **common))]
    for b, kind, j in itertools.product(p.batch_sizes, ("one-sample", "two-sample"), range(p.repetitions)):
        batches = np.random.default_rng([p.seed, b, j]).integers(0, len(data), size=(p.iterations, b))
        common |= {"batches": batches, "estimator": kind}
        try:
            runs.append((kind, b, j, nl.stochastic_gradient_descent(kernel, data, start, **common)))
        except nl.DescentError:
            continue
    frames = [
        pd.DataFrame(
            {"estimator": kind, "b": b, "repetition": j, "iteration": run.iterations, "R": constant + run.values}
        )
        for kind, b, j, run in runs
    ]
    return pd.concat(frames, ignore_index=True)


# -- figures ---------------------------------------------------------------------------------------------------

_LOOK: Mapping[str, Mapping[str, Any]] = {
    "one-sample": {"color": style.OPTIMISED, "linestyle": "-"},
    "two-sample": {"color": style.INITIAL, "linestyle": (0, (5, 1.5))},
    "four-sample": {"color": style.ACCENT, "linestyle": (0, (1, 1.2))},
    "exact": {"color": style.REFERENCE, "linestyle": "-"},
}


@style.drawn
def figure_clouds(parts: Terms, b: int, seed: int, count: int = 600) -> Figure:
    """Estimates of the gradient of the landmark with the longest one, from the same batches for both estimators."""
    batches = np.random.default_rng(seed).integers(len(parts.first), size=(count, b))
    figure, panels = style.subplots(1, 2, height=3.4, sharex=True, sharey=True)
    exact, bias = parts.gradient.reshape(-1, 2), one_sample_bias(parts, b).reshape(-1, 2)
    which = int(np.argmax(np.linalg.norm(exact, axis=1)))
    for axes, kind in zip(panels[0], ("one-sample", "two-sample"), strict=True):
        dots, colour = estimates(parts, batches, kind).reshape(count, -1, 2)[:, which], _LOOK[kind]["color"]
        style.dots(axes, dots, color=colour, linewidth=2.4, alpha=0.7)
        mean = exact[which] + (bias[which] if kind == "one-sample" else 0.0)
        axes.plot(*mean, "o", color="none", markeredgecolor=style.INK, markersize=8, markeredgewidth=1.3, label="mean")
        axes.plot(*exact[which], "x", color=style.INK, markersize=8, markeredgewidth=1.6, label="exact gradient")
        axes.set_aspect("equal")
        style.label(axes, "first coordinate", "second coordinate", f"{kind}, $b$ = {b}")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


@style.drawn
def figure_descents(table: pd.DataFrame) -> Figure:
    """A panel for each b: R along the descents, the median over repetitions and their range."""
    exact, stochastic = (group for _, group in table.groupby(table["estimator"] != "exact"))
    sizes = stochastic["b"].unique()
    figure, panels = style.subplots(1, len(sizes), height=3.0, sharey=True)
    for axes, b in zip(panels[0], sizes, strict=True):
        axes.plot(exact["iteration"], exact["R"], linewidth=1.0, label="exact", **_LOOK["exact"])
        for kind, group in stochastic[stochastic["b"] == b].groupby("estimator", sort=False):
            over = group.groupby("iteration")["R"]
            t = np.array(list(over.groups))
            axes.fill_between(t, over.min(), over.max(), color=_LOOK[str(kind)]["color"], alpha=0.2, linewidth=0)
            axes.plot(t, over.median(), label=str(kind), **_LOOK[str(kind)])
        axes.set_yscale("log")
        style.label(axes, "iteration $t$", trajectories.R_ALONG if axes is panels[0, 0] else "", f"$b$ = {b}")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
