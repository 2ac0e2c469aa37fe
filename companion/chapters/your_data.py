"""Chapter 13: the method on a file of the reader's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

import nystrom_lib as nl

from ..choices import KERNEL_NAMES, METHODS, STARTS
from ..experiments.components import File
from ..figures import own_data as pictures
from ..figures import style
from ..settings import Settings, setting
from ..studies import own_data
from ..wording import FACTORS, NORMS, WITH_SAMPLE, markdown, number
from .base import Chapter


@dataclass(frozen=True)
class YourDataParameters(Settings):
    """The parameters of chapter 13; null leaves a choice to a rule, which the chapter states."""

    file: str = setting(
        own_data.EXAMPLE,
        meaning="the file: .csv, .tsv, .txt (also compressed), .parquet or .npy, a row per point",
    )
    columns: tuple[str, ...] | None = setting(None, meaning="the columns to use, by name; null for all")
    without: tuple[str, ...] = setting((), meaning="columns to leave out")
    one_hot: bool = setting(False, meaning="turn each column of words into columns of 0 and 1?")
    header: bool | None = setting(None, meaning="does the first line of a text file name the columns? null to detect")
    missing: str = setting("drop", choices=("drop", "keep", "refuse"), meaning="rows with missing values")
    standardise: bool = setting(True, meaning="rescale each column to zero mean and unit variance, as paper §4.2 does?")
    kernel: str = setting("gaussian", choices=KERNEL_NAMES, meaning="the kernel K")
    rho: float | None = setting(None, above=0, meaning="kernel parameter ρ; null for the median rule")
    n: int = setting(20, at_least=1, at_most=10**5, meaning="number of landmark points")
    method: str = setting("auto", choices=METHODS, meaning="the objective to descend on, or a method to choose points")
    start: str = setting("uniform", choices=STARTS, meaning="the initial sample of a descent")
    iterations: int | None = setting(None, at_least=0, at_most=10**7, meaning="number of steps T; null for the default")
    seed: int = setting(0, at_least=0, meaning="seed of the initial sample and the batches")

    def check(self) -> None:
        """Refuse a missing file, and a ρ that no kernel may have."""
        own_data.locate(self.file)
        if self.rho is not None:
            nl.Gaussian(rho=self.rho)

    def request(self) -> own_data.Request:
        """What to find landmarks for, and how."""
        reading = ("columns", "without", "missing", "one_hot", "header", "standardise")
        file = File(path=str(own_data.locate(self.file)), **{name: getattr(self, name) for name in reading})
        finding = ("n", "kernel", "rho", "method", "start", "iterations", "seed")
        return own_data.Request(file, **{name: getattr(self, name) for name in finding})


CHAPTER = Chapter(
    name="your_data",
    number=13,
    title="Your own data",
    section="your data",
    parameters=YourDataParameters,
    profiles={"quick": {"iterations": 300}, "smoke": {"n": 5, "iterations": 50}},
)


def optimised(p: YourDataParameters) -> own_data.Optimised:
    """The landmarks for the file."""
    request = p.request()
    dataset = request.source.load(p.seed)
    return request.optimised(dataset)


figure_landmarks = style.picture(
    "fig-your-data-landmarks",
    caption="The data with the initial and the optimised landmark points, joined by lines; and the mean error of "
    "uniform landmarks against their number, with that of the optimised ones.",
    alt="Two panels. In the first, data points as light dots with the initial landmarks as squares, the optimised ones "
    "as dots and lines between them. In the second, a falling curve of the error of uniform landmarks against their "
    "number, with the optimised ones as a point and a dotted line.",
)(pictures.report)


def describe(found: own_data.Optimised) -> str:
    """The data: how many points, which columns, and what was left out."""
    data = found.dataset
    removed = "; ".join(f"{count:,} left out: {reason}" for reason, count in data.removed if count) or "no row left out"
    scaled = "The columns were used as they are." if data.mean is None else "Each column was standardised."
    return (
        f"**{markdown(data.name)}**: N = {data.N:,} points with d = {data.d} coordinates "
        f"({', '.join(map(markdown, data.columns))}); {removed}. {scaled}"
    )


def before_and_after(found: own_data.Optimised) -> pd.DataFrame:
    """The errors that can be afforded, before and after, beside the smallest possible, and the factors of Eq. (8)."""
    kernel, X, n = found.kernel, found.dataset.X, found.request.n
    small = len(X) <= own_data.FULL_REPORT
    norms = tuple(NORMS) if small else ("trace",)
    before, after = (nl.nystrom_errors(kernel, X, each, norms) for each in (found.result.start, found.result.sample))
    best = nl.best_rank_errors(kernel, X, n, norms) if small else None
    rows = []
    for norm in norms:
        old, new = getattr(before, norm), getattr(after, norm)
        least = getattr(best, norm) if best else np.nan
        rows.append((WITH_SAMPLE[norm], old, new, least, new / old if old else np.nan))
    for factor, (_, old, new, least, quotient) in zip(FACTORS.values() if small else (), list(rows), strict=False):
        old, new = ((each / least if least else np.nan) for each in (old, new))
        rows.append((WITH_SAMPLE[factor], old, new, 1.0, quotient))
    head = ["criterion", "initial sample", "optimised sample", "best possible", "after / before"]
    return pd.DataFrame(rows, columns=head)


def in_short(found: own_data.Optimised) -> str:
    """The trace error before and after, and how many uniform landmarks the same error takes."""
    uniform, enough = found.equivalent
    return (
        f"The trace error went from {number(found.before, 4)} to {number(found.after, 4)}. The same error takes "
        f"{'about' if enough else 'more than'} {uniform:,} uniform landmarks, {uniform / found.request.n:.1f} times "
        "as many."
        + ("" if found.after < found.before else " It did not improve: try another ρ or more iterations.")
    )


def plane_in_short(found: own_data.Optimised) -> str:
    """How much of the variance the picture shows."""
    if found.dataset.d <= 2:
        return "The picture shows all coordinates."
    *_, share = pictures.plane(found.dataset)
    return f"The plane of the picture contains {100 * share:.0f} % of the variance of the data."


def first_landmarks(found: own_data.Optimised, count: int = 8) -> pd.DataFrame:
    """The first of the landmarks, in the units of the file."""
    return found.frame().head(count).rename(columns=markdown)
