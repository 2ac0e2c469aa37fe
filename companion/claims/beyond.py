"""The questions beyond the paper, answered from the numbers of their cases; which are on the pages of the chapters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ..chapters import prediction
from ..choices import STARTS
from ..experiments.problems import BEYOND, CENTRES, PROBLEMS
from ..results.archive import Archive
from ..results.table import Results
from ..studies import beyond as studies
from ..studies import real_rows
from ..wording import number, percent
from .base import Case, Claim, Finding, Outcome, Threshold
from .declared import QUESTIONS
from .page import markup

Cases = Mapping[str, float]
#: X14–X16, and X29 and X30, below ``results/``; ``python -m companion.claims.later`` computes them.
COMPUTED = ("beyond/computed_answers.json", "beyond/radial_designs.json")
_WORDS = {Finding.HOLDS: "Yes", Finding.IN_PART: "In part", Finding.FAILS: "No", Finding.UNTESTABLE: "Not tested"}


@dataclass(frozen=True)
class Answer:
    """The answer to a question, from a number for each case."""

    question: Claim
    cases: Cases

    @property
    def outcome(self) -> Outcome:
        """What the rule of all questions finds."""
        cases = (Case(name, {"threshold": value}) for name, value in self.cases.items())
        return Outcome.of(self.question.rule, cases)

    @property
    def passed(self) -> int:
        """How many cases pass."""
        return len(self.outcome.passed)

    @property
    def word(self) -> str:
        """Yes, in part, or no."""
        return _WORDS[self.outcome.finding]

    @property
    def threshold(self) -> Threshold:
        """What the number of a case must be."""
        return self.question.rule.thresholds["threshold"]

    @property
    def text(self) -> str:
        """In Markdown: the question, the answer, and how it was decided."""
        asked = self.question
        return (
            f"**{asked.id}. {markup(asked.says)} {self.word}**: {self.passed} of {len(self.cases)} cases pass.\n\n"
            f"*Written down before the results:* {markup(asked.rule.statistic)} It must be {self.threshold}."
        )


def answer(question: str, cases: Cases) -> Answer:
    """The answer to one of the questions."""
    return Answer(QUESTIONS[question], cases)


def table(*answers: Answer, case: str = "problem") -> pd.DataFrame:
    """The numbers of answers that have the same cases: a row for each case, bold where it passes."""
    columns = {case: list(answers[0].cases)}
    for each in answers:
        columns[f"{each.question.id}, {each.threshold}"] = [
            f"**{number(value)}**" if each.threshold.passes(value) else number(value) for value in each.cases.values()
        ]
    return pd.DataFrame(columns)


def stored_answers(folder: Path) -> dict[str, Answer]:
    """The answers that follow from the stored results; none if something is missing there."""
    stored = Archive(folder / "beyond")
    results = {tuple(name.split(".", 1)): each for name in BEYOND if (each := stored.results(name)) is not None}
    earlier = prediction.earlier_cases(folder)
    if not earlier or len(results) != len(BEYOND):
        return {}
    cases = stored_cases(results) | earlier  # type: ignore[arg-type]
    for file in COMPUTED:
        cases |= (Archive(folder).file(file) or {"cases": {}})["cases"]
    if study := prediction.load(folder):
        cases |= prediction.cases(study[1], prediction.PredictionParameters())
    if rows := real_rows.load(folder):
        cases |= real_rows.cases(rows)
    return {name: answer(name, cases[name]) for name in QUESTIONS if name in cases}


def stored_cases(results: Mapping[studies.Key, Results]) -> dict[str, Cases]:
    """X1–X10 from the stored experiments."""
    before = _medians(results, [f"{by}-radial" for by in STARTS], stage="initial")
    radial, trace = (_medians(results, [f"{by}-{method}" for by in STARTS]) for method in ("radial", "trace"))
    ends = _medians(results, ["uniform-radial", "uniform-weighted", "uniform-trace", *CENTRES])
    steps = _medians(results, [way for _, way in results if way.startswith("steps-")], quantity="R").dropna()
    alone = pd.DataFrame({"alone": before.min(axis=1), "paper": radial["uniform-radial"]})
    ways = [f"{by}-radial" for by in STARTS]
    correlations = {
        PROBLEMS[name].title: studies.rank_correlation(studies.pairs(results, name, ways)) for name in ends.index
    }
    faster = {
        f"{title}, {rule}": value
        for rule in ("momentum", "adam", "lbfgs")
        for title, value in studies.ratios(steps, f"steps-{rule}", "steps-fixed").items()
    }
    return {
        "X1": studies.ratios(ends, "uniform-trace", "KMeans"),
        "X2": studies.ratios(ends, "MiniBatchKMeans", "uniform-radial"),
        "X3": studies.spreads(radial),
        "X4": studies.spreads(trace),
        "X5": studies.ratios(alone, "alone", "paper"),
        "X6": correlations,
        "X7": studies.ratios(ends, "uniform-weighted", "uniform-radial"),
        "X8": studies.ratios(ends, "uniform-trace", "uniform-weighted"),
        "X9": studies.ratios(steps, "steps-scale-free", "steps-fixed"),
        "X10": faster,
    }


def _medians(
    results: Mapping[studies.Key, Results], ways: list[str], quantity: str = "E_tr", stage: str = "optimised"
) -> pd.DataFrame:
    return studies.medians({key: each for key, each in results.items() if key[1] in ways}, quantity, stage)


def story(answers: Mapping[str, Answer]) -> str:
    """In one paragraph: what does better than the paper's descent, and what we recommend."""
    if not answers:
        return "The results are not stored: `make beyond` computes them."
    starts, ratios = answers["X4"], list(answers["X1"].cases.values())
    return (
        "A descent on the trace error itself, which the paper considered intractable, leaves "
        f"{percent(min(ratios))} to {percent(max(ratios))} of the error of scikit-learn's `KMeans` on {len(ratios)} "
        f"problems. Where it begins hardly matters: from seven starts its results differ by at most a factor of "
        f"{number(max(starts.cases.values()))}. We recommend `nl.find_landmarks`, which does just that, and k-means "
        "where a descent takes too long. Whether k-means or a descent on the radial SKD ends with the smaller error "
        "depends on the problem and on the time given to the descent: see {ref}`the arena <minibatch-or-radial>`."
    )
