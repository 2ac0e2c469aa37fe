"""Sums over pairs, solves and features at the edges of their tiles, against straightforward numpy.

The oracle of ``tests/oracle.py`` is exact but slow, and its cases are too small to leave the first tile. Here the
formulas are written down once more, a landmark at a time in float64, for every size at which a tile, a vector, a
group or a piece begins or ends.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import solve_triangular

import nystrom_lib as nl
from nystrom_lib import descent as descent_module
from nystrom_lib._core import pairs, precise, profiles, residuals, vectors
from nystrom_lib._sums import PairSums
from tests import oracle
from tests.cases import Floats, cloud, pair

# --- the formulas, in numpy ---------------------------------------------------------------------------------------

KERNELS: dict[str, Any] = {
    "gaussian": nl.Gaussian(rho=0.7),
    "matern32": nl.Matern(1.5, lengthscale=0.6),
    "polynomial": nl.Polynomial(degree=2, offset=0.4, scale=1.2),
}


def scalar(kernel: Any, s: Floats, X: Floats) -> Floats:
    """‖s − x‖², or ⟨s, x⟩, for every row x of X."""
    found: Floats = np.sum((s - X) ** 2, axis=1) if kernel.radial else X @ s
    return found


def squared(kernel: Any, t: Floats) -> tuple[Floats, Floats]:
    """φ = K² and φ' as functions of the pair scalar."""
    if isinstance(kernel, nl.Gaussian):
        phi = np.exp(-2 * kernel.rho * t)
        return phi, -2 * kernel.rho * phi
    if isinstance(kernel, nl.Matern):
        b = 3 / kernel.lengthscale**2
        u = np.minimum(np.sqrt(b * t), 1000)  # where K² is 0 already; ∞ would make it ∞ · 0
        return (1 + u) ** 2 * np.exp(-2 * u), -b * (1 + u) * np.exp(-2 * u)
    base, power = kernel.scale * t + kernel.offset, 2 * kernel.degree
    return base**power, power * kernel.scale * base ** (power - 1)


def matrix(kernel: Any, A: Floats, B: Floats) -> Floats:
    """K(a, b); every φ here is a square of something positive, or of degree two."""
    found: Floats = np.sqrt([squared(kernel, scalar(kernel, a, B))[0] for a in A])
    return found


def sums(kernel: Any, S: Floats, X: Floats) -> tuple[float, Floats]:
    """ΣK²(s, x) and Σ_x ∂[l]K²(s_k, x)."""
    total, left = 0.0, np.empty_like(S)
    for k, s in enumerate(S):
        phi, first = squared(kernel, scalar(kernel, s, X))
        total += phi.sum()
        left[k] = first @ (2 * (s - X) if kernel.radial else X)
    return total, left


def terms(kernel: Any, X: Floats, S: Floats, x: Any = None, y: Any = None) -> tuple[Floats, Floats]:
    """The two terms of Eq. (5), or of Eq. (7) with the batches x and y; Eq. (6) is x = y."""
    x, y = (np.arange(len(X)) if batch is None else np.asarray(batch) for batch in (x, y))
    norm, among = sums(kernel, S, S)
    T1 = len(X) / len(x) * sums(kernel, S, X[x])[0]
    other, left = sums(kernel, S, X[y])
    other, T2 = len(X) / len(y) * other, len(X) / len(y) * left
    return 2 * (T1 / norm) * (other / norm) * among, 2 * (T1 / norm) * T2


def off(found: Floats, expected: tuple[Floats, Floats]) -> float:
    """How far a gradient is from the difference of two terms, relative to the larger: they may cancel."""
    first, second = expected
    assert found.shape == first.shape
    return float(np.max(np.abs(found - (first - second))) / max(np.max(np.abs(first)), np.max(np.abs(second))))


# A sum of a thousand terms in another order, distances from norms beyond 16 coordinates: a few hundred units in the
# last place. One pair that is left out of 257 × 1300 would still be 3e-6.
ROUNDING = 1e-13

LANDMARKS = (1, 2, 3, 7, 8, 9, 15, 16, 17, 50, 63, 64, 65, 80, 128, 129, 200, 257)
POINTS = (1, 3, 4, 5, 47, 48, 49, 96, 97, 500, 1300)
COORDINATES = (1, 2, 3, 7, 8, 9, 16, 17, 50)

#: Every number of each list at least once with others in between; 449 and 1025 landmarks leave a last tile of one
#: and make several groups, which up to 257 do not.
SIZES = [
    *((n, POINTS[i * 4 % 11], COORDINATES[i * 2 % 9]) for i, n in enumerate(LANDMARKS)),
    *((n, POINTS[(i * 3 + 5) % 11], COORDINATES[(i * 5 + 4) % 9]) for i, n in enumerate(LANDMARKS)),
    *((64, N, 10) for N in POINTS),
    *((65, 500, d) for d in COORDINATES),
    (50, 1300, 24),
    (193, 49, 2),
    (449, 97, 3),
    (450, 500, 17),
    (1025, 48, 2),
]


def test_sizes_are_all_there() -> None:
    """Catches a list that lost a size, or constants that moved the tiles away from the sizes."""
    for i, values in enumerate((LANDMARKS, POINTS, COORDINATES)):
        assert set(values) <= {size[i] for size in SIZES}
    for n, last, groups in ((64, 64, 1), (65, 25, 1), (257, 33, 1), (449, 1, 4), (1025, 1, 8)):
        work = pairs.make_workspace(1, n, 1300, 2, np.empty(0))
        size, tiles = work[6].shape[3], work[6].shape[1]
        assert (n - (tiles - 1) * size, len(work[7])) == (last, groups)


# --- values and gradients -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n, N, d", SIZES)
def test_values_and_gradients(n: int, N: int, d: int, name: str) -> None:
    """Catches a tile left out, taken twice, not transposed, or read beyond its last landmark."""
    kernel, (X, S) = KERNELS[name], cloud(d, N, n)
    norm, total = sums(kernel, S, S)[0], sums(kernel, S, X)[0]
    assert nl.radial_skd(kernel, X, S, constant=False) == pytest.approx(-(total**2) / norm, rel=ROUNDING)
    assert off(nl.radial_skd_gradient(kernel, X, S), terms(kernel, X, S)) < ROUNDING


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(
    "n, b, c, d",
    [(1, 1, 1, 1), (3, 1, 2, 2), (8, 2, 1, 3), (17, 3, 4, 8), (50, 5, 48, 17), (65, 49, 50, 2), (129, 300, 1, 50)],
)
def test_estimators(n: int, b: int, c: int, d: int, name: str) -> None:
    """Catches batches smaller than the rows of a vector tile, or a batch that leaks into the other one's factor."""
    kernel, (X, S) = KERNELS[name], cloud(d, 97, n)
    rng = np.random.default_rng(n)
    x, y = rng.integers(0, 97, b), rng.integers(0, 97, c)
    assert off(nl.one_sample_gradient(kernel, X, S, x), terms(kernel, X, S, x, x)) < ROUNDING
    assert off(nl.two_sample_gradient(kernel, X, S, x, y), terms(kernel, X, S, x, y)) < ROUNDING


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("N, d", [(1, 3), (65, 17), (500, 1), (896, 2), (897, 50), (1300, 16)])
def test_frobenius_norm(N: int, d: int, name: str) -> None:
    """Catches an off-diagonal tile counted once, or a strip of 896 that meets the next one wrongly."""
    kernel, (X, _) = KERNELS[name], cloud(d, N, 1)
    assert nl.squared_frobenius_norm(kernel, X) == pytest.approx(sums(kernel, X, X)[0], rel=ROUNDING)


@pytest.mark.parametrize("d", [3, 16, 17, 50])
def test_single_precision_data(d: int) -> None:
    """Catches float32 data whose sums are float32 too: only their storage is."""
    X, S = cloud(d, 97, 65)
    narrow = X.astype(np.float32)
    gradient = nl.radial_skd_gradient(KERNELS["gaussian"], narrow, S)
    assert off(gradient, terms(KERNELS["gaussian"], narrow.astype(np.float64), S)) < ROUNDING


@pytest.mark.parametrize("gap", [1e-12, 1e-9, 1e-6, 1e-3, 1e-2])
@pytest.mark.parametrize("d", [16, 17, 50])
def test_close_points(d: int, gap: float) -> None:
    """Catches distances from norms that cancel: those of two points 1e-9 apart agree in all their digits.

    The kernel is about as wide as the gap, so that only such pairs count, and wrong distances are wrong sums.
    """
    X, S = cloud(d, 97, 65)
    X = np.concatenate([X, S[:40] + gap * np.sign(S[:40])])
    S[60:] = S[:5] + gap
    kernel = nl.Matern(1.5, lengthscale=gap * np.sqrt(d))
    norm, total = PairSums(kernel, X, S).totals()
    # Coordinates below one are rounded to 1e-16 when they are centred, and distances are no better known than that;
    # distances that come from norms, those above a hundredth, have twelve digits.
    known = 1e-12 + 2e-16 / gap
    assert norm == pytest.approx(sums(kernel, S, S)[0], rel=known)
    assert total == pytest.approx(sums(kernel, S, X)[0], rel=known)
    assert total > 8


@pytest.mark.parametrize("far", [1e8, 1e160])
@pytest.mark.parametrize("d", [2, 16, 17, 50])
@pytest.mark.parametrize("name", ["gaussian", "matern32"])
def test_a_far_landmark_takes_no_digits_from_the_others(name: str, d: int, far: float) -> None:
    """Catches coordinates about a mean that one landmark has moved away, and norms that overflow to ∞ − ∞ = NaN."""
    kernel, (X, S) = KERNELS[name], cloud(d, 97, 9)
    S[4] = far
    with np.errstate(over="ignore"):  # in numpy: a distance of ∞ is right
        first, second = terms(kernel, X, S)
        value = -(sums(kernel, S, X)[0] ** 2) / sums(kernel, S, S)[0]
    near = np.arange(9) != 4
    assert nl.radial_skd(kernel, X, S, constant=False) == pytest.approx(value, rel=ROUNDING)
    assert off(nl.radial_skd_gradient(kernel, X, S)[near], (first[near], second[near])) < ROUNDING


@pytest.mark.parametrize("d", [2, 16, 17, 50])
def test_a_far_point_takes_no_digits_from_the_errors(d: int) -> None:
    """Catches the same in features and residuals: a landmark, or a point, far away changes nothing near."""
    kernel, (X, S) = nl.Gaussian(rho=8.0), cloud(d, 97, 9)
    far = np.full((1, d), 1e9)
    plain = nl.nystrom_errors(kernel, X, S)
    for data, sample in ((X, np.vstack([S, far])), (np.vstack([far, X]), np.vstack([S, far]))):
        found = nl.nystrom_errors(kernel, data, sample)
        values = (found.trace, found.frobenius, found.spectral)
        assert values == pytest.approx((plain.trace, plain.frobenius, plain.spectral), rel=1e-12)


@pytest.mark.parametrize("parts", [0, 1, 3])
def test_few_parts(parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a division by the number of parts where memory allows none, or parts that are not all added up."""
    X, S = cloud(3, 1300, 449)
    whole = PairSums(KERNELS["matern32"], X, S)
    limited = PairSums(KERNELS["matern32"], X, S)
    monkeypatch.setattr(pairs, "PARTS", parts * 6 * 449)
    for slots in (1, 2):
        limited._work[slots] = pairs.make_workspace.py_func(slots, 449, 1300, 3, limited._tiles)
        assert [len(limited._work[slots][i]) for i in (7, 9)] == [max(parts, 1)] * 2
    for found, expected in zip(limited.totals_and_left(), whole.totals_and_left(), strict=True):
        assert np.max(np.abs(found - expected)) <= ROUNDING * np.max(np.abs(expected))


@pytest.mark.parametrize("n, N, d", [(65, 1300, 2), (257, 500, 50), (449, 500, 17), (1025, 48, 3)])
def test_one_and_two_threads(n: int, N: int, d: int) -> None:
    """Catches parts that are cut or added differently when two threads share them."""
    X, S = cloud(d, N, n)
    batches = np.random.default_rng(0).integers(0, N, (3, 301))
    for kernel in KERNELS.values():
        results: list[Any] = []
        for count in (1, 2):
            with nl.threads(count):
                step = 1e-3 / np.max(np.abs(nl.radial_skd_gradient(kernel, X, S)))
                results.append(
                    [
                        nl.radial_skd(kernel, X, S, constant=False),
                        nl.radial_skd_gradient(kernel, X, S),
                        nl.stochastic_gradient_descent(
                            kernel, X, S, step=step, iterations=3, batches=batches, estimator="two-sample"
                        ).sample,
                    ]
                )
        assert all(np.array_equal(one, two) for one, two in zip(*results, strict=True))


# --- descents -----------------------------------------------------------------------------------------------------


def descend(kernel: Any, X: Floats, S: Floats, step: float, batches: list[Any]) -> Floats:
    """Steps along Eq. (7) with pairs of batches; a pair of None stands for the exact gradient."""
    for x, y in batches:
        first, second = terms(kernel, X, S, x, y)
        S = S - step * (first - second)
    return S


def sensible_step(kernel: Any, X: Floats, S: Floats) -> float:
    """Moves some landmark by 0.02, so that a step left out, or one too many, is far from rounding."""
    first, second = terms(kernel, X, S)
    return float(0.02 / max(np.max(np.abs(first - second)), 1e-3 * np.max(np.abs(first))))


STEPS = [(1, 1, 1, 1), (2, 3, 2, 2), (9, 47, 3, 3), (17, 5, 16, 4), (64, 48, 17, 5), (65, 500, 2, 2), (129, 97, 8, 3)]


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n, N, d, steps", STEPS)
def test_gradient_descent(n: int, N: int, d: int, steps: int, name: str) -> None:
    """Catches the landmarks before the last step handed out instead of those after it, for odd or even steps."""
    kernel, (X, S) = KERNELS[name], cloud(d, N, n)
    step = sensible_step(kernel, X, S)
    expected = descend(kernel, X, S, step, [(None, None)] * steps)
    found = nl.gradient_descent(kernel, X, S, step=step, iterations=steps).sample
    # Rounding of a step of 0.02 · ROUNDING, grown a little by the next ones; coordinates are below 4.
    assert np.max(np.abs(found - expected)) < 1e-13


@pytest.mark.parametrize("estimator", ["one-sample", "two-sample"])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(
    "n, d, b, steps", [(1, 2, 2, 1), (8, 1, 3, 2), (15, 3, 5, 3), (50, 17, 97, 4), (65, 2, 100, 5), (129, 8, 9, 2)]
)
def test_stochastic_descent(n: int, d: int, b: int, steps: int, name: str, estimator: str) -> None:
    """Catches halves of a batch of unequal size scaled alike, or the buffers swapped wrongly."""
    kernel, (X, S) = KERNELS[name], cloud(d, 97, n)
    step, half = sensible_step(kernel, X, S), b // 2
    batches = np.random.default_rng(n).integers(0, 97, (steps, b))
    split = [(row, row) if estimator == "one-sample" else (row[:half], row[half:]) for row in batches]
    found = nl.stochastic_gradient_descent(
        kernel, X, S, step=step, iterations=steps, batches=batches, estimator=estimator
    ).sample
    assert np.max(np.abs(found - descend(kernel, X, S, step, split))) < 1e-12  # a batch of two may be steep


@pytest.mark.parametrize("b", [1, 2, 3])
def test_tiny_batches(b: int) -> None:
    """Catches a batch of fewer points than a vector tile has rows."""
    kernel, (X, S) = KERNELS["gaussian"], cloud(2, 20, 17)
    batches = np.random.default_rng(b).integers(0, 20, (7, b))
    step = sensible_step(kernel, X, S)
    found = nl.stochastic_gradient_descent(kernel, X, S, step=step, iterations=7, batches=batches).sample
    assert np.max(np.abs(found - descend(kernel, X, S, step, [(row, row) for row in batches]))) < 1e-12


def test_read_only_batches() -> None:
    """Catches batches of another type than those we draw: everything would be compiled once more for them."""
    kernel, (X, S) = KERNELS["gaussian"], cloud(2, 20, 17)
    batches = np.random.default_rng(0).integers(0, 20, (3, 4))
    expected = nl.stochastic_gradient_descent(kernel, X, S, step=1e-4, iterations=3, batches=batches).sample
    before = len(pairs.run.signatures)
    batches.setflags(write=False)
    found = nl.stochastic_gradient_descent(kernel, X, S, step=1e-4, iterations=3, batches=batches).sample
    assert np.array_equal(found, expected)
    assert len(pairs.run.signatures) == before


@pytest.mark.parametrize("chunk", [1, 2, 3])
def test_chunks(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches buffers that a chunk of an odd number of steps leaves swapped for the next one."""
    kernel, (X, S) = KERNELS["gaussian"], cloud(3, 48, 65)
    step = sensible_step(kernel, X, S)
    monkeypatch.setattr(descent_module, "_CHUNK", chunk * 65 * (48 + 65) * 3)
    seen: list[int] = []
    run = nl.gradient_descent(kernel, X, S, step=step, iterations=7, keep_path=False, progress=seen.append)
    assert seen == [*range(chunk, 7, chunk), 7]
    assert np.max(np.abs(run.sample - descend(kernel, X, S, step, [(None, None)] * 7))) < 1e-13
    path = nl.gradient_descent(kernel, X, S, step=step, iterations=7, keep_path=True).path
    assert path is not None
    for i, sample in enumerate(path):
        assert np.max(np.abs(sample - descend(kernel, X, S, step, [(None, None)] * i))) < 1e-13


@pytest.mark.parametrize("chunk", [1, 2, 3, 50])
def test_last_good_sample_across_chunks(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a step taken back into a buffer that a chunk's end has left elsewhere."""
    kernel, (X, S) = KERNELS["polynomial"], cloud(2, 20, 9)
    monkeypatch.setattr(descent_module, "_CHUNK", chunk * 9 * (20 + 9) * 2)
    with pytest.raises(nl.DescentError) as caught:
        nl.gradient_descent(kernel, X, S, step=1e60, iterations=50)
    error = caught.value
    assert np.isfinite(nl.radial_skd(kernel, X, error.sample))
    before = nl.gradient_descent(kernel, X, S, step=1e60, iterations=error.iteration - 1)
    assert np.array_equal(before.sample, error.sample)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(
    "n, d, steps", [(1, 1, 1), (7, 2, 2), (15, 3, 3), (16, 16, 2), (17, 17, 3), (50, 2, 2), (65, 50, 3), (449, 2, 2)]
)
def test_single_precision_descents(n: int, d: int, steps: int, name: str) -> None:
    """Catches vectors of 16 lanes handled as if they had eight: fewer landmarks than lanes, or a short last tile."""
    kernel, (X, S) = KERNELS[name], cloud(d, 97, n)
    step, batches = sensible_step(kernel, X, S), np.random.default_rng(n).integers(0, 97, (steps, 33))
    with nl.threads(1):  # compiled once more for single precision, which is enough for one thread
        exact = nl.gradient_descent(kernel, X, S, step=step, iterations=steps, dtype=np.float32).sample
        stochastic = nl.stochastic_gradient_descent(
            kernel, X, S, step=step, iterations=steps, batches=batches, dtype=np.float32
        ).sample
    # Coordinates are kept to 6e-8 of their size, which is about one; a step adds as much again.
    assert np.max(np.abs(exact - descend(kernel, X, S, step, [(None, None)] * steps))) < 1e-6
    assert np.max(np.abs(stochastic - descend(kernel, X, S, step, [(row, row) for row in batches]))) < 1e-6


# --- what must not matter -----------------------------------------------------------------------------------------

shapes = st.tuples(st.integers(1, 140), st.integers(1, 60), st.sampled_from((1, 2, 3, 8, 16, 17, 20)))
kernels = st.sampled_from(sorted(KERNELS))


@given(shape=shapes, name=kernels, seed=st.integers(0, 99))
@settings(max_examples=40)
def test_order_of_landmarks(shape: tuple[int, int, int], name: str, seed: int) -> None:
    """Catches a landmark whose sums depend on which lane, or which tile, it is in."""
    n, N, d = shape
    kernel, (X, S) = KERNELS[name], cloud(d, N, n, seed)
    order = np.random.default_rng(seed).permutation(n)
    back = np.argsort(order)
    assert off(nl.radial_skd_gradient(kernel, X, S[order])[back], terms(kernel, X, S)) < ROUNDING


@given(shape=shapes, name=kernels, seed=st.integers(0, 99))
@settings(max_examples=40)
def test_every_landmark_twice(shape: tuple[int, int, int], name: str, seed: int) -> None:
    """Catches coincident landmarks not at distance 0: R stays as it is, and each copy has half the gradient."""
    n, N, d = shape
    kernel, (X, S) = KERNELS[name], cloud(d, N, n, seed)
    twice = np.concatenate([S, S[::-1]])
    once = nl.radial_skd(kernel, X, S, constant=False)
    assert nl.radial_skd(kernel, X, twice, constant=False) == pytest.approx(once, rel=ROUNDING)
    first, second = terms(kernel, X, S)
    gradient = nl.radial_skd_gradient(kernel, X, twice)
    assert off(2 * gradient[:n], (first, second)) < ROUNDING
    assert off(2 * gradient[: n - 1 : -1], (first, second)) < ROUNDING


@given(shape=shapes, name=st.sampled_from(("gaussian", "matern32")), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_translation(shape: tuple[int, int, int], name: str, seed: int) -> None:
    """Catches sums of φ'x about the origin: six digits would be lost a million away from it."""
    n, N, d = shape
    kernel = KERNELS[name]
    X, S = (np.round(points * 2**20) / 2**20 for points in cloud(d, N, n, seed))  # so that the shift is exact
    assert off(nl.radial_skd_gradient(kernel, X + 1e6, S + 1e6), terms(kernel, X, S)) < ROUNDING


# --- features, residuals, errors ----------------------------------------------------------------------------------

#: Narrow enough that K_S is far from singular: else the digits lost would be the matrix's, not the code's.
NARROW: dict[str, Callable[[int], Any]] = {
    "gaussian": lambda d: nl.Gaussian(rho=(2000.0 if d < 3 else 8.0)),
    "matern32": lambda d: nl.Matern(1.5, lengthscale=(0.005 if d < 3 else 0.3)),
    "polynomial": lambda d: nl.Polynomial(degree=2, offset=0.4, scale=1.2),
}
FEATURES = [
    *((name, n, N, d) for name in ("gaussian", "matern32") for n, N, d in (
        (1, 1, 1), (3, 5, 2), (8, 257, 3), (15, 96, 2), (16, 97, 8), (17, 256, 17), (33, 3, 9), (50, 500, 50),
        (64, 47, 16), (65, 255, 8), (129, 513, 17), (257, 300, 50),
    )),
    ("polynomial", 1, 3, 2), ("polynomial", 5, 97, 2), ("polynomial", 17, 257, 8), ("polynomial", 65, 256, 16),
    ("polynomial", 129, 300, 50),
]  # fmt: skip


@pytest.mark.parametrize("name, n, N, d", FEATURES)
def test_features_and_residuals(name: str, n: int, N: int, d: int) -> None:
    """Catches a block of the triangular solve packed or taken in the wrong order, and a last tile of few points."""
    kernel, (X, S) = NARROW[name](d), cloud(d, N, n)
    approximation = nl.NystromApproximation(kernel, S)
    assert approximation.rank == n and approximation.smallest_pivot > 1e-4
    factor, pivots = approximation._factor, approximation._pivots
    W = matrix(kernel, S, S)[np.ix_(pivots, pivots)]
    assert np.max(np.abs(factor @ factor.T - W)) < 1e-13 * np.max(W)
    expected = solve_triangular(factor, matrix(kernel, S[pivots], X), lower=True).T
    size = np.sqrt(np.max(matrix(kernel, X, X)))
    # Both solves are backward stable, the pivots above 1e-4: two digits beyond rounding, one more for 257 rows.
    assert np.max(np.abs(approximation.features(X) - expected)) < 1e-12 * size
    left = np.diag(matrix(kernel, X, X)) - np.sum(expected**2, axis=1)
    assert np.max(np.abs(approximation.residuals(X) - left)) < 1e-12 * size**2


@pytest.mark.parametrize("name, n, N, d", [case for case in FEATURES if case[2] > 1])
def test_errors(name: str, n: int, N: int, d: int) -> None:
    """Catches a tile of K − K̂ counted once off the diagonal, or a half of it that is read but never written."""
    kernel, (X, S) = NARROW[name](d), cloud(d, N, n)
    K, C, W = matrix(kernel, X, X), matrix(kernel, S, X), matrix(kernel, S, S)
    E = K - C.T @ np.linalg.solve(W, C)
    spectral = np.linalg.eigvalsh((E + E.T) / 2)[-1]
    slack = 1e-12 * np.max(K) * N  # each entry to twelve digits of the largest, and there are N × N
    for found in (nl.nystrom_errors(kernel, X, S), nl.nystrom_errors(kernel, X, S, matrix=K)):
        assert found.rank == n and found.precision == "double"
        assert found.trace == pytest.approx(np.trace(E), rel=1e-12, abs=slack)
        assert found.frobenius == pytest.approx(np.linalg.norm(E), rel=1e-12, abs=slack)
        # Lanczos stops where the eigenvalue's error is the square of 1e-7 over a gap.
        assert found.spectral == pytest.approx(spectral, rel=1e-10, abs=slack)


# --- the pieces by themselves -------------------------------------------------------------------------------------

KINDS = (np.float64, np.float32)


def framed(rows: int, columns: int, kind: type, right: int = 3) -> tuple[Any, Any]:
    """A frame of −1 around an array: the frame, and the rows that may be written to (as long as the frame is wide)."""
    frame = np.full((rows + 2, columns + right), -1.0, kind)
    return frame, frame[1:-1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "m, n", [(1, 1), (1, 64), (7, 9), (8, 8), (9, 8), (15, 17), (16, 16), (17, 31), (33, 64), (64, 50)]
)
def test_transpose(m: int, n: int, kind: type) -> None:
    """Catches a square of vectors that overlaps the one before it wrongly, or writes beyond its rows."""
    A = np.random.default_rng(m).normal(size=(m, n + 2)).astype(kind)
    frame, B = framed(n, m, kind)
    pairs.transpose(A, m, n, B)
    assert np.array_equal(B[:, :m], A[:, :n].T)
    assert np.all(frame[:, m:] == -1) and np.all(frame[[0, -1]] == -1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 7, 8, 9, 15, 16, 17, 25, 31, 32, 33, 50, 63, 64])
@pytest.mark.parametrize("m", [1, 3, 4, 5, 64])
def test_gather(m: int, n: int, kind: type) -> None:
    """Catches a last vector whose overlap is added twice, or rows left over after whole phases."""
    rng = np.random.default_rng([m, n])
    t, XA = rng.integers(-9, 9, (m, n)).astype(kind), rng.integers(-9, 9, (m + 2, 6)).astype(kind)
    frame, G = framed(6, n, kind)
    G[:, :n] = 5
    pairs.gather(t.ravel(), m, n, XA, 1, G)
    assert np.array_equal(G[:, :n], 5 + XA[1 : m + 1].T @ t)  # small whole numbers: no rounding
    assert np.all(frame[:, n:] == -1) and np.all(frame[[0, -1]] == -1)


@pytest.mark.parametrize("radial", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 7, 8, 9, 16, 17, 33, 64])
@pytest.mark.parametrize("m", [1, 3, 4, 5, 7, 64])
def test_pair_scalars(m: int, n: int, kind: type, radial: bool) -> None:
    """Catches vectors of rows or columns that overlap wrongly, or write beyond their place in the block."""
    rng = np.random.default_rng([m, n])
    A, XT = rng.integers(-9, 9, (m + 1, 5)).astype(kind), rng.integers(-9, 9, (4, n + 3)).astype(kind)
    t = np.full(5 + m * (n + 2), -1.0, kind)
    pairs.exact_scalars(radial, t, 5, n + 2, A, 1, m, XT, 2, n, 4)
    a, s = A[1:, None, :4], XT[:, 2 : n + 2].T[None]
    found = t[5:].reshape(m, n + 2)
    assert np.array_equal(found[:, :n], np.sum((a - s) ** 2 if radial else a * s, axis=2))
    assert np.all(found[:, n:] == -1) and np.all(t[:5] == -1)


# In a process of its own: what it looks for ends the process.
GUARDED = """
import ctypes, mmap
import numpy as np
from nystrom_lib._core import pairs

libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)

def guarded(array, at_end):
    page, size = mmap.PAGESIZE, -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, size + 2 * page)
    raw = np.frombuffer(memory, np.uint8)
    for guard in (0, size + page):
        assert libc.mprotect(raw.ctypes.data + guard, page, 0) == 0
    start = page + (size - array.nbytes if at_end else 0)
    copy = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy

sizes = (1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33)
for kind in (np.float64, np.float32):
    for at_end in (True, False):
        for m in sizes:
            for n in sizes:
                A, X, XT = (guarded(np.ones(shape, kind), at_end) for shape in ((m, n), (m, 3), (3, n)))
                t, G = guarded(np.ones(m * n, kind), at_end), guarded(np.ones((3, n), kind), at_end)
                pairs.transpose(A, m, n, guarded(np.ones((n, m), kind), at_end))
                pairs.exact_scalars(True, t, 0, n, X, 0, m, XT, 0, n, 3)
                pairs.exact_scalars(False, t, 0, n, X, 0, m, XT, 0, n, 3)
                pairs.gather(t, m, n, X, 0, G)
                assert np.all(G == 1 + 3 * m)
print("done")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="pages are protected by mprotect")
def test_nothing_beyond_an_array_is_touched(root: Path) -> None:
    """Catches a vector that reaches beyond its array: each lies flush with a page that may not be read.

    A read is not seen otherwise, for the lanes too many are left out of the result.
    """
    run = subprocess.run([sys.executable, "-c", GUARDED], cwd=root, capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr


def test_vectors_have_lanes_for_their_elements() -> None:
    """Catches direct tests above that no longer reach a second vector."""
    assert vectors.BYTES // 8 == 8 and vectors.BYTES // 4 == 16 and vectors.ROWS == 4


@pytest.mark.parametrize("width", [1, 2, 7, 64, 256])
@pytest.mark.parametrize("r", [1, 15, 16, 17, 31, 32, 33, 100, 200, 257])
def test_triangular_solve(r: int, width: int) -> None:
    """Catches a square below the diagonal that is left out, misplaced or cut off where r is no multiple of a leaf."""
    rng = np.random.default_rng([r, width])
    L = np.tril(rng.normal(size=(r, r))) / np.sqrt(r) + 2 * np.eye(r)
    Q = rng.normal(size=(r, width))
    expected = solve_triangular(L, Q, lower=True)
    above = np.triu(np.full((r, r), np.nan), 1)  # nothing above the diagonal may be read
    product = np.full(r * width + 4, -1.0)
    found = Q.copy()
    packed = residuals.pack(L + above)
    assert not np.isnan(packed).any()
    residuals.solve(packed, L + above, found, product)
    assert np.max(np.abs(found - expected)) < 1e-13 * np.max(np.abs(expected))  # L is well conditioned
    assert np.all(product[-4:] == -1)


# --- double-double, and the exponential -----------------------------------------------------------------------------


def exactly(high: Floats, low: Floats) -> list[Any]:
    """The exact sums of pairs of doubles."""
    return [arb(float(h)) + arb(float(l)) for h, l in zip(high, low, strict=True)]


@pytest.mark.parametrize("m", [1, 255, 256])
def test_double_double_exponentials(m: int) -> None:
    """Catches a constant of the series, or of ln 2, that is right in its first sixteen digits only."""
    a = -np.concatenate([[0.0], np.geomspace(1e-20, 690.0, 255)])[-m:]
    a_ = a * 2.0**-54 / 3
    with oracle.precision():
        expected = [x.exp() for x in exactly(a, a_)]
        precise.exponentials(a, a_, np.empty((6, precise.BLOCK)))
        # 2^-104 is where a pair of doubles ends; six squarings double the error of a 64th six times. Below e^-650
        # the second double falls short of its digits: it nears the smallest numbers there are.
        for x, y, e in zip(exactly(a, a_), expected, a, strict=True):
            assert float(abs(x / y - 1)) < (3e-30 if e > 1e-280 else 1e-20)


def test_double_double_exponential_of_the_very_small() -> None:
    """Catches a series that overflows far beyond its range: ∞ times the 0 it should become is NaN."""
    a, a_ = np.array([-701.0, -1551.0, -1e5, -1e300]), np.zeros(4)
    precise.exponentials(a, a_, np.empty((6, precise.BLOCK)))
    assert not a.any() and not a_.any()


@pytest.mark.parametrize("far", [3.0, 11.0, 1e3])
def test_a_far_point_in_extended_precision(far: float) -> None:
    """Catches a kernel that is NaN, not 0, beyond e^−1550: one such point, and no norm was to be had."""
    X, S = cloud(2, 30, 10)
    kernel, outside = nl.Gaussian(rho=8.0), np.full((1, 2), far)
    plain = nl.nystrom_errors(kernel, X, S, precision="extended")
    for data, sample in ((np.vstack([X, outside]), np.vstack([S, outside])), (X, np.vstack([S, outside]))):
        found = nl.nystrom_errors(kernel, data, sample, precision="extended")
        assert found.rank == 11
        values = (found.trace, found.frobenius, found.spectral)
        assert values == pytest.approx((plain.trace, plain.frobenius, plain.spectral), rel=1e-12)
    alone = nl.nystrom_errors(kernel, np.vstack([X, outside]), S, precision="extended")
    assert alone.trace == pytest.approx(plain.trace + 1.0, rel=1e-12)  # nothing of it is explained


@pytest.mark.parametrize("m", [17, 257])
@pytest.mark.parametrize("name", ["gaussian", "matern12", "matern32", "matern52", "rational_quadratic", "polynomial"])
def test_double_double_kernels(name: str, m: int) -> None:
    """Catches a kernel that is right to sixteen digits only, or a second block that is not like the first."""
    kernel, _ = pair(name)
    points = np.random.default_rng(m).normal(size=(m, 3))
    column, column_ = np.empty(m), np.empty(m)
    precise.column_of(kernel.radial, points, 1, kernel._p, column, column_, np.empty((6, precise.BLOCK)))
    with oracle.precision():
        exact, p = oracle.points(points), [arb(float(number)) for number in kernel._p[1:4]]
        found = exactly(column, column_)
        for i in range(0, m, max(1, m // 16)):
            factors = [(a - b) ** 2 if kernel.radial else a * b for a, b in zip(exact[i], exact[1], strict=True)]
            assert float(abs(found[i] / in_arb(name, sum(factors, arb(0)), p) - 1)) < 1e-29


def in_arb(name: str, t: Any, p: list[Any]) -> Any:
    """κ(t) from the very parameters that the loops get: those are rounded to double, and all digits follow them."""
    if name == "gaussian":
        return (-p[0] * t).exp()
    if name == "rational_quadratic":
        return (1 + p[1] * t) ** (-p[0])
    if name == "polynomial":
        return (p[0] * t + p[1]) ** p[2]
    u = p[0] * t.sqrt()
    factor = {"matern12": arb(1), "matern32": 1 + u, "matern52": 1 + u + u * u / 3}[name]
    return factor * (-u).exp()


def test_exponential() -> None:
    """Catches a coefficient of the polynomial, or an exponent, that is off by more than a unit in the last place."""
    x = np.concatenate([np.linspace(0.0, 1.0, 501), np.linspace(1.0, 700.0, 501), np.geomspace(1e-300, 1.0, 99)])
    for rate in (-1.0, -0.3, -1e-3):
        found = np.array([profiles.exp(value, rate) for value in x])
        allowed = 2.0**-52 * (1.5 + 2.0 * np.abs(rate * x))  # a unit, and the rounding of the exponent
        assert np.all(np.abs(found / np.exp(rate * x) - 1) <= allowed)
    assert [profiles.exp(value, -1.0) for value in (800.0, 1e300, np.inf)] == [0.0, 0.0, 0.0]
    assert np.isnan(profiles.exp(np.nan, -1.0))
