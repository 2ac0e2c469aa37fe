"""What every objective keeps to: the contract of `nystrom_lib/landmarks/objectives/base.py`, over the registry."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import nystrom_lib as nl
from nystrom_lib.landmarks.objectives import OBJECTIVES
from nystrom_lib.landmarks.objectives.base import EVERYTHING, Objective
from tests.bits import digest
from tests.cases import BUILT_IN, Floats, close, cloud, pair

NAMES = tuple(OBJECTIVES)
KERNEL = nl.Gaussian(rho=0.7)


def made(name: str, kernel: str | Any = KERNEL, data: Any = None) -> Objective:
    """An objective of the registry, or a skip where the kernel is refused, as long as one sentence says why."""
    kernel = pair(kernel)[0] if isinstance(kernel, str) else kernel
    try:
        return OBJECTIVES[name](kernel, cloud(2, 30, 5)[0] if data is None else data)
    except ValueError as refusal:
        assert not kernel.radial and str(refusal).startswith("kernel is ") and str(refusal).count(". ") == 0
        pytest.skip(str(refusal))


@pytest.mark.parametrize("name", NAMES)
def test_it_stands_in_the_registry_by_its_name(name: str) -> None:
    cls = OBJECTIVES[name]
    assert issubclass(cls, Objective) and cls.name == name and isinstance(cls.unbiased, bool)
    assert cls.__doc__ and "Examples" in cls.__doc__
    assert getattr(nl, cls.__name__) is cls and cls.__name__ in nl.__all__
    assert "30 points in 2 dimensions" in repr(made(name))


@pytest.mark.parametrize("kernel", BUILT_IN)
@pytest.mark.parametrize("name", NAMES)
def test_the_gradient_is_that_of_the_value(name: str, kernel: str) -> None:
    """Catches a gradient of another function: central differences of the value, over some directions."""
    X, S = (2.0 * A for A in cloud(8, 30, 3))
    objective = made(name, kernel, X)
    gradient, rng, h = objective.gradient(S), np.random.default_rng(3), 1e-5
    assert gradient.shape == S.shape and gradient.dtype == np.float64 and np.isfinite(gradient).all()
    scale = float(np.linalg.norm(gradient))
    for _ in range(3):
        V = rng.normal(size=S.shape)
        V /= np.linalg.norm(V)
        slope = (objective.value(S + h * V) - objective.value(S - h * V)) / (2 * h)
        assert np.sum(gradient * V) == pytest.approx(slope, rel=1e-5, abs=1e-6 * scale)


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial"])
@pytest.mark.parametrize("name", NAMES)
def test_evaluate_gives_the_value_its_gradient_belongs_to(name: str, kernel: str) -> None:
    """Catches an estimate whose value and gradient are not of the same function, or of another constant a time."""
    X, S = (2.0 * A for A in cloud(8, 30, 3))
    objective = made(name, kernel, X)
    for batch in (EVERYTHING, np.array([0, 7, 7, 29])):
        evaluate = objective.prepare(len(S), len(batch) or len(X))
        value, gradient = evaluate(S, batch)
        assert isinstance(value, float)
        assert np.array_equal(gradient, objective.gradient(S, batch if len(batch) else None))
        V = np.random.default_rng(1).normal(size=S.shape)
        h = 1e-5 / np.linalg.norm(V)
        slope = (evaluate(S + h * V, batch)[0] - evaluate(S - h * V, batch)[0]) / (2 * h)
        assert np.sum(gradient * V) == pytest.approx(slope, rel=1e-5, abs=1e-6 * float(np.linalg.norm(gradient)))
        again = evaluate(S, batch)[1]
        assert again is not gradient and np.array_equal(again, gradient)
    whole = objective.prepare(len(S), len(X))
    other = S + 0.05
    difference = whole(S, EVERYTHING)[0] - whole(other, EVERYTHING)[0]
    assert difference == pytest.approx(objective.value(S) - objective.value(other), rel=1e-6)


@pytest.mark.parametrize("kernel", ["gaussian", "matern32", "rational_quadratic", "polynomial"])
@pytest.mark.parametrize("name", NAMES)
def test_unbiased_or_not_by_enumeration_of_all_batches(name: str, kernel: str) -> None:
    """Catches a flag that lies, either way: every batch of one, of two and of three is visited, none is drawn."""
    X, S = (2.0 * A for A in cloud(8, 5, 2))
    objective = made(name, kernel, X)
    exact = objective.gradient(S)
    for b in (1, 2, 3):
        evaluate = objective.prepare(2, b)
        batches = [np.array(batch) for batch in itertools.product(range(5), repeat=b)]
        mean = np.mean([evaluate(S, batch)[1] for batch in batches], axis=0)
        if objective.unbiased:
            assert close(mean, exact, 1e-11)
        else:
            assert not close(mean, exact, 1e-3)


lattice = st.integers(-2 * 2**12, 2 * 2**12).map(lambda k: k / 2**12)
samples = arrays(np.float64, (4, 2), elements=lattice, unique=True)


def spread(S: Floats) -> Floats:
    """Landmarks far enough from each other that K_S is no matter of rounding."""
    grid = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5], [1.5, 1.5]])
    moved: Floats = grid + S / 8
    return moved


@pytest.mark.parametrize("name", NAMES)
@given(S=samples, shift=arrays(np.float64, 2, elements=st.integers(-500, 500)))
@settings(max_examples=15)
def test_moving_everything_changes_nothing(name: str, S: Floats, shift: Floats) -> None:
    """Catches coordinates that are not taken relative to something: a common shift of landmarks and data."""
    X, S = np.round(cloud(2, 30, 1)[0] * 2**12) / 2**12, spread(S)
    here, there = made(name, KERNEL, X), made(name, KERNEL, X + shift)
    assert there.value(S + shift) == pytest.approx(here.value(S), rel=1e-9, abs=1e-10)
    assert close(there.gradient(S + shift), here.gradient(S), 1e-8)


@pytest.mark.parametrize("name", NAMES)
@given(S=samples, order=st.permutations(range(4)), kernel=st.sampled_from(["gaussian", "matern52"]))
@settings(max_examples=15)
def test_permuting_landmarks_permutes_the_gradient(name: str, S: Floats, order: list[int], kernel: str) -> None:
    """Catches a landmark treated apart; the order of the data does not matter either."""
    X, S = cloud(2, 30, 1)[0], spread(S)
    objective, turned = made(name, kernel, X), made(name, kernel, X[::-1])
    assert turned.value(S[order]) == pytest.approx(objective.value(S), rel=1e-9, abs=1e-10)
    assert close(turned.gradient(S[order]), objective.gradient(S)[order], 1e-8)


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("name", NAMES)
def test_single_precision_data_are_read_as_they_are(name: str, d: int) -> None:
    """Catches a loss in the loops: float32 data give what the same numbers give in float64."""
    X, S = cloud(d, 300, 12)
    X32 = X.astype(np.float32)
    kernel = nl.Gaussian(rho=3.0)
    single, double = made(name, kernel, X32), made(name, kernel, X32.astype(np.float64))
    assert single.data.dtype == np.float32
    assert single.value(S) == pytest.approx(double.value(S), rel=1e-12)
    assert close(single.gradient(S), double.gradient(S), 1e-12)
    assert close(single.gradient(S, [3, 4, 4]), double.gradient(S, [3, 4, 4]), 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_given_is_changed(name: str) -> None:
    """Catches work done in the caller's arrays, which may be read-only, or lists."""
    X, S = cloud(2, 40, 5)
    batch = np.arange(7)
    before = X.copy(), S.copy()
    for array in (X, S, batch):
        array.setflags(write=False)
    objective = made(name, KERNEL, X)
    value, gradient = objective.value(S), objective.gradient(S)
    objective.gradient(S, batch)
    assert np.array_equal(X, before[0]) and np.array_equal(S, before[1])
    lists = made(name, KERNEL, X.tolist())
    assert lists.value(S.tolist()) == value and np.array_equal(lists.gradient(S.tolist()), gradient)
    fortran = made(name, KERNEL, np.asfortranarray(X))
    assert np.array_equal(fortran.gradient(np.asfortranarray(S)), gradient)


@pytest.mark.parametrize("name", NAMES)
def test_copies_stay_finite(name: str) -> None:
    X, S = cloud(2, 40, 5)
    objective = made(name, KERNEL, X)
    for sample in (np.vstack([S, S]), np.tile(S[:1], (7, 1)), np.tile(X[:1], (70, 1))):
        assert np.isfinite(objective.value(sample)) and np.isfinite(objective.gradient(sample)).all()
        assert np.isfinite(objective.gradient(sample, [0, 0, 1])).all()


# --- deterministic ------------------------------------------------------------------------------------------------


def digests() -> dict[str, str]:
    result = {}
    for d, n, N in ((2, 80, 2100), (9, 50, 1300), (50, 150, 1300)):
        X, S = cloud(d, N, n)
        for name in NAMES:
            objective = OBJECTIVES[name](nl.Gaussian(rho=2.0), X)
            parts = (objective.gradient(S), objective.gradient(S, np.arange(0, N, 2)), [objective.value(S)])
            result[f"{name} d={d}"] = digest(*parts)
    return result


# --- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_bad_input_gets_one_sentence(name: str) -> None:
    cls, X = OBJECTIVES[name], cloud(2, 10, 1)[0]
    with pytest.raises(TypeError, match=r"^kernel is 'Gaussian'; it must be a kernel of nystrom_lib, .*\.$"):
        cls("Gaussian", X)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^data holds nan at row 1, column 0; every value must be finite\.$"):
        cls(KERNEL, [[0.0], [np.nan]])
    objective = cls(KERNEL, X)
    for call in (objective.value, objective.gradient):
        with pytest.raises(ValueError, match=r"^sample has points of 3 coordinates; those of data have 2\.$"):
            call([[0.0, 1.0, 2.0]])
    with pytest.raises(ValueError, match=r"^batch holds 10; indices into the data go from 0 to 9\.$"):
        objective.gradient(X[:2], [0, 10])
