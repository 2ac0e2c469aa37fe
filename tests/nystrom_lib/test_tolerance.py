"""Landmarks for a tolerance: it is kept, the number is small, and every way the search can end."""

from __future__ import annotations

import pickle
from collections.abc import Iterable

import numpy as np
import pytest

import nystrom_lib as nl

X = nl.datasets.bigaussian(N=600, seed=1).X
KERNEL = nl.Gaussian(16.0)


def relative_error(kernel: nl.Kernel, data: np.ndarray, sample: np.ndarray) -> float:
    trace = nl.nystrom_errors(kernel, data, sample, "trace").trace
    return trace / float(sum(kernel.diagonal(data)))


@pytest.mark.parametrize("tolerance", [0.5, 0.2, 0.05])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_tolerance_is_kept_by_few_landmarks(tolerance: float, seed: int) -> None:
    """Catches an error above the tolerance, and more landmarks than a good sample needs beside the best subspace."""
    found = nl.find_landmarks(KERNEL, X, tolerance=tolerance, seed=seed)
    assert relative_error(KERNEL, X, found.sample) <= tolerance
    assert found.relative_error == pytest.approx(relative_error(KERNEL, X, found.sample), rel=1e-9)
    assert found.error_bound == found.error
    n = len(found.sample)
    eigenvalues = np.linalg.eigvalsh(KERNEL.matrix(X))[::-1]
    fewest = int(np.searchsorted(np.cumsum(eigenvalues), (1.0 - tolerance) * len(X))) + 1
    assert n <= 1.4 * fewest + 1
    assert found.reasons[0].startswith(f"n = {n}, the smallest number tried that keeps the tolerance {tolerance:g}")


def random_problem(seed: int) -> tuple[nl.Kernel, np.ndarray, float]:
    """A kernel of any family, light or heavy tails, and a tolerance from 0.001 to 0.3."""
    rng = np.random.default_rng([37, seed])
    N, d = int(rng.integers(200, 501)), int(rng.integers(1, 4))
    X = (rng.standard_normal((N, d)), rng.random((N, d)), rng.standard_t(3.0, (N, d)))[seed % 3]
    rho = float(nl.median_rho(X) * 10.0 ** rng.uniform(-1.0, 0.3))
    length = (2.0 * rho) ** -0.5
    families = nl.Gaussian(rho), nl.Matern(1.5, length), nl.Matern(2.5, length), nl.RationalQuadratic(1.0, length)
    return (*families, nl.Polynomial(3, 1.0))[seed % 5], X, float(10.0 ** rng.uniform(-3.0, -0.5))


def kept(seeds: Iterable[int]) -> list[bool]:
    """Whether the tolerance of each random problem is kept, by the errors that the library computes for any sample."""
    found = []
    for seed in seeds:
        kernel, data, tolerance = random_problem(seed)
        sample = nl.find_landmarks(kernel, data, tolerance=tolerance, seed=seed).sample
        found.append(relative_error(kernel, data, sample) <= tolerance)
    return found


def test_the_tolerance_is_kept_on_random_problems() -> None:
    """Catches an error computed on some of the points, or in another unit."""
    assert kept(range(10)) == [True] * 10


@pytest.mark.slow
def test_the_tolerance_is_kept_in_a_thousand_runs() -> None:
    """Catches a tolerance that is missed now and then."""
    assert sum(kept(range(1000))) == 1000


@pytest.mark.parametrize("kernel", [nl.Matern(1.5, 0.5), nl.Polynomial(degree=3, offset=1.0)], ids=repr)
def test_other_kernels(kernel: nl.Kernel) -> None:
    """Catches a mean of K(x, x) that is taken for 1."""
    found = nl.find_landmarks(kernel, X, tolerance=0.1)
    assert relative_error(kernel, X, found.sample) <= 0.1
    assert found.relative_error == pytest.approx(relative_error(kernel, X, found.sample), rel=1e-6)


@pytest.mark.parametrize("method", ["kmeans", "rpcholesky"])
def test_a_method_that_only_chooses_points(method: str) -> None:
    """Catches a search that can only descend, and indices that are lost."""
    found = nl.find_landmarks(KERNEL, X, tolerance=0.3, method=method)
    assert found.method == method and f"Chosen by {method!r}, as asked." in found.reasons
    assert relative_error(KERNEL, X, found.sample) <= 0.3
    assert found.indices is None if method == "kmeans" else np.array_equal(X[found.indices], found.sample)


def test_a_confidence_bound_keeps_the_tolerance_where_not_all_points_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches an estimate that is taken for the error: the bound is what must not exceed the tolerance."""
    for module in ("bounds", "tolerance"):
        monkeypatch.setattr(f"nystrom_lib.landmarks.{module}.CERTIFIED", 400)
    kept = []
    for seed in range(20):
        found = nl.find_landmarks(KERNEL, X, tolerance=0.2, seed=seed, iterations=100)
        assert found.error_bound <= 0.2
        kept.append(relative_error(KERNEL, X, found.sample) <= 0.2)
    assert np.mean(kept) >= 0.95


def test_points_too_far_apart_need_a_landmark_each() -> None:
    """Catches a search without end where nothing but all points keeps the tolerance."""
    far = 100.0 * np.arange(40.0)[:, None]
    found = nl.find_landmarks(KERNEL, far, tolerance=0.01)
    assert len(found.sample) == 40
    assert found.relative_error <= 0.01


def test_few_different_points_need_few_landmarks() -> None:
    """Catches more landmarks than there are different points."""
    few = np.repeat([[0.0], [1.0], [5.0]], 50, axis=0)
    found = nl.find_landmarks(KERNEL, few, tolerance=1e-9)
    assert len(found.sample) <= 4 and found.relative_error <= 1e-9


def test_no_time_is_said() -> None:
    """Catches an error above the tolerance that is not mentioned."""
    found = nl.find_landmarks(KERNEL, X, tolerance=1e-6, seconds=1e-6)
    kept = found.error_bound <= 1e-6 * found.mean_diagonal
    assert kept == found.reasons[0].startswith("n = ")
    assert kept != found.reasons[0].startswith("The tolerance 1e-06 was not met")


def test_the_caller_can_end_the_search() -> None:
    """Catches a search that begins another descent after the caller has ended one."""
    calls = 0

    def stop(done: int) -> None:
        nonlocal calls
        calls += 1
        raise StopIteration

    found = nl.find_landmarks(KERNEL, X, tolerance=0.1, progress=stop)
    assert calls <= 2 and len(found.sample) > 0


def test_bounds_of_landmarks_with_a_given_number() -> None:
    """Catches bounds that are only there after a search for a tolerance, and data that are pickled."""
    found = nl.find_landmarks(KERNEL, X, 20)
    best = nl.best_rank_errors(KERNEL, X, 20, "trace").trace / len(X)
    assert found.best_error_bound == pytest.approx(best, rel=1e-9)
    assert found.error_bound == pytest.approx(relative_error(KERNEL, X, found.sample), rel=1e-9)
    copied = pickle.loads(pickle.dumps(found))
    assert copied.best_error_bound == found.best_error_bound and copied.problem is None
    with pytest.raises(ValueError, match="stored without their data"):
        pickle.loads(pickle.dumps(nl.find_landmarks(KERNEL, X, 5, iterations=1))).error_bound  # noqa: B018


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "either n"),
        ({"n": 5, "tolerance": 0.1}, "either n"),
        ({"tolerance": 0.1, "start": "kmeans"}, "start cannot be used with tolerance"),
        ({"tolerance": 1.0}, "tolerance is 1.0; it must be at least 1e-12 and below 1"),
        ({"tolerance": 0.1, "level": 2.0}, "level is 2.0"),
    ],
)
def test_bad_input(arguments: dict[str, float], sentence: str) -> None:
    """Catches a foreign exception, and two numbers that contradict each other."""
    with pytest.raises(ValueError, match=sentence):
        nl.find_landmarks(KERNEL, X, **arguments)  # type: ignore[arg-type]
