"""Chapter 2, §1.3: the radial SKD, its inequalities and its gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import nystrom_lib as nl

from ..experiments.outcome import Array
from ..settings import setting
from .base import Chapter
from .lists import each_once
from .points import OnBigaussian, number_of_points


@dataclass(frozen=True)
class Parameters(OnBigaussian):
    """What the chapter takes; the defaults are the values of §4.1 where it has them."""

    N: int = number_of_points(50, 20_000)
    n: int = setting(5, at_least=2, at_most=200, meaning="number of landmark points in the surface")
    iterations: int = setting(400, at_least=1, at_most=10_000, meaning="steps of the descents in the pictures")
    check_N: int = setting(500, at_least=10, at_most=5000, meaning="data points on which the inequalities are tried")
    check_rhos: tuple[float, ...] = setting((0.1, 1.0, 16.0), above=0, meaning="kernel parameters they are tried with")
    m: int = setting(240, at_least=4, at_most=10_000, meaning="random samples they are tried on")
    gradient_n: int = setting(20, at_least=1, at_most=200, meaning="number of landmark points for the gradient")
    seed: int = setting(456, at_least=0, meaning="seed of the samples")

    def check(self) -> None:
        """Refuse what no single parameter shows."""
        each_once("check_rhos", self.check_rhos)
        self.at_most_N("n", "gradient_n", "check_N")

    def sample(self, n: int) -> Array:
        """A random sample of n of the data."""
        return nl.uniform_sample(self.data(), n, self.seed)

    def step(self, n: int) -> float:
        """A step that suits n landmarks: 1 over the largest eigenvalue of the Hessian at the start, or half of it."""
        sample, data = self.sample(n), self.data()
        hessian = nl.radial_skd_hessian(self.kernel(), data, sample)
        return 0.5 / float(np.abs(np.linalg.eigvalsh(hessian)).max())


CHAPTER = Chapter(
    name="radial_skd",
    number=2,
    title="The radial squared-kernel discrepancy",
    section="paper §1.3",
    parameters=Parameters,
    profiles={
        "quick": {"N": 1000, "m": 80},
        "smoke": {"N": 200, "check_N": 100, "m": 24, "iterations": 100, "gradient_n": 6},
    },
)
