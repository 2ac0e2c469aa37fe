"""Chapter 3, §2 and the Appendix: Theorem 2.1, step by step."""

from __future__ import annotations

from dataclasses import dataclass

import nystrom_lib as nl

from ..experiments.outcome import Array
from ..experiments.paper import value
from ..settings import setting
from .base import Chapter
from .lists import each_once
from .points import OnBigaussian


@dataclass(frozen=True)
class Parameters(OnBigaussian):
    """What the chapter takes; the defaults are those of Figure 1."""

    n: int = setting(value(1, "n"), at_least=5, at_most=200, meaning="number of landmark points")
    step: float = setting(value(1, "descent.step"), above=0, meaning="the paper's step γ")
    beyond: tuple[float, ...] = setting(
        (0.5, 1.5, 5.0, 100.0), above=0, meaning="further steps, as multiples of 1 over the true curvature"
    )
    iterations: int = setting(
        value(1, "descent.iterations"), at_least=10, at_most=100_000, meaning="number of steps T of each descent"
    )
    m: int = setting(6, at_least=2, at_most=1000, meaning="samples on which the bounds are tried")
    looks: int = setting(8, at_least=2, at_most=200, meaning="places along a descent where the curvature is looked at")
    stretches: int = setting(
        40, at_least=2, at_most=1000, meaning="stretches of 10,000 steps of the descent that does not converge"
    )
    seed: int = setting(456, at_least=0, meaning="seed of the samples; 456 is the authors' initial sample")

    def check(self) -> None:
        """Refuse what no single parameter shows."""
        each_once("beyond", self.beyond)
        self.at_most_N("n")

    def kernels(self) -> dict[str, nl.Kernel]:
        """Several kernels of about that width."""
        from ..studies import curvature

        return curvature.kernels(self.rho)

    def within(self) -> dict[str, nl.Kernel]:
        """Those the theorem covers."""
        return {name: kernel for name, kernel in self.kernels().items() if kernel.constants is not None}

    def start(self) -> Array:
        """S⁽⁰⁾."""
        return nl.uniform_sample(self.data(), self.n, self.seed)


CHAPTER = Chapter(
    name="convergence",
    number=3,
    title="A convergence result",
    section="paper §2 and Appendix",
    parameters=Parameters,
    profiles={
        "quick": {"N": 1000, "step": 4e-6, "iterations": 500, "m": 3, "looks": 6, "stretches": 10},
        # The gradient is about as large as N², so fewer points want a longer step.
        "smoke": {"N": 200, "n": 10, "step": 2e-5, "iterations": 100, "m": 3, "looks": 3, "stretches": 4},
    },
)
