"""Abalone (paper §4.2) and MAGIC (paper §4.3): the repository's files travel with the package."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from ._cache import DamagedFileError
from ._dataset import Dataset, FloatArray, Removed
from ._prepare import check_ddof, prepare, scaling

LICENCE = "CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/)"

ABALONE_SHA256 = "de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f"
ABALONE_CITATION = (
    "Nash, W., Sellers, T., Talbot, S., Cawthorn, A., & Ford, W. (1994). Abalone [Dataset]. "
    "UCI Machine Learning Repository. https://doi.org/10.24432/C55C7W."
)
MEASUREMENTS = (
    "length",
    "diameter",
    "height",
    "whole weight",
    "shucked weight",
    "viscera weight",
    "shell weight",
)
SEX = {"F": 1.0, "I": 2.0, "M": 3.0}

MAGIC_SHA256 = "e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a"
MAGIC_CITATION = (
    "Bock, R. (2004). MAGIC Gamma Telescope [Dataset]. UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C52C8B."
)
MAGIC_COLUMNS = (
    "fLength",
    "fWidth",
    "fSize",
    "fConc",
    "fConc1",
    "fAsym",
    "fM3Long",
    "fM3Trans",
    "fAlpha",
    "fDist",
)


def _folder() -> Traversable:
    return files(__package__) / "files"


def _fields(name: str, sha256: str) -> list[list[str]]:
    """The fields of each line of a packaged file that is exactly the repository's."""
    path = _folder() / name
    try:
        raw = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise DamagedFileError(
            f"The data file {path} is missing or damaged; reinstall the package."
        ) from error
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise DamagedFileError(f"The data file {path} is damaged (wrong sha256); reinstall the package.")
    return [line.split(",") for line in raw.decode("ascii").splitlines()]


def _dataset(
    X: FloatArray,
    keep: NDArray[np.bool_],
    reason: str,
    *,
    name: str,
    columns: tuple[str, ...],
    citation: str,
    origin: str,
    clean: bool,
    standardise: bool,
    ddof: int,
) -> Dataset:
    """Leave out rows if asked to, standardise if asked to, and add the provenance."""
    check_ddof(ddof)
    removed: Removed = ((reason, int((~keep).sum())),) if clean else ()
    prepared = prepare(
        X,
        columns,
        what=name,
        standardise=standardise,
        ddof=ddof,
        keep=keep if clean else None,
        removed=removed,
    )
    return Dataset(
        **prepared.collect()._asdict(),
        name=name,
        stand_in=False,
        citation=citation,
        licence=LICENCE,
        columns=columns,
        source=f"{origin}; {scaling(standardise, ddof)}",
    )


def abalone(
    attributes: Literal["sex", "rings"] = "sex",
    *,
    clean: bool = True,
    standardise: bool = True,
    ddof: int = 0,
) -> Dataset:
    """The Abalone data: 4,175 molluscs with eight attributes.

    The paper speaks of the eight attributes, without naming them. The repository lists sex and seven
    measurements as attributes and the number of rings as the target.

    Parameters
    ----------
    attributes : {"sex", "rings"}
        The eighth attribute beside the seven measurements. "sex" (default) comes first, as in the file,
        coded F, I, M = 1, 2, 3; "rings" comes last.
    clean : bool
        Whether to remove the two clear outliers, the two molluscs higher than 0.5 (0.515 and 1.130). The
        file also has two of height 0; they are not outliers of any column and stay.
    standardise : bool
        Whether to rescale each column, after the cleaning, to zero mean and unit variance.
    ddof : {0, 1}
        The variance has the divisor N − ddof. The paper does not say which; the difference is negligible.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from nystrom_lib.datasets import abalone
    >>> abalone().removed
    (('outliers: height above 0.5', 2),)
    >>> abalone("rings").columns[-1]
    'rings'
    """
    check.choice("attributes", attributes, ("sex", "rings"))
    fields = _fields("abalone.data.gz", ABALONE_SHA256)
    measured = np.array([row[1:8] for row in fields], dtype=np.float64)
    if attributes == "sex":
        extra = np.array([[SEX[row[0]]] for row in fields])
        X, columns = np.hstack([extra, measured]), ("sex", *MEASUREMENTS)
    else:
        extra = np.array([[float(row[8])] for row in fields])
        X, columns = np.hstack([measured, extra]), (*MEASUREMENTS, "rings")
    return _dataset(
        X,
        measured[:, MEASUREMENTS.index("height")] <= 0.5,
        "outliers: height above 0.5",
        name="Abalone" if attributes == "sex" else "Abalone (rings for sex)",
        columns=columns,
        citation=ABALONE_CITATION,
        origin="abalone.data, inside the package",
        clean=clean,
        standardise=standardise,
        ddof=ddof,
    )


def magic(*, clean: bool = True, standardise: bool = True, ddof: int = 0) -> Dataset:
    """The MAGIC Gamma Telescope data: 18,905 events with ten attributes.

    Parameters
    ----------
    clean : bool
        Whether to remove the 115 repeated events; of equal ones the first stays.
    standardise : bool
        Whether to rescale each column, after the cleaning, to zero mean and unit variance.
    ddof : {0, 1}
        The variance has the divisor N − ddof. The paper does not say which; the difference is negligible.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from nystrom_lib.datasets import magic
    >>> magic().removed
    (('repeats of an earlier row', 115),)
    """
    fields = _fields("magic04.data.gz", MAGIC_SHA256)
    X = np.array([row[:10] for row in fields], dtype=np.float64)
    _, first = np.unique(X, axis=0, return_index=True)
    keep = np.zeros(len(X), dtype=bool)
    keep[first] = True
    return _dataset(
        X,
        keep,
        "repeats of an earlier row",
        name="MAGIC",
        columns=MAGIC_COLUMNS,
        citation=MAGIC_CITATION,
        origin="magic04.data, inside the package",
        clean=clean,
        standardise=standardise,
        ddof=ddof,
    )
