"""Each start against a straightforward version of it, or against what its draws must look like."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib.landmarks import starts
from tests.cases import BUILT_IN, Floats, cloud, pair

from .test_starts import indices_of

KERNEL = nl.Gaussian(rho=0.7)


def squared_distances(X: Floats, S: Floats) -> Floats:
    return np.square(X[:, None] - S[None]).sum(axis=-1)


def residual_diagonal(K: Floats, chosen: list[int]) -> Floats:
    """Of K − K̂, from a pseudo-inverse."""
    C = K[:, chosen]
    return np.diag(K - C @ np.linalg.pinv(K[np.ix_(chosen, chosen)], rcond=1e-13) @ C.T)


def expected(counts: Counter[int], probabilities: Floats, draws: int) -> bool:
    """Whether counts are within five standard deviations of what they should be."""
    seen = np.array([counts[i] for i in range(len(probabilities))])
    spread = np.sqrt(draws * probabilities * (1 - probabilities))
    return bool(np.all(np.abs(seen - draws * probabilities) <= 5 * spread + 1e-9))


# -- uniform ---------------------------------------------------------------------------------------------------


def test_uniform_is_uniform_sample() -> None:
    """Catches other draws than the paper's samples are made of."""
    X, _ = cloud(3, 60, 1)
    assert np.array_equal(nl.initial_sample(KERNEL, X, 10, seed=4), nl.uniform_sample(X, 10, 4))
    assert np.array_equal(nl.uniform_sample(X, 10, 4), X[np.random.default_rng(4).choice(60, 10, replace=False)])


def test_sample_is_made_of_distinct_data_points() -> None:
    """Catches drawing with replacement, or points that are not in the data."""
    X, _ = cloud(3, 40, 1)
    for seed in range(30):
        S = nl.uniform_sample(X, 25, seed)
        assert S.shape == (25, 3)
        assert len(np.unique(S, axis=0)) == 25
        assert {tuple(row) for row in S} <= {tuple(row) for row in X}


def test_every_point_is_equally_likely() -> None:
    """Catches a draw that favours some points: 3 of 10, 20,000 times."""
    X = np.arange(10.0)[:, None]
    counts = np.zeros(10)
    first = np.zeros(10)
    for seed in range(20_000):
        chosen = nl.uniform_sample(X, 3, seed)[:, 0].astype(int)
        counts[chosen] += 1
        first[chosen[0]] += 1
    assert np.all(np.abs(counts - 6000) < 5 * np.sqrt(20_000 * 0.3 * 0.7))
    assert np.all(np.abs(first - 2000) < 5 * np.sqrt(20_000 * 0.1 * 0.9))


# -- k-means ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "N", "n"), [(1, 5, 1), (2, 1000, 3), (3, 1001, 130), (10, 1500, 64), (17, 900, 70)])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_nearest_landmark(d: int, N: int, n: int, kind: type) -> None:
    """Catches ends of tiles left out, and distances lost to cancellation."""
    X, S = cloud(d, N, n)
    X = (X + 100.0).astype(kind)
    S = S + 100.0
    S[-1] = X[0]
    exact = squared_distances(X.astype(float), S)
    assert np.array_equal(starts.nearest(X, S), exact.argmin(axis=1))


def test_kmeans_plus_plus_draws_by_squared_distance() -> None:
    """Catches distances that are not squared, or not those to the nearest: 6,000 draws of three out of six."""
    X = np.array([[0.0], [1.0], [2.5], [3.0], [7.0], [8.0]])
    first: Counter[int] = Counter()
    third: Counter[int] = Counter()
    given = 0
    for seed in range(6_000):
        a, b, c = indices_of(KERNEL, X, 3, "kmeans++", seed=seed).tolist()
        first[a] += 1
        if (a, b) == (1, 5):
            given += 1
            third[c] += 1
    assert expected(first, np.full(6, 1 / 6), 6_000)
    weights = squared_distances(X, X[[1, 5]]).min(axis=1)
    assert given > 300 and expected(third, weights / weights.sum(), given)


@pytest.mark.parametrize(("pairs", "size"), [(1, 100), (2000, 200)])
def test_kmeans_plus_plus_from_a_part_of_the_data(pairs: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a part that is too small, and indices into it that are taken for indices into the data."""
    monkeypatch.setattr(starts, "PAIRS", pairs)
    X, _ = cloud(2, 500, 1)
    indices = indices_of(KERNEL, X, 10, "kmeans++", seed=0)
    rng = np.random.default_rng(0)
    part = rng.choice(500, size, replace=False)
    assert set(indices) <= set(part) and indices[0] == part[rng.integers(size)]
    assert np.array_equal(nl.initial_sample(KERNEL, X, 10, "kmeans++", seed=0), X[indices])


@pytest.mark.parametrize(("d", "N", "n", "tolerance"), [(1, 300, 5, 1e-4), (3, 2000, 40, 1e-2), (20, 1500, 30, 1e-4)])
def test_kmeans_is_lloyd_s_iteration(d: int, N: int, n: int, tolerance: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a wrong mean or a wrong rule when to stop."""
    assert starts.TOLERANCE == 1e-4
    monkeypatch.setattr(starts, "TOLERANCE", tolerance)
    X, _ = cloud(d, N, 1)
    S = nl.initial_sample(KERNEL, X, n, "kmeans++", seed=2)
    for _ in range(100):
        labels = squared_distances(X, S).argmin(axis=1)
        moved = np.array([X[labels == k].mean(axis=0) for k in range(n)])
        shift = np.square(moved - S).sum()
        S = moved
        if shift <= tolerance * X.var(axis=0).mean():
            break
    np.testing.assert_allclose(nl.initial_sample(KERNEL, X, n, "kmeans", seed=2), S, rtol=1e-10, atol=1e-12)


# -- Cholesky --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILT_IN)
def test_greedy_takes_the_largest_residual(name: str) -> None:
    """Catches a residual that is not kept up: each pivot has the largest one of the approximation by those before."""
    kernel = pair(name)[0]
    X, _ = cloud(8, 150, 1)
    K = kernel.matrix(X)
    chosen = indices_of(kernel, X, 8, "greedy").tolist()
    for k in range(1, 8):
        left = residual_diagonal(K, chosen[:k])
        assert left[chosen[k]] >= left.max() - 1e-9 * K.diagonal().max()


@pytest.mark.parametrize("name", ["gaussian", "polynomial"])
def test_rpcholesky_draws_by_the_residual(name: str) -> None:
    """Catches proposals accepted with the wrong probability: every outcome of three draws against its probability."""
    kernel = pair(name)[0]
    X = np.array([[0.0, 0.1], [0.4, 0.0], [0.3, 1.0], [1.5, -0.2], [2.0, 1.0]])
    K = kernel.matrix(X)
    draws = 2000
    drawn = (indices_of(kernel, X, 3, "rpcholesky", seed=s) for s in range(draws))
    counts = Counter(tuple(indices.tolist()) for indices in drawn)
    probabilities = {(i,): K[i, i] / K.trace() for i in range(5)}
    for _ in range(2):
        further = {}
        for chosen, p in probabilities.items():
            left = np.maximum(residual_diagonal(K, list(chosen)), 0.0)
            left[list(chosen)] = 0.0
            further.update({(*chosen, i): p * left[i] / left.sum() for i in range(5) if i not in chosen})
        probabilities = further
    outcomes = list(probabilities)
    assert set(counts) <= set(outcomes)
    seen = Counter({i: counts[outcome] for i, outcome in enumerate(outcomes)})
    assert expected(seen, np.array([probabilities[outcome] for outcome in outcomes]), draws)


@pytest.mark.parametrize("rho", [4.0, 0.02])
@pytest.mark.parametrize("method", ["rpcholesky", "greedy"])
def test_cholesky_goes_as_deep_as_double_precision(method: str, rho: float) -> None:
    """Catches a factor that drifts or ends early: the residuals are those of the library's own approximation."""
    kept: list[starts.PartialCholesky] = []
    original = starts.PartialCholesky.__init__

    def remember(self: starts.PartialCholesky, *arguments: object) -> None:
        original(self, *arguments)  # type: ignore[arg-type]
        kept.append(self)

    X, _ = cloud(4, 600, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(starts.PartialCholesky, "__init__", remember)
        sample = nl.initial_sample(nl.Gaussian(rho), X, 60, method, seed=1)
    found = nl.NystromApproximation(nl.Gaussian(rho), sample).residuals(X)
    assert (found.max() < 1e-6) == (rho < 1.0)
    np.testing.assert_allclose(kept[0].residual, found, atol=1e-12)


@pytest.mark.parametrize("method", ["rpcholesky", "greedy"])
def test_a_kernel_of_low_rank_is_filled_up(method: str) -> None:
    """Catches pivots made of rounding: a linear kernel in two dimensions has rank two, the rest are other points."""
    X, _ = cloud(2, 300, 1)
    kernel = nl.Polynomial(degree=1, offset=0.0)
    indices = indices_of(kernel, X, 30, method, seed=0)
    assert nl.nystrom_errors(kernel, X, X[indices[:2]], "trace").trace < 1e-12 * len(X)
    if method == "greedy":
        assert indices[2:].tolist() == [i for i in range(300) if i not in indices[:2]][:28]


# -- herding ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILT_IN)
def test_herding_lessens_the_distance_of_embeddings_most(name: str) -> None:
    """Catches a wrong weight of the new point: the distance itself is computed for every candidate."""
    kernel = pair(name)[0]
    X, _ = cloud(3, 90, 1)
    K2 = kernel.squared(X)
    chosen: list[int] = []
    for k in range(1, 9):

        def distance(i: int, k: int = k) -> float:
            weights = np.full(90, -1 / 90)
            weights[[*chosen, i]] += 1 / k
            return float(weights @ K2 @ weights)

        chosen.append(min((i for i in range(90) if i not in chosen), key=distance))
    assert indices_of(kernel, X, 8, "herding", seed=0).tolist() == chosen


def test_herding_of_many_points_embeds_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starts, "EMBEDDED", 50)
    X, _ = cloud(2, 400, 1)
    among = X[np.random.default_rng(6).choice(400, 50, replace=False)]
    first = KERNEL.squared(X, among).mean(axis=1).argmax()
    assert indices_of(KERNEL, X, 5, "herding", seed=6)[0] == first


# -- leverage --------------------------------------------------------------------------------------------------


def test_scores_of_all_points_are_exact() -> None:
    """Catches a wrong ridge or weight: when every point is kept with weight one, the scores are the definition's."""
    _scores = starts.leverage_scores

    X, _ = cloud(3, 120, 1)
    K = KERNEL.matrix(X)
    everything, k = np.arange(120), 9
    ridge = np.linalg.eigvalsh(K)[:-k].sum() / k
    exact = np.diag(K @ np.linalg.inv(K + ridge * np.eye(120)))
    np.testing.assert_allclose(_scores(KERNEL, X, everything, everything, np.ones(120), k), exact, rtol=1e-9)
    # Each point twice, with half the data kept at weight two: the same matrix, in the eyes of the ridge.
    double = np.vstack([X, X])
    half = _scores(KERNEL, double, np.arange(240), everything, np.full(120, 2.0), k)
    ridge = 2.0 * ridge
    exact = np.diag(K @ np.linalg.inv(2.0 * K + ridge * np.eye(120)))
    np.testing.assert_allclose(half, np.tile(exact, 2), rtol=1e-9)


@pytest.mark.parametrize(("n", "rank"), [(2, 1), (40, 3), (200, 10)])
def test_leverage_has_the_ridge_of_n_over_four_log_n_eigenvalues(
    n: int, rank: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a ridge that leaves more, or fewer, than the reference's."""
    asked: list[int] = []
    scores = starts.leverage_scores
    record = lambda *arguments: (asked.append(arguments[-1]), scores(*arguments))[1]  # noqa: E731
    monkeypatch.setattr(starts, "leverage_scores", record)
    indices_of(KERNEL, cloud(3, 500, 1)[0], n, "leverage", seed=0)
    assert set(asked) == {rank} and len(asked) == np.ceil(np.log2(500 / n))


def test_leverage_prefers_what_others_do_not_explain() -> None:
    """Catches scores that are not used: a crowd and ten lonely points, of which uniform draws would find two."""
    rng = np.random.default_rng(0)
    X = np.vstack([0.05 * rng.normal(size=(990, 2)), 5.0 + 5.0 * np.arange(20).reshape(10, 2)])
    found = [np.sum(indices_of(KERNEL, X, 40, "leverage", seed=s) >= 990) for s in range(20)]
    assert np.mean(found) > 8
