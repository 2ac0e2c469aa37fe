"""The numbers of the landing page, of "What we learned" and of the README."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from companion.book import lessons, numbers
from companion.checkout import RESULTS
from companion.experiments.outcome import Outcome
from companion.experiments.paper import PAPER
from companion.results.archive import Archive
from companion.results.table import Results
from tests.lock import locked

N = 400


def made_up() -> Results:
    """Four repetitions of an experiment in which R falls to a thousandth and E_tr from 5,000 to about 4,500."""
    outcomes = {}
    for j, shift in enumerate((-0.1, 0.0, 0.0, 0.3)):
        factors = {"initial": 5000.0, "optimised": 4500.0 * (1 + shift)}
        values = {f"E_tr.{stage}": factor for stage, factor in factors.items()}
        values |= {f"trace.{stage}": 2.0 * factor for stage, factor in factors.items()}
        outcomes[j] = Outcome({**values, "R.initial": 100.0 + j, "R.optimised": (100.0 + j) * 0.001})
    origin = {
        "experiment": dataclasses.replace(PAPER["figure-2-n80"], m=4).to_plain(),
        "data": {"N": N, "d": 2, "stand_in": True},
        "constants": {"trace": 2.0},
    }
    return Results(outcomes, origin)


def test_numbers_are_those_of_the_results() -> None:
    """Catches before and after exchanged, a ratio the wrong way up, or a mean in place of a median."""
    found = lessons.lesson("figure-2-n80", made_up())
    assert (found.title, found.m) == ("bi-Gaussian, ρ = 1, n = 80", 4)
    assert found.R == pytest.approx(0.001)
    assert found.factors == "5,000 → 4,500"
    assert found.trace == pytest.approx(0.9)
    assert found.better == 0.75  # in the last, 4500 · 1.3 is more than 5000
    assert found.spread == pytest.approx((4500 * 1.075 - 4500 * 0.975) / 4500)
    assert found.bound == pytest.approx(np.median(np.sqrt(N * np.array([100, 101, 102, 103])) / 10000))
    assert found.excess == pytest.approx(4499 / 4999)  # of the factors' excess over 1, not of the factors
    assert found.agreement == pytest.approx(0.9486832980505138)  # ranks 1, 2, 3, 4 and 1, 2.5, 2.5, 4
    assert found.optimum == 2.0 / N


def test_a_page_cannot_name_what_does_not_exist() -> None:
    with pytest.raises(Exception, match="nothing"):
        numbers.template("{{ nothing() }}").render({})


def test_the_words_of_the_pages_are_those_of_the_results() -> None:
    """Catches "mostly", "R falls in every repetition" or "changes little" where the stored results say otherwise."""
    archive = Archive(RESULTS)
    found = lessons.read(archive)
    assert 0.5 < np.mean([each.better for each in found]) < 1.0
    assert all(each.R < 1.0 for each in found)
    for sex, rings in zip(found[6:9], lessons.rings(archive), strict=True):
        assert rings.after == pytest.approx(sex.after, rel=0.05)
    always = [each.bound for each in found if each.better == 1.0]
    assert max(always) < min(each.bound for each in found if each.better < 1.0)


def test_missing_results_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no results of figure-2-n20; `make paper`"):
        lessons.read(Archive(tmp_path))


@pytest.mark.skipif(not locked("matplotlib"), reason="stored with another matplotlib")
def test_the_committed_figure_is_that_of_the_results() -> None:
    assert lessons.FIGURE.read_text(encoding="utf-8") == lessons.figure_svg(Archive(RESULTS))
