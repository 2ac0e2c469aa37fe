"""The pictures of the theory pages, drawn when the book is built, each with the numbers of its caption."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from matplotlib.figure import Figure

import nystrom_lib as nl

from ..experiments.outcome import Array
from ..figures import convergence, style, theory
from ..figures import estimators as clouds
from ..studies import curvature, estimators, landscape
from .playground import N_LANDMARKS, SEED

#: The step and the number of steps of Figure 1.
STEP, STEPS = 1e-6, 1_300
#: For the forces: few landmarks, so that each arrow can be seen.
FEW = 12
BATCH = 50

Picture = tuple[Figure, dict[str, float]]


def projection() -> Picture:
    """Remark 1.1."""
    kernel, landmarks, x = nl.Gaussian(rho=0.5), (-0.9, 1.1), 0.1
    approximation = nl.NystromApproximation(kernel, [[s] for s in landmarks])
    missing = 1.0 - float(approximation.block([[x]], [[x]])[0, 0])
    return theory.projection(kernel, landmarks, x), {"missing": missing}


def distance() -> Picture:
    """Eq. (M)."""
    kernel, data, start, end = _descent(16.0, N_LANDMARKS)
    length = nl.squared_frobenius_norm(kernel, data) ** 0.5
    before, after = (nl.radial_skd(kernel, data, sample) for sample in (start, end))
    figure = theory.distances(length, {"initial": before, "optimised": after})
    return figure, {"before": before**0.5, "after": after**0.5, "n": N_LANDMARKS, "steps": STEPS}


def forces() -> Picture:
    """Eq. (5)."""
    kernel, data, start, end = _descent(16.0, FEW)
    stages = {"at the start": start, f"after {STEPS:,} steps": end}
    arrows = {title: landscape.forces(kernel, data, sample) for title, sample in stages.items()}
    return theory.forces(data, arrows), {"n": FEW}


def steps() -> Picture:
    """Theorem 2.1."""
    kernel, data, start, _ = _descent(1.0, N_LANDMARKS)
    bound = nl.lipschitz_bound(kernel, data, N_LANDMARKS).step
    _, curves = curvature.along(kernel, data, start, STEP, STEPS, 8)  # as chapter 3 does
    largest = float(curves.max())
    return convergence.step_lengths(bound, STEP, largest), {"bound": bound, "step": STEP, "limit": 2.0 / largest}


def scatter() -> Picture:
    """Eq. (6) and Eq. (7)."""
    kernel, data = nl.Gaussian(rho=1.0), nl.datasets.bigaussian().X
    parts = estimators.terms(kernel, data, nl.uniform_sample(data, N_LANDMARKS, seed=SEED))
    return clouds.clouds(parts, estimators.clouds(parts, BATCH, SEED), BATCH), {"b": BATCH}


PICTURES: Mapping[str, Callable[[], Picture]] = {
    "projection": projection, "distance": distance, "forces": forces, "steps": steps, "scatter": scatter,
}  # fmt: skip


@nl.threads(1)
def draw(picture: Callable[[], Picture], path: Path) -> dict[str, float]:
    """Draw a picture into a file; the numbers of its caption."""
    figure, numbers = picture()
    path.parent.mkdir(exist_ok=True)
    path.write_text(style.svg(figure), encoding="utf-8")
    return numbers


def _descent(rho: float, n: int) -> tuple[nl.Kernel, Array, Array, Array]:
    """The bi-Gaussian data and a sample of it before and after the descent of Figure 1."""
    kernel, data = nl.Gaussian(rho=rho), nl.datasets.bigaussian().X
    start = nl.uniform_sample(data, n, seed=SEED)
    return kernel, data, start, nl.gradient_descent(kernel, data, start, step=STEP, iterations=STEPS).sample
