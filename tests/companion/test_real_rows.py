"""The study of real rows of MiniBooNE, on the stand-in: no test needs the real file."""

import numpy as np
import pytest

import nystrom_lib as nl
from companion.checkout import RESULTS
from companion.studies import real_rows
from nystrom_lib.datasets._miniboone import SAMPLE_SHA256


@pytest.fixture(scope="module")
def stand_in() -> np.ndarray:
    return nl.datasets.miniboone(stand_in="always").X


def test_the_descent_lowers_both_criteria(stand_in: np.ndarray) -> None:
    X = real_rows.draw(stand_in, 3)[:400]
    row, curve = real_rows.descent(X, 0, train=300, n=20, steps=100)
    train, test = real_rows.split(X, 0, 300)
    assert len(test) == 100 and not {tuple(x) for x in train} & {tuple(x) for x in test}
    assert row["R after"] < row["R before"] and row["E_tr before"] > 1.0
    assert curve["iteration"] == [0, 100] and curve["R"][-1] == pytest.approx(row["R after"])


def test_the_norm_is_that_of_all_pairs(stand_in: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all rows drawn there is nothing to estimate."""
    X = stand_in[:300]
    monkeypatch.setattr(real_rows, "N", 300)
    exact = nl.squared_frobenius_norm(real_rows.KERNEL, X) / 300**2
    assert list(real_rows.squared_norm(X).values()) == pytest.approx([exact] * 3, rel=1e-12)


def test_the_stored_results_are_those_of_the_public_sample() -> None:
    stored = real_rows.load(RESULTS)
    assert stored is not None and stored["about"]["commit"] and not stored["about"]["dirty"]
    assert SAMPLE_SHA256 in stored["data"][real_rows.REAL]["source"]
    assert stored["data"][real_rows.REAL]["N"] == real_rows.ROWS and len(stored["rows"]) == 2 * real_rows.SPLITS
    assert stored["stand_in_norm"] == pytest.approx(267800157.24311098 / real_rows.N**2, rel=1e-12)
    # an interval of the stand-in, computed again
    X = real_rows.draw(nl.datasets.miniboone(stand_in="always").X, 0)
    assert real_rows.squared_norm(X) == pytest.approx(stored["stand_in_norms"][0], rel=1e-9)
    assert set(real_rows.cases(stored)) == {"X25", "X26", "X27", "X28"}
