"""R1, R2, T1–T4 and C1: inequalities, bounds and identities, tested on many small problems."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

import nystrom_lib as nl

from ..chapters import radial_skd
from ..experiments.outcome import Array
from ..experiments.paper import PAPER, SEED
from ..results.archive import Archive
from ..studies import curvature
from ..studies import drift as counterexample
from .base import Case, later_rows
from .declared import CLAIMS

#: Below this part of ‖K‖_F² both sides of an inequality are rounding errors, and their quotient means nothing.
_ROUNDING = 1e-10


class Problem(NamedTuple):
    """A kernel, data and a sample."""

    kernel: nl.Kernel
    data: Array
    sample: Array


def _samples(data: Array, rng: np.random.Generator) -> Iterator[Array]:
    """Drawn from the data, scattered, repeated, half of it far away, more landmarks than data, and the data."""
    N, d = data.shape
    yield data[rng.choice(N, 5, replace=False)]
    yield 2.0 * rng.standard_normal((8, d))
    yield np.repeat(data[rng.choice(N, 3, replace=False)], 3, axis=0)
    yield np.concatenate([data[:4], 50.0 + rng.standard_normal((4, d))])
    yield rng.standard_normal((N + 10, d))
    yield data.copy()


def sample_problems() -> Iterator[Problem]:
    """The problems of R1 and R2: five kernels, three dimensions, six kinds of samples."""
    kernels = (
        nl.Gaussian(rho=1.0),
        nl.Matern(1.5),
        nl.Matern(2.5),
        nl.RationalQuadratic(alpha=1.0),
        nl.Polynomial(degree=2),
    )
    for kernel in kernels:
        for d in (1, 2, 5):
            rng = np.random.default_rng([SEED, d])
            data = rng.standard_normal((60, d))
            for sample in _samples(data, rng):
                yield Problem(kernel, data, sample)


def radial_skd_range(archive: Archive) -> Iterator[Case]:
    """R1: how far R(S)/‖K‖_F² leaves [0, 1] at either end."""
    shares = []
    for kernel, data, sample in sample_problems():
        squared_norm = nl.squared_frobenius_norm(kernel, data)
        shares.append(nl.radial_skd(kernel, data, sample, constant=squared_norm) / squared_norm)
    for name, beyond in (("R/‖K‖_F² below 0", -min(shares)), ("R/‖K‖_F² above 1", max(shares) - 1.0)):
        values = {"rounding": max(0.0, beyond), "smallest": min(shares), "largest": max(shares), "samples": len(shares)}
        yield Case(name, values)


def inequalities(archive: Archive) -> Iterator[Case]:
    """R2: the largest quotient of left and right side, less 1, in the small problems and the stored tables."""
    small = pd.DataFrame(
        radial_skd.sides(*each, nl.squared_frobenius_norm(each.kernel, each.data)) for each in sample_problems()
    )
    tables = [_quotients(small, least=_ROUNDING * small["constant"])]
    tables += [table for name in PAPER if (table := _stored_quotients(name, archive)) is not None]
    quotients = pd.concat(tables, ignore_index=True)
    for name in quotients:
        largest = float(quotients[name].max())
        yield Case(str(name), {"rounding": max(0.0, largest - 1.0), "quotient": largest, "samples": len(quotients)})


def _stored_quotients(name: str, archive: Archive) -> pd.DataFrame | None:
    results = archive.results(name)
    if results is None or "frobenius" not in results.table:
        return None
    squares = results.table[["spectral", "frobenius", "trace"]] ** 2
    N = results.provenance["data"]["N"]
    return _quotients(squares.assign(trace=squares["trace"] / N, R=results.table["R"])).dropna()


def _quotients(sides: pd.DataFrame, least: float | pd.Series = -math.inf) -> pd.DataFrame:
    """Left side over right for each inequality, where the right side is above ``least``."""
    names = {"spectral": "spectral²", "frobenius": "Frobenius²", "trace": "trace²/N", "R": "R"}
    rights = sides.where(sides.gt(least, axis=0))
    return pd.DataFrame(
        {f"{names[left]} ≤ {names[right]}": sides[left] / rights[right] for left, right in radial_skd.CHAINS}
    )


#: The quantities of :func:`~companion.studies.curvature.proof_ratios` that T1 is about.
_STEPS_OF_THE_PROOF = ("Eq. (16)", "Eq. (17)", "Eq. (18)", "Eq. (19)", "‖∇²R‖_F ≤ L")


def lipschitz_bounds(archive: Archive) -> Iterator[Case]:
    """T1: the largest quotient of each quantity of the Appendix and its bound, over all problems."""
    quotients = pd.DataFrame([bound_quotients(problem, rng) for problem, rng in _bound_problems()])
    for name in quotients:
        yield Case(str(name), {"quotient": float(quotients[name].to_numpy().max()), "problems": len(quotients)})


def _bound_problems() -> Iterator[tuple[Problem, np.random.Generator]]:
    """Kernels that have constants, few and many data, one to six landmarks: drawn, scattered and clustered."""
    kernels = (nl.Gaussian(rho=0.25), nl.Gaussian(rho=4.0), nl.Matern(1.5), nl.Matern(2.5))
    for place, kernel in enumerate(kernels):
        for N, n, d in ((5, 1, 1), (5, 3, 2), (40, 6, 2), (40, 4, 3)):
            rng = np.random.default_rng([SEED, place, N, n])
            data = rng.standard_normal((N, d))
            yield Problem(kernel, data, data[rng.choice(N, n, replace=False)]), rng
            yield Problem(kernel, data, 1.5 * rng.standard_normal((n, d))), rng
            yield Problem(kernel, data, data[0] + 0.05 * rng.standard_normal((n, d))), rng


def bound_quotients(problem: Problem, rng: np.random.Generator) -> dict[str, float]:
    """Each quantity over its bound."""
    kernel, data, sample = problem
    bound = nl.lipschitz_bound(kernel, data, len(sample))
    ratios = curvature.proof_ratios(kernel, data, sample, bound)
    others = [sample + size * rng.standard_normal(sample.shape) for size in (1e-4, 0.1, 1.0, 10.0)]
    largest = max(curvature.lipschitz_ratio(kernel, data, [sample, other], bound) for other in others)
    return {step: ratios[step] for step in _STEPS_OF_THE_PROOF} | {"‖∇R(S) − ∇R(S′)‖ / L‖S − S′‖": largest}


def descents(archive: Archive) -> Iterator[Case]:
    """T2: for each descent at 1/L the part of its gradient that is left, with the largest increase of R in any."""
    runs = []
    for place, (N, n, d, rho) in enumerate(((6, 2, 1, 1.0), (12, 3, 2, 1.0), (8, 2, 2, 0.5))):
        rng = np.random.default_rng([SEED, 2, place])
        data = rng.uniform(-1.0, 1.0, (N, d))
        runs += [follow(Problem(nl.Gaussian(rho=rho), data, start)) for start in _starts(data, n, rng)]
    return descent_cases(runs)


def descent_cases(runs: list[tuple[float, float]]) -> Iterator[Case]:
    """T2 from the increase of R and the gradient that is left in each run."""
    increase = max(each for each, _ in runs)
    for place, (_, gradient) in enumerate(runs, start=1):
        yield Case(f"start {place}", {"increase": increase, "gradient": gradient})


def _starts(data: Array, n: int, rng: np.random.Generator) -> Iterator[Array]:
    """Three of each kind: from the data, from a box half as wide again, and close together."""
    N, d = data.shape
    for _ in range(3):
        yield data[rng.choice(N, n, replace=False)]
        yield rng.uniform(-1.5, 1.5, (n, d))
        yield rng.uniform(-1.0, 1.0, d) + 0.01 * rng.standard_normal((n, d))


def follow(problem: Problem, steps: int = 10_000) -> tuple[float, float]:
    """The largest increase of R along a descent at 1/L, over ‖K‖_F², and the part of the gradient that is left."""
    kernel, data, start = problem
    squared_norm = nl.squared_frobenius_norm(kernel, data)
    bound = nl.lipschitz_bound(kernel, data, len(start), squared_frobenius=squared_norm)
    run = nl.gradient_descent(
        kernel, data, start, step=bound.step, iterations=steps, record_every=steps // 500, keep_path=True
    )
    assert run.path is not None
    samples = [*run.path[::10], run.sample]
    gradients = [float(np.linalg.norm(nl.radial_skd_gradient(kernel, data, sample))) for sample in samples]
    return float(np.diff(run.values).max()) / squared_norm, gradients[-1] / max(gradients)


def drift(archive: Archive) -> Iterator[Case]:
    """T2's check: the descent in which a landmark moves outward for ever."""
    return drift_cases(counterexample.follow(), counterexample.force(np.linspace(5.0, 30.0, 101)))


def drift_cases(run: pd.DataFrame, forces: Array) -> Iterator[Case]:
    """T2's check from the records of the descent and the forces far out."""
    moved, falls = run["place"].diff().dropna(), run[["R", "gradient"]].diff().dropna()
    always = bool((moved > 0).all() and (falls < 0).all(axis=None) and (forces > 0).all())
    first, last = run.iloc[0], run.iloc[-1]
    values = {"drift": last["place"] - first["place"], "R at the end": last["R"], "‖∇R‖ at the end": last["gradient"]}
    yield Case("a landmark moves outward in every stretch", {k: float(v) for k, v in values.items()}, condition=always)


def assumptions(archive: Archive) -> Iterator[Case]:
    """T3: α, M₁ and M₂ of the kernels that the paper names."""
    rhos = sorted({experiment.kernel.parameters["rho"] for experiment in PAPER.values()})
    kernels = [*(nl.Gaussian(rho=rho) for rho in rhos), nl.Matern(1.5), nl.Matern(2.5, lengthscale=0.5)]
    quotients = pd.DataFrame([assumption_quotients(kernel) for kernel in kernels])
    return assumption_cases(quotients, refused=nl.Matern(0.5).constants is None)


def assumption_quotients(kernel: nl.Kernel) -> dict[str, float]:
    """α over K² at the origin, and its largest derivatives over M₁ and M₂, by formula and by differences."""
    constants = kernel.constants
    assert constants is not None
    bounds = {"M1": constants.M1, "M2": constants.M2}
    largest = curvature.largest_derivatives(kernel)
    return {
        "alpha": constants.alpha / float(kernel.squared(np.zeros((1, 2)))[0, 0]),
        **{name: value / bounds[name[:2]] for name, value in largest.items()},
    }


def assumption_cases(quotients: pd.DataFrame, *, refused: bool) -> Iterator[Case]:
    """T3 from the quotients of each kernel, and whether the kernel that is not regular enough was refused."""
    bounds = quotients[["M1", "M2"]].to_numpy()
    differences = quotients[["M1 by differences", "M2 by differences"]].to_numpy()
    formula = {"quotient": float(bounds.max()), "attained": float(bounds.min()), "kernels": len(quotients)}
    yield Case("derivatives over M₁ and M₂, by formula", formula)
    yield Case("the same by differences, less 1e-4", {"quotient": float(differences.max()) - 1e-4})
    yield Case("α over K²(x, x)", {"quotient": float(quotients["alpha"].to_numpy().max())})
    yield Case("Matérn 1/2 is refused", {}, condition=refused)


def end_points(archive: Archive) -> Iterator[Case]:
    """T4: the smallest eigenvalue over the largest where each stored descent ended."""
    rows, limit = later_rows(archive, "T4"), CLAIMS["T4"].limit("arrived")
    for rho, group in rows.groupby("rho", sort=False):
        once = group[~group["pathological"].astype(bool)]
        arrived = once["gradient"] <= limit
        enough = 2 * arrived.sum() >= len(once)
        for place, row in group.iterrows():
            pathological = bool(row["pathological"])
            counts = enough and not pathological and bool(arrived[place])
            name = "one landmark given twice" if pathological else f"start {row['start']}"
            yield Case(name, {"minimum": row["eigenvalue"], "arrived": row["gradient"]}, f"ρ = {rho:g}", counts=counts)


def integrated_variance(archive: Archive) -> Iterator[Case]:
    """C1: how far the trace error over the summed variances is from 1."""
    quotients = [variance_quotient(problem) for problem in design_problems()]
    yield Case("all problems", {"difference": max(abs(each - 1.0) for each in quotients), "problems": len(quotients)})


def design_problems() -> Iterator[Problem]:
    """Well conditioned, so that an inverse is accurate."""
    for place, kernel in enumerate((nl.Gaussian(rho=1.0), nl.Gaussian(rho=4.0), nl.Matern(1.5), nl.Matern(2.5))):
        for N, n, d in ((20, 3, 1), (40, 6, 2), (40, 8, 3)):
            rng = np.random.default_rng([SEED, 5, place, n])
            data = 2.0 * rng.standard_normal((N, d))
            sample = data[rng.choice(N, n, replace=False)] + 0.3 * rng.standard_normal((n, d))
            yield Problem(kernel, data, sample)


def variance_quotient(problem: Problem) -> float:
    """Trace error over the sum of the variances of a Gaussian process at the data, given its values at the landmarks.

    The variance given the rest is the reciprocal of an entry of the inverse of the joint covariance matrix.
    """
    kernel, data, sample = problem
    variances = []
    for x in data:
        joint = np.concatenate([x[None], sample])
        variances.append(1.0 / np.linalg.inv(np.sqrt(kernel.squared(joint)))[0, 0])
    return nl.nystrom_errors(kernel, data, sample, "trace").trace / float(np.sum(variances))
