"""Chapter 4, §3: stochastic approximations of the gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import nystrom_lib as nl

from ..errors import ConfigurationError
from ..experiments.outcome import Array
from ..experiments.paper import value
from ..settings import setting
from .base import Chapter
from .lists import each_once
from .points import OnBigaussian, number_of_points


@dataclass(frozen=True)
class Parameters(OnBigaussian):
    """What the chapter takes; data, ρ, n and γ are those of §4.1, the batch size that of §4.2."""

    N: int = number_of_points(10, 100_000)
    n: int = setting(value(1, "n"), at_least=1, at_most=500, meaning="number of landmark points")
    step: float = setting(value(1, "descent.step"), above=0, meaning="step γ of the descents")
    iterations: int = setting(1000, at_least=10, at_most=10**6, meaning="number of steps T of the descents")
    batch_sizes: tuple[int, ...] = setting(
        (10, 50, 200), at_least=2, at_most=100_000, meaning="batch sizes b of the descents; 50 is that of paper §4.2"
    )
    repetitions: int = setting(5, at_least=1, at_most=1000, meaning="descents for each estimator and batch size")
    sizes: tuple[int, ...] = setting(
        (8, 16, 32, 64, 128, 256), at_least=4, at_most=10_000, meaning="batch sizes for bias and variance"
    )
    batches: int = setting(4000, at_least=100, at_most=10**6, meaning="batches drawn for bias and variance")
    tiny_N: int = setting(6, at_least=2, at_most=8, meaning="data points where every batch is looked at")
    cost_Ns: tuple[int, ...] = setting(
        (1000, 4000, 16_000, 64_000), at_least=100, at_most=10**6, meaning="numbers of points for the timings"
    )
    seed: int = setting(456, at_least=0, meaning="seed of samples and batches")

    def check(self) -> None:
        """Refuse what no single parameter shows."""
        for name in ("batch_sizes", "sizes", "cost_Ns"):
            each_once(name, getattr(self, name))
        self.at_most_N("n")
        if len(self.cost_Ns) < 2:
            raise ConfigurationError("cost_Ns", f"is {list(self.cost_Ns)}; a slope needs two or more.")

    def start(self) -> Array:
        """S⁽⁰⁾."""
        return nl.uniform_sample(self.data(), self.n, self.seed)

    def tiny(self) -> tuple[Array, Array]:
        """So few data points that every batch can be looked at, and two landmarks."""
        data = self.data()
        return data[: self.tiny_N], data[self.tiny_N : self.tiny_N + 2]

    def larger(self, N: int) -> Array:
        """N points for the timings: the data over and over, for what they are makes no difference to the time."""
        data = self.data()
        larger: Array = data[np.random.default_rng(self.seed).integers(0, len(data), size=N)]
        return larger


CHAPTER = Chapter(
    name="stochastic_gradients",
    number=4,
    title="Stochastic gradients",
    section="paper §3",
    parameters=Parameters,
    profiles={
        "quick": {"batches": 1000, "repetitions": 3, "cost_Ns": (1000, 4000, 16_000)},
        # The gradient is about as large as N², so fewer points want a longer step.
        "smoke": {
            "N": 200,
            "n": 10,
            "step": 2e-5,
            "iterations": 200,
            "batch_sizes": (10, 50),
            "repetitions": 2,
            "sizes": (8, 32),
            "batches": 500,
            "tiny_N": 4,
            "cost_Ns": (500, 2000),
        },
    },
)
