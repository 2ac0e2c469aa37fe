"""Abalone (paper §4.2) and MAGIC (paper §4.3): the repository's files are part of the package."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .. import _validation as check
from ._dataset import DamagedFileError, Dataset, FloatArray, prepare

FILES = Path(__file__).with_name("files")
LICENCE = "CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/)"

ABALONE_SHA256 = "de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f"
ABALONE_CITATION = (
    "Nash, W., Sellers, T., Talbot, S., Cawthorn, A., & Ford, W. (1994). Abalone [Dataset]. "
    "UCI Machine Learning Repository. https://doi.org/10.24432/C55C7W."
)
MEASUREMENTS = (
    "length", "diameter", "height", "whole weight", "shucked weight", "viscera weight", "shell weight",
)  # fmt: skip
SEX = {"F": 1.0, "I": 2.0, "M": 3.0}

MAGIC_SHA256 = "e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a"
MAGIC_CITATION = (
    "Bock, R. (2004). MAGIC Gamma Telescope [Dataset]. UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C52C8B."
)
MAGIC_COLUMNS = (
    "fLength", "fWidth", "fSize", "fConc", "fConc1", "fAsym", "fM3Long", "fM3Trans", "fAlpha", "fDist",
)  # fmt: skip


def _load(name: str, sha256: str, **how: Any) -> FloatArray:
    """The numbers in a packaged file, which must be the repository's; ``how`` is for ``numpy.loadtxt``."""
    path = FILES / name
    try:
        raw = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error):
        raw = b""
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise DamagedFileError(f"The data file {path} is missing or damaged; reinstall the package.")
    return np.loadtxt(io.StringIO(raw.decode("ascii")), delimiter=",", **how)


def abalone(
    attributes: Literal["sex", "rings"] = "sex", *, clean: bool = True, standardise: bool = True, ddof: int = 0
) -> Dataset:
    """The Abalone data: 4,175 molluscs with eight attributes.

    Parameters
    ----------
    attributes
        The eighth attribute beside the seven measurements, which the paper does not name: ``"sex"`` comes first, as in
        the file, coded F, I, M = 1, 2, 3; ``"rings"`` (the repository's target) comes last.
    clean
        Whether to remove the two clear outliers, the molluscs higher than 0.5 (0.515 and 1.130).
    standardise
        Whether to rescale each column, after the cleaning, to zero mean and unit variance.
    ddof
        The variance has the divisor N − ddof, with 0 or 1. The paper does not say which.

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
    columns: tuple[str, ...] = ("sex", *MEASUREMENTS, "rings")
    X = _load("abalone.data.gz", ABALONE_SHA256, converters={0: SEX.__getitem__})
    keep = X[:, columns.index("height")] <= 0.5
    part = slice(0, 8) if attributes == "sex" else slice(1, 9)
    return prepare(
        np.ascontiguousarray(X[keep if clean else slice(None), part]), columns=columns[part],
        name="Abalone" if attributes == "sex" else "Abalone (rings for sex)", source="abalone.data, inside the package",
        citation=ABALONE_CITATION, licence=LICENCE, standardise=standardise, ddof=ddof,
        removed=(("outliers: height above 0.5", int((~keep).sum())),) if clean else (),
    )  # fmt: skip


def magic(*, clean: bool = True, standardise: bool = True, ddof: int = 0) -> Dataset:
    """The MAGIC Gamma Telescope data: 18,905 events with ten attributes.

    Parameters
    ----------
    clean
        Whether to remove the 115 repeated events; of equal ones the first is kept.
    standardise, ddof
        As for :func:`abalone`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from nystrom_lib.datasets import magic
    >>> magic().removed
    (('repeats of an earlier row', 115),)
    """
    X = _load("magic04.data.gz", MAGIC_SHA256, usecols=range(10))
    first = np.sort(np.unique(X, axis=0, return_index=True)[1])
    return prepare(
        X[first] if clean else X, columns=MAGIC_COLUMNS, name="MAGIC", source="magic04.data, inside the package",
        citation=MAGIC_CITATION, licence=LICENCE, standardise=standardise, ddof=ddof,
        removed=(("repeats of an earlier row", len(X) - len(first)),) if clean else (),
    )  # fmt: skip
