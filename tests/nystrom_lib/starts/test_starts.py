"""The contract of every start (`nystrom_lib/landmarks/starts.py`), whatever the data and the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import nystrom_lib as nl
from nystrom_lib.landmarks.starts import STARTS, fill_up, originals
from tests.bits import digest
from tests.cases import BUILT_IN, DEGENERATE, cloud, degenerate, pair

METHODS = tuple(STARTS)
SUBSETS = tuple(name for name in STARTS if name != "kmeans")
KERNEL = nl.Gaussian(rho=0.7)


def indices_of(kernel: nl.Kernel, data: Any, n: int, method: str, *, seed: int = 0) -> NDArray[np.int64]:
    """The indices of the points of ``initial_sample``."""
    indices = STARTS[method](kernel, data, n, np.random.default_rng(seed)).indices
    assert indices is not None
    return indices


#: Every pair of a method, a case and a kernel.
TRIPLES = [
    (method, case, BUILT_IN[(i + j) % len(BUILT_IN)])
    for i, method in enumerate(METHODS)
    for j, case in enumerate(DEGENERATE)
]


@pytest.mark.parametrize("method, case, kernel", TRIPLES)
def test_every_start_gives_n_points_whatever_the_data(method: str, case: str, kernel: str) -> None:
    """Catches a division by a vanished residual, a draw that never ends, an index drawn twice, data changed."""
    data, n = degenerate(case)
    before = data.copy()
    K = pair(kernel)[0]
    sample = nl.initial_sample(K, data, n, method, seed=3)
    assert sample.shape == (n, data.shape[1]) and sample.dtype == np.float64
    assert np.isfinite(sample).all()
    assert np.array_equal(data, before)
    if method in SUBSETS:
        indices = indices_of(K, data, n, method, seed=3)
        assert indices.dtype == np.int64 and len(set(indices)) == n
        assert np.array_equal(sample, data[indices].astype(np.float64))
        if method != "uniform":
            there = len(np.unique(data, axis=0))
            assert len(np.unique(sample, axis=0)) == min(n, there)
    sample[:] = 0.0  # is it our own?
    assert np.array_equal(data, before)


@pytest.mark.parametrize("method", METHODS)
def test_seed_decides(method: str) -> None:
    """Catches hidden randomness, and a seed that is not used."""
    X, _ = cloud(3, 3000, 1)
    first, second, other = (nl.initial_sample(KERNEL, X, 20, method, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first, second)
    assert np.array_equal(first, other) == (method == "greedy")
    generator = np.random.default_rng(1)
    assert np.array_equal(nl.initial_sample(KERNEL, X, 20, method, seed=generator), first)


def digests() -> dict[str, str]:
    result = {}
    for d, n, N in ((2, 80, 1500), (8, 50, 2600), (30, 150, 1300)):
        X, _ = cloud(d, N, n)
        for method in METHODS:
            sample = nl.initial_sample(KERNEL, X, n, method, seed=5)
            result[f"{method} d={d}"] = digest(sample)
    return result


# -- what is refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        ({"method": "kmean"}, r"method is 'kmean' \(did you mean 'kmeans'\?\); it must be 'uniform', "),
        ({"method": None}, r"method is None; it must be 'uniform'"),
        ({"n": 0}, r"n is 0; it must be .*\.$"),
        ({"n": 11}, r"n is 11; it must be .*\.$"),
        ({"seed": -1}, r"seed is -1"),
        ({"kernel": "Gaussian"}, r"kernel is 'Gaussian'"),
    ],
)
def test_bad_input_gets_one_sentence(arguments: dict[str, Any], sentence: str) -> None:
    given: dict[str, Any] = {"kernel": KERNEL, "data": cloud(2, 10, 1)[0], "n": 3, "method": "uniform", "seed": 0}
    with pytest.raises((TypeError, ValueError), match=f"^{sentence}"):
        nl.initial_sample(**given | arguments)


# -- the helpers -----------------------------------------------------------------------------------------------


def test_originals_finds_the_first_of_copies() -> None:
    """Catches copies that are far apart in the data, a zero that is not its negative, blocks that do not meet."""
    data = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, -0.0], [1.0, 5.0], [2.0, 0.0]])
    assert originals(data).tolist() == [0, 1, 0, 3, 1]
    many = np.random.default_rng(0).integers(0, 40, (25_000, 2)).astype(float)
    first: dict[tuple[float, ...], int] = {}
    assert originals(many).tolist() == [first.setdefault(tuple(row), i) for i, row in enumerate(many)]


def test_fill_up_takes_new_points_before_copies() -> None:
    data = np.array([[0.0], [0.0], [1.0], [2.0], [1.0], [3.0]])
    there = np.array([4])
    assert fill_up(data, there, 4).tolist() == [4, 0, 3, 5]
    assert fill_up(data, there, 6).tolist() == [4, 0, 3, 5, 1, 2]
    assert fill_up(data, np.array([4, 2, 0]), 2).tolist() == [4, 2]
    drawn = fill_up(data, there, 6, np.random.default_rng(1))
    assert sorted(drawn[1:4]) == [0, 3, 5] and sorted(drawn[4:]) == [1, 2]
