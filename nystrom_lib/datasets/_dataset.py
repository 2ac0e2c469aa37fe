"""Data sets: points with their provenance."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _validation as check
from .._columns import refuse_columns

FloatArray: TypeAlias = NDArray[np.float64]
#: The steps of the cleaning, each a reason and how many rows it removed.
Removed: TypeAlias = tuple[tuple[str, int], ...]

#: Values per block of an array. Do not change it: sums are formed block by block, and standardised data with more
#: values than that, and their hashes, depend on it.
BLOCK_VALUES = 2**22
#: With fewer points there is nothing to approximate.
MIN_ROWS = 2


class DamagedFileError(ValueError):
    """A file of data does not have its sha256."""


def cache_folder() -> Path:
    """The folder for fetched data; it need not exist.

    The environment variable NYSTROM_CACHE names it; otherwise it is in the platform's folder for caches.

    Returns
    -------
    Path

    Examples
    --------
    >>> from nystrom_lib.datasets import cache_folder
    >>> cache_folder().is_absolute()
    True
    """
    usual = "~/Library/Caches" if sys.platform == "darwin" else os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("NYSTROM_CACHE") or f"{usual}/nystrom-companion").expanduser().absolute()


def sha256_of(X: NDArray[Any]) -> str:
    """The sha256 of the C-ordered, little-endian float64 bytes of a matrix.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from nystrom_lib.datasets import sha256_of
    >>> sha256_of(np.array([[1.0, 2.0]])) == sha256_of(np.array([[1, 2]], order="F"))
    True
    """
    return hashlib.sha256(np.ascontiguousarray(X, dtype="<f8").data).hexdigest()


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Points with their provenance.

    Examples
    --------
    >>> from nystrom_lib.datasets import magic
    >>> magic()
    Dataset('MAGIC', N=18905, d=10, removed=115, sha256=...)
    """

    X: FloatArray  #: the points, one per row: float64, C-contiguous, read-only
    name: str  #: for titles; the name of a stand-in ends in "stand-in"
    sha256: str  #: of ``X``, by `sha256_of`
    removed: Removed  #: the steps of the cleaning: the reason, and the number of rows it removed
    stand_in: bool  #: whether these are artificial data of the same shape as the data named
    citation: str
    licence: str
    columns: tuple[str, ...]  #: the name of each column of ``X``
    source: str  #: where the values came from and what was done to them
    mean: FloatArray | None = None  #: if standardised, ``X`` is (source − mean) / scale
    scale: FloatArray | None = None

    @property
    def N(self) -> int:
        """The number of points."""
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        """The number of coordinates of a point."""
        return int(self.X.shape[1])

    def __len__(self) -> int:
        return self.N

    def __repr__(self) -> str:
        removed = sum(count for _, count in self.removed)
        return f"Dataset({self.name!r}, N={self.N}, d={self.d}, removed={removed}, sha256={self.sha256[:12]}...)"

    def in_original_units(self, points: ArrayLike) -> FloatArray:
        """Undo the standardisation: points among those of ``X``, such as landmarks, in the units of the source.

        Examples
        --------
        >>> import numpy as np
        >>> from nystrom_lib.datasets import from_array
        >>> from_array(np.array([[10.0], [30.0]])).in_original_units([[-1.0], [0.5]]).tolist()
        [[10.0], [25.0]]
        """
        points = np.array(points, dtype=np.float64)
        return points if self.mean is None or self.scale is None else self.mean + self.scale * points


def frozen(X: FloatArray) -> FloatArray:
    """Make ``X`` read-only for good: a view of an array that is so itself cannot be opened again."""
    X.flags.writeable = False
    return X.view()


def prepare(
    X: FloatArray,
    *,
    columns: tuple[str, ...],
    name: str,
    source: str,
    standardise: bool,
    ddof: int,
    missing: str = "refuse",
    removed: Removed = (),
    stand_in: bool = False,
    **described: str,
) -> Dataset:
    """The data set of raw rows, in which NaN is a missing value: checked, and standardised if asked.

    ``removed`` tells which rows were left out before. ``described`` are citation and licence.
    """
    check.instance("standardise", standardise, bool | np.bool_, "True or False")
    ddof = check.integer("ddof", ddof, least=0, most=1)
    complete = ~np.isnan(X).any(axis=1)
    absent = len(X) - int(complete.sum())
    if missing == "refuse" and absent:
        raise ValueError(
            f"{name} has {absent:,} rows with missing values; allow missing='drop', or choose other columns."
        )
    if missing == "drop":
        X, removed = X[complete] if absent else X, (*removed, ("rows with missing values", absent))
    if len(X) < MIN_ROWS:
        dropped = f" after {absent:,} with missing values were dropped" if absent else ""
        raise ValueError(f"{name} has too few rows: {len(X)}{dropped}; at least {MIN_ROWS} are needed.")
    infinite, constant = np.isinf(X).any(axis=0), X.min(axis=0) == X.max(axis=0)
    refuse_columns(name, columns, infinite, "has infinite values in {}; only finite ones are allowed.")
    refuse_columns(name, columns, constant, "is constant in {}; leave out constant columns.")
    mean = scale = None
    if standardise:
        mean, scale = _moments(X, ddof)
        extreme = ~np.isfinite(scale) | (scale < np.finfo(np.float64).tiny ** 0.5)
        refuse_columns(
            name, columns, extreme,
            "has values too large or too close together to be standardised in double precision in {}; rescale first, "
            "or use standardise=False.",
        )  # fmt: skip
        X, mean, scale = (X - mean) / scale, frozen(mean), frozen(scale)
        source += f"; columns standardised to zero mean and unit variance (divisor {('N', 'N - 1')[ddof]})"
    else:
        source += "; columns as they are in the source"
    return Dataset(
        X=frozen(X), name=name, sha256=sha256_of(X), removed=removed, stand_in=stand_in, columns=columns,
        source=source, mean=mean, scale=scale, **described,
    )  # fmt: skip


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def _moments(X: FloatArray, ddof: int) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations, in two passes: the second does not cancel where the mean is large."""
    step = max(1, BLOCK_VALUES // X.shape[1])
    blocks = [X[start : start + step] for start in range(0, len(X), step)]
    mean: FloatArray = sum((rows.sum(axis=0) for rows in blocks), np.zeros(X.shape[1])) / len(X)
    squares = sum((((rows - mean) ** 2).sum(axis=0) for rows in blocks), np.zeros(X.shape[1]))
    return mean, np.sqrt(squares / (len(X) - ddof))
