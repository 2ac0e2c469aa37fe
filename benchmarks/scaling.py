"""Time against n, N, b and d, with the slopes on a log–log scale beside the paper's complexity claims.

A claim is a formula such as n² + nN. Its slope is fitted on the very grid that was measured, with a factor
of one before each term, so that it can be set beside the measured slope.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

import nystrom_lib as nl
from benchmarks.problems import Problem
from benchmarks.rows import descend
from benchmarks.timing import best_of, stopwatch, take_turns
from companion.studies.costs import exponent

Sizes = dict[str, int]
AXES = ("n", "N", "b", "d")
# A measured slope may exceed the claimed one by this much before it counts as steeper: caches, clocks.
SLACK = 0.15


@dataclass
class Curve:
    """Times along one axis, everything else held fixed."""

    work: str
    claim: str
    formula: str
    axis: str
    fixed: Sizes
    grid: list[int]
    seconds: list[float]
    claimed_slope: float

    @property
    def slope(self) -> float:
        return exponent(self.grid, self.seconds)

    @property
    def no_steeper(self) -> bool:
        return self.slope <= self.claimed_slope + SLACK


@dataclass(frozen=True)
class Operation:
    """Something timed, the claim it belongs to and the formula of its cost."""

    work: str
    claim: str
    formula: str
    cost: Callable[[Sizes], float]
    seconds: Callable[[Sizes, bool], float]


def points(sizes: Sizes) -> NDArray[np.float64]:
    return np.random.default_rng(0).standard_normal((sizes["N"], sizes["d"]))


def kernel_for(sizes: Sizes) -> nl.Gaussian:
    """A width at which the kernel matrix is neither full nor empty, whatever d is."""
    return nl.Gaussian(rho=0.5 / sizes["d"])


def _rounds(quick: bool) -> int:
    return 2 if quick else 4


def time_skd(sizes: Sizes, quick: bool) -> float:
    X = points(sizes)
    kernel, S = kernel_for(sizes), X[: sizes["n"]].copy()
    return best_of(partial(nl.radial_skd, kernel, X, S, constant=False), _rounds(quick))


def time_gradient(sizes: Sizes, quick: bool) -> float:
    X = points(sizes)
    kernel, S = kernel_for(sizes), X[: sizes["n"]].copy()
    return best_of(partial(nl.radial_skd_gradient, kernel, X, S), _rounds(quick))


def time_stochastic_step(sizes: Sizes, quick: bool) -> float:
    """From a long descent less a short one: a step alone, without the call's look at the data."""
    N, n, d, b = sizes["N"], sizes["n"], sizes["d"], sizes["b"]
    X = points(sizes)
    S = X[:n].copy()
    problem = Problem("random", N, n, d, b, 0.5 / d, 1e-9)
    steps = 5 if quick else int(np.clip(2e8 / (n * (n + b) * d), 10, 2000))
    batches = problem.batches(1 + steps)
    contestants = {
        "long": stopwatch(partial(descend, problem, X, S, 1 + steps, batches)),
        "short": stopwatch(partial(descend, problem, X, S, 1, batches)),
    }
    best = take_turns(contestants, _rounds(quick))
    return max(best["long"] - best["short"], 1e-9) / steps


def time_criterion(norm: str, sizes: Sizes, quick: bool) -> float:
    X = points(sizes)
    kernel, S = kernel_for(sizes), X[: sizes["n"]].copy()
    return best_of(partial(nl.nystrom_errors, kernel, X, S, norms=(norm,)), 2)


SKD = Operation("R up to its constant", "R3", "n² + nN", lambda z: z["n"] ** 2 + z["n"] * z["N"], time_skd)
GRADIENT = Operation("gradient, Eq. (5)", "R3", "n² + nN", lambda z: z["n"] ** 2 + z["n"] * z["N"], time_gradient)
STOCHASTIC = Operation(
    "SGD step, Eq. (6)", "S5", "n² + nb", lambda z: z["n"] ** 2 + z["n"] * z["b"], time_stochastic_step
)
TRACE = Operation(
    "trace norm",
    "R4",
    "n³ + Nn²",
    lambda z: z["n"] ** 3 + z["N"] * z["n"] ** 2,
    partial(time_criterion, "trace"),
)
FROBENIUS = Operation(
    "Frobenius norm",
    "R4",
    "n³ + n²N²",
    lambda z: z["n"] ** 3 + (z["n"] * z["N"]) ** 2,
    partial(time_criterion, "frobenius"),
)
SPECTRAL = Operation(
    "spectral norm",
    "R4",
    "n³ + n²N² + N³",
    lambda z: z["n"] ** 3 + (z["n"] * z["N"]) ** 2 + z["N"] ** 3,
    partial(time_criterion, "spectral"),
)

# Operation, what is held fixed, and the grid of each axis. The criteria form blocks of an N × N matrix,
# so their N stays small.
PLAN: tuple[tuple[Operation, Sizes, dict[str, list[int]]], ...] = (
    (
        SKD,
        {"n": 200, "N": 20_000, "d": 10},
        {"n": [50, 100, 200, 400, 800], "N": [2500, 5000, 10_000, 20_000, 40_000]},
    ),
    (
        GRADIENT,
        {"n": 200, "N": 20_000, "d": 10},
        {
            "n": [50, 100, 200, 400, 800],
            "N": [2500, 5000, 10_000, 20_000, 40_000],
            "d": [4, 8, 16, 32, 64],
        },
    ),
    (
        STOCHASTIC,
        {"n": 400, "N": 20_000, "b": 100, "d": 10},
        {
            "n": [100, 200, 400, 800, 1600],
            "N": [5000, 10_000, 20_000, 40_000, 80_000],
            "b": [400, 800, 1600, 3200, 6400],
            "d": [4, 8, 16, 32, 64],
        },
    ),
    (TRACE, {"n": 400, "N": 16_000, "d": 10}, {"n": [100, 200, 400, 800], "N": [4000, 8000, 16_000, 32_000]}),
    (FROBENIUS, {"n": 100, "N": 2000, "d": 10}, {"n": [50, 100, 200, 400], "N": [1000, 2000, 4000]}),
    (SPECTRAL, {"n": 100, "N": 2000, "d": 10}, {"n": [50, 100, 200, 400], "N": [1000, 2000, 4000]}),
)


def measure(quick: bool) -> list[Curve]:
    """All curves, on one thread."""
    curves = []
    with nl.threads(1):
        for operation, fixed, axes in PLAN:
            for axis, grid in axes.items():
                curves.append(_curve(operation, fixed, axis, grid, quick))
    return curves


def _curve(operation: Operation, fixed: Sizes, axis: str, grid: list[int], quick: bool) -> Curve:
    base = {name: size // 4 if quick and name == "N" else size for name, size in fixed.items()}
    grid = grid[:2] if quick else grid
    sizes = [base | {axis: value} for value in grid]
    operation.seconds(sizes[0], True)  # compiled before it is timed
    seconds = [operation.seconds(size, quick) for size in sizes]
    # The paper's formulas leave d out; every pair costs O(d).
    costs = [operation.cost(size) * (size["d"] if axis == "d" else 1) for size in sizes]
    others = {name: size for name, size in base.items() if name != axis}
    return Curve(
        operation.work,
        operation.claim,
        operation.formula,
        axis,
        others,
        list(grid),
        seconds,
        exponent(grid, costs),
    )
