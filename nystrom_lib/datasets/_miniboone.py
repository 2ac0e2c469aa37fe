"""MiniBooNE (paper §4.4): the real data where they are, a labelled stand-in where they are not."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from .. import _validation as check
from . import _miniboone_file, _standin
from ._cache import DamagedFileError, cached, is_stored
from ._dataset import Dataset, FloatArray
from ._packaged import LICENCE
from ._prepare import Prepared, check_ddof, prepare, scaling

CITATION = (
    "Roe, B. (2005). MiniBooNE particle identification [Dataset]. UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C5QC87."
)
#: What the file has in the place of a value that is missing. A few values of column 19 lie below it; only
#: if they count as missing too does one come to the 471 rows of the paper.
MISSING = -999.0
#: The outlier: one row has 16,000,900 in this column, whose median is 0.785.
OUTLIER_COLUMN = 19
OUTLIER_ABOVE = 1e6
NAMES = tuple(f"feature {j}" for j in range(_miniboone_file.COLUMNS))


def _whole(X: FloatArray) -> Prepared:
    def blocks() -> Iterator[FloatArray]:
        yield X

    return Prepared(shape=(X.shape[0], X.shape[1]), removed=(), blocks=blocks, unchanged=True)


def _parsed_key(digest: str) -> str:
    return f"miniboone-{digest[:16]}-parsed"


def _read(path: Path, expected: str | None) -> tuple[bytes, str]:
    """The text of the file and its sha256, which must be the expected one if any is."""
    text = _miniboone_file.read(path)
    digest = hashlib.sha256(text).hexdigest()
    if expected is None or digest == expected:
        return text, digest
    wrong = f"its sha256 is {digest}, not {expected}"
    if path == _miniboone_file.cached_text():
        raise DamagedFileError(f"The cache file {path} is damaged ({wrong}); fetch it again.")
    raise ValueError(
        f"{path} is not the expected {_miniboone_file.FILE_NAME}: {wrong}; "
        "use sha256=None to take it all the same."
    )


def _cleaned(X: FloatArray, what: str, standardise: bool, ddof: int) -> Prepared:
    complete = (X > MISSING).all(axis=1)
    ordinary = X[:, OUTLIER_COLUMN] < OUTLIER_ABOVE
    return prepare(
        X,
        NAMES,
        what=what,
        standardise=standardise,
        ddof=ddof,
        keep=complete & ordinary,
        removed=(
            (f"rows with missing values (any value at or below {MISSING:g})", int((~complete).sum())),
            (
                f"outlier: feature {OUTLIER_COLUMN} at or above {OUTLIER_ABOVE:,.0f}",
                int((complete & ~ordinary).sum()),
            ),
        ),
    )


def _real(path: Path, expected: str | None, clean: bool, standardise: bool, ddof: int) -> Dataset:
    # With the parsed matrix in the cache, the fetched text need not be read again, nor even be there.
    from_cache = path == _miniboone_file.cached_text() and expected is not None
    if from_cache and is_stored(_parsed_key(str(expected))):
        text, digest = b"", str(expected)
    else:
        text, digest = _read(path, expected)
    name = "MiniBooNE" if digest == _miniboone_file.SHA256 else "MiniBooNE (unverified file)"

    def parsed() -> FloatArray:
        key = _parsed_key(digest)
        return cached(key, lambda: _whole(_miniboone_file.parse(text, path))).X

    def prepared() -> Prepared:
        if clean:
            return _cleaned(parsed(), name, standardise, ddof)
        return prepare(parsed(), NAMES, what=name, standardise=standardise, ddof=ddof)

    rows = "clean" if clean else "all"
    scale = f"standardised{ddof}" if standardise else "raw"
    ready = cached(f"miniboone-{digest[:16]}-{rows}-{scale}", prepared, standardised=standardise)
    return Dataset(
        **ready._asdict(),
        name=name,
        stand_in=False,
        citation=CITATION,
        licence=LICENCE,
        columns=NAMES,
        source=f"{path.name}, sha256 {digest}; {scaling(standardise, ddof)}",
    )


def _stand_in(standardise: bool, ddof: int) -> Dataset:
    name = "MiniBooNE stand-in"
    prepared = prepare(_standin.draw(), NAMES, what=name, standardise=standardise, ddof=ddof)
    return Dataset(
        **prepared.collect()._asdict(),
        name=name,
        stand_in=True,
        citation=_standin.CITATION,
        licence="drawn on the spot, no licence needed",
        columns=tuple(f"stand-in {column}" for column in NAMES),
        source=f"numpy.random.default_rng, seed {_standin.SEED}; {scaling(standardise, ddof)}",
    )


def miniboone(
    path: str | os.PathLike[str] | None = None,
    *,
    stand_in: Literal["auto", "never", "always"] = "auto",
    sha256: str | None = _miniboone_file.SHA256,
    clean: bool = True,
    standardise: bool = True,
    ddof: int = 0,
) -> Dataset:
    """The MiniBooNE data, 129,592 events with 50 attributes, or a labelled stand-in.

    The data are looked for in this order: ``path``; the environment variable NYSTROM_MINIBOONE; the cache,
    where `fetch_miniboone` puts them. If they are nowhere, artificial data of the same shape take their
    place, and say so in ``name``, ``stand_in``, ``citation`` and ``columns``. The network is never used.

    The text is parsed once; afterwards the matrix is mapped into memory from the cache and checked.

    Parameters
    ----------
    path : path, optional
        MiniBooNE_PID.txt, the repository's zip archive of it, or a folder that holds one of them.
    stand_in : {"auto", "never", "always"}
        Whether to fall back on the stand-in, to fail instead, or to use it in any case.
    sha256 : str or None
        What the text must hash to. None takes any file of the right layout, under the name
        "MiniBooNE (unverified file)".
    clean : bool
        Whether to remove the 471 rows with missing values and the one clear outlier.
    standardise : bool
        Whether to rescale each column, after the cleaning, to zero mean and unit variance.
    ddof : {0, 1}
        The variance has the divisor N − ddof. The paper does not say which; the difference is negligible.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from nystrom_lib.datasets import miniboone
    >>> data = miniboone(stand_in="always")
    >>> data.name, data.stand_in, data.X.shape
    ('MiniBooNE stand-in', True, (129592, 50))
    """
    check_ddof(ddof)
    check.choice("stand_in", stand_in, ("auto", "never", "always"))
    if stand_in == "always":
        if path is not None:
            raise ValueError(f"path is {os.fspath(path)!r}; with stand_in='always' it must be left out.")
        return _stand_in(standardise, ddof)
    file = _miniboone_file.locate(path)
    if file is None:
        fetched = _miniboone_file.cached_text()
        if fetched.is_file() or (sha256 is not None and is_stored(_parsed_key(sha256))):
            file = fetched
    if file is not None:
        return _real(file, sha256, clean, standardise, ddof)
    if stand_in == "never":
        raise FileNotFoundError(
            "MiniBooNE is not here: name the file by path or NYSTROM_MINIBOONE, fetch it with "
            "fetch_miniboone(), or allow stand_in='auto'."
        )
    return _stand_in(standardise, ddof)
