"""The constants of Theorem 2.1 against what they bound: the proof of the Appendix in numbers."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import nystrom_lib as nl

from ..experiments.outcome import Array


def kernels(rho: float) -> dict[str, nl.Kernel]:
    """Kernels of about the same width: ℓ = 1/√(2ρ) is the Gaussian's. The last two are outside the theorem."""
    ell = (2.0 * rho) ** -0.5
    return {
        "Gaussian": nl.Gaussian(rho),
        "Matérn 5/2": nl.Matern(2.5, ell),
        "Matérn 3/2": nl.Matern(1.5, ell),
        "rational quadratic": nl.RationalQuadratic(1.0, ell),
        "Matérn 1/2": nl.Matern(0.5, ell),
        "polynomial": nl.Polynomial(2, 1.0),
    }


def assumptions(chosen: dict[str, nl.Kernel]) -> pd.DataFrame:
    """α, M₁ and M₂ of each kernel as derived, and the largest derivatives found on a fine line, or why there are none.

    Columns kernel, α, M₁, found, M₂, found (second), remark.
    """
    rows = []
    for name, kernel in chosen.items():
        constants = kernel.constants
        if constants is None:
            rows.append((name, np.nan, np.nan, np.nan, np.nan, np.nan, kernel.why_no_constants))
            continue
        largest = largest_derivatives(kernel, constants)
        rows.append((name, constants.alpha, constants.M1, largest["M1"], constants.M2, largest["M2"], ""))
    columns = ["kernel", "α", "M₁", "largest slope found", "M₂", "largest second derivative found", "remark"]
    return pd.DataFrame(rows, columns=columns)


#: Tall enough that differences of K² show its second derivatives, small enough that they show no third.
_DIFFERENCE = 1e-4


def largest_derivatives(kernel: nl.Kernel, constants: Any) -> dict[str, float]:
    """What M₁ and M₂ bound, its largest between the origin and places in the plane, by formula and by differences."""
    x = np.zeros((1, 2))
    # In units in which the kernel varies: all the interesting distances, along an axis and along the diagonal.
    per_unit = math.sqrt(constants.M2)
    distances = np.concatenate([[0.0], np.geomspace(1e-3, 10.0, 2000)]) / per_unit
    s = np.concatenate([distances[:, None] * np.array([1.0, 0.0]), distances[:, None] * np.array([0.6, 0.8])])
    h = _DIFFERENCE / per_unit
    along = np.array([[h, 0.0]])
    before, here, after = (kernel.squared(s + shift, x)[:, 0] for shift in (-along, 0.0 * along, along))
    seconds = (kernel.squared_left_left(s, x), kernel.squared_left_right(s, x))
    return {
        "M1": float(np.abs(kernel.squared_left(s, x)).max()),
        "M2": max(float(np.abs(second).max()) for second in seconds),
        "M1 by differences": float(np.abs(after - before).max()) / (2.0 * h),
        "M2 by differences": float(np.abs(after - 2.0 * here + before).max()) / h**2,
    }


@dataclass(frozen=True)
class Chain:
    """Each quantity of the proof at one sample, and the bound the proof gives it."""

    values: dict[str, float]
    bounds: dict[str, float]

    @property
    def ratios(self) -> dict[str, float]:
        """Value over bound: at most 1, and 1 where the bound is sharp."""
        return {name: self.values[name] / self.bounds[name] for name in self.values}


@nl.threads(1)
def chain(kernel: nl.Kernel, data: Array, sample: Array, bound: Any) -> Chain:
    """Eq. (14) to (19) and L at one sample."""
    n, d = sample.shape
    hessian = nl.radial_skd_hessian(kernel, data, sample)
    blocks = np.abs(hessian.reshape(n, d, n, d))
    same = np.array([blocks[k, :, k, :] for k in range(n)])
    different = blocks.copy()
    different[np.arange(n), :, np.arange(n), :] = 0.0
    norm = float(kernel.squared(sample).sum())
    values = {
        "Eq. (14)": bound.norm_bound,
        "Eq. (15)": float(kernel.squared(sample, data).sum()),
        "Eq. (16)": nl.skd_coefficient(kernel, data, sample),
        "Eq. (17)": float(np.abs(nl.skd_coefficient_gradient(kernel, data, sample)).max()),
        "Eq. (18)": float(same.max()),
        "Eq. (19)": float(different.max()),
        "‖∇²R‖_F ≤ L": float(np.linalg.norm(hessian)),
        "‖∇²R‖₂ ≤ L": float(np.linalg.norm(hessian, 2)),
    }
    bounds = {
        "Eq. (14)": norm,
        "Eq. (15)": np.sqrt(norm) * bound.frobenius,
        "Eq. (16)": bound.C0,
        "Eq. (17)": bound.C1,
        "Eq. (18)": bound.same_bound,
        "Eq. (19)": bound.different_bound,
        "‖∇²R‖_F ≤ L": bound.L,
        "‖∇²R‖₂ ≤ L": bound.L,
    }
    return Chain(values, bounds)


def samples(data: Array, n: int, m: int, seed: int) -> list[Array]:
    """m samples to try the bounds on: drawn from the data, drawn tight together, drawn wide apart, in turn."""
    # Not the seed alone: the first would then be the sample the descent starts from, and between a sample and itself
    # a quotient of differences is one of rounding errors.
    rng = np.random.default_rng([seed, m])
    drawn = []
    for j in range(m):
        start = nl.uniform_sample(data, n, rng)
        centre = start.mean(axis=0)
        drawn.append(centre + (1.0, 0.05, 3.0)[j % 3] * (start - centre))
    return drawn


def largest_ratios(kernel: nl.Kernel, data: Array, tried: list[Array], bound: Any) -> pd.Series:
    """For each step of the proof the largest value over bound among several samples."""
    return pd.DataFrame([chain(kernel, data, sample, bound).ratios for sample in tried]).max()


@nl.threads(1)
def lipschitz_ratio(kernel: nl.Kernel, data: Array, tried: list[Array], bound: Any) -> float:
    """The largest ‖∇R(S) − ∇R(S′)‖ / (L ‖S − S′‖) over all pairs: what the theorem says is at most 1."""
    gradients = [nl.radial_skd_gradient(kernel, data, sample) for sample in tried]
    ratios = [
        np.linalg.norm(gradients[i] - gradients[j]) / np.linalg.norm(tried[i] - tried[j])
        for i, j in itertools.combinations(range(len(tried)), 2)
    ]
    return float(np.max(ratios) / bound.L)


@nl.threads(1)
def along(
    kernel: nl.Kernel, data: Array, start: Array, step: float, iterations: int, looks: int
) -> tuple[NDArray[np.int64], Array]:
    """The largest eigenvalue of ∇²R at some places along a gradient descent: the iterations, and the eigenvalues."""
    run = nl.gradient_descent(
        kernel,
        data,
        start,
        step=step,
        iterations=iterations,
        record_every=max(1, iterations // looks),
        keep_path=True,
    )
    assert run.path is not None
    return run.iterations, np.array(
        [nl.largest_hessian_eigenvalue(kernel, data, sample, tolerance=1e-6) for sample in run.path]
    )


def extremes(kernel: nl.Kernel, data: Array, sample: Array) -> tuple[float, float]:
    """The smallest and the largest eigenvalue of ∇²R."""
    eigenvalues = np.linalg.eigvalsh(nl.radial_skd_hessian(kernel, data, sample))
    return float(eigenvalues[0]), float(eigenvalues[-1])
