"""Chapter 9: the method on a file of the reader's own."""

from __future__ import annotations

from dataclasses import dataclass

import nystrom_lib as nl

from ..experiments.components import File
from ..settings import Settings, setting
from ..studies import own_data
from .base import Chapter


@dataclass(frozen=True)
class Parameters(Settings):
    """What the chapter takes; null has a value chosen, and the chapter says which and why."""

    file: str = setting(
        own_data.EXAMPLE,
        meaning="the file: .csv, .tsv, .txt (also compressed), .parquet, .npy or .npz, a row per point",
    )
    columns: tuple[str, ...] | None = setting(None, meaning="the columns to use, by name; null for all")
    without: tuple[str, ...] = setting((), meaning="columns to leave out")
    missing: str = setting("drop", choices=("drop", "keep", "refuse"), meaning="rows with missing values")
    standardise: bool = setting(True, meaning="rescale each column to zero mean and unit variance, as §4.2 does?")
    kernel: str = setting("gaussian", choices=nl.advice.KERNEL_NAMES, meaning="the kernel K")
    rho: float | None = setting(None, above=0, meaning="kernel parameter ρ; null for the median rule")
    n: int = setting(20, at_least=1, at_most=10**5, meaning="number of landmark points")
    step: float | None = setting(None, above=0, meaning="step γ; null to have it chosen by short trials")
    iterations: int | None = setting(None, at_least=1, at_most=10**7, meaning="number of steps T; null for a usual one")
    batch_size: int | None = setting(
        None, at_least=0, at_most=10**6, meaning="batch size b; 0 for the exact gradient; null to have it chosen"
    )
    seed: int = setting(0, at_least=0, meaning="seed of the initial sample and the batches")

    def request(self) -> own_data.Request:
        """What is asked, of which file."""
        source = File(
            path=str(own_data.locate(self.file)),
            columns=self.columns,
            without=self.without,
            missing=self.missing,
            standardise=self.standardise,
        )
        return own_data.Request(
            source, self.n, self.kernel, self.rho, self.step, self.iterations, self.batch_size, self.seed
        )


CHAPTER = Chapter(
    name="your_data",
    number=9,
    title="Your own data",
    section="your data",
    parameters=Parameters,
    profiles={"quick": {"iterations": 300}, "smoke": {"n": 5, "iterations": 50}},
)
