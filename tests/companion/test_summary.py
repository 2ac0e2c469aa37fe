"""Results in a few numbers, from tables small enough to check by hand."""

import math
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from companion.results import summary


def results(before: list[float], after: list[float]) -> Any:
    rows = [
        {"repetition": j, "stage": stage, "E_tr": value}
        for j, pair in enumerate(zip(before, after, strict=True))
        for stage, value in zip(("initial", "optimised"), pair, strict=True)
    ]
    return SimpleNamespace(table=pd.DataFrame(rows))


def test_a_change_is_taken_repetition_by_repetition() -> None:
    """Catches before and after exchanged, and a ratio of medians in place of a median of ratios."""
    found = summary.change(results([8.0, 6.0, 4.0], [2.0, 7.0, 3.0]), "E_tr")
    assert found.medians == (6.0, 3.0)
    assert found.better.tolist() == [True, False, True] and found.improved == pytest.approx(2 / 3)
    assert found.kept == 0.75


def test_a_descent_that_diverged_has_no_value_or_the_one_that_is_asked_for() -> None:
    """Catches a diverged descent that counts as improved, or that a claim forgets."""
    some = results([8.0, 6.0, 4.0], [2.0, math.nan, 3.0])
    left_out, infinite = summary.change(some, "E_tr"), summary.change(some, "E_tr", diverged=math.inf)
    assert left_out.medians == (6.0, 2.5) and infinite.medians == (6.0, 3.0)
    assert left_out.improved == infinite.improved == pytest.approx(2 / 3)
    assert math.isnan(summary.median(results([8.0], [math.nan]), "E_tr", "optimised"))  # and no warning


def test_the_table_of_a_chapter() -> None:
    (row,) = summary.medians([("n = 1", results([8.0, 6.0, 4.0], [2.0, 7.0, 3.0]))], ["E_tr"]).to_dict("records")
    assert row["criterion"] == r"$\mathcal E_{\mathrm{tr}}$"
    assert (row["median before"], row["median after"], row["before / after"]) == (6.0, 3.0, 2.0)
    assert row["improved"] == "66.67 %"
