"""Chapter 5, §4.1: the bi-Gaussian example, Figures 1 and 2."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import nystrom_lib as nl

from ..experiments.components import BiGaussian
from ..experiments.config import Experiment
from ..experiments.outcome import Array
from ..experiments.paper import PAPER, SEED, value, values
from ..experiments.seeds import Axis, seed_for
from ..figures import boxplots, decay, paths, slider, style
from ..results import summary
from ..results.summary import change, spread_of
from ..results.table import Results
from ..settings import Settings, setting
from ..wording import FACTORS, SYMBOLS, WRITTEN, number, percent
from .base import Chapter, each_once

#: Digits counted at most: the reference itself is rounded to double precision.
MOST_DIGITS = 12
#: The columns of the results that the chapter shows.
CRITERIA = ("R", *FACTORS.values())


# -- parameters ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BigaussianParameters(Settings):
    """The parameters of chapter 5; the defaults are the paper's values."""

    N: int = setting(value(2, "data.N"), at_least=2, at_most=20_000, meaning="number of data points")
    data_seed: int = setting(value(2, "data.seed"), at_least=0, meaning="seed of the data; 123 is the authors' draw")
    rho: tuple[float, ...] = setting(
        values(2, "kernel.rho"),
        above=0,
        meaning="kernel parameters ρ: 1 as printed, 16 as in the authors' notebook",
    )
    n: tuple[int, ...] = setting(
        values(2, "n"), at_least=1, meaning="numbers of landmark points in the paper's Figure 2"
    )
    step: float = setting(value(2, "descent.step"), above=0, meaning="step γ of the gradient descent")
    iterations: int = setting(
        value(2, "descent.iterations"), at_least=1, at_most=10**6, meaning="number of steps T in the paper's Figure 2"
    )
    m: int = setting(
        value(2, "m"), at_least=1, at_most=10**6, meaning="repetitions for each n and each ρ in the paper's Figure 2"
    )
    path_n: int = setting(
        value(1, "n"), at_least=1, at_most=500, meaning="number of landmark points in the paper's Figure 1"
    )
    path_iterations: int = setting(
        value(1, "descent.iterations"), at_least=1, at_most=10**6, meaning="number of steps T in the paper's Figure 1"
    )
    path_every: int = setting(
        value(1, "record.every"), at_least=1, meaning="steps between two records of the paths in the paper's Figure 1"
    )
    seed: int = setting(SEED, at_least=0, meaning="seed of the initial samples")
    recompute: int = setting(3, at_least=0, meaning="stored repetitions to compute again, of each experiment")

    def check(self) -> None:
        """Refuse repeated values."""
        each_once("rho", self.rho)
        each_once("n", self.n)

    def data(self) -> BiGaussian:
        """D."""
        return BiGaussian(N=self.N, seed=self.data_seed)

    def about(self, figure: int, rho: float, n: int) -> str:
        """The name of an experiment at the foot of the page."""
        return f"The paper's Figure {figure}, ρ = {rho:g}, n = {n}"

    def paths(self, rho: float) -> Experiment:
        """Figure 1."""
        paper = PAPER["figure-1"]
        return paper.replace(
            data=self.data(),
            kernel=nl.Gaussian(rho=rho),
            n=self.path_n,
            descent=paper.descent.replace(step=self.step, iterations=self.path_iterations),
            seed=self.seed,
            record=paper.record.replace(every=self.path_every),
        )

    def repetitions(self, rho: float, n: int) -> Experiment:
        """One row of Figure 2."""
        paper = PAPER["figure-2-n20"]
        return paper.replace(
            data=self.data(),
            kernel=nl.Gaussian(rho=rho),
            n=n,
            descent=paper.descent.replace(step=self.step, iterations=self.iterations),
            m=self.m,
            seed=self.seed,
        )

    def experiments(self) -> list[Experiment]:
        """The experiments of the chapter."""
        each = [self.repetitions(rho, n) for rho in self.rho for n in self.n]
        return [*map(self.paths, self.rho), *each]


CHAPTER = Chapter(
    name="bigaussian",
    number=5,
    title="The bi-Gaussian example",
    section="paper §4.1",
    parameters=BigaussianParameters,
    profiles={
        "quick": {"m": 50, "recompute": 0},
        # A gradient is about as large as N², so fewer points want a longer step.
        "smoke": {
            "N": 300,
            "n": (8, 16),
            "step": 4e-5,
            "iterations": 60,
            "m": 5,
            "path_n": 12,
            "path_iterations": 100,
            "recompute": 0,
        },
    },
)


# -- one descent for each ρ ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RecordedDescent:
    """A descent in the plane: the samples that were kept, R and the trace factor of Eq. (8) there."""

    rho: float
    data: Array
    iterations: Array
    path: Array
    R: Array
    E_tr: Array

    @property
    def title(self) -> str:
        """The title of its panel."""
        return rf"$\rho$ = {self.rho:g}, $n$ = {self.path.shape[1]}"


def recorded_descent(rho: float, results: Results, data: Array) -> RecordedDescent:
    """The first repetition of an experiment that kept its path, with the trace factor of each sample kept."""
    iterations, path = results.path(0)
    kernel, best = results.experiment.kernel, results.constants["trace"]
    factors = [nl.nystrom_errors(kernel, data, sample, "trace").trace / best for sample in path]
    curve = results.curves
    R = curve.loc[curve["repetition"] == 0, "R"].to_numpy()
    return RecordedDescent(rho, data, np.asarray(iterations, dtype=float), path, R, np.array(factors))


def _paths_and_decay(descent: RecordedDescent) -> Figure:
    """The paths of the landmark points, and how R falls."""
    figure, axes = style.subplots(1, 2, height=3.7, width_ratios=[1, 0.9])
    paths.landmarks(axes[0, 0], descent.data, descent.path)
    decay.panel(axes[0, 1], {"R": (descent.iterations, descent.R)})
    axes[0, 1].set_title(descent.title)
    return figure


figure_1 = style.picture(
    "figure-1",
    caption="A descent with ρ as printed: the data (grey), the landmark points of the initial sample (squares) and of "
    "the optimised one (dots), and the paths between them; and the decay of the radial SKD along the descent.",
    alt="Two panels. In the first, a square filled with grey data points, denser towards the upper left and lower "
    "right corners; orange squares mark where landmarks start, blue dots where they end, violet lines their paths. In "
    "the second, the radial SKD falls steeply at first, then ever more slowly.",
)(_paths_and_decay)
figure_1_narrow = style.picture(
    "fig-bigaussian-paths",
    caption="The same start and the same step with ρ = 16, as in the authors' notebook: the paths of the landmark "
    "points, and the decay of the radial SKD.",
    alt="As in the figure before. The optimised landmarks are spread more evenly over the data, and the radial SKD "
    "levels off early.",
)(_paths_and_decay)


@style.picture(
    "fig-bigaussian-along",
    caption="R (solid) and the trace factor (broken) along one descent, over their values at the start, for the two ρ. "
    "The dashed line is the factor of the best matrix of the same rank: no sample goes below it.",
    alt="Two panels with logarithmic axes. With ρ = 1, R falls by more than three powers of ten, while the trace "
    "factor falls by less than one and ends far above the dashed line of the best possible. With ρ = 16 both fall at "
    "once and level off together, the trace factor near the dashed line.",
)
def figure_along(descents: Iterable[RecordedDescent]) -> Figure:
    """R and the trace factor along descents, each over its value at the start."""
    descents = list(descents)
    figure, axes = style.subplots(1, len(descents), height=3.2)
    for panel, descent in zip(axes[0], descents, strict=True):
        beside: Any = {"textcoords": "offset points", "ha": "right"}
        for name, along, colour, dash in (
            ("R", descent.R, style.OPTIMISED, style.DASHES[0]),
            ("E_tr", descent.E_tr, style.ACCENT, style.DASHES[1]),
        ):
            share = along / along[0]
            panel.plot(descent.iterations, share, color=colour, linestyle=dash)
            text = f"{SYMBOLS[name]}: {number(along[0])} → {number(along[-1])}"
            # above the curve for all its length
            panel.annotate(text, (descent.iterations[-1], share[len(share) // 2]), (0, 5), color=colour, **beside)
        best = 1.0 / descent.E_tr[0]
        panel.axhline(best, color=style.ACCENT, linewidth=0.9, linestyle=(0, (4, 2)), alpha=0.7)
        text = f"best possible {SYMBOLS['E_tr']}"
        panel.annotate(text, (descent.iterations[-1], best), (0, 4), color=style.ACCENT, **beside)
        panel.set_yscale("log")
        style.label(panel, "iteration $t$", "value over that at the start", descent.title)
    return figure


def ends(descents: Iterable[RecordedDescent]) -> str:
    """How far R and the trace error fell along each descent."""
    return "\n\n".join(map(_end, descents))


def _end(descent: RecordedDescent) -> str:
    R, E_tr = descent.R, descent.E_tr
    half = len(R) // 2
    later = E_tr[-1] / E_tr[half] - 1
    return (
        f"At ρ = {descent.rho:g}, $R$ ends {number(R[0] / R[-1])} times smaller than it began, and the trace error "
        f"{number(E_tr[0] / E_tr[-1])} times smaller, at {number(E_tr[-1])} times the best possible. In the second "
        f"half of the steps $R$ fell by another {percent(1 - R[-1] / R[half])}; the trace error "
        f"{'rose' if later > 0 else 'fell'} by {percent(abs(later))}."
    )


def animation(descent: RecordedDescent) -> str:
    """Figure 1 as an animation in HTML."""
    title = f"The landmark points during the descent, ρ = {descent.rho:g}, n = {descent.path.shape[1]}"
    return slider.landmark_slider(
        descent.data, descent.path, descent.iterations, R=descent.R, E_tr=descent.E_tr, title=title
    )


def displacements(descents: Iterable[RecordedDescent]) -> str:
    """How far the landmarks moved."""
    sentences = []
    for descent in descents:
        moved = np.sort(np.linalg.norm(descent.path[-1] - descent.path[0], axis=-1))
        sentences.append(
            f"At ρ = {descent.rho:g}, half of the landmarks ended more than {number(moved[len(moved) // 2], 2)} from "
            f"where they began, the one that went furthest {number(moved[-1], 2)}; the square has side 2."
        )
    return "\n\n".join(sentences)


# -- the authors' notebook -------------------------------------------------------------------------------------

#: The error norms that the authors' notebook prints, trace, Frobenius and spectral.
PRINTED = {"before": ("560.243", "99.8438", "39.701"), "after 400 steps": ("302.91", "46.172", "17.0789")}


def beside_the_authors(ours: Mapping[str, Any]) -> pd.DataFrame:
    """Their numbers and ours, to the digits printed there; a difference raises an error."""
    rows = []
    for stage, theirs in PRINTED.items():
        row = {"": stage}
        for norm, printed in zip(("trace", "frobenius", "spectral"), theirs, strict=True):
            digits = len(printed.partition(".")[2])
            found = getattr(ours[stage], norm)
            if abs(found - float(printed)) > 0.5000001 * 10.0**-digits:
                raise ArithmeticError(f"The {norm} error {stage} is {found}; the authors' notebook prints {printed}.")
            name = norm.replace("frob", "Frob")
            row |= {f"{name}, theirs": printed, f"{name}, ours": f"{found:.{digits}f}"}
        rows.append(row)
    return pd.DataFrame(rows)


# -- many descents ---------------------------------------------------------------------------------------------

#: The results of Figure 2 by ρ and n.
Figure2 = Mapping[tuple[float, int], Results]


def _boxes(results: Figure2, rho: float) -> Figure:
    """The criteria before and after the descent."""
    rows = {f"$n$ = {n}": found.table for (each, n), found in results.items() if each == rho}
    return boxplots.before_and_after(rows, title=rf"$\rho$ = {rho:g}")


figure_2 = style.picture(
    "figure-2",
    caption="With ρ as printed: the radial SKD and the three approximation factors, before (orange) and after (blue) "
    "the optimisation. A row is a value of n. Boxes are quartiles, whiskers reach 1.5 interquartile ranges (in "
    "logarithms where the axis is logarithmic), dashes are the samples beyond; the dashed line is the best possible "
    "factor, 1.",
    alt="A grid of boxplots, a row for each n and a column for each criterion. In every panel the blue box, after "
    "optimisation, lies below the orange one, before; for the radial SKD by orders of magnitude, for the factors "
    "less, and least in the last row.",
)(_boxes)
figure_2_narrow = style.picture(
    "fig-bigaussian-boxplots",
    caption="The same with ρ = 16, as in the authors' notebook. Panels as in {numref}`figure-2`, most of them on "
    "linear axes.",
    alt="A grid of boxplots as in the figure before. The blue boxes are thin and lie well below the orange ones, close "
    "to the dashed line at 1 in the first row and less so in the last.",
)(_boxes)


def medians_in_short(results: Figure2) -> pd.DataFrame:
    """The medians of the criteria before and after."""
    return summary.medians_in_short(_named(results), CRITERIA)


def medians(results: Figure2) -> pd.DataFrame:
    """All medians, gains and spreads."""
    return summary.medians(_named(results), CRITERIA)


def _named(results: Figure2) -> list[tuple[str, Results]]:
    return [(f"ρ = {rho:g}, n = {n}", found) for (rho, n), found in results.items()]


def extremes(results: Figure2) -> str:
    """Where the optimised samples end nearest to the optimum, and where furthest from it."""
    E = WRITTEN["E_tr"]
    order = sorted(results, key=lambda key: change(results[key], "E_tr").medians[1])
    sentences = []
    for (rho, n), words in ((order[0], "nearest to"), (order[-1], "furthest from")):
        R, E_tr = (change(results[rho, n], criterion) for criterion in ("R", "E_tr"))
        sentences.append(
            f"The optimised samples end **{words} the optimum** at ρ = {rho:g}, n = {n}. There the median of $R$ falls "
            f"by a factor of {number(R.gain)} and that of {E} by {number(E_tr.gain)}, to "
            f"{number(E_tr.medians[1])}; the optimised samples' interquartile range of {E} is "
            f"{number(spread_of(E_tr.after), 2)} of their median, and {E} improved in "
            f"{percent(E_tr.improved)} of the repetitions."
        )
    return "\n\n".join(sentences)


# -- how many digits to believe --------------------------------------------------------------------------------


def digits(results: Figure2, data: Array) -> pd.DataFrame:
    """The numbers of correct digits of the criteria of each first initial sample.

    The reference is computed with 32 digits and the landmarks in reverse order, so that everything rounds differently.
    """
    rows = []
    for (rho, n), found in results.items():
        experiment = found.experiment
        kernel, norms = experiment.kernel, experiment.norms
        sample = experiment.initial.draw(kernel, data, n, seed_for(experiment.seed, Axis.INITIAL_SAMPLE, 0))
        plotted = nl.nystrom_errors(kernel, data, sample, norms)
        double = nl.nystrom_errors(kernel, data, sample, norms, precision="double")
        reference = nl.nystrom_errors(kernel, data, sample[::-1].copy(), norms, precision="extended")
        right = {norm: right_digits(getattr(plotted, norm), getattr(reference, norm)) for norm in norms}
        rows.append(
            {
                "ρ": f"{rho:g}",
                "n": n,
                "smallest pivot": nl.NystromApproximation(kernel, sample).smallest_pivot,
                "digits in double precision": min(
                    right_digits(getattr(double, norm), getattr(reference, norm)) for norm in norms
                ),
                "computed in": plotted.precision,
                f"digits of plotted {WRITTEN['E_tr']}": right["trace"],
                f"of {WRITTEN['E_F']}": right["frobenius"],
                f"of {WRITTEN['E_sp']}": right["spectral"],
            }
        )
    return pd.DataFrame(rows)


def right_digits(found: float, reference: float) -> int:
    """The number of correct digits of ``found``.

    Examples
    --------
    >>> right_digits(1.0001, 1.0), right_digits(-3.0, 1.0)
    (4, 0)
    """
    difference = abs(found - reference)
    if difference == 0.0:
        return MOST_DIGITS
    return max(0, min(MOST_DIGITS, math.floor(-math.log10(difference / abs(reference)) + 1e-9)))
