"""The landing page's numbers, from results small enough to check by hand."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from companion.book import landing, status
from companion.checkout import RESULTS
from companion.claims import beyond_answers
from companion.experiments.paper import PAPER
from companion.figures import answer
from companion.results.archive import Archive
from companion.results.summary import change


def results(name: str, initial: list[float], optimised: list[float]) -> Any:
    rows = [
        {"repetition": j, "stage": stage, "trace": value, "E_tr": value / 2}
        for stage, values in (("initial", initial), ("optimised", optimised))
        for j, value in enumerate(values)
    ]
    return SimpleNamespace(table=pd.DataFrame(rows), experiment=dataclasses.replace(PAPER[name], m=len(initial)))


def everywhere(initial: list[float], optimised: list[float]) -> dict[str, Any]:
    return {name: results(name, initial, optimised) for name in landing.TITLES}


ALL = everywhere([8.0, 6.0, 4.0], [2.0, 7.0, 3.0])


def test_the_table_has_a_row_for_each_data_set() -> None:
    rows = landing.table(ALL).splitlines()[2:]
    assert [row.count("3.00 → 1.50") for row in rows] == [3, 3, 3, 2]
    assert "n = 20, 50, 80" in rows[0] and "66.7 %, 66.7 %, 66.7 % of 3" in rows[0]
    assert "ρ = 0.25, 1, 4" in rows[2] and "/notebooks/06_abalone" in rows[2]
    assert "{doc}" not in landing.table(ALL, links=False)


def test_the_answer_names_the_experiments_in_which_the_error_may_rise() -> None:
    better = everywhere([8.0, 6.0], [2.0, 3.0])
    assert landing.answer(better) == "In 11 of 11 experiments every sample ends with a smaller trace error.\n"
    mixed = landing.answer(better | {"figure-2-n80": results("figure-2-n80", [8.0, 6.0], [2.0, 9.0])})
    assert mixed.startswith("In 10 of 11 experiments")
    assert "50 % of the samples in “Bi-Gaussian, ρ = 1, n = 80”" in mixed


def test_a_descent_that_diverged_counts_as_no_improvement() -> None:
    assert "50 %, 50 %, 50 % of 2" in landing.table(everywhere([8.0, 6.0], [2.0, float("nan")]))


def test_the_figure_is_the_same_each_time_and_has_a_row_for_each_experiment() -> None:
    assert landing.figure_svg(ALL) == landing.figure_svg(ALL)
    assert landing.alt_text(ALL).count("3.00 to 1.50") == len(landing.TITLES)


def test_no_row_of_the_figure_is_squeezed_by_those_of_another_scale() -> None:
    """Catches ρ = 1, of factors in the thousands, on one axis with rows whose factors are near 1."""
    far = ALL | {name: results(name, [8e3, 6e3], [2e3, 3e3]) for name in landing.PRINTED}
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
