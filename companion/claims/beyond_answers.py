"""The questions beyond the paper on one page: asked, where they are answered, and what the stored results say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from ..chapters import CHAPTERS
from ..experiments.problems import BEYOND, CENTRES, PROBLEMS, TRIED_STARTS
from ..results.archive import Archive
from ..results.table import Results
from ..studies import beyond as studies
from ..studies import models
from ..wording import markdown_table, number, percent
from . import computed_answers
from .beyond import QUESTIONS, Answer, Question, answer
from .page import escape


def stored_answers(folder: Path) -> dict[str, Answer]:
    """The answers that follow from ``results/beyond`` alone; none if something is missing there."""
    stored = Archive(folder / "beyond")
    results = {tuple(name.split(".", 1)): each for name in BEYOND if (each := stored.results(name)) is not None}
    fits = models.load(folder / models.FILE)
    if fits is None or len(results) != len(BEYOND):
        return {}
    cases = _cases(results) | models.cases(fits[1])  # type: ignore[arg-type]
    cases |= computed_answers.load(folder / computed_answers.FILE)
    return {name: answer(name, cases[name]) for name in QUESTIONS if name in cases}


def _cases(results: Mapping[studies.Key, Results]) -> dict[str, dict[str, float]]:
    before = _medians(results, [f"{by}-radial" for by in TRIED_STARTS], stage="initial")
    radial, trace = (_medians(results, [f"{by}-{method}" for by in TRIED_STARTS]) for method in ("radial", "trace"))
    ends = _medians(results, ["uniform-radial", "uniform-weighted", "uniform-trace", *CENTRES])
    steps = _medians(results, [way for _, way in results if way.startswith("steps-")], quantity="R").dropna()
    alone = pd.DataFrame({"alone": before.min(axis=1), "paper": radial["uniform-radial"]})
    ways = [f"{by}-radial" for by in TRIED_STARTS]
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


def page(answers: Mapping[str, Answer]) -> str:
    """MyST Markdown: a table of the questions, with the answers that stored results give."""
    rows = [_row(question, answers.get(name)) for name, question in QUESTIONS.items()]
    table = markdown_table(["", "question", "answer", "cases", "chapter"], rows)
    return f"{story(answers)}\n\n{table}\n"


def story(answers: Mapping[str, Answer], arena: str = "{ref}`the arena <minibatch-or-radial>`") -> str:
    """In one paragraph: what does better than the paper's descent, and what we recommend."""
    if not answers:
        return "Its results are not here: `make beyond` computes them."
    starts, ratios = answers["X4"], list(answers["X1"].cases.values())
    return (
        "A descent on the trace error itself, which the paper considered intractable, leaves "
        f"{percent(min(ratios))} to {percent(max(ratios))} of the error of scikit-learn's `KMeans` on {len(ratios)} "
        f"problems. Where it begins hardly matters: from seven starts its results differ by at most a factor of "
        f"{number(max(starts.cases.values()))}. We recommend `nl.find_landmarks`, which does just that, and k-means "
        "where a descent takes too long. Whether k-means or a descent on the radial SKD ends with the smaller error "
        f"depends on the problem and on the time given to the descent: see {arena}."
    )


def _row(question: Question, answer: Answer | None) -> list[str]:
    word, cases = "in the chapter", ""
    if answer is not None:
        values = list(answer.cases.values())
        word = f"**{answer.word.lower()}**"
        cases = f"{answer.passed} of {len(values)}; from {number(min(values))} to {number(max(values))}"
    chapter = CHAPTERS[question.chapter]
    link = f"{{doc}}`{chapter.title} </notebooks/{chapter.file.removesuffix('.ipynb')}>`"
    return [question.id, escape(question.asks), word, cases, link]
