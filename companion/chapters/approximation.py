"""Chapter 1, §1.1 and §1.2: Nyström approximations and the criteria that judge them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import nystrom_lib as nl

from ..errors import ConfigurationError
from ..experiments.outcome import Array
from ..experiments.paper import values
from ..settings import setting
from .base import Chapter
from .lists import each_once
from .points import OnBigaussian, bigaussian, number_of_points


@dataclass(frozen=True)
class Parameters(OnBigaussian):
    """What the chapter takes; the defaults are the values of §4.1."""

    N: int = number_of_points(10, 5000)
    n: int = setting(8, at_least=1, meaning="number of landmark points in the pictures of the matrices")
    shown: int = setting(150, at_least=2, at_most=1000, meaning="how many rows and columns the pictures show")
    ns: tuple[int, ...] = setting((1, 2, 5, 10, 20, 40, 80), at_least=1, meaning="numbers of landmarks tried")
    m: int = setting(5, at_least=1, at_most=1000, meaning="random samples for each number of landmarks")
    hard_ns: tuple[int, ...] = setting(
        values(2, "n"), at_least=1, meaning="numbers of landmarks in the table of digits"
    )
    cost_Ns: tuple[int, ...] = setting(
        (500, 1000, 2000, 4000), at_least=100, at_most=20_000, meaning="numbers of points for the timings; two or more"
    )
    cost_n: int = setting(50, at_least=1, at_most=100, meaning="number of landmark points for the timings")
    seed: int = setting(456, at_least=0, meaning="seed of the samples; 456 is the authors' initial sample")

    def check(self) -> None:
        """Refuse what no single parameter shows."""
        for name in ("ns", "hard_ns", "cost_Ns"):
            each_once(name, getattr(self, name))
        for name, largest in (("n", self.n), ("ns", max(self.ns)), ("hard_ns", max(self.hard_ns))):
            if largest > self.N:
                raise ConfigurationError(name, f"has {largest}; it must be at most N = {self.N}.")
        if len(self.cost_Ns) < 2:
            raise ConfigurationError("cost_Ns", f"is {list(self.cost_Ns)}; a slope needs two or more.")

    def sample(self, n: int) -> Array:
        """A random sample of n of the data."""
        return nl.uniform_sample(self.data(), n, self.seed)

    def ordered(self) -> Array:
        """Some of the data, ordered along the line from one mode to the other, so that the matrices show structure."""
        data = self.data()[: self.shown]
        ordered: Array = data[np.argsort(data[:, 0] - data[:, 1], kind="stable")]
        return ordered

    def larger(self, N: int) -> Array:
        """N points of the same law, for the timings."""
        return bigaussian(N, self.data_seed)


CHAPTER = Chapter(
    name="approximation",
    number=1,
    title="Nyström approximation and its criteria",
    section="paper §1.1–1.2",
    parameters=Parameters,
    profiles={
        "quick": {"N": 1000, "m": 3, "cost_Ns": (500, 1000, 2000)},
        "smoke": {
            "N": 200,
            "shown": 60,
            "ns": (1, 5, 20),
            "m": 2,
            "hard_ns": (20, 60),
            "cost_Ns": (200, 400),
            "cost_n": 20,
        },
    },
)
