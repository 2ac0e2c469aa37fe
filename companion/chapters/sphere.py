"""Chapter 15, §1.1: landmarks on a manifold."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import Settings, setting
from .base import Chapter
from .lists import each_once


@dataclass(frozen=True)
class Parameters(Settings):
    """What the chapter takes."""

    N: int = setting(2_000, at_least=20, at_most=50_000, meaning="number of data points on the sphere")
    rho: float = setting(4.0, above=0, meaning="kernel parameter ρ")
    n: tuple[int, ...] = setting((12, 30, 60), at_least=2, meaning="numbers of landmarks")
    steps: int = setting(300, at_least=1, at_most=10**6, meaning="steps of each descent")
    seeds: int = setting(5, at_least=1, at_most=100, meaning="random starts of each")
    shown: int = setting(40, at_least=2, at_most=500, meaning="landmarks in the picture of the globe")
    seed: int = setting(7, at_least=0, meaning="seed of the points around three places, and of the starts")

    def check(self) -> None:
        """Refuse what no single parameter shows."""
        each_once("n", self.n)


CHAPTER = Chapter(
    name="sphere",
    number=15,
    title="On a sphere",
    section="paper §1.1",
    parameters=Parameters,
    profiles={
        "quick": {"n": (12, 30), "steps": 100, "seeds": 2},
        "smoke": {"N": 200, "n": (6, 12), "steps": 20, "seeds": 2, "shown": 10},
    },
)
