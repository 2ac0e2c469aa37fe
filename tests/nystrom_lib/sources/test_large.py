"""A million points on disk: the landmarks and errors of points in memory, from a fraction of the reads."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib.estimates import mean_of
from nystrom_lib.landmarks import search as landmarks
from nystrom_lib.sources import source as module
from tests.nystrom_lib.sources.test_sources import STORED

KERNEL = nl.Gaussian(rho=0.5)
ROWS = np.random.default_rng(0).normal(size=(1000, 3))


@pytest.fixture(scope="module")
def million(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1.2 million rows of float32, more than a descent holds."""
    path = tmp_path_factory.mktemp("large") / "million.npy"
    np.save(path, np.random.default_rng(0).standard_normal((1_200_000, 4), dtype=np.float32))
    return path


# --- landmarks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["npy", "parquet", "dask"])
def test_a_source_that_fits_gives_the_landmarks_of_the_array(kind: str, tmp_path: Path) -> None:
    """To the last bit, whatever the data are stored in."""
    inside = nl.find_landmarks(KERNEL, ROWS, 20, iterations=30)
    found = nl.find_landmarks(KERNEL, nl.open_data(STORED[kind](ROWS, tmp_path)), 20, iterations=30)
    assert np.array_equal(found.sample, inside.sample)
    assert (found.error, found.reasons, found.steps) == (inside.error, inside.reasons, inside.steps)


@pytest.mark.parametrize("method", ["auto", "local-trace", "radial-skd", "uniform", "kmeans"])
def test_beyond_what_is_held_a_part_is_drawn(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As good as with everything in memory; what is judged is not what was descended on; indices are of the source."""
    monkeypatch.setattr(landmarks, "EPOCHS", 600)
    data = nl.datasets.bigaussian().X
    kernel = nl.Gaussian(rho=16.0)
    found = nl.find_landmarks(kernel, nl.open_data(data), 30, method=method, iterations=100)
    again = nl.find_landmarks(kernel, nl.open_data(data), 30, method=method, iterations=100)
    assert np.array_equal(found.sample, again.sample)
    assert found.reasons[0] == "It uses 600 of 2,000 points, drawn at random."
    inside = nl.find_landmarks(kernel, data, 30, method=method, iterations=100)
    trace = [nl.nystrom_errors(kernel, data, one.sample, "trace").trace for one in (found, inside)]
    assert trace[0] < 1.25 * trace[1]
    if method == "uniform":
        assert found.indices is not None and np.array_equal(data[found.indices], found.sample)
    assert found.error == pytest.approx(nl.NystromApproximation(kernel, found.sample).residuals(data).mean(), rel=1e-9)


def test_a_million_rows_on_disk(million: Path) -> None:
    """Reads what it needs and no more, and judges on points of its own."""
    source = nl.open_data(million)
    found = nl.find_landmarks(KERNEL, source, 40, iterations=20)
    assert found.reasons[0] == "It uses 1,000,000 of 1,200,000 points, drawn at random."
    assert not source.checked and found.error < found.start_error
    assert 0.0 < nl.median_rho(source) == nl.median_rho(np.load(million))


# --- errors without a pass --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["npy by column", "parquet", "dask"])
def test_the_trace_error_in_one_pass(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK_ROWS", 64)
    source = nl.open_data(STORED[kind](ROWS, tmp_path))
    exact = nl.nystrom_errors(KERNEL, ROWS, ROWS[:30], "trace")
    found = nl.nystrom_errors(KERNEL, source, ROWS[:30], "trace")
    assert found.trace == pytest.approx(exact.trace, rel=1e-13) and found.rank == exact.rank
    assert found.estimate is None and found.precision == exact.precision == "double"


@pytest.mark.parametrize("values, high", [((0.0, 0.3, 1.0), 1.0), ((0.0, 0.0, 0.0, 2.0), 2.0)])
@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_the_bounds_hold_as_often_as_they_say(values: tuple[float, ...], high: float, confidence: float) -> None:
    """Every sample of seven terms, each as likely as any other: exactly how often the mean is within."""
    outcomes = np.array(list(itertools.product(values, repeat=7)))
    truth, estimates = 10.0 * np.mean(values), []
    held = 0
    for outcome in outcomes:
        found = mean_of(outcome, high, confidence, times=10.0)
        estimates.append(found.value)
        low, top = found.bounds
        assert 0.0 <= low <= found.value <= top <= 10.0 * high and found.points == 7
        held += low <= truth <= top
    assert np.mean(estimates) == pytest.approx(truth, rel=1e-12)
    assert held / len(outcomes) >= confidence


def test_the_bounds_are_those_of_maurer_and_pontil() -> None:
    """By hand, for terms of known mean and variance."""
    terms = np.array([0.1, 0.5] * 50_000)
    found = mean_of(terms, 1.0, 0.95, times=1.0)
    m, deviation, log = 100_000, terms.std(ddof=1), math.log(4 / 0.05)
    surely = math.sqrt(2 * deviation**2 * log / m) + 7 * log / (3 * (m - 1))
    assert found.bounds == pytest.approx((0.3 - surely, 0.3 + surely), rel=1e-12)
    assert found.normal == pytest.approx((0.3 - 1.959964 * deviation / m**0.5, 0.3 + 1.959964 * deviation / m**0.5))


def test_errors_from_some_points(million: Path) -> None:
    """The estimate is N times a mean over draws of its own; one pass over all of them is within the bounds."""
    source, sample = nl.open_data(million), np.load(million, mmap_mode="r")[:40].astype(np.float64)
    found = nl.nystrom_errors(KERNEL, source, sample, "trace", points=2000, seed=3)
    drawn = source.draw(2000, np.random.default_rng(3))
    rows = np.load(million, mmap_mode="r")[drawn].astype(np.float64)
    by_hand = nl.NystromApproximation(KERNEL, sample).residuals(rows).mean() * 1_200_000
    assert found.trace == pytest.approx(by_hand, rel=1e-12) and found.estimate is not None
    assert found.estimate.value == found.trace and found.estimate.points == 2000
    exact = nl.nystrom_errors(KERNEL, source, sample, "trace").trace
    assert found.estimate.bounds[0] < found.estimate.normal[0] < exact < found.estimate.normal[1]
    assert found.estimate.normal[1] < found.estimate.bounds[1]
    array = nl.nystrom_errors(KERNEL, np.load(million, mmap_mode="r"), sample, "trace", points=2000, seed=3)
    assert (array.trace, array.estimate) == (found.trace, found.estimate)


def test_what_cannot_be_estimated() -> None:
    source = nl.open_data(ROWS)
    for call, words in (
        (lambda: nl.nystrom_errors(KERNEL, ROWS, ROWS[:5], points=100), "it must be 'trace'"),
        (lambda: nl.nystrom_errors(KERNEL, ROWS, ROWS[:5], "trace", points=1), "points is 1"),
        (lambda: nl.nystrom_errors(KERNEL, ROWS, ROWS[:5], "trace", points=9, confidence=1.0), "confidence is 1.0"),
        (lambda: nl.find_landmarks(KERNEL, source, 1001), "n is 1001"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
