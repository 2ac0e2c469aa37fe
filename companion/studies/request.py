"""What chapter 13 and ``nystrom optimise`` are asked: declared here for the notebook and for the command line.

Nothing heavy is imported here, so that the help of the command line is quick.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..checkout import NOTEBOOKS
from ..choices import KERNEL_NAMES, METHODS, STARTS
from ..errors import ConfigurationError
from ..settings import Settings, setting


@dataclass(frozen=True)
class Request(Settings):
    """Landmarks for a file. The defaults are those of chapter 13; null leaves a choice to a rule."""

    file: str = setting(
        "data/abalone_measurements.csv", meaning="the file: CSV (also compressed), Parquet or NPY, a row per point"
    )
    n: int | None = setting(20, at_least=1, meaning="number of landmarks; by default 100, or as the tolerance needs")
    tolerance: float | None = setting(None, above=0, meaning="in place of n: the relative error allowed, e.g. 0.05")
    method: str = setting("auto", choices=METHODS, meaning="the objective to minimise, or a method of choosing points")
    seconds: float | None = setting(None, above=0, meaning="time limit; by default until more steps gain little")
    iterations: int | None = setting(None, at_least=0, at_most=10**7, meaning="number of steps T instead")
    start: str = setting("uniform", choices=("auto", *STARTS), meaning="the initial sample of a descent")
    kernel: str = setting("gaussian", choices=KERNEL_NAMES, meaning="the kernel K")
    rho: float | None = setting(
        None, at_least=1e-100, at_most=1e100, meaning="parameter ρ; by default 1 over the median squared distance"
    )
    columns: tuple[str, ...] | None = setting(None, meaning="the columns to use; without a header they are x0, x1, …")
    without: tuple[str, ...] = setting((), meaning="columns to leave out")
    one_hot: bool = setting(False, meaning="turn each column of words into columns of 0 and 1")
    header: bool | None = setting(None, meaning="does the first line name the columns? by default if it has no number")
    separator: str | None = setting(None, meaning="separator of the fields of a text file; by default detected")
    missing: str = setting("drop", choices=("drop", "refuse"), meaning="rows with missing values: leave out, or fail")
    missing_code: tuple[str, ...] = setting((), meaning="what else marks a missing value: -999, ?, …")
    standardise: bool = setting(True, meaning="rescale columns to mean 0 and variance 1, as paper §4.2 does")
    seed: int = setting(0, at_least=0, meaning="seed of all random numbers")
    exact: bool = setting(False, meaning="compute the errors from all points, however many")

    def check(self) -> None:
        """Refuse a missing file, and what a tolerance excludes."""
        self.path()
        if self.tolerance is not None:
            for name, default in (("n", None), ("start", "auto")):
                if getattr(self, name) != default:
                    raise ConfigurationError("tolerance", f"excludes {name}.")

    def path(self) -> Path:
        """The file as seen from the current folder, or else from the folder of the notebooks."""
        for folder in (Path(), NOTEBOOKS):
            place = folder / os.path.expanduser(self.file)  # unlike pathlib it accepts the name of an unknown user
            if self.file and place.exists():
                return place
        raise ConfigurationError("file", f"is {self.file!r}, and there is no such file in {Path().resolve()}.")

    def reading(self) -> dict[str, Any]:
        """The arguments of :func:`nystrom_lib.datasets.from_file`."""
        names = ("columns", "without", "missing", "one_hot", "standardise", "separator", "header")
        codes = [_number_or_word(code) for code in self.missing_code]
        return {"path": str(self.path()), "missing_codes": codes, **{name: getattr(self, name) for name in names}}


def _number_or_word(code: str) -> float | str:
    try:
        number = float(code)
    except ValueError:
        return code
    return number if math.isfinite(number) else code
