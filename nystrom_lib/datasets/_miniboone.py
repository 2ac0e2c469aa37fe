"""MiniBooNE (paper §4.4): the data, a labelled stand-in where they are absent, and a public sample of real rows."""

from __future__ import annotations

import hashlib
import io
import os
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .. import _validation as check
from .._extras import needed
from ._dataset import DamagedFileError, Dataset, FloatArray, Removed, cache_folder, prepare
from ._packaged import LICENCE

FILE_NAME = "MiniBooNE_PID.txt"
#: Of the text file. The archive around it may be packed anew; its contents may not change.
SHA256 = "577ab8bcb612199a0386cef1725058295df9a18b778a003a6a4349bbd51abd48"
URL = "https://archive.ics.uci.edu/static/public/199/miniboone+particle+identification.zip"
#: The environment variable that names the file.
VARIABLE = "NYSTROM_MINIBOONE"
#: How often a failed transfer is tried again.
RETRIES = 4

SAMPLE_NAME = "miniboone_sample.csv"
SAMPLE_SHA256 = "9baba7a4a7ea8e16768bdcc56dcf3096f58bc59846fad8cf9ea695a279ecfc66"
SAMPLE_URL = "https://raw.githubusercontent.com/c4pub/predirank/4a1844e/data/dset-miniboone-reduced.csv"

CITATION = (
    "Roe, B. (2005). MiniBooNE particle identification [Dataset]. UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C5QC87."
)
NAMES = tuple(f"feature {j}" for j in range(50))
#: The code of a missing value in the file. A few values of column 19 are below it; only if they count as missing, too,
#: are there the 471 rows of the paper.
MISSING = -999.0
#: One row has 16,000,900 in column 19, whose median is 0.785: the outlier.
OUTLIER_COLUMN, OUTLIER_ABOVE = 19, 1e6

STAND_IN_ROWS = 129_592
STAND_IN_SEED = 20_050_199
STAND_IN_CITATION = (
    "Stand-in, not the MiniBooNE data: artificial points with the same number of rows and columns, drawn "
    "from a fixed seed. No statement about MiniBooNE can rest on them."
)


class FetchError(RuntimeError):
    """The data could not be fetched; the cache is unchanged."""


def miniboone(
    path: str | os.PathLike[str] | None = None,
    *,
    stand_in: Literal["auto", "never", "always"] = "auto",
    sha256: str | None = SHA256,
    clean: bool = True,
    standardise: bool = True,
    ddof: int = 0,
) -> Dataset:
    """The MiniBooNE data, 129,592 events with 50 attributes, or a labelled stand-in.

    Parameters
    ----------
    path
        MiniBooNE_PID.txt, or the repository's zip archive of it. By default the file named by the environment variable
        NYSTROM_MINIBOONE, or that in the cache (`fetch_miniboone`). The network is never used.
    stand_in
        Where there is no file: ``"auto"`` gives artificial data of the same shape, and ``name``, ``stand_in``,
        ``citation`` and ``columns`` say so; ``"never"`` raises an error. ``"always"`` gives them in any case.
    sha256
        The hash of the text. None allows any file of the right layout, under the name "MiniBooNE (unverified file)".
    clean
        Whether to remove the 471 rows with missing values and the one clear outlier.
    standardise, ddof
        As for :func:`abalone`.

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
    check.choice("stand_in", stand_in, ("auto", "never", "always"))
    if stand_in == "always" and path is not None:
        raise ValueError(f"path is {os.fspath(path)!r}; with stand_in='always' it must be left out.")
    file = None if stand_in == "always" else _locate(path)
    if file is None and stand_in == "never":
        raise FileNotFoundError(
            f"MiniBooNE is not here: name the file by path or {VARIABLE}, fetch it with fetch_miniboone(), or allow "
            "stand_in='auto'."
        )
    if file is None:
        return prepare(
            _draw_stand_in(), columns=tuple(f"stand-in {column}" for column in NAMES), name="MiniBooNE stand-in",
            source=f"numpy.random.default_rng, seed {STAND_IN_SEED}", citation=STAND_IN_CITATION, stand_in=True,
            licence="drawn on the spot, no licence needed", standardise=standardise, ddof=ddof,
        )  # fmt: skip
    text, digest = _read(file, sha256)
    X = _parse(text, file)
    removed: Removed = ()
    if clean:
        complete, ordinary = (X > MISSING).all(axis=1), X[:, OUTLIER_COLUMN] < OUTLIER_ABOVE
        removed = (
            (f"rows with missing values (any value at or below {MISSING:g})", int((~complete).sum())),
            (f"outlier: feature {OUTLIER_COLUMN} at or above {OUTLIER_ABOVE:,.0f}", int((complete & ~ordinary).sum())),
        )
        X = X[complete & ordinary]
    return prepare(
        X, columns=NAMES, name="MiniBooNE" if digest == SHA256 else "MiniBooNE (unverified file)", removed=removed,
        source=f"{file.name}, sha256 {digest}", citation=CITATION, licence=LICENCE, standardise=standardise, ddof=ddof,
    )  # fmt: skip


def miniboone_sample(path: str | os.PathLike[str] | None = None, *, standardise: bool = True, ddof: int = 0) -> Dataset:
    """A public sample of MiniBooNE: 5,027 real rows, drawn uniformly, with all 50 attributes.

    The file has 5,044 rows, with values standardised over the whole data and rounded to six digits; 17 of them have no
    values and are removed. Without ``path`` the file is taken from the cache, and fetched from GitHub if it is not
    there, which needs pooch.

    Parameters
    ----------
    path
        The file, where it was downloaded by hand. Its sha256 is checked.
    standardise, ddof
        As for :func:`abalone`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from nystrom_lib.datasets import miniboone_sample
    >>> data = miniboone_sample()                                                # doctest: +SKIP
    >>> data.X.shape                                                             # doctest: +SKIP
    (5027, 50)
    """
    file = _fetch(SAMPLE_URL, SAMPLE_NAME, SAMPLE_SHA256) if path is None else Path(os.path.expanduser(path))
    if not file.is_file():
        raise FileNotFoundError(f"path names {str(file)!r}, which is not a file.")
    text, digest = _read(file, SAMPLE_SHA256)
    X = np.loadtxt(io.StringIO(text.decode("ascii")), delimiter=",", skiprows=1, usecols=range(50))
    empty = (X == X.min(axis=0)).all(axis=1)  # the standardised code of a missing value is the minimum of each column
    return prepare(
        X[~empty], columns=NAMES, name="MiniBooNE sample", source=f"{file.name}, sha256 {digest}", citation=CITATION,
        licence=LICENCE, standardise=standardise, ddof=ddof, removed=(("rows with missing values", int(empty.sum())),),
    )  # fmt: skip


def fetch_miniboone(*, url: str = URL, sha256: str = SHA256) -> Path:
    """Fetch the MiniBooNE data from the UCI repository into the cache.

    The text is unpacked and its sha256 checked before it is moved into the cache (an atomic write). A failed transfer
    is tried again; if every attempt failed, :class:`FetchError` is raised. If the right file is in the cache, the
    network is not used. Needs pooch.

    Parameters
    ----------
    url
        The repository's zip archive, or the text itself.
    sha256
        The hash of the text inside the archive.

    Returns
    -------
    pathlib.Path
        The text file in the cache, where `miniboone` finds it.

    Examples
    --------
    >>> from nystrom_lib.datasets import fetch_miniboone
    >>> fetch_miniboone().name                                                   # doctest: +SKIP
    'MiniBooNE_PID.txt'
    """
    return _fetch(url, FILE_NAME, sha256)


def _fetch(url: str, name: str, sha256: str) -> Path:
    """A file of this hash in the cache, downloaded if it is not there."""
    store = needed("pooch").create(
        path=cache_folder(), base_url="", registry={name: f"sha256:{sha256}"}, urls={name: url}, retry_if_failed=RETRIES
    )
    try:
        fetched = Path(store.fetch(name, downloader=_download))
        fetched.chmod(0o644)  # pooch's temporary files are private
    except (ValueError, OSError) as error:
        raise FetchError(
            f"{name} could not be fetched from {url} in {RETRIES + 1} attempts: {error} (a file downloaded by hand can "
            "be given as path)."
        ) from error
    return fetched


def _download(url: str, output_file: str, _: Any) -> None:
    """Download an archive, or the file itself, and unpack it; pooch tries again after a ValueError."""
    archive = Path(f"{output_file}.zip")
    try:
        needed("pooch").HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=30.0)(url, str(archive), None)
        Path(output_file).write_bytes(_unpacked(archive))
    finally:
        archive.unlink(missing_ok=True)


def _locate(path: str | os.PathLike[str] | None) -> Path | None:
    """The file named by the argument or by the environment, or in the cache. A named file must exist."""
    given = path or os.environ.get(VARIABLE)
    file = Path(os.path.expanduser(given)) if given else cache_folder() / FILE_NAME
    if given and not file.is_file():
        called = "path" if path else f"the environment variable {VARIABLE}"
        raise FileNotFoundError(f"{called} names {str(file)!r}; it must be {FILE_NAME} or the zip archive of it.")
    return file if file.is_file() else None


def _unpacked(path: Path) -> bytes:
    """The text, also inside the repository's archive."""
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.read(FILE_NAME)
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ValueError(f"{path} is an archive without {FILE_NAME}, or it is damaged: {error}.") from error


def _read(path: Path, expected: str | None) -> tuple[bytes, str]:
    """The text of the file and its sha256, which must be the expected one if there is one."""
    text = _unpacked(path)
    digest = hashlib.sha256(text).hexdigest()
    if expected not in (None, digest):
        option = ", or use sha256=None to take it all the same" if expected == SHA256 else ""
        raise DamagedFileError(
            f"{path} is not the expected file: its sha256 is {digest}, not {expected}; fetch it again{option}."
        )
    return text, digest


def _parse(text: bytes, path: Path) -> FloatArray:
    """The rows of the text. Its first line has the numbers of signal and of background events; 50 numbers a line."""
    try:
        signal, background = (int(count) for count in text.partition(b"\n")[0].split())
        X = np.loadtxt(io.BytesIO(text), skiprows=1, ndmin=2, comments=None)
        if X.shape != (signal + background, len(NAMES)):
            raise ValueError(f"it has {len(X):,} rows of {X.shape[1]} numbers, not {signal + background:,} of 50")
    except ValueError as error:
        raise ValueError(f"{path} is not laid out as {FILE_NAME}: {error}.") from error
    return X


def _draw_stand_in() -> FloatArray:
    """129,592 points with 50 features: two classes that overlap, six common factors, skewed and heavy-tailed features.

    Deterministic on every machine: only additions, products, quotients and square roots act on the random numbers.
    """
    rng = np.random.default_rng(STAND_IN_SEED)
    shape = (STAND_IN_ROWS, len(NAMES))
    strength = np.array([1.6, 1.2, 0.9, 0.7, 0.5, 0.4])
    loadings = rng.standard_normal((len(strength), shape[1])) * strength[:, None]
    shift = 0.8 * rng.standard_normal(shape[1])
    skew = 0.1 * rng.standard_normal(shape[1])
    cubic = 0.014 * rng.random(shape[1])
    first = rng.random(shape[0]) < 0.28  # about the share of the signal events in MiniBooNE
    factors = rng.standard_normal((shape[0], len(strength)))
    X = rng.standard_normal(shape)
    # Divided by the fourth root of a uniform number: the tails of Student's t with four degrees of freedom.
    X /= np.sqrt(np.sqrt(1.0 - rng.random(shape)))
    X *= 0.7
    for k in range(len(strength)):
        X += factors[:, k, None] * loadings[k]
    X[first] += shift
    return X + X * X * (skew + cubic * X)
