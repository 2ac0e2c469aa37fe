"""Chapter 13: the method on a file of the reader's own."""

from __future__ import annotations

from dataclasses import dataclass

from nystrom_lib import Gaussian

from ..choices import KERNEL_NAMES, METHODS, STARTS
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
    one_hot: bool = setting(False, meaning="turn each column of words into columns of 0 and 1?")
    header: bool | None = setting(None, meaning="does the first line of a text file name the columns? null to see")
    missing: str = setting("drop", choices=("drop", "keep", "refuse"), meaning="rows with missing values")
    standardise: bool = setting(True, meaning="rescale each column to zero mean and unit variance, as paper §4.2 does?")
    kernel: str = setting("gaussian", choices=KERNEL_NAMES, meaning="the kernel K")
    rho: float | None = setting(None, above=0, meaning="kernel parameter ρ; null for the median rule")
    n: int = setting(20, at_least=1, at_most=10**5, meaning="number of landmark points")
    method: str = setting("auto", choices=METHODS, meaning="the objective to descend on, or a way to choose points")
    start: str = setting("uniform", choices=STARTS, meaning="where a descent begins")
    iterations: int | None = setting(None, at_least=0, at_most=10**7, meaning="number of steps T; null for a usual one")
    seed: int = setting(0, at_least=0, meaning="seed of the initial sample and the batches")

    def check(self) -> None:
        """The file must be there, and ρ be one that a kernel may have, before a kernel starts."""
        own_data.locate(self.file)
        if self.rho is not None:
            Gaussian(rho=self.rho)

    def request(self) -> own_data.Request:
        """What is asked, of which file."""
        source = File(
            path=str(own_data.locate(self.file)),
            columns=self.columns,
            without=self.without,
            missing=self.missing,
            one_hot=self.one_hot,
            header=self.header,
            standardise=self.standardise,
        )
        return own_data.Request(
            source, self.n, self.kernel, self.rho, self.method, self.start, self.iterations, seed=self.seed
        )


CHAPTER = Chapter(
    name="your_data",
    number=13,
    title="Your own data",
    section="your data",
    parameters=Parameters,
    profiles={"quick": {"iterations": 300}, "smoke": {"n": 5, "iterations": 50}},
)
