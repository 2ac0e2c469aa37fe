"""The landing page's numbers, from results small enough to check by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from companion.book import landing, status
from companion.checkout import RESULTS
from companion.claims import beyond_answers
from companion.figures import answer
from companion.results.archive import Archive
from companion.results.summary import change


def results(initial: list[float], optimised: list[float]) -> Any:
    rows = [
        {"repetition": j, "stage": stage, "trace": value, "E_tr": value / 2}
        for stage, values in (("initial", initial), ("optimised", optimised))
        for j, value in enumerate(values)
    ]
    return SimpleNamespace(table=pd.DataFrame(rows), experiment=SimpleNamespace(m=len(initial)))


ALL = {name: results([8.0, 6.0, 4.0], [2.0, 7.0, 3.0]) for name in landing.TITLES}
VERDICTS = [SimpleNamespace(finding=finding) for finding in ("holds", "holds", "holds in part", "does not hold")]


def test_the_four_numbers() -> None:
    found = landing.numbers(ALL)
    assert [number.value for number in found] == ["66.7 %", "3.00 → 1.50", "3.00 → 1.50", "3.00 → 1.50"]
    assert "of 24 samples" in found[0].meaning  # ρ = 16 is not pooled with what the paper prints
    assert "66.7 % of 9 with ρ = 1 as printed, and 66.7 % with ρ = 16" in found[0].meaning
    assert "ρ = 1, n = 50" in found[1].meaning
    assert "With ρ = 16, which the paper does not print: 3.00 → 1.50" in found[1].meaning


def test_the_verdict() -> None:
    found = landing.verdict(VERDICTS)
    assert found.value == "2 of 4 claims" and "1 “holds in part”, 1 “does not hold”" in found.meaning


def test_a_descent_that_diverged_counts_as_no_improvement() -> None:
    diverged = dict.fromkeys(landing.TITLES, results([8.0, 6.0], [2.0, float("nan")]))
    first = landing.numbers(diverged)[0]
    assert first.value == "50 %" and "of 16 samples" in first.meaning


def test_each_rho_of_the_bi_gaussian_data_is_counted_by_itself() -> None:
    """Catches ρ = 16, which always improves, raising the share of what the paper prints."""
    mixed = {
        name: results([8.0, 6.0], [2.0, 3.0] if name.endswith("-rho16") else [9.0, 9.0]) for name in landing.TITLES
    }
    first, second, *_ = landing.numbers(mixed)
    assert first.value == "0 %" and "0 % of 6 with ρ = 1 as printed, and 100 % with ρ = 16" in first.meaning
    assert second.value == "3.50 → 4.50" and "does not print: 3.50 → 1.25" in second.meaning


def test_the_figure_is_the_same_each_time_and_has_a_row_for_each_experiment() -> None:
    assert landing.figure_svg(ALL) == landing.figure_svg(ALL)
    assert landing.alt_text(ALL).count("3.00 to 1.50") == len(landing.TITLES)


def test_the_cards_lead_to_where_the_numbers_come_from() -> None:
    assert ":link: /notebooks/06_abalone" in landing.cards(landing.numbers(ALL))
    assert ":link: /claims" in landing.cards([landing.verdict(VERDICTS)])


def test_no_row_of_the_figure_is_squeezed_by_those_of_another_scale() -> None:
    """Catches ρ = 1, of factors in the thousands, on one axis with rows whose factors are near 1."""
    far = {name: results([8e3, 6e3], [2e3, 3e3]) if name in landing.PRINTED else ALL[name] for name in landing.TITLES}
    near, apart = answer.before_and_after(landing.panels(far)).axes
    assert near.get_xlim()[1] < 10.0 < 1e3 < apart.get_xlim()[1]
    assert [len(axes.get_yticks()) for axes in (near, apart)] == [8, 3]


def test_the_words_of_the_answer_are_those_of_the_results() -> None:
    """Catches "mostly", or "do better still", where the stored results no longer say so."""
    stored = landing.load(Archive(RESULTS))
    improved = np.concatenate([change(stored[name], "trace").better for name in landing.TITLES])
    assert 0.5 < improved.mean() < 1.0
    answers = beyond_answers.stored_answers(RESULTS)
    weighted, trace = (answers[name].cases for name in ("X7", "X8"))  # over the radial SKD, over the weighted one
    assert all(trace[problem] * weighted[problem] < 1.0 for problem in trace)


def test_the_foot_of_a_chapter_is_read() -> None:
    text = "| | Where |\n| --- | --- |\n| Run | 1.5 s on 2 threads |\n| Library | nystrom_lib 1 |\n\nTo run again"
    code = [{"outputs": []}, {"outputs": [{"data": {"text/markdown": text.splitlines(keepends=True)}}]}]
    assert status.read_foot(code) == {"Run": "1.5 s on 2 threads", "Library": "nystrom_lib 1"}
    assert status.read_foot([]) == {}
