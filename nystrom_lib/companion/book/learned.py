"""What we learned: where the surrogate serves well and where it does not, said with the numbers of the stored results.

Every number of the page, and every word that judges one, is computed here from ``results/``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import CompanionError
from ..experiments.config import Experiment
from ..experiments.paper import PAPER
from ..results.summary import change, rank_correlation, spread_of
from ..results.table import Results
from ..wording import DATA, listed, number, percent

__all__ = ["TITLES", "Lesson", "learned", "page"]


def _title(experiment: Experiment) -> str:
    """What a reader calls an experiment of Section 4.

    Examples
    --------
    >>> _title(PAPER["figure-2-n20"])
    'Bi-Gaussian, ρ = 1, n = 20'
    """
    data = DATA[experiment.data.kind]
    return f"{data[0].upper()}{data[1:]}, ρ = {experiment.kernel.to_plain()['rho']:g}, n = {experiment.n}"


#: The experiments with many repetitions, in the order of the page, and what a reader calls them.
TITLES: Mapping[str, str] = {
    name: _title(PAPER[name])
    for name in (
        *(f"figure-2-n{n}{variant}" for variant in ("", "-rho16") for n in (20, 50, 80)),
        *(f"figure-3-rho{rho}" for rho in ("0.25", "1", "4")),
        *(f"figure-4-n{n}" for n in (100, 200)),
    )
}

#: A descent ends near the best possible if its median trace factor is below this.
NEAR = 3.0
#: R says little about the trace error if the bound that it gives is above this many times the error.
LOOSE = 100.0


@dataclass(frozen=True)
class Lesson:
    """One experiment in the numbers that the page needs; medians over the repetitions.

    Attributes
    ----------
    title : str
        What a reader calls it.
    m : int
        Number of repetitions.
    R : float
        R after the descent over R before.
    E_tr : tuple of two floats
        The trace factor before and after.
    trace : float
        The trace error after the descent over the one before.
    better : float
        The share of the repetitions in which the trace error fell.
    spread : float
        Interquartile range over median of the trace factor after the descent.
    bound : float
        √(N R), which bounds the trace error, over the trace error, after the descent.
    agreement : float
        Rank correlation of R and the trace error among the optimised samples.
    optimum : float
        The smallest trace error possible at this rank, over the trace of K.
    """

    title: str
    m: int
    R: float
    E_tr: tuple[float, float]
    trace: float
    better: float
    spread: float
    bound: float
    agreement: float
    optimum: float


def learned(results_folder: Path) -> dict[str, Lesson]:
    """The numbers of the page, by the name of the experiment.

    Parameters
    ----------
    results_folder : Path
        Where the stored results are.

    Raises
    ------
    CompanionError
        If results are missing; they are named.
    """
    folder = Path(results_folder)
    missing = [name for name in TITLES if not (folder / f"{name}.parquet").is_file()]
    if missing:
        raise CompanionError(
            f"{folder.name}/ holds no results of {', '.join(missing)}; `make paper` computes the paper's experiments."
        )
    return {name: lesson(title, Results.load(folder / f"{name}.parquet")) for name, title in TITLES.items()}


def lesson(title: str, results: Results) -> Lesson:
    """One experiment in numbers."""
    R, trace, factor = (change(results, criterion) for criterion in ("R", "trace", "E_tr"))
    N = int(results.provenance["data"]["N"])
    return Lesson(
        title=title,
        m=len(R.after),
        R=R.kept,
        E_tr=factor.medians,
        trace=trace.kept,
        better=trace.improved,
        spread=spread_of(factor.after),
        bound=float(np.nanmedian((N * R.after) ** 0.5 / trace.after)),
        agreement=rank_correlation(R.after, trace.after),
        optimum=results.constants["trace"] / N,  # K(x, x) = 1 for the Gaussian kernel
    )


# -- the page --------------------------------------------------------------------------------------------------


def page(results_folder: Path) -> str:
    """The page's text below its title, in MyST markdown."""
    lessons = learned(results_folder)
    parts = [
        _table(list(lessons.values())),
        _serves_well(list(lessons.values())),
        _serves_badly(list(lessons.values())),
        _bound(lessons),
        _rho(lessons),
        _abalone(Path(results_folder), lessons),
        _miniboone(Path(results_folder)),
        _advice(),
    ]
    return "\n".join(part for part in parts if part)


def _short(title: str) -> str:
    """The title in the middle of a sentence, with its maths set as maths."""
    named = title.replace("Bi-Gaussian", "bi-Gaussian").replace(", ρ = ", " with $\\rho=").replace(", n = ", "$, $n=")
    return f"{named}$"


def _table(lessons: Sequence[Lesson]) -> str:
    lines = [
        "## All of it in one table",
        "",
        "Medians over the repetitions of each experiment. $R$ and the trace error are given as what the descent leaves "
        "of them; the factor $\\mathcal E_{\\mathrm{tr}}$ of {eq}`eq-8` is 1 for the best approximation of the same "
        "rank; *better* is the share of the repetitions in which the trace error fell; *spread* is the interquartile "
        "range of the optimised factors over their median.",
        "",
        "| experiment | $R$ left | trace error left | $\\mathcal E_{\\mathrm{tr}}$ before → after | better | spread |",
        "|---|---|---|---|---|---|",
    ]
    for each in lessons:
        lines.append(
            f"| {each.title} | {percent(each.R)} | {percent(each.trace)} | {number(each.E_tr[0])} → "
            f"{number(each.E_tr[1])} | {percent(each.better)} of {each.m:,} | {number(each.spread)} |"
        )
    return "\n".join([*lines, ""])


def _serves_well(lessons: Sequence[Lesson]) -> str:
    near = [each for each in lessons if each.E_tr[1] < NEAR]
    if not near:
        return f"## Where it serves well\n\nNo descent ends with a median factor below {NEAR:g}.\n"
    best = min(near, key=lambda each: each.trace)
    worst = min(near, key=lambda each: each.better)
    often = (
        f"even where it happens least often, {_short(worst.title)}, the error falls in {percent(worst.better)} of the "
        f"{worst.m:,} repetitions"
        if worst.better < 1.0
        else "the error falls in every repetition of every one of them"
    )
    low, high = min(each.optimum for each in near), max(each.optimum for each in near)
    return (
        "## Where it serves well\n\n"
        f"In {len(near)} of the {len(lessons)} experiments the median of $\\mathcal E_{{\\mathrm{{tr}}}}$ after the "
        f"descent is below {NEAR:g}: {listed([_short(each.title) for each in near], '; ')}. "
        f"The largest gain among them is that of {_short(best.title)}, where the descent leaves "
        f"{percent(best.trace)} of the trace error; {often}. In these experiments the best approximation of rank $n$ "
        f"itself misses between {percent(low)} and {percent(high)} of the trace of $\\mathbf K$. The landmarks cannot "
        "span everything, it matters where they are, and that is what $R$ sees.\n"
    )


def _serves_badly(lessons: Sequence[Lesson]) -> str:
    far = [each for each in lessons if each.E_tr[1] >= NEAR]
    if not far:
        return ""
    worst = max(far, key=lambda each: each.E_tr[1])
    others = [
        f"{_short(each.title)}, from {number(each.E_tr[0])} to {number(each.E_tr[1])}" for each in far if each != worst
    ]
    rises = f", and in {percent(1.0 - worst.better)} of the {worst.m:,} repetitions the error *rises*"
    return (
        "## Where it does not\n\n"
        f"The plainest case is {_short(worst.title)}. A typical descent divides $R$ by {number(1.0 / worst.R)}, and "
        f"the trace error by {number(1.0 / worst.trace)} only{rises if worst.better < 1.0 else ''}. The median of "
        f"$\\mathcal E_{{\\mathrm{{tr}}}}$ goes from {number(worst.E_tr[0])} to {number(worst.E_tr[1])}: the optimised "
        "samples are still that many times worse than the best approximation of the same rank, and they differ from "
        f"each other: the interquartile range is {percent(worst.spread)} of the median.\n"
        + (f"\nThe other medians that stay above {NEAR:g}: {listed(others, '; ')}.\n" if others else "")
    )


def _bound(lessons: Mapping[str, Lesson]) -> str:
    by_bound = sorted(lessons.values(), key=lambda each: each.bound)
    by_agreement = sorted(lessons.values(), key=lambda each: each.agreement)
    tight, loose = by_bound[0], by_bound[-1]
    many = [each for each in by_bound if each.bound > LOOSE]
    weakest, strongest = (f"{each.agreement:.2f}".replace("-", "−") for each in (by_agreement[0], by_agreement[-1]))
    remark = ": of two optimised samples, the one with the smaller $R$ is not always the better"
    return (
        "## Why\n\n"
        "By {eq}`eq-I` the trace error is at most $\\sqrt{N\\,R(\\mathcal S)}$. How much this says depends on the "
        f"kernel. After the descent, the bound is {number(tight.bound)} times the error for {_short(tight.title)}, and "
        f"for {_short(loose.title)} it is {number(loose.bound)} times the error"
        + (f"; it is above {LOOSE:g} times in {len(many)} of the {len(lessons)} experiments" if many else "")
        + ". The reason is in {ref}`what R measures <theory-skd>`: it compares the data with multiples of *one* "
        "operator, in which all landmarks have the same weight, while the Nyström approximation uses their whole span. "
        "Where the eigenvalues fall fast, nearly any set of landmarks spans nearly everything, what is left of the "
        "error lies in directions in which $\\mathbf K$ is tiny, and $R$, a sum of squares, does not see them: for "
        f"{_short(loose.title)} the best possible trace error is {number(loose.optimum)} of the trace.\n\n"
        "Among the optimised samples of one experiment, the rank correlation of $R$ and the trace error is between "
        f"{weakest} ({_short(by_agreement[0].title)}) and {strongest} ({_short(by_agreement[-1].title)})"
        f"{remark if by_agreement[0].agreement < 0.5 else ''}.\n"
    )


def _rho(lessons: Mapping[str, Lesson]) -> str:
    lines = [
        "## The kernel parameter decides",
        "",
        "The paper prints $\\rho=1$ for the bi-Gaussian example, the authors' notebook has $\\rho=16$. The paper says "
        "that the efficiencies of the optimised samples are “relatively close to each other”. Interquartile range over "
        "median of the optimised $\\mathcal E_{\\mathrm{tr}}$, with its median:",
        "",
        "| $n$ | $\\rho=1$ | $\\rho=16$ |",
        "|---|---|---|",
    ]
    pairs = [(n, lessons[f"figure-2-n{n}"], lessons[f"figure-2-n{n}-rho16"]) for n in (20, 50, 80)]
    for n, one, sixteen in pairs:
        cells = [f"{number(each.spread)} (median {number(each.E_tr[1])})" for each in (one, sixteen)]
        lines.append(f"| {n} | {cells[0]} | {cells[1]} |")
    closer = [str(n) for n, one, sixteen in pairs if sixteen.spread < one.spread]
    words = f"for $n$ = {listed(closer)} only" if closer else "for none of the three $n$"
    if len(closer) == len(pairs):
        words = "for each of the three $n$"
    return "\n".join(
        [*lines, "", f"The optimised samples are closer to each other with $\\rho=16$ than with $\\rho=1$ {words}.", ""]
    )


def _abalone(folder: Path, lessons: Mapping[str, Lesson]) -> str:
    lines = []
    for rho in ("0.25", "1", "4"):
        path = folder / f"figure-3-rho{rho}-rings.parquet"
        if path.is_file():
            sex, rings = lessons[f"figure-3-rho{rho}"], lesson("", Results.load(path))
            lines.append(
                f"| {rho} | {number(sex.E_tr[0])} → {number(sex.E_tr[1])} | {number(rings.E_tr[0])} → "
                f"{number(rings.E_tr[1])} |"
            )
    if not lines:
        return ""
    head = [
        "## Which eight attributes",
        "",
        "Abalone's eighth attribute may be read as the sex or as the number of rings. Medians of "
        "$\\mathcal E_{\\mathrm{tr}}$ before → after:",
        "",
        "| $\\rho$ | with sex | with rings |",
        "|---|---|---|",
    ]
    return "\n".join([*head, *lines, ""])


def _miniboone(folder: Path) -> str:
    path = folder / "figure-5.parquet"
    if not path.is_file():
        return ""
    results = Results.load(path)
    R, trace = (change(results, criterion) for criterion in ("R", "trace"))
    what = "a stand-in for MiniBooNE, of the same shape but not of the same values" if results.stand_in else "MiniBooNE"
    return (
        "## At full size\n\n"
        f"On {what}, with {int(results.provenance['data']['N']):,} points and {results.experiment.n:,} landmarks, "
        f"one descent leaves {percent(R.after[0] / R.before[0])} of $R$ and "
        f"{percent(trace.after[0] / trace.before[0])} of the trace error.\n"
    )


def _advice() -> str:
    return (
        "## What to make of it\n\n"
        "- Before descending, compare $\\sqrt{N\\,R(\\mathcal S)}$ with the trace error of the initial sample. If they "
        "are within a factor of ten or so, a smaller $R$ is likely to mean a smaller error. If they are orders of "
        "magnitude apart, $R$ will fall and the error need not.\n"
        "- Judge a sample by the error, not by $R$ alone, and compute the error with care: where $R$ says little, "
        "$\\mathbf K_{\\mathcal S}$ is nearly singular, and a jitter or a cut-off may change the error by more than "
        "the descent does ({ref}`theory-criteria`).\n"
        "- A factor in the thousands is not a disaster if the error itself is far below what the application needs: "
        "then fewer landmarks would have done.\n"
    )
