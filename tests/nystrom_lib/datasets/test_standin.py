"""The stand-in: same shape, always the same, and never taken for the data."""

from __future__ import annotations

import pytest

from nystrom_lib.datasets import Dataset, miniboone


@pytest.fixture(scope="module")
def data() -> Dataset:
    return miniboone(stand_in="always")


def test_it_is_the_same_everywhere(data: Dataset) -> None:
    assert data.sha256 == "da6c55996338baa516b5a0833d1287e7f1bed351a253330f331e1147fdf0beef"


def test_it_says_what_it_is(data: Dataset) -> None:
    assert data.stand_in
    assert data.name == "MiniBooNE stand-in"
    assert data.citation.startswith("Stand-in, not the MiniBooNE data")
    assert all(column.startswith("stand-in") for column in data.columns)
    assert "Roe" not in data.citation and data.removed == ()
