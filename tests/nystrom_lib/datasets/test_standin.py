"""The stand-in: same shape, always the same, and never taken for the data."""

from __future__ import annotations

import numpy as np
import pytest

from nystrom_lib.datasets import Dataset, miniboone

#: MiniBooNE's kernel parameter in the paper.
RHO = 0.04


@pytest.fixture(scope="module")
def data() -> Dataset:
    return miniboone(stand_in="always")


def test_it_has_the_shape_of_the_data(data: Dataset) -> None:
    assert data.X.shape == (129_592, 50)


def test_it_is_the_same_everywhere(data: Dataset) -> None:
    assert data.sha256 == "da6c55996338baa516b5a0833d1287e7f1bed351a253330f331e1147fdf0beef"


def test_it_says_what_it_is(data: Dataset) -> None:
    assert data.stand_in
    assert data.name == "MiniBooNE stand-in"
    assert data.citation.startswith("Stand-in, not the MiniBooNE data")
    assert all(column.startswith("stand-in") for column in data.columns)
    assert "Roe" not in data.citation and data.removed == ()


def test_the_kernel_is_neither_all_zeros_nor_all_ones(data: Dataset) -> None:
    i, j = np.random.default_rng(0).integers(0, data.N, (2, 20_000))
    values = np.exp(-RHO * ((data.X[i] - data.X[j]) ** 2).sum(axis=1))
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
    assert low < 0.01 < middle < 0.1 < high < 0.5
