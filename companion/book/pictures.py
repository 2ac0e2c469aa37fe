"""The pictures of the theory pages, drawn from the library when the book is built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.figure import Figure

import nystrom_lib as nl

from ..experiments.outcome import Array
from ..figures import convergence, style, theory
from ..figures import estimators as clouds
from ..studies import curvature, estimators, landscape
from ..wording import number
from .playground import N_LANDMARKS, SEED

#: The step and the number of steps of Figure 1; ρ is that at which R can be seen as an angle.
STEP, STEPS, RHO = 1e-6, 1300, 16.0
#: For the forces: so few landmarks that each arrow can be seen.
FEW = 12
BATCH = 50


@dataclass(frozen=True)
class Picture:
    """A picture, what it says to those who do not see it, and the words below it."""

    figure: Figure
    alt: str
    caption: str


def projection() -> Picture:
    """Remark 1.1."""
    kernel, landmarks, x = nl.Gaussian(rho=0.5), (-0.9, 1.1), 0.1
    approximation = nl.NystromApproximation(kernel, [[s] for s in landmarks])
    missing = 1.0 - float(approximation.block([[x]], [[x]])[0, 0])
    return Picture(
        theory.projection(kernel, landmarks, x),
        "Left, the plane spanned by two vectors, a third vector that rises out of it, and its projection in the plane, "
        "with a broken line from one to the other. Right, the same as functions on a line: two bumps at the landmarks, "
        "a bump at x between them, and the combination of the first two that comes nearest to it, which is lower.",
        "Two landmarks on a line (squares) and a point x (dot), with the Gaussian kernel. Left, as vectors, drawn with "
        f"their true lengths and angles; right, as functions. The squared length of what is missing, {number(missing)} "
        "here, is the entry of $\\mathbf K-\\hat{\\mathbf K}(\\mathcal S)$ at $x$.",
    )


def distance() -> Picture:
    """Eq. (M)."""
    kernel, data, start, end = _descent(RHO, N_LANDMARKS)
    length = nl.squared_frobenius_norm(kernel, data) ** 0.5
    before, after = (nl.radial_skd(kernel, data, sample) for sample in (start, end))
    return Picture(
        theory.distances(length, {"initial": before, "optimised": after}),
        "An arrow, A, and two lines from its origin, one for each sample. From the tip of the arrow a broken "
        f"perpendicular leads to each line: {number(before**0.5)} long for the initial sample, {number(after**0.5)} "
        "for the optimised one, whose line is much nearer to the arrow.",
        f"R is a squared distance: that of A from the line of all multiples of B for the sample. To scale, for "
        f"the bi-Gaussian data with ρ = {RHO:g}: a random sample of {N_LANDMARKS} landmarks, and the same after "
        f"{STEPS:,} steps. The dots are at $c=c_{{\\mathcal S}}$.",
    )


def forces() -> Picture:
    """Eq. (5)."""
    kernel, data, start, end = _descent(RHO, FEW)
    stages = {"at the start": start, f"after {STEPS:,} steps": end}
    return Picture(
        theory.forces(data, {title: landscape.forces(kernel, data, sample) for title, sample in stages.items()}),
        "Two squares of data with landmarks, each with two arrows. At the start the arrows of attraction point into "
        "the data around, those of repulsion away from neighbouring landmarks, and they do not cancel. After the "
        "descent the two arrows of each landmark point in opposite directions and are equally long.",
        f"The two terms of −∇R at each of {FEW} landmarks on the bi-Gaussian data, ρ = {RHO:g}: the data attract it, "
        "the other landmarks repel it. A descent ends where the two cancel.",
    )


def steps() -> Picture:
    """Theorem 2.1."""
    kernel, data, start, _ = _descent(1.0, N_LANDMARKS)
    bound = nl.lipschitz_bound(kernel, data, N_LANDMARKS).step
    _, curves = curvature.along(kernel, data, start, STEP, 1_300, 8)  # as chapter 3 does
    largest = float(curves.max())
    return Picture(
        convergence.step_lengths(bound, STEP, largest),
        f"A logarithmic axis of step lengths: 1/L at {number(bound)}, the paper's step at {number(STEP)}, and 2/λ at "
        f"{number(2 / largest)}, where the unstable part begins.",
        f"The theorem covers steps up to 1/L. The paper's step is {number(STEP / bound)} times longer, and still "
        f"{number(2 / largest / STEP)} times shorter than 2/λ, with λ the largest curvature along that descent "
        "(bi-Gaussian data, ρ = 1, n = 50).",
    )


def scatter() -> Picture:
    """Eq. (6) and Eq. (7)."""
    kernel, data = nl.Gaussian(rho=1.0), nl.datasets.bigaussian().X
    parts = estimators.terms(kernel, data, nl.uniform_sample(data, N_LANDMARKS, seed=SEED))
    return Picture(
        clouds.clouds(parts, estimators.clouds(parts, BATCH, SEED), BATCH),
        "Two clouds of estimates of one gradient, each around a cross in a ring. The left one, of the one-sample "
        "estimator, is clearly smaller than the right one, of the two-sample estimator. In both, ring and cross "
        "cannot be told apart.",
        f"Estimates of the gradient of one landmark from batches of b = {BATCH} points, a dot for each batch: biased "
        "with less scatter on the left, unbiased with more on the right. The cross is the exact gradient and the ring "
        "the exact mean of all estimates: the bias is there, and cannot be seen beside the scatter. The ellipses would "
        "hold two thirds of normally distributed dots.",
    )


#: By the name of their files.
PICTURES: dict[str, Callable[[], Picture]] = {
    "projection": projection,
    "distance": distance,
    "forces": forces,
    "steps": steps,
    "scatter": scatter,
}


@nl.threads(1)
def parts() -> dict[str, str]:
    """Every picture as SVG, and the block that shows it."""
    made = {name: draw() for name, draw in PICTURES.items()}
    return {f"{name}.svg": style.svg(each.figure) for name, each in made.items()} | {
        f"{name}.md": block(f"{name}.svg", each.alt, each.caption) for name, each in made.items()
    }


def block(file: str, alt: str, caption: str) -> str:
    """A picture as a page includes it: without a number, which would be taken for one of the paper's."""
    return f"```{{image}} /_generated/{file}\n:alt: {alt}\n:width: 100%\n```\n\n*{caption}*\n"


def _descent(rho: float, n: int) -> tuple[nl.Kernel, Array, Array, Array]:
    """The bi-Gaussian data and a sample of it before and after the descent of Figure 1."""
    kernel, data = nl.Gaussian(rho=rho), nl.datasets.bigaussian().X
    start = nl.uniform_sample(data, n, seed=SEED)
    return kernel, data, start, nl.gradient_descent(kernel, data, start, step=STEP, iterations=STEPS).sample
