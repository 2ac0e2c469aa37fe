"""Residuals from each point's nearest landmarks, and what is done where a factor of K_S does not fit in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib import _local, _memory, approximation
from nystrom_lib._local import residuals_from_nearest
from nystrom_lib.landmarks import search as landmarks_module
from nystrom_lib.landmarks import starts
from tests.bits import digest
from tests.cases import Floats, cloud, pair

KERNEL = nl.Gaussian(rho=2.0)


def by_definition(kernel: nl.Kernel, X: Floats, S: Floats, k: int) -> Floats:
    """The residuals, point by point."""
    residuals = kernel.diagonal(X)
    for i, x in enumerate(X):
        near = S[np.argsort(np.square(S - x).sum(axis=1))[:k]]
        column = kernel.matrix(near, x[None])[:, 0]
        residuals[i] -= column @ np.linalg.solve(kernel.matrix(near), column)
    return residuals


@pytest.mark.parametrize("name", ["gaussian", "matern12", "matern52", "rational_quadratic", "user_radial"])
@pytest.mark.parametrize("d", [2, 8])
def test_residuals_are_those_of_the_definition(name: str, d: int) -> None:
    """Catches the wrong neighbours, or a ridge where none is needed."""
    kernel, _ = pair(name)
    X, S = cloud(d, 50, 30)
    assert residuals_from_nearest(kernel, S, X, 4) == pytest.approx(by_definition(kernel, X, S, 4), abs=1e-8)


def test_residuals_are_the_terms_of_the_objective_and_bounds() -> None:
    X, S = cloud(3, 400, 60)
    previous = np.full(400, np.inf)
    for k in (1, 5, 20):
        residuals = residuals_from_nearest(KERNEL, S, X, k)
        assert residuals.sum() == pytest.approx(nl.LocalTraceError(KERNEL, X, k).value(S), rel=1e-12)
        assert residuals.sum() == pytest.approx(nl.nystrom_errors(KERNEL, X, S, "trace", neighbours=k).trace, rel=1e-12)
        assert (residuals <= previous + 1e-12).all()
        previous = residuals
    assert (nl.NystromApproximation(KERNEL, S).residuals(X) <= previous + 1e-12).all()


def test_a_landmark_counts_if_its_pivot_exceeds_rounding() -> None:
    """Catches a threshold that is too high, which loses what two close landmarks know, or too low, which invents it.

    A second landmark, the distance h from the first, brings the derivative there. At h = 1e-6 its pivot is 4e-12, with
    four digits; at h = 1e-8 it is 4e-16, a rounding or two.
    """
    X = np.array([[0.3]])
    value, slope = np.exp(-2.0 * 0.09), 4.0 * 0.3 * np.exp(-2.0 * 0.09)  # of exp(−2(x − s)²) at s = 0, and along s
    alone, together = 1.0 - value**2, 1.0 - value**2 - slope**2 / 4.0  # 4 is the variance of the derivative
    for h, expected in ((1e-6, together), (1e-8, alone)):
        found = nl.nystrom_errors(KERNEL, X, np.array([[0.0], [h]]), "trace", neighbours=2).trace
        assert found == pytest.approx(expected, rel=1e-3), h


def test_with_all_landmarks_it_is_the_nystrom_approximation() -> None:
    X, S = cloud(2, 40, 9)
    exact = nl.NystromApproximation(KERNEL, S).residuals(X)
    assert residuals_from_nearest(KERNEL, S, X) == pytest.approx(exact, abs=1e-10)


def test_blocks_and_their_order_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a block left out, and neighbours that are given to another point."""
    X, S = cloud(2, 300, 50)
    residuals = residuals_from_nearest(KERNEL, S, X, 5)
    monkeypatch.setattr(_local, "_NUMBERS", 10 * 64)
    monkeypatch.setattr(_local, "_SPREAD", 0)  # points are sorted before the search
    assert np.array_equal(residuals_from_nearest(KERNEL, S, X, 5), residuals)


def digests() -> dict[str, str]:
    result = {}
    for d in (3, 7):
        X, S = cloud(d, 3000, 300)
        result[f"d = {d}"] = digest(residuals_from_nearest(KERNEL, S, X))
    return result


@pytest.mark.parametrize(
    "kernel, neighbours, sentence",
    [
        (nl.Polynomial(), 3, r"^kernel is .*; it must be radial, "),
        (KERNEL, 0, r"^neighbours is 0; it must be at least 1\.$"),
    ],
)
def test_bad_input(kernel: nl.Kernel, neighbours: int, sentence: str) -> None:
    X, S = cloud(2, 40, 9)
    with pytest.raises(ValueError, match=sentence):
        nl.nystrom_errors(kernel, X, S, "trace", neighbours=neighbours)


# --- where there is no room ---------------------------------------------------------------------------------------


@pytest.fixture
def small_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with room for a factor of 25 landmarks, on which more than 20 are judged by the nearest."""
    monkeypatch.setattr(approximation, "memory", lambda: 4 * 8 * 25**2)
    monkeypatch.setattr(_local, "EXACT", 20)


@pytest.mark.usefixtures("small_machine")
def test_a_factor_larger_than_memory_is_refused() -> None:
    X, S = cloud(2, 60, 30)
    nl.NystromApproximation(KERNEL, S[:25])
    sentence = r"^sample has 30 points; it must have at most 25, for a factor of K_S takes .* GB of .* GB of memory: "
    with pytest.raises(ValueError, match=sentence + r"LocalTraceError does without\.$"):
        nl.NystromApproximation(KERNEL, S)
    with pytest.raises(ValueError, match=sentence):
        nl.nystrom_errors(KERNEL, X, S)
    assert nl.nystrom_errors(KERNEL, X, S, "trace", neighbours=20).trace > 0.0
    with pytest.raises(ValueError, match=sentence + r"LocalTraceError does without\.$"):
        nl.TraceError(KERNEL, X).gradient(S)
    with pytest.raises(ValueError, match=r"^n is 30; it must be at most 25, .* memory: method='local-trace' does "):
        nl.find_landmarks(KERNEL, X, 30, method="trace")
    with pytest.raises(ValueError, match=r"^n is 30; it must be at most 25, for a factor of K_S takes .* of memory\.$"):
        nl.find_landmarks(nl.Polynomial(), X, 30)


@pytest.mark.parametrize("way", ["rpcholesky", "greedy"])
def test_a_start_that_does_not_fit_is_refused_in_a_sentence(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starts, "memory", lambda: 8 * 60 * 25)
    X, _ = cloud(2, 60, 1)
    nl.initial_sample(KERNEL, X, 25, way, seed=0)
    sentence = r"^n is 26; it must be at most 25, for n rows of 60 numbers take .* of memory: 'uniform' does without\.$"
    with pytest.raises(ValueError, match=sentence):
        nl.initial_sample(KERNEL, X, 26, way, seed=0)


@pytest.mark.usefixtures("small_machine")
@pytest.mark.parametrize("method", ["auto", "local-trace", "uniform"])
def test_landmarks_are_found_without_a_factor(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a search that factors K_S to judge what it found."""
    monkeypatch.setattr(landmarks_module, "MIN_LOCAL", 20)
    X, _ = cloud(2, 200, 1)
    found = nl.find_landmarks(KERNEL, X, 30, method=method, iterations=20)
    assert "Errors are upper bounds, from the 20 landmarks nearest to each point." in found.reasons
    assert found.error == residuals_from_nearest(KERNEL, found.sample, X).mean()
    assert found.error < found.start_error or method == "uniform"


def test_a_container_may_have_less_than_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_memory, "_LIMITS", (tmp_path / "none", tmp_path / "limit"))
    whole = _memory.memory.__wrapped__()
    assert whole > 1e8
    for text, expected in (("max\n", whole), ("123456\n", 123456), (f"{2**70}\n", whole)):
        (tmp_path / "limit").write_text(text)
        assert _memory.memory.__wrapped__() == expected
