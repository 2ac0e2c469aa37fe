"""Some points of a data set, for a first look at one that is large."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import nystrom_lib as nl

from ..errors import ConfigurationError
from ..settings import setting
from .components import DATA_SOURCES, DataSource
from .seeds import Axis, seed_for


@dataclass(frozen=True)
class Part(DataSource):
    """N points of another source, uniformly and without replacement, in their own order.

    They are as the source gives them: standardised over all of its points, if it standardises.

    Parameters
    ----------
    of : DataSource
        The whole.
    N : int
        How many points to take.
    """

    kind: ClassVar[str] = "part"
    of: DataSource = setting(slot=DATA_SOURCES)
    N: int = setting(at_least=2)

    def check(self) -> None:
        """A part of a part would be two ways to say the same."""
        if isinstance(self.of, Part):
            raise ConfigurationError("of", "is itself a part; it must be a whole data set.")

    def load(self, seed: int) -> nl.datasets.Dataset:
        """Load the whole and keep some of it."""
        whole = self.of.load(seed)
        if self.N > whole.N:
            raise ConfigurationError("N", f"is {self.N:,}; {whole.name} has {whole.N:,} points.")
        chosen = np.sort(np.random.default_rng(seed_for(seed, Axis.DATA)).choice(whole.N, self.N, replace=False))
        points = np.ascontiguousarray(whole.X[chosen])
        points.flags.writeable = False
        return dataclasses.replace(
            whole,
            X=points,
            name=f"{whole.name} ({self.N:,} of {whole.N:,} points)",
            sha256=nl.datasets.sha256_of(points),
        )


DATA_SOURCES[Part.kind] = Part


def part_of(source: DataSource, N: int, whole: int) -> DataSource:
    """The source itself if all of its ``whole`` points are asked for, else a part of it.

    Examples
    --------
    >>> from companion.experiments.components import Magic
    >>> part_of(Magic(), 18_905, 18_905).kind, part_of(Magic(), 500, 18_905).kind
    ('magic', 'part')
    """
    return source if whole == N else Part(of=source, N=N)
