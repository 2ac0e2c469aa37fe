"""What we learned: the numbers of the page are those of the results, and its words follow the numbers."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from companion import wording
from companion.book import landing, learned
from companion.errors import CompanionError
from companion.experiments.outcome import Outcome
from companion.experiments.paper import PAPER
from companion.results.archive import Archive
from companion.results.table import Results

N = 400


def store(folder: Path, name: str, *, R: float, before: float, after: float, best: float = 2.0) -> None:
    """Four repetitions: R falls to a share of itself, E_tr from about one value to about another."""
    outcomes = {}
    for j, shift in enumerate((-0.1, 0.0, 0.0, 0.3)):
        factors = {"initial": before, "optimised": after * (1 + shift)}
        numbers = {f"E_tr.{stage}": factor for stage, factor in factors.items()}
        numbers |= {f"trace.{stage}": factor * best for stage, factor in factors.items()}
        outcomes[j] = Outcome({**numbers, "R.initial": 100.0 + j, "R.optimised": (100.0 + j) * R})
    origin = {
        "experiment": dataclasses.replace(PAPER[name], m=4).to_plain(),
        "data": {"N": N, "d": 2, "stand_in": True},
        "constants": {"trace": best},
    }
    Results(outcomes, origin).save(folder / f"{name}.parquet")


def stored(folder: Path) -> dict[str, Results]:
    return landing.load(Archive(folder))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in learned.TITLES:
        far = name == "figure-2-n80"
        store(tmp_path, name, R=0.001 if far else 0.25, before=5000.0 if far else 4.0, after=4500.0 if far else 1.5)
    return tmp_path


def test_experiments_are_called_by_their_settings_in_the_order_of_the_paper() -> None:
    titles = list(learned.TITLES.values())
    assert len(titles) == 11
    assert titles[0] == "Bi-Gaussian, ρ = 1, n = 20" and titles[5] == "Bi-Gaussian, ρ = 16, n = 80"
    assert titles[6] == "Abalone, ρ = 0.25, n = 50" and titles[-1] == "MAGIC, ρ = 0.2, n = 200"


def test_numbers_are_those_of_the_results(folder: Path) -> None:
    """Catches before and after exchanged, a ratio the wrong way up, or a mean in place of a median."""
    found = learned.lesson("", stored(folder)["figure-2-n80"])
    assert found.m == 4
    assert found.R == pytest.approx(0.001)
    assert found.E_tr == pytest.approx((5000.0, 4500.0))
    assert found.trace == pytest.approx(0.9)
    assert found.better == 0.75  # in the last, 4500 · 1.3 is more than 5000
    assert found.spread == pytest.approx((4500 * 1.075 - 4500 * 0.975) / 4500)
    bounds = np.sqrt(N * 0.001 * np.array([100, 101, 102, 103])) / [8100, 9000, 9000, 11700]
    before = np.sqrt(N * np.array([100, 101, 102, 103])) / 10000
    assert found.bound == pytest.approx((np.median(before), np.median(bounds)))
    assert found.excess == pytest.approx(4499 / 4999)  # of the factors' excess over 1, not of the factors
    assert found.agreement == pytest.approx(0.9486832980505138)  # ranks 1, 2, 3, 4 and 1, 2.5, 2.5, 4
    assert found.optimum == 2.0 / N


def test_words_follow_the_numbers(folder: Path) -> None:
    """Catches a page that says the same whatever was measured."""
    text = learned.page(stored(folder))
    assert "In 10 of the 11 experiments the trace error falls in every repetition" in text
    assert "removes between 10 % (bi-Gaussian with $\\rho=1$, $n=80$)" in text
    assert "the trace error does not: bi-Gaussian with $\\rho=1$, $n=80$, in 25 % of 4." in text
    assert "Furthest is bi-Gaussian with $\\rho=1$, $n=80$." in text
    assert "divides $R$ by 1,000, and the trace error by 1.11" in text
    assert "The descent leaves 90 % of the excess for bi-Gaussian with $\\rho=1$, $n=80$" in text
    assert "Where the error does not always follow $R$, the ratio is 0.0201 or more" in text
    assert "At full size" not in text
    for name in learned.TITLES:
        store(folder, name, R=0.25, before=4.0, after=1.5)
    store(folder, "figure-5", R=0.5, before=3.0, after=2.0)
    text = learned.page(stored(folder))
    assert "In 11 of the 11 experiments" in text and "The error may rise" not in text
    assert "leaves between 16.7 %" in text and "does not always follow" not in text
    assert "On a stand-in for MiniBooNE" in text and "leaves 50 % of $R$ and 60 % of the trace error" in text


def test_missing_results_are_named(folder: Path) -> None:
    """Catches a page with holes in it."""
    (folder / "figure-3-rho1.parquet").unlink()
    with pytest.raises(CompanionError, match=r"holds no results of figure-3-rho1; `make paper`"):
        stored(folder)


def test_the_stored_results_make_a_page(root: Path) -> None:
    """Catches stored results that the page cannot read, or that lack what it says."""
    text = learned.page(stored(root / "results"))
    assert "nan" not in text and "inf " not in text
    assert all(title in text for title in learned.TITLES.values())
    table = Results.load(root / "results" / "figure-2-n80.parquet").table
    median = table[table["stage"] == "optimised"]["E_tr"].median()
    assert f"→ {wording.number(median)} |" in text
