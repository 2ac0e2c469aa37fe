"""The bi-Gaussian points of §4.1, which the theory chapters try everything on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import nystrom_lib as nl

from ..errors import ConfigurationError
from ..experiments.outcome import Array
from ..settings import Settings, setting


@cache
def bigaussian(N: int, seed: int) -> Array:
    """D, read-only; drawn once for a chapter that asks for it often.

    Examples
    --------
    >>> bigaussian(20, 123) is bigaussian(20, 123)
    True
    """
    return nl.datasets.bigaussian(N, seed).X


@dataclass(frozen=True)
class OnBigaussian(Settings):
    """The first parameters of a theory chapter; one that can take more or fewer points declares N again."""

    N: int = setting(2000, at_least=10, at_most=20_000, meaning="number of data points, the bi-Gaussian ones of §4.1")
    data_seed: int = setting(123, at_least=0, meaning="seed of the data; 123 is the authors' draw")
    rho: float = setting(1.0, above=0, meaning="kernel parameter ρ")

    def at_most_N(self, *names: str) -> None:
        """Refuse a parameter that asks for more points than there are."""
        for name in names:
            if getattr(self, name) > self.N:
                raise ConfigurationError(name, f"is {getattr(self, name)}; it must be at most N = {self.N}.")

    def kernel(self) -> nl.Kernel:
        """K."""
        return nl.Gaussian(self.rho)

    def data(self) -> Array:
        """D."""
        return bigaussian(self.N, self.data_seed)
