"""The constants of Theorem 2.1 against what they bound: the proof of the Appendix in numbers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

import nystrom_lib as nl

from ..experiments.outcome import Array


def kernels(rho: float) -> dict[str, nl.Kernel]:
    """Kernels of about the same width, which the theorem covers: ℓ = 1/√(2ρ) is the Gaussian's."""
    ell = (2.0 * rho) ** -0.5
    return {
        "Gaussian": nl.Gaussian(rho),
        "Matérn 5/2": nl.Matern(2.5, ell),
        "Matérn 3/2": nl.Matern(1.5, ell),
        "rational quadratic": nl.RationalQuadratic(1.0, ell),
    }


def largest_derivatives(kernel: nl.Kernel) -> dict[str, float]:
    """The largest derivatives between the origin and places in the plane, by formula and by differences."""
    assert kernel.constants is not None
    x = np.zeros((1, 2))
    # in units in which the kernel varies: all the interesting distances, along an axis and along another line
    per_unit = float(np.sqrt(kernel.constants.M2))
    distances = np.concatenate([[0.0], np.geomspace(1e-3, 10.0, 2000)]) / per_unit
    s = np.concatenate([distances[:, None] * np.array([1.0, 0.0]), distances[:, None] * np.array([0.6, 0.8])])
    h = 1e-4 / per_unit  # large enough that differences of K² show its second derivatives, and no third
    along = np.array([[h, 0.0]])
    before, here, after = (kernel.squared(s + shift, x)[:, 0] for shift in (-along, 0.0 * along, along))
    seconds = (kernel.squared_left_left(s, x), kernel.squared_left_right(s, x))
    return {
        "M1": float(np.abs(kernel.squared_left(s, x)).max()),
        "M2": max(float(np.abs(second).max()) for second in seconds),
        "M1 by differences": float(np.abs(after - before).max()) / (2.0 * h),
        "M2 by differences": float(np.abs(after - 2.0 * here + before).max()) / h**2,
    }


@nl.threads(1)
def proof_ratios(kernel: nl.Kernel, data: Array, sample: Array, bound: Any) -> dict[str, float]:
    """Each quantity of the proof at one sample over its bound: at most 1, and 1 where the bound is sharp."""
    n, d = sample.shape
    hessian = nl.radial_skd_hessian(kernel, data, sample)
    blocks = np.abs(hessian.reshape(n, d, n, d)).max(axis=(1, 3))
    norm = float(kernel.squared(sample).sum())
    different = np.where(np.eye(n), 0.0, blocks)
    return {
        "Eq. (14)": bound.norm_bound / norm,
        "Eq. (15)": float(kernel.squared(sample, data).sum()) / (norm**0.5 * bound.frobenius),
        "Eq. (16)": nl.skd_coefficient(kernel, data, sample) / bound.C0,
        "Eq. (17)": float(np.abs(nl.skd_coefficient_gradient(kernel, data, sample)).max()) / bound.C1,
        "Eq. (18)": float(np.diag(blocks).max()) / bound.same_bound,
        "Eq. (19)": float(different.max()) / bound.different_bound,
        "‖∇²R‖_F ≤ L": float(np.linalg.norm(hessian)) / bound.L,
        "‖∇²R‖₂ ≤ L": float(np.linalg.norm(hessian, 2)) / bound.L,
    }


@nl.threads(1)
def lipschitz_ratio(kernel: nl.Kernel, data: Array, tried: Sequence[Array], bound: Any) -> float:
    """The largest ‖∇R(S) − ∇R(S′)‖ / (L ‖S − S′‖) over all pairs, at most 1 by the theorem."""
    gradients = [nl.radial_skd_gradient(kernel, data, sample) for sample in tried]
    ratios = [
        np.linalg.norm(gradients[i] - gradients[j]) / np.linalg.norm(tried[i] - tried[j])
        for i, j in itertools.combinations(range(len(tried)), 2)
    ]
    return float(np.max(ratios) / bound.L)
