"""Chapter 6, §4.2: the Abalone data, Figure 3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.sparse.linalg import eigsh
from threadpoolctl import threadpool_limits

from nystrom_lib import Gaussian, Kernel

from ..experiments.components import Abalone, DataSource, part_of
from ..experiments.config import Experiment
from ..experiments.outcome import Array
from ..experiments.paper import PAPER, SEED, value, values
from ..figures import boxplots, style
from ..results import summary
from ..results.table import Results
from ..settings import Settings, setting
from ..wording import FACTORS, WRITTEN, percent
from .base import Chapter, each_once

#: The number of observations without the two outliers.
ALL = 4_175
#: The columns of the results that the chapter shows.
CRITERIA = ("R", *FACTORS.values())


@dataclass(frozen=True)
class AbaloneParameters(Settings):
    """The parameters of chapter 6; the defaults are the paper's values."""

    N: int = setting(ALL, at_least=2, at_most=ALL, meaning="number of observations; fewer are drawn at random")
    attributes: tuple[str, ...] = setting(
        values(3, "data.attributes"),
        choices=("sex", "rings"),
        meaning="the eighth attribute; the first one named is the paper's Figure 3",
    )
    rho: tuple[float, ...] = setting(values(3, "kernel.rho"), above=0, meaning="kernel parameters ρ")
    n: int = setting(value(3, "n"), at_least=1, meaning="number of landmark points")
    step: float = setting(value(3, "descent.step"), above=0, meaning="step γ of the stochastic gradient descent")
    iterations: int = setting(value(3, "descent.iterations"), at_least=1, at_most=10**6, meaning="number of steps T")
    batch_size: int = setting(value(3, "descent.batch_size"), at_least=1, meaning="batch size b")
    m: int = setting(values(3, "m")[0], at_least=1, at_most=10**6, meaning="repetitions for each ρ")
    m_variant: int = setting(
        values(3, "m")[1], at_least=1, at_most=10**6, meaning="the same for the second reading of the attributes"
    )
    eigenvalues: int = setting(100, at_least=2, at_most=1000, meaning="how many eigenvalues of K to show")
    seed: int = setting(SEED, at_least=0, meaning="seed of the initial samples and of the batches")
    recompute: int = setting(1, at_least=0, meaning="stored repetitions to compute again, of each experiment")

    def check(self) -> None:
        """Refuse repeated values."""
        each_once("rho", self.rho)
        each_once("attributes", self.attributes)

    def data(self, attributes: str) -> DataSource:
        """D, with the eighth attribute named."""
        return part_of(Abalone(attributes=attributes), self.N, ALL)

    def repetitions(self, rho: float, attributes: str) -> Experiment:
        """One row of Figure 3, or of its variant."""
        paper = PAPER["figure-3-rho1"]
        return paper.replace(
            data=self.data(attributes),
            kernel=Gaussian(rho=rho),
            n=self.n,
            descent=paper.descent.replace(step=self.step, iterations=self.iterations, batch_size=self.batch_size),
            m=self.m if attributes == self.attributes[0] else self.m_variant,
            seed=self.seed,
        )

    def experiments(self) -> list[Experiment]:
        """The experiments of the chapter."""
        return [self.repetitions(rho, attributes) for attributes in self.attributes for rho in self.rho]


CHAPTER = Chapter(
    name="abalone",
    number=6,
    title="The Abalone data",
    section="paper §4.2",
    parameters=AbaloneParameters,
    profiles={
        "quick": {"m": 10, "m_variant": 5, "recompute": 0},
        # A gradient is about as large as N², so fewer points want a longer step.
        "smoke": {
            "N": 400,
            "n": 10,
            "step": 8e-5,
            "iterations": 300,
            "m": 4,
            "m_variant": 3,
            "eigenvalues": 40,
            "recompute": 0,
        },
    },
)


# -- many descents ---------------------------------------------------------------------------------------------

#: The results by the eighth attribute and ρ.
Figure3 = Mapping[tuple[str, float], Results]


@style.picture(
    "figure-3",
    caption="The radial SKD and the three approximation factors on the Abalone data, before (orange) and after (blue) "
    "the optimisation by SGD. A row is a value of ρ. Boxes, whiskers and dashes as in {numref}`figure-2`; the dashed "
    "line is the best possible factor, 1.",
    alt="A grid of boxplots, a row for each ρ and a column for each criterion. In every panel the blue box, after "
    "optimisation, lies clearly below the orange one; in the panels of the factors it is also narrower.",
)
def figure_3(results: Figure3, attribute: str) -> Figure:
    """The criteria before and after the descent."""
    return _boxes(results, attribute, row_height=1.6)


@style.picture(
    "fig-abalone-variant",
    caption="{numref}`figure-3` with the number of rings in place of the sex. Panels as before.",
    alt="A grid of boxplots like that of the figure before, with the same order of the boxes in every panel.",
)
def figure_3_variant(results: Figure3, attribute: str) -> Figure:
    """The same for another eighth attribute."""
    return _boxes(results, attribute, row_height=1.75)


def _boxes(results: Figure3, attribute: str, row_height: float) -> Figure:
    rows = {rf"$\rho$ = {rho:g}": found.table for (each, rho), found in results.items() if each == attribute}
    return boxplots.before_and_after(rows, CRITERIA, title=f"eighth attribute: {attribute}", row_height=row_height)


def medians_in_short(results: Figure3, attribute: str) -> pd.DataFrame:
    """The medians of the criteria before and after, for one eighth attribute."""
    return summary.medians_in_short(
        [(f"{each}, ρ = {rho:g}", found) for (each, rho), found in results.items() if each == attribute], CRITERIA
    )


def medians(results: Figure3) -> pd.DataFrame:
    """All medians, gains and spreads."""
    return summary.medians([(f"{each}, ρ = {rho:g}", found) for (each, rho), found in results.items()], CRITERIA)


def both_attributes(results: Figure3) -> pd.DataFrame:
    """The median trace factor before and after: a row for each ρ, a column for each eighth attribute."""
    attributes, rhos = (dict.fromkeys(each) for each in zip(*results, strict=True))
    columns: dict[str, list[str]] = {f"median of {WRITTEN['E_tr']}": [f"ρ = {rho:g}" for rho in rhos]}
    for attribute in attributes:
        found = [("", each) for (name, _), each in results.items() if name == attribute]
        columns[f"with {attribute}"] = list(summary.medians_in_short(found, ["E_tr"]).iloc[:, 1])
    return pd.DataFrame(columns)


# -- spectra ---------------------------------------------------------------------------------------------------


def leading_eigenvalues(kernel: Kernel, data: Array, count: int) -> Array:
    """The ``count`` largest eigenvalues of K, largest first, by a Lanczos iteration from a fixed start.

    Examples
    --------
    >>> points = np.linspace(0, 1, 30)[:, None]
    >>> leading_eigenvalues(Gaussian(rho=1.0), points, 3).round(3)
    array([25.721,  3.978,  0.288])
    """
    with threadpool_limits(1, user_api="blas"):
        matrix = kernel.matrix(data)
        if 3 * count >= len(matrix):
            return np.asarray(np.linalg.eigvalsh(matrix)[::-1][:count], dtype=np.float64)
        start = np.random.default_rng(0).standard_normal(len(matrix))
        values = eigsh(matrix, count, which="LA", v0=start, ncv=2 * count + 20, tol=1e-7, return_eigenvectors=False)
        return np.asarray(np.sort(values)[::-1], dtype=np.float64)


@style.picture(
    "fig-abalone-spectra",
    caption="The largest eigenvalues of the kernel matrix for each ρ. The sum of those to the right of the dashed "
    "line is at most the trace error of any n landmark points.",
    alt="Three falling curves on a logarithmic axis: the smaller ρ, the higher the curve begins and the faster it "
    "falls.",
)
def figure_spectra(eigenvalues: Mapping[float, Array], n: int) -> Figure:
    """The eigenvalues for each ρ on a logarithmic axis, with a line at n."""
    figure, panels = style.subplots(height=3.2)
    axes = panels[0, 0]
    for (rho, spectrum), colour, dash in zip(eigenvalues.items(), style.CYCLE, style.DASHES, strict=False):
        axes.plot(np.arange(1, len(spectrum) + 1), spectrum, label=rf"$\rho$ = {rho:g}", color=colour, linestyle=dash)
    axes.set_yscale("log")
    axes.axvline(n, color=style.REFERENCE, linewidth=0.9, linestyle=(0, (4, 2)), zorder=0.9)
    axes.annotate(
        f"$n$ = {n:,}", (n, 0.97), (4, 0), xycoords=("data", "axes fraction"), textcoords="offset points", va="top",
        color=style.REFERENCE,
    )  # fmt: skip
    axes.legend()
    style.label(axes, r"$k$", r"$\lambda_k(\mathbf{K})$")
    return figure


def spectrum_table(eigenvalues: Mapping[float, Array], n: int, N: int) -> pd.DataFrame:
    """How fast the eigenvalues fall, and the share of the trace N in the first n."""
    rows = []
    for rho, spectrum in eigenvalues.items():
        k = min(n, len(spectrum))
        rows.append(
            {
                "": f"ρ = {rho:g}",
                "largest eigenvalue": spectrum[0],
                f"over that of number {k}": spectrum[0] / spectrum[k - 1],
                f"share of the trace in the first {k}": percent(spectrum[:k].sum() / N),
            }
        )
    return pd.DataFrame(rows)
