"""What we learned: what the descents gain and where they fall short, said with the numbers of the stored results.

Every number of the page, and every word that judges one, is computed here from ``results/``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..experiments.config import Experiment
from ..experiments.paper import PAPER
from ..results.summary import change, rank_correlation, spread_of
from ..results.table import Results
from ..wording import DATA, WRITTEN, listed, markdown_table, number, percent

__all__ = ["TITLES", "Lesson", "page"]


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
    excess : float
        What the descent leaves of the excess of the trace factor over 1, which is all that can be lost.
    spread : float
        Interquartile range over median of the trace factor after the descent.
    bound : tuple of two floats
        √(N R), which bounds the trace error, over the trace error, before and after the descent.
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
    excess: float
    spread: float
    bound: tuple[float, float]
    agreement: float
    optimum: float


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
        excess=float(np.nanmedian((factor.after - 1.0) / (factor.before - 1.0))),
        spread=spread_of(factor.after),
        bound=(
            float(np.nanmedian((N * R.before) ** 0.5 / trace.before)),
            float(np.nanmedian((N * R.after) ** 0.5 / trace.after)),
        ),
        agreement=rank_correlation(R.after, trace.after),
        optimum=results.constants["trace"] / N,  # K(x, x) = 1 for the Gaussian kernel
    )


# -- the page --------------------------------------------------------------------------------------------------


def page(results: Mapping[str, Results]) -> str:
    """The page's text below its title, in MyST markdown, from the paper's results by name."""
    lessons = {name: lesson(title, results[name]) for name, title in TITLES.items()}
    parts = [
        _table(list(lessons.values())),
        _gained(list(lessons.values())),
        _fallen_short(list(lessons.values())),
        _bound(list(lessons.values())),
        _rho(lessons),
        _abalone(results, lessons),
        _miniboone(results),
        _advice(),
    ]
    return "\n".join(part for part in parts if part)


def _short(title: str) -> str:
    """The title in the middle of a sentence, with its maths set as maths."""
    named = title.replace("Bi-Gaussian", "bi-Gaussian").replace(", ρ = ", " with $\\rho=").replace(", n = ", "$, $n=")
    return f"{named}$"


def _table(lessons: Sequence[Lesson]) -> str:
    head = ["experiment", "$R$ left", "trace error left", f"{WRITTEN['E_tr']} before → after", "excess left", "better"]
    rows = [
        [
            each.title, percent(each.R), percent(each.trace), _arrow(each), percent(each.excess),
            f"{percent(each.better)} of {each.m:,}", number(each.spread),
        ]
        for each in lessons
    ]  # fmt: skip
    lines = [
        "## All of it in one table",
        "",
        "Medians over the repetitions of each experiment. $R$ and the trace error are given as what the descent leaves "
        "of them; the factor $\\mathcal E_{\\mathrm{tr}}$ of {eq}`eq-8` is 1 for the best approximation of the same "
        "rank, so that its *excess* over 1 is all that any sample could lose; *better* is the share of the repetitions "
        "in which the trace error fell; *spread* is the interquartile range of the optimised factors over their "
        "median.",
        "",
        markdown_table([*head, "spread"], rows),
        "",
    ]
    return "\n".join(lines)


def _arrow(lesson: Lesson) -> str:
    before, after = lesson.E_tr
    return f"{number(before)} → {number(after)}"


def _gained(lessons: Sequence[Lesson]) -> str:
    every = [each for each in lessons if each.better == 1.0]
    by_error, by_excess = (sorted(lessons, key=key) for key in (lambda each: each.trace, lambda each: each.excess))
    most, least = by_error[0], by_error[-1]
    small, large = by_excess[0], by_excess[-1]
    return (
        "## What is gained\n\n"
        f"In {len(every)} of the {len(lessons)} experiments the trace error falls in every repetition. A typical "
        f"descent removes between {percent(1.0 - least.trace)} ({_short(least.title)}) and {percent(1.0 - most.trace)} "
        f"({_short(most.title)}) of the error that a random sample leaves.\n\n"
        "How much that is depends on what there was to remove. A random sample that is only half as bad again as the "
        "best of its rank cannot lose more than a third of its error, however well it is moved. Of the excess over the "
        f"best, which can be lost, the descent leaves between {percent(small.excess)} ({_short(small.title)}) and "
        f"{percent(large.excess)} ({_short(large.title)}). The two measures do not put the experiments in the same "
        "order, and neither goes with the factor that is reached: a small factor at the end may be a small gain from a "
        "good start, and a large one a large gain from a bad start.\n"
    )


def _fallen_short(lessons: Sequence[Lesson]) -> str:
    risen = sorted((each for each in lessons if each.better < 1.0), key=lambda each: each.better)
    furthest = max(lessons, key=lambda each: each.E_tr[1])
    least = max(lessons, key=lambda each: each.excess)
    words = ["## Where it falls short", "", "In three different respects."]
    if risen:
        shown = [f"{_short(each.title)}, in {percent(1.0 - each.better)} of {each.m:,}" for each in risen]
        words += [
            "",
            f"**The error may rise.** $R$ falls in all of them, but in some repetitions the trace error does not: "
            f"{listed(shown, '; ')}.",
        ]
    words += [
        "",
        f"**The result may be far from the best.** Furthest is {_short(furthest.title)}. A typical descent divides "
        f"$R$ by {number(1.0 / furthest.R)}, and the trace error by {number(1.0 / furthest.trace)}; the median of "
        f"$\\mathcal E_{{\\mathrm{{tr}}}}$ goes from {number(furthest.E_tr[0])} to {number(furthest.E_tr[1])}. That is "
        "a large gain, and the optimised samples are still that many times worse than the best approximation of the "
        f"same rank. They also differ from each other: the interquartile range is {percent(furthest.spread)} of the "
        "median.",
        "",
        f"**The gain may be small.** The descent leaves {percent(least.excess)} of the excess for "
        f"{_short(least.title)}, more than anywhere else, although $R$ falls to {percent(least.R)} of what it was. "
        "Where the paper stopped its descents early, as it says of MAGIC, a part of this is due to that.",
        "",
    ]
    return "\n".join(words)


def _bound(lessons: Sequence[Lesson]) -> str:
    tight, loose = (pick(lessons, key=lambda each: each.bound[0]) for pick in (min, max))
    within = [each for each in lessons if each.bound[0] <= 10.0]
    every = [each for each in lessons if each.better == 1.0]
    widest = max(every, key=lambda each: each.bound[0]) if every else None
    by_agreement = sorted(lessons, key=lambda each: each.agreement)
    weakest, strongest = (f"{each.agreement:.2f}".replace("-", "−") for each in (by_agreement[0], by_agreement[-1]))
    return (
        "## Can one tell beforehand?\n\n"
        "By {eq}`eq-I` the trace error is at most $\\sqrt{N\\,R(\\mathcal S)}$. One might hope that $R$ is a good "
        "guide where this bound is near the error, and a bad one where it is far. It is not so simple. For the initial "
        f"samples the bound is between {number(tight.bound[0])} ({_short(tight.title)}) and {number(loose.bound[0])} "
        f"times the error ({_short(loose.title)}), within a factor of ten in {len(within)} of the {len(lessons)} "
        "experiments"
        + (
            f"; yet the error falls in every repetition at ratios up to {number(widest.bound[0])} "
            f"({_short(widest.title)})"
            if widest
            else ""
        )
        + ". "
        + (
            f"Where the error does not always follow $R$, the ratio is {number(least)} or more; below that it says "
            "little. "
            if (least := min((each.bound[0] for each in lessons if each.better < 1.0), default=0.0))
            else ""
        )
        + "\n\n"
        "{ref}`What R measures <theory-skd>` explains why the two may differ: $R$ compares the data with multiples of "
        "*one* operator, in which all landmarks have the same weight, while the Nyström approximation uses their span. "
        "Where the eigenvalues fall fast, nearly any set of landmarks spans nearly everything, what is left of the "
        "error lies in directions in which $\\mathbf K$ is tiny, and $R$, a sum of squares, does not see them: for "
        f"{_short(loose.title)} the best possible trace error is {number(loose.optimum)} of the trace.\n\n"
        "Among the optimised samples of one experiment, the rank correlation of $R$ and the trace error is between "
        f"{weakest} ({_short(by_agreement[0].title)}) and {strongest} ({_short(by_agreement[-1].title)}): of two "
        "optimised samples, the one with the smaller $R$ is not always the better.\n"
    )


def _rho(lessons: Mapping[str, Lesson]) -> str:
    pairs = [(n, lessons[f"figure-2-n{n}"], lessons[f"figure-2-n{n}-rho16"]) for n in (20, 50, 80)]
    rows = [
        [str(n), *(f"{number(each.spread)} (median {number(each.E_tr[1])})" for each in pair)] for n, *pair in pairs
    ]
    lines = [
        "## The kernel parameter decides",
        "",
        "The paper prints $\\rho=1$ for the bi-Gaussian example, the authors' notebook has $\\rho=16$. The paper says "
        "that the efficiencies of the optimised samples are “relatively close to each other”. Interquartile range over "
        "median of the optimised $\\mathcal E_{\\mathrm{tr}}$, with its median:",
        "",
        markdown_table(["$n$", "$\\rho=1$", "$\\rho=16$"], rows),
    ]
    closer = [str(n) for n, one, sixteen in pairs if sixteen.spread < one.spread]
    words = f"for $n$ = {listed(closer)} only" if closer else "for none of the three $n$"
    if len(closer) == len(pairs):
        words = "for each of the three $n$"
    return "\n".join(
        [*lines, "", f"The optimised samples are closer to each other with $\\rho=16$ than with $\\rho=1$ {words}.", ""]
    )


def _abalone(results: Mapping[str, Results], lessons: Mapping[str, Lesson]) -> str:
    rows = [
        [rho, _arrow(lessons[f"figure-3-rho{rho}"]), _arrow(lesson("", results[f"figure-3-rho{rho}-rings"]))]
        for rho in ("0.25", "1", "4")
        if f"figure-3-rho{rho}-rings" in results
    ]
    if not rows:
        return ""
    table = markdown_table(["$\\rho$", "with sex", "with rings"], rows)
    return (
        "## Which eight attributes\n\n"
        "Abalone's eighth attribute may be read as the sex or as the number of rings. Medians of "
        f"{WRITTEN['E_tr']} before → after:\n\n{table}\n"
    )


def _miniboone(stored: Mapping[str, Results]) -> str:
    if "figure-5" not in stored:
        return ""
    results = stored["figure-5"]
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
        "- Judge a sample by the error, not by $R$ alone, before and after: one trace norm costs less than the "
        "descent. Compute it with care: where the eigenvalues fall fast, $\\mathbf K_{\\mathcal S}$ is nearly "
        "singular, and a jitter or a cut-off may change the error by more than the descent does "
        "({ref}`theory-criteria`).\n"
        "- A descent can gain at most the excess over 1 of the random sample's factor: look at that first.\n"
        "- To make the trace error small, descend on it directly ({ref}`claim R5 <claim-R5>`).\n"
        "- A factor in the thousands does not matter if the error itself is far below what the application needs: "
        "then fewer landmarks would have been enough.\n"
    )
