"""Sums over pairs and the descents made of them at the edges of their tiles, against the formulas in numpy.

There is a case for every size at which a tile, a vector, a group or a piece begins or ends.
"""

from __future__ import annotations

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib import descent as descent_module
from nystrom_lib._sums import PairSums
from tests.cases import cloud, paired
from tests.formulas import KERNELS, ROUNDING, descend, off, sensible_step, sums, terms

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


# --- values and gradients -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n, N, d, name", [(*size, tuple(KERNELS)[i % len(KERNELS)]) for i, size in enumerate(SIZES)])
def test_values_and_gradients(n: int, N: int, d: int, name: str) -> None:
    """Catches a tile left out, taken twice, not transposed, or read beyond its last landmark."""
    kernel, (X, S) = KERNELS[name], cloud(d, N, n)
    norm, total = sums(kernel, S, S)[0], sums(kernel, S, X)[0]
    assert nl.radial_skd(kernel, X, S, constant=False) == pytest.approx(-(total**2) / norm, rel=ROUNDING)
    assert off(nl.radial_skd_gradient(kernel, X, S), terms(kernel, X, S)) < ROUNDING


@pytest.mark.parametrize(
    "name, sizes",
    paired(
        KERNELS,
        [(1, 1, 1, 1), (3, 1, 2, 2), (8, 2, 1, 3), (17, 3, 4, 8), (50, 5, 48, 17), (65, 49, 50, 2), (129, 300, 1, 50)],
    ),
)
def test_estimators(name: str, sizes: tuple[int, int, int, int]) -> None:
    """Catches batches smaller than the rows of a tile, or a batch that leaks into the other one's factor."""
    n, b, c, d = sizes
    kernel, (X, S) = KERNELS[name], cloud(d, 97, n)
    rng = np.random.default_rng(n)
    x, y = rng.integers(0, 97, b), rng.integers(0, 97, c)
    assert off(nl.one_sample_gradient(kernel, X, S, x), terms(kernel, X, S, x, x)) < ROUNDING
    assert off(nl.two_sample_gradient(kernel, X, S, x, y), terms(kernel, X, S, x, y)) < ROUNDING


@pytest.mark.parametrize(
    "name, N, d", paired(KERNELS, (1, 65, 500, 896, 897, 1300), (3, 17, 1, 2, 50, 16)),
)  # fmt: skip
def test_frobenius_norm(name: str, N: int, d: int) -> None:
    """Catches an off-diagonal tile counted once, or a strip of 896 that meets the next one wrongly."""
    kernel, (X, _) = KERNELS[name], cloud(d, N, 1)
    assert nl.squared_frobenius_norm(kernel, X) == pytest.approx(sums(kernel, X, X)[0], rel=ROUNDING)


@pytest.mark.parametrize("gap, d", paired([1e-12, 1e-9, 1e-6, 1e-3, 1e-2], [16, 17, 50]))
def test_close_points(gap: float, d: int) -> None:
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


@pytest.mark.parametrize(
    "name, d, far",
    [("gaussian", 2, 1e8), ("matern32", 16, 1e160), ("gaussian", 17, 1e160), ("matern32", 50, 1e8)],
)
def test_a_far_landmark_does_not_reduce_accuracy(name: str, d: int, far: float) -> None:
    """Catches coordinates about a mean that one landmark has moved away, and norms that overflow to ∞ − ∞ = NaN."""
    kernel, (X, S) = KERNELS[name], cloud(d, 97, 9)
    S[4] = far
    with np.errstate(over="ignore"):  # in numpy: a distance of ∞ is right
        first, second = terms(kernel, X, S)
        value = -(sums(kernel, S, X)[0] ** 2) / sums(kernel, S, S)[0]
    near = np.arange(9) != 4
    assert nl.radial_skd(kernel, X, S, constant=False) == pytest.approx(value, rel=ROUNDING)
    assert off(nl.radial_skd_gradient(kernel, X, S)[near], (first[near], second[near])) < ROUNDING


# --- descents -----------------------------------------------------------------------------------------------------


STEPS = [(1, 1, 1, 1), (2, 3, 2, 2), (9, 47, 3, 3), (17, 5, 16, 4), (64, 48, 17, 5), (65, 500, 2, 2), (129, 97, 8, 3)]


@pytest.mark.parametrize("name, sizes", paired(KERNELS, STEPS))
def test_gradient_descent(name: str, sizes: tuple[int, int, int, int]) -> None:
    """Catches the landmarks before the last step handed out instead of those after it, for odd or even steps."""
    n, N, d, steps = sizes
    kernel, (X, S) = KERNELS[name], cloud(d, N, n)
    step = sensible_step(kernel, X, S)
    expected = descend(kernel, X, S, step, [(None, None)] * steps)
    found = nl.gradient_descent(kernel, X, S, step=step, iterations=steps).sample
    # Rounding of a step of 0.02 · ROUNDING, grown a little by the next ones; coordinates are below 4.
    assert np.max(np.abs(found - expected)) < 1e-13


BATCHES = [(1, 2, 2, 1), (8, 1, 3, 2), (15, 3, 5, 3), (50, 17, 97, 4), (65, 2, 100, 5), (129, 8, 9, 2)]


@pytest.mark.parametrize(
    "name, estimator, sizes", paired(KERNELS, ["one-sample", "two-sample"], BATCHES)
)  # fmt: skip
def test_stochastic_descent(name: str, estimator: str, sizes: tuple[int, int, int, int]) -> None:
    """Catches halves of a batch of unequal size scaled alike, or the buffers swapped wrongly."""
    n, d, b, steps = sizes
    kernel, (X, S) = KERNELS[name], cloud(d, 97, n)
    step, half = sensible_step(kernel, X, S), b // 2
    batches = np.random.default_rng(n).integers(0, 97, (steps, b))
    split = [(row, row) if estimator == "one-sample" else (row[:half], row[half:]) for row in batches]
    found = nl.stochastic_gradient_descent(
        kernel, X, S, step=step, iterations=steps, batches=batches, estimator=estimator
    ).sample
    assert np.max(np.abs(found - descend(kernel, X, S, step, split))) < 1e-12  # a batch of two may be steep


@pytest.mark.parametrize("chunk", [1, 2, 3])
def test_chunks(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches buffers that a chunk of an odd number of steps leaves swapped for the next one."""
    kernel, (X, S) = KERNELS["gaussian"], cloud(3, 48, 65)
    step = sensible_step(kernel, X, S)
    monkeypatch.setattr(descent_module, "_CHUNK", chunk * 65 * (2 * 48 + 65) * 3)
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
    monkeypatch.setattr(descent_module, "_CHUNK", chunk * 9 * (2 * 20 + 9) * 2)
    with pytest.raises(nl.DescentError) as caught:
        nl.gradient_descent(kernel, X, S, step=1e60, iterations=50)
    error = caught.value
    assert np.isfinite(nl.radial_skd(kernel, X, error.sample))
    before = nl.gradient_descent(kernel, X, S, step=1e60, iterations=error.iteration - 1)
    assert np.array_equal(before.sample, error.sample)


# --- what must not matter -----------------------------------------------------------------------------------------
