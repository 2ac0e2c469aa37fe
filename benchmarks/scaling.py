"""Time against n, N, b and d, with the slopes on a log–log scale beside the paper's complexity claims.

A claim is a formula such as n² + nN. Its slope is fitted on the grid that was measured, with a factor of one before
each term, and times d along d, which the paper's formulas leave out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

import nystrom_lib as nl
from benchmarks import table
from benchmarks.problems import Problem
from benchmarks.timing import best_of
from companion.studies.costs import exponent

Sizes = dict[str, int]


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


@dataclass(frozen=True)
class Operation:
    """Work to time, the claim it belongs to, the formula of its cost, and the grid of each axis."""

    work: str
    claim: str
    formula: str
    cost: Callable[[Sizes], float]
    fixed: Sizes
    grids: dict[str, list[int]]


LINEAR = {"n": [50, 100, 200, 400, 800], "N": [2500, 5000, 10_000, 20_000, 40_000]}
WIDTHS = [4, 8, 16, 32, 64]
#: The criteria form blocks of an N × N matrix, so their N stays small.
SMALL = {"n": [50, 100, 200, 400], "N": [1000, 2000, 4000]}
OPERATIONS = (
    Operation("R up to its constant", "R3", "n² + nN", lambda z: z["n"] ** 2 + z["n"] * z["N"],
              {"n": 200, "N": 20_000, "d": 10}, LINEAR),
    Operation("gradient, Eq. (5)", "R3", "n² + nN", lambda z: z["n"] ** 2 + z["n"] * z["N"],
              {"n": 200, "N": 20_000, "d": 10}, LINEAR | {"d": WIDTHS}),
    Operation("SGD step, Eq. (6)", "S5", "n² + nb", lambda z: z["n"] ** 2 + z["n"] * z["b"],
              {"n": 400, "N": 20_000, "b": 100, "d": 10},
              {"n": [100, 200, 400, 800, 1600], "N": [5000, 10_000, 20_000, 40_000, 80_000],
               "b": [400, 800, 1600, 3200, 6400], "d": WIDTHS}),
    Operation("trace norm", "R4", "n³ + Nn²", lambda z: z["n"] ** 3 + z["N"] * z["n"] ** 2,
              {"n": 400, "N": 16_000, "d": 10}, {"n": [100, 200, 400, 800], "N": [4000, 8000, 16_000, 32_000]}),
    Operation("Frobenius norm", "R4", "n³ + n²N²", lambda z: z["n"] ** 3 + (z["n"] * z["N"]) ** 2,
              {"n": 100, "N": 2000, "d": 10}, SMALL),
    Operation("spectral norm", "R4", "n³ + n²N² + N³", lambda z: z["n"] ** 3 + (z["n"] * z["N"]) ** 2 + z["N"] ** 3,
              {"n": 100, "N": 2000, "d": 10}, SMALL),
)  # fmt: skip


def seconds(work: str, z: Sizes, rounds: int) -> float:
    """The best time, at a width at which the kernel matrix is neither full nor empty, whatever d is."""
    kernel, X = nl.Gaussian(rho=0.5 / z["d"]), np.random.default_rng(0).standard_normal((z["N"], z["d"]))
    S = X[: z["n"]].copy()
    calls: dict[str, Callable[[], object]] = {
        "R up to its constant": lambda: nl.radial_skd(kernel, X, S, constant=False),
        "gradient, Eq. (5)": lambda: nl.radial_skd_gradient(kernel, X, S),
    }
    if work in calls:
        return best_of(calls[work], rounds)
    if "b" not in z:
        return best_of(partial(nl.nystrom_errors, kernel, X, S, norms=work.split()[0].lower()), min(rounds, 2))
    problem = Problem("random", z["N"], z["n"], z["d"], z["b"], kernel.rho, 1e-9)
    steps = 5 if rounds == 2 else int(np.clip(2e8 / (z["n"] * (z["n"] + z["b"]) * z["d"]), 10, 2000))
    descend = partial(table.descend, problem, X, S, problem.batches(1 + steps))
    # a long descent less one of a single step: a step without what a call does once
    return max(best_of(lambda: descend(1 + steps), rounds) - best_of(lambda: descend(1), rounds), 1e-9) / steps


def measure(quick: bool) -> list[Curve]:
    """All curves, on one thread."""
    rounds, curves = 2 if quick else 4, []
    with nl.threads(1):
        for operation in OPERATIONS:
            for axis, whole_grid in operation.grids.items():
                fixed = {name: size for name, size in operation.fixed.items() if name != axis}
                if quick and "N" in fixed:
                    fixed["N"] //= 4
                grid = whole_grid[:2] if quick else whole_grid
                sizes = [fixed | {axis: value} for value in grid]
                seconds(operation.work, sizes[0], 2)  # compiled before it is timed
                times = [seconds(operation.work, size, rounds) for size in sizes]
                slope = exponent(grid, [operation.cost(z) * (z["d"] if axis == "d" else 1) for z in sizes])
                named = operation.work, operation.claim, operation.formula
                curves.append(Curve(*named, axis, fixed, list(grid), times, slope))
    return curves


def as_markdown(curves: list[Curve]) -> str:
    """Times and slopes."""
    lines = [
        [
            curve.claim, curve.work, curve.formula, f"{curve.axis} from {curve.grid[0]:,} to {curve.grid[-1]:,}",
            ", ".join(f"{name}={size:,}" for name, size in curve.fixed.items()),
            f"{table.duration(curve.seconds[0])} to {table.duration(curve.seconds[-1])}",
            f"{exponent(curve.grid, curve.seconds):.2f}", f"{curve.claimed_slope:.2f}",
        ]
        for curve in curves
    ]  # fmt: skip
    header = ["claim", "work", "O(·)", "along", "with", "time, one thread", "slope", "slope of the formula"]
    return table.markdown(header, lines)
