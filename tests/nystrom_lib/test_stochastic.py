"""T̂₁, T̂₂ and the one-, two- and four-sample gradients (Section 3), by complete enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib.descent import independent_batches
from tests import oracle
from tests.cases import DIMENSIONS, EVERY, close, cloud, pair


# On the line the linear kernel's two terms cancel to nothing, whatever the batch.
@pytest.mark.parametrize("name, d", [(k, d) for k in EVERY for d in DIMENSIONS if (k, d) != ("linear", 1)])
def test_estimators_agree_with_the_oracle(name: str, d: int) -> None:
    """Catches a wrong N/b, a batch used in the wrong factor, or a repeated index counted once."""
    kernel, reference = pair(name)
    X, S = cloud(d, 6, 2)
    exact = oracle.Estimators(reference, X, S)
    b1, b2, b3, b4 = [0, 0, 5], [4, 1], [2, 3, 3, 1, 0], [5]
    T1, T2 = nl.stochastic.estimates(kernel, X, S, b1)
    assert T1 == pytest.approx(exact.T1(b1), rel=1e-13)
    assert close(T2, exact.T2(b1), 1e-11)
    assert close(nl.one_sample_gradient(kernel, X, S, b1), exact.one(b1), 1e-11)
    assert close(nl.two_sample_gradient(kernel, X, S, b1, b2), exact.two(b1, b2), 1e-11)
    assert close(nl.stochastic.four_sample_gradient(kernel, X, S, b1, b2, b3, b4), exact.four(b1, b2, b3, b4), 1e-11)


@pytest.mark.parametrize("name", ["gaussian", "rational_quadratic", "polynomial"])
def test_two_and_four_sample_means_are_the_gradient(name: str) -> None:
    """Catches a biased 'unbiased' estimator (claim S2): every pair of batches is visited, none drawn."""
    kernel, _ = pair(name)
    X, S = cloud(2, 4, 2)
    gradient = nl.radial_skd_gradient(kernel, X, S)
    pairs = itertools.product(itertools.product(range(4), repeat=2), itertools.product(range(4), repeat=1))
    two = np.mean([nl.two_sample_gradient(kernel, X, S, bx, by) for bx, by in pairs], axis=0)
    assert close(two, gradient, 1e-12)
    fours = itertools.product(*[[(i,) for i in range(4)]] * 4)
    four = np.mean([nl.stochastic.four_sample_gradient(kernel, X, S, *bs) for bs in fours], axis=0)
    assert close(four, gradient, 1e-12)


@pytest.mark.parametrize("b", [1, 2, 3])
@pytest.mark.parametrize("name", ["gaussian", "rational_quadratic", "polynomial"])
def test_one_sample_bias_is_its_closed_form(name: str, b: int) -> None:
    """Catches a one-sample estimator whose batches are not used twice (claim S1)."""
    kernel, reference = pair(name)
    X, S = cloud(2, 5, 2)
    batches = itertools.product(range(5), repeat=b)
    mean = np.mean([nl.one_sample_gradient(kernel, X, S, batch) for batch in batches], axis=0)
    bias = oracle.Estimators(reference, X, S).one_sample_bias(b)
    assert close(mean - nl.radial_skd_gradient(kernel, X, S), bias, 1e-11)
    assert np.max(np.abs(bias)) > 1e-3 * np.max(np.abs(mean))


def test_T1_and_T2_are_unbiased() -> None:
    """Catches estimators whose mean over all batches is not T₁, T₂."""
    kernel, reference = pair("gaussian")
    X, S = cloud(2, 5, 2)
    batches = list(itertools.product(range(5), repeat=2))
    T1, T2 = zip(*[nl.stochastic.estimates(kernel, X, S, batch) for batch in batches], strict=True)
    exact = oracle.Estimators(reference, X, S)
    assert np.mean(T1) == pytest.approx(exact.T1(range(5)), rel=1e-13)
    assert close(np.mean(T2, axis=0), exact.T2(range(5)), 1e-12)


def test_batches_are_independent_uniform_indices() -> None:
    """Catches drawing without replacement, a missing last index, or a seed that is not used."""
    batch, again, other = (independent_batches(7, 70_000, np.random.default_rng(seed))(1)[0] for seed in (5, 5, 6))
    assert batch.shape == (70_000,) and np.issubdtype(batch.dtype, np.integer)
    counts = np.bincount(batch, minlength=7)
    assert len(counts) == 7 and np.all(np.abs(counts - 10_000) < 5 * np.sqrt(10_000 * 6 / 7))
    repeats = np.mean(batch[1:] == batch[:-1])
    assert abs(repeats - 1 / 7) < 0.01
    assert np.array_equal(batch, again) and not np.array_equal(batch, other)
