"""Chapter 1, §1.1 and §1.2: Nyström approximations, the three criteria, their costs and their digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.sparse.linalg import eigsh

import nystrom_lib as nl

from ..errors import ConfigurationError
from ..experiments.outcome import Array
from ..figures import style
from ..settings import setting
from ..studies import costs
from ..wording import NORMS, number
from .base import Chapter
from .points import OnBigaussian, number_of_points


@dataclass(frozen=True)
class ApproximationParameters(OnBigaussian):
    """The parameters of chapter 1; the defaults are the values of §4.1."""

    N: int = number_of_points(80, 5000)
    n: int = setting(8, at_least=1, meaning="number of landmark points in the pictures of the matrices")
    ns: tuple[int, ...] = setting((1, 2, 5, 10, 20, 40, 80), at_least=1, meaning="numbers of landmarks tried")
    m: int = setting(5, at_least=1, at_most=1000, meaning="random samples for each number of landmarks")
    cost_Ns: tuple[int, ...] = setting(
        (500, 1000, 2000, 4000), at_least=100, at_most=20_000, meaning="numbers of points for the timings; two or more"
    )
    seed: int = setting(456, at_least=0, meaning="seed of the samples; 456 is the authors' initial sample")

    def check(self) -> None:
        """Refuse what no single parameter shows."""
        self.at_most_N("n", "ns")
        if len(self.cost_Ns) < 2:
            raise ConfigurationError("cost_Ns", f"is {list(self.cost_Ns)}; a slope needs two or more.")

    def ordered(self) -> Array:
        """Some of the data, ordered along the line from one mode to the other, so that the matrices show structure."""
        data = self.data()[:150]
        ordered: Array = data[np.argsort(data[:, 0] - data[:, 1], kind="stable")]
        return ordered


CHAPTER = Chapter(
    name="approximation",
    number=1,
    title="Nyström approximation and its criteria",
    section="paper §1.1–1.2",
    parameters=ApproximationParameters,
    profiles={
        "quick": {"N": 1000, "m": 3, "cost_Ns": (500, 1000, 2000)},
        "smoke": {
            "N": 200,
            "ns": (1, 5, 20),
            "m": 2,
            "cost_Ns": (200, 400),
        },
    },
)


# -- the approximation -----------------------------------------------------------------------------------------


@style.drawn
def figure_matrices(data: Array, sample: Array, K: Array, K_hat: Array) -> Figure:
    """Landmarks on the data, and K, K̂(S) and K − K̂(S) for some of the points as images."""
    figure, panels = style.subplots(2, 2, height=5.6)
    axes = panels[0, 0]
    style.dots(axes, data, snap=False)
    axes.plot(*sample.T, "s", color=style.INITIAL, markeredgecolor=style.INK, markeredgewidth=0.6)
    axes.set_aspect("equal")
    axes.grid(False)
    style.label(axes, "first coordinate", "second coordinate", "data and landmark points")
    top = max(float(K.max()), float(K_hat.max()))
    far = float(np.abs(K - K_hat).max())  # off the diagonal the difference has both signs: white is 0
    for axes, matrix, title, limits in (
        (panels[0, 1], K, r"$\mathbf{K}$", {"vmin": 0.0, "vmax": top}),
        (panels[1, 0], K_hat, r"$\hat{\mathbf{K}}(\mathcal{S})$", {"vmin": 0.0, "vmax": top}),
        (panels[1, 1], K - K_hat, r"$\mathbf{K}-\hat{\mathbf{K}}(\mathcal{S})$",
         {"vmin": -far, "vmax": far, "cmap": "PuOr_r"}),
    ):  # fmt: skip
        figure.colorbar(axes.imshow(matrix, interpolation="nearest", **limits), ax=axes, shrink=0.85)
        axes.set(xticks=[], yticks=[], title=title)
        axes.grid(False)
    return figure


# -- the criteria ----------------------------------------------------------------------------------------------


@nl.threads(1)
def errors_of_samples(kernel: nl.Kernel, data: Array, p: ApproximationParameters) -> pd.DataFrame:
    """The three norms of K − K̂(S) for m uniform samples of each size, and of K − K_n: those have no repetition."""
    matrix = kernel.matrix(data)
    rows = []
    for n in p.ns:
        rows.append((n, np.nan, nl.best_rank_errors(kernel, data, n, matrix=matrix)))
        for j in range(p.m):
            sample = nl.uniform_sample(data, n, np.random.default_rng([p.seed, n, j]))
            rows.append((n, j, nl.nystrom_errors(kernel, data, sample, matrix=matrix)))
    return pd.DataFrame([{"n": n, "repetition": j} | {norm: getattr(e, norm) for norm in NORMS} for n, j, e in rows])


@style.drawn
def figure_errors(errors: pd.DataFrame) -> Figure:
    """Median and range over random samples for each norm, and the optimum."""
    figure, panels = style.subplots(1, 3, height=2.7, sharey=True)
    best, random = errors[errors["repetition"].isna()], errors.dropna()
    for axes, (norm, title) in zip(panels[0], NORMS.items(), strict=True):
        group = random.groupby("n")[norm]
        axes.fill_between(best["n"], group.min(), group.max(), color=style.INITIAL, alpha=0.35, linewidth=0)
        axes.plot(best["n"], group.median(), "-s", color=style.INITIAL, label="random samples")
        axes.plot(best["n"], best[norm], "--", color=style.REFERENCE, label=r"optimal, $\mathbf{K}_n$")
        axes.set_yscale("log")
        style.label(axes, "$n$", "error" if norm == "trace" else "", title)
    panels[0, 0].legend(loc="lower left")
    return figure


def trace_table(errors: pd.DataFrame) -> pd.DataFrame:
    """The median trace error of the random samples against the optimum."""
    best = errors[errors["repetition"].isna()].set_index("n")["trace"]
    median = errors.dropna().groupby("n")["trace"].median()
    columns = {"trace error, random (median)": median, "trace error, optimal": best, "factor": median / best}
    return pd.DataFrame(columns).reset_index()


def partial_derivative(kernel: nl.Gaussian, data: Array, sample: Array, norm: str) -> float:
    """The derivative of a criterion in the first coordinate of the first landmark, in double precision.

    Moving one landmark changes K̂(S) by a matrix of rank 2, gaᵀ + agᵀ, with a and g from solves with a factor of K_S.
    A shift of the size of rounding errors keeps the factorisation from failing.
    """
    C, K_S = kernel.matrix(data, sample), kernel.matrix(sample)
    factor = cho_factor(K_S + 10.0 * np.finfo(float).eps * len(sample) * np.eye(len(sample)))
    dC, dK_S = (-2.0 * kernel.rho * (sample[0, 0] - x[:, 0]) * K[:, 0] for x, K in ((data, C), (sample, K_S)))
    a = C @ cho_solve(factor, np.eye(len(sample))[0])
    g = dC - C @ cho_solve(factor, dK_S)
    if norm == "trace":
        return float(-2.0 * a @ g)
    E = kernel.matrix(data) - C @ cho_solve(factor, C.T)
    if norm == "frobenius":
        return float(-2.0 * a @ (E @ g) / np.linalg.norm(E))
    v = eigsh(E, 1, v0=np.ones(len(E)))[1][:, 0]
    return float(-2.0 * (v @ a) * (v @ g))


def derivatives(kernel: nl.Gaussian, data: Array, sample: Array) -> dict[str, Callable[[], object]]:
    """One partial derivative of each criterion, as a call to time."""
    names = ("trace", "Frobenius", "spectral")
    return {name: partial(partial_derivative, kernel, data, sample, name.lower()) for name in names}


def cost_table(values: pd.DataFrame, slopes: pd.DataFrame) -> pd.DataFrame:
    """How the times of evaluations and of partial derivatives grow with N, and their quotient at the largest N."""
    largest = values["size"].max()
    at_largest, derivative = (each[each["size"] == largest].set_index("what")["seconds"] for each in (values, slopes))
    columns = {
        "one evaluation grows like N to the power": costs.exponents(values),
        "one partial derivative": costs.exponents(slopes),
        f"derivative / evaluation at N = {largest:,}": derivative / at_largest,
    }
    return pd.DataFrame(columns).loc[list(at_largest.index)].rename_axis("evaluated").reset_index()


# -- digits ----------------------------------------------------------------------------------------------------


def _pseudo_inverse(K_S: Array, k: Array) -> Array:
    diagonal: Array = np.einsum("ij,ij->j", k, np.linalg.pinv(K_S, rcond=1e-15) @ k)
    return diagonal


def _cut_off(K_S: Array, k: Array) -> Array:
    eigenvalues, vectors = np.linalg.eigh(K_S)
    kept = eigenvalues > 1e-12 * eigenvalues[-1]
    diagonal: Array = np.square(vectors[:, kept].T @ k / np.sqrt(eigenvalues[kept])[:, None]).sum(axis=0)
    return diagonal


def _cholesky(K_S: Array, k: Array, shift: float = 0.0) -> Array:
    factor = np.linalg.cholesky(K_S + shift * np.eye(len(K_S)))
    diagonal: Array = np.square(solve_triangular(factor, k, lower=True)).sum(axis=0)
    return diagonal


#: By the name in the table; each takes K_S and the n × N matrix of K(s_j, x_i), and returns K̂(x_i, x_i).
METHODS: Mapping[str, Callable[[Array, Array], Array]] = {
    "pseudo-inverse (`pinv`, cut-off 1e-15)": _pseudo_inverse,
    "eigenvalues below 1e-12 λ₁ left out": _cut_off,
    "1e-8 added to the diagonal (“jitter”)": lambda K_S, k: _cholesky(K_S, k, 1e-8),
    "ε tr(K_S) added to the diagonal": lambda K_S, k: _cholesky(K_S, k, float(np.finfo(float).eps * np.trace(K_S))),
    "Cholesky without pivoting": _cholesky,
}
DEFAULT = "the library's default"


def trace_errors(kernel: nl.Kernel, data: Array, sample: Array) -> pd.Series:
    """‖K − K̂(S)‖_* by each method, NaN where it breaks down; ``"exact"`` is the library's value with 32 digits."""
    K_S, k, diagonal = kernel.matrix(sample), kernel.matrix(sample, data), kernel.diagonal(data)
    traces = {}
    for name, method in METHODS.items():
        try:
            traces[name] = float((diagonal - method(K_S, k)).sum())
        except np.linalg.LinAlgError:
            traces[name] = np.nan
    for name, precision in (
        ("Cholesky with pivoting, in double precision", "double"), (DEFAULT, "auto"), ("exact", "extended"),
    ):  # fmt: skip
        traces[name] = nl.nystrom_errors(kernel, data, sample, "trace", precision=precision).trace
    return pd.Series(traces)


def digits_table(errors: pd.DataFrame) -> pd.DataFrame:
    """The relative error of each method, a column for each n; ``errors`` has the trace errors in its columns."""
    relative = (errors.drop("exact") / errors.loc["exact"] - 1.0).map(
        lambda value: "breaks down" if np.isnan(value) else number(value, 2)
    )
    relative.columns = [f"n = {n} (trace error {value:.4g})" for n, value in errors.loc["exact"].items()]
    return relative.rename_axis("relative error of").reset_index()
