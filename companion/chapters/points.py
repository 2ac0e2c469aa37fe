"""The bi-Gaussian points of §4.1, which the theory chapters try everything on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import nystrom_lib as nl

from ..errors import ConfigurationError
from ..experiments.outcome import Array
from ..experiments.paper import value, values
from ..settings import Settings, setting


def number_of_points(at_least: int, at_most: int) -> Any:
    """Declare N, whose range differs from chapter to chapter."""
    meaning = "number of data points, the bi-Gaussian ones of paper §4.1"
    return setting(value(1, "data.N"), at_least=at_least, at_most=at_most, meaning=meaning)


@dataclass(frozen=True)
class OnBigaussian(Settings):
    """The first parameters of a theory chapter."""

    N: int = number_of_points(10, 20_000)
    data_seed: int = setting(value(1, "data.seed"), at_least=0, meaning="seed of the data; 123 is the authors' draw")
    rho: float = setting(values(1, "kernel.rho")[0], above=0, meaning="kernel parameter ρ")

    def at_most_N(self, *names: str) -> None:
        """Refuse a parameter that asks for more points than there are."""
        for name in names:
            if np.max(getattr(self, name)) > self.N:
                raise ConfigurationError(name, f"is {getattr(self, name)}; it must be at most N = {self.N}.")

    def kernel(self) -> nl.Kernel:
        """K."""
        return nl.Gaussian(self.rho)

    def data(self) -> Array:
        """D."""
        return nl.datasets.bigaussian(self.N, self.data_seed).X
