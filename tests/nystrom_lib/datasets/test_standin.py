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


def test_it_is_standardised(data: Dataset) -> None:
    np.testing.assert_allclose(data.X.mean(axis=0), 0.0, atol=1e-13)
    np.testing.assert_allclose(data.X.std(axis=0), 1.0, rtol=1e-13)
    raw = miniboone(stand_in="always", standardise=False).X
    assert np.abs(raw.std(axis=0) - 1).min() > 0.05
    np.testing.assert_allclose(data.X, (raw - raw.mean(axis=0)) / raw.std(axis=0), rtol=1e-9, atol=1e-12)


def test_a_few_common_factors_carry_most_of_the_variance(data: Dataset) -> None:
    spectrum = np.linalg.eigvalsh(np.corrcoef(data.X.T))[::-1] / 50
    assert 0.6 < spectrum[:6].sum() < 0.9
    assert spectrum[6] < 0.03


def test_features_have_heavy_tails_like_those_of_the_data(data: Dataset) -> None:
    low, high = np.quantile(data.X, [0.25, 0.75], axis=0)
    # 1.349 is the distance between the quartiles of a standard Gaussian.
    assert 0.8 < np.median((high - low) / 1.349) < 0.9
    kurtosis = (data.X**4).mean(axis=0)
    assert np.median(kurtosis) > 6
    assert np.median(np.abs(data.X).max(axis=0)) > 10


def test_the_kernel_is_neither_all_zeros_nor_all_ones(data: Dataset) -> None:
    i, j = np.random.default_rng(0).integers(0, data.N, (2, 20_000))
    values = np.exp(-RHO * ((data.X[i] - data.X[j]) ** 2).sum(axis=1))
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
    assert low < 0.01 < middle < 0.1 < high < 0.5
