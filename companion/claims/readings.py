"""Our reading of each claim now, made after the results were seen.

The rules in ``declared`` were fixed early, and some of them turned out to be too strict, too loose or about something
else. So each claim also has a reading, by one standard for all: would a fair reader of the paper's sentence, who sees
our numbers, say that the sentence is true? Where a sentence speaks of improved samples, it holds if every sample
improves (up to one in a thousand), and in part if only the typical sample does. Where it speaks of what boxplots show,
the distance between the boxes counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from .base import Finding, Verdict


class Judgement(StrEnum):
    """The four things a reading can say."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold"
    OPEN = "open"


@dataclass(frozen=True)
class Reading:
    """What we think of a claim, and why."""

    judgement: Judgement
    why: str


def _holds(why: str) -> Reading:
    return Reading(Judgement.HOLDS, why)


def _in_part(why: str) -> Reading:
    return Reading(Judgement.IN_PART, why)


READINGS: Mapping[str, Reading] = {
    "R1": _holds("It is proved, and no case contradicts it."),
    "R2": _holds("All three inequalities are proved, and no case contradicts them."),
    "R3": _holds("The counts follow from the formulas, which contain no inverse, and the measured times agree."),
    "R4": _holds("The counts are right as upper bounds. The Frobenius and the spectral norm can be had for less."),
    "R5": _in_part(
        "The count for one partial derivative is not in doubt. The conclusion is false for the trace norm: its whole "
        "gradient costs little more than one evaluation, and in the same time a descent on it leaves a smaller error "
        "than the descent on R. For the Frobenius and the spectral norm we measured nothing; a single evaluation of "
        "either costs at least N² operations."
    ),
    "T1": _holds("It is proved, and no case contradicts it. L is far larger than the curvature that a descent meets."),
    "T2": Reading(
        Judgement.FAILS,
        "R decreases and its gradient tends to zero, but the iterates need not converge: there is a proof that in our "
        "counterexample a landmark moves outward for ever. The data and the start were chosen for the purpose; in "
        "ordinary descents we saw nothing of the kind.",
    ),
    "T3": _holds("It is proved for these kernels, and the constants are attained."),
    "T4": _holds("Every descent that came to its end is at a local minimum, except from the start built to fail."),
    "S1": _holds("The expectation over all batches differs from the gradient in every problem."),
    "S2": _holds("It is proved, and the expectation over all pairs of batches is the gradient."),
    "S3": _holds(
        "The two-sample variance is the larger one in every case at the paper's settings, and to first order in 1/b "
        "it always is. The exceptions are small constructed problems with batches of two points, which “generally” "
        "allows for."
    ),
    "S4": _holds("The two-sample descent is behind in every pair, and because of its variance. The delay is small."),
    "S5": _holds("The count follows from the formula, and the time of a step does not depend on N."),
    "B1": _holds(
        "At both values of ρ some landmarks move further than the typical distance between neighbours, and many paths "
        "are far from straight. At ρ = 1 only a few move that far, but the paper says no more than “some”."
    ),
    "B2": _holds(
        "At both values of ρ there are more landmarks where there are more data, and they lie further from each other "
        "than the initial ones did. The second effect is strong at ρ = 16 and modest at ρ = 1. With a polynomial "
        "kernel, which is not stationary, it is hardly there (an exercise of the chapter), as the paper suggests."
    ),
    "B3": _in_part(
        "The medians of all four criteria improve clearly at both values of ρ. At ρ = 16 practically every sample "
        "improves. At ρ = 1, as printed, with n = 50 and 80 a noticeable share of the samples ends with a larger error "
        "than it began with."
    ),
    "B4": _in_part(
        "In the boxplots, at ρ = 16, the boxes of the spectral factor are clearly less far apart than the others, as "
        "the paper says; at ρ = 1 the three norms hardly differ in this. By the factor by which the medians fall, the "
        "spectral norm gains no less than the other two."
    ),
    "B5": _in_part(
        "At ρ = 16 the optimised samples are nearly equally good. At ρ = 1 this is so for n = 20 only; with n = 50 and "
        "80 they differ widely."
    ),
    "B6": _in_part(
        "At ρ = 16 the spectral norm distinguishes optimised from initial samples clearly less well than the other "
        "two. At ρ = 1 all three do so about equally well."
    ),
    "B7": _holds(
        "The optimised spectral factors spread more than the other two for every n and both values of ρ; for n = 80 at "
        "ρ = 1 by little."
    ),
    "A1": _holds(
        "Every sample improves in every norm, the boxes before and after do not overlap, and the decay of the "
        "eigenvalues is as described. The rule overlooked that a factor cannot fall below 1."
    ),
    "A2": _holds(
        "In the boxplots the gain in the spectral norm is the least evident at every ρ, although its medians fall by a "
        "larger factor. At ρ = 4 a better initial sample still tends to give a better end, but the optimised factors "
        "are so close to each other that its impact is limited."
    ),
    "A3": _holds("The paper's step does as well as any other that we tried, or nearly so, at every ρ."),
    "M1": _holds(
        "Every sample improves, the boxes before and after do not overlap, and longer descents lower R further, as an "
        "exercise of the chapter shows. The rule overlooked that a factor cannot fall below 1."
    ),
    "M2": _holds("The other two norms cost many times as much."),
    "N1": Reading(Judgement.OPEN, "Our results are for a stand-in, whose values say nothing about MiniBooNE."),
    "N2": _holds(
        "A descent on a problem of this size takes less time here than the paper reports, with another program on "
        "another machine. The paper's own times cannot be checked."
    ),
    "N3": Reading(
        Judgement.OPEN,
        "The paper reports times of its own program, which we cannot run. With our programs, too, one evaluation of R "
        "is cheap beside a trace norm, but the whole descent is not: that part is no property of the method.",
    ),
    "C1": _holds("It is proved, and no problem contradicts it."),
}


def reading(verdict: Verdict) -> Reading:
    """The reading of a claim; it is open where the results are missing."""
    if verdict.finding is Finding.UNTESTABLE:
        return Reading(Judgement.OPEN, verdict.why)
    return READINGS[verdict.claim.id]
