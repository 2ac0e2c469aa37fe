"""The repository's file MiniBooNE_PID.txt: where it may be, and how it is read."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from pathlib import Path
from typing import IO

import numpy as np

from ._cache import cache_folder
from ._dataset import FloatArray

FILE_NAME = "MiniBooNE_PID.txt"
#: Of the text file. The archive around it may be packed anew; its contents may not change.
SHA256 = "577ab8bcb612199a0386cef1725058295df9a18b778a003a6a4349bbd51abd48"
URL = "https://archive.ics.uci.edu/static/public/199/miniboone+particle+identification.zip"
#: The environment variable that names a file or folder.
VARIABLE = "NYSTROM_MINIBOONE"
COLUMNS = 50


def cached_text() -> Path:
    """Where `fetch_miniboone` puts the file."""
    return cache_folder() / FILE_NAME


def _in_folder(folder: Path) -> Path | None:
    """The text, or else an archive that holds it, from a folder."""
    if (folder / FILE_NAME).is_file():
        return folder / FILE_NAME
    archives = (path for path in sorted(folder.glob("*.zip")) if "miniboone" in path.name.lower())
    return next(archives, None)


def locate(path: str | os.PathLike[str] | None) -> Path | None:
    """The file named by the argument or by the environment, or None if neither names any.

    Raises
    ------
    FileNotFoundError
        If one is named that does not exist: other data in its place would be a surprise.
    """
    given, named = path, "path"
    if given is None:
        given, named = os.environ.get(VARIABLE) or None, f"the environment variable {VARIABLE}"
    if given is None:
        return None
    place = Path(given).expanduser()
    file = _in_folder(place) if place.is_dir() else place
    if file is None or not file.is_file():
        raise FileNotFoundError(
            f"{named} names {str(place)!r}; allowed are {FILE_NAME}, the repository's zip archive of it, "
            "or a folder that holds one of them."
        )
    return file


def open_text(path: Path) -> IO[bytes]:
    """Open the text, also inside the repository's archive.

    Raises
    ------
    ValueError
        If the file is an archive that cannot be read, or holds no such text.
    """
    if not zipfile.is_zipfile(path):
        return open(path, "rb")
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            if member.rpartition("/")[2].lower() == FILE_NAME.lower():
                return archive.open(member)
    raise ValueError(f"{path} is an archive without {FILE_NAME}.")


def read(path: Path) -> bytes:
    """The text of the file."""
    try:
        with open_text(path) as file:
            return file.read()
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ValueError(f"{path} is an archive that cannot be unpacked: {error}.") from error


def parse(text: bytes, path: Path) -> FloatArray:
    """The rows of the text: first all signal events, then all background events.

    The first line holds the two counts. Each other line holds 50 numbers in Fortran's E14.6 layout, which
    always leaves a blank between two of them.
    """
    wrong = f"{path} is not laid out as {FILE_NAME}"
    header, _, body = text.partition(b"\n")
    try:
        signal, background = (int(count) for count in header.split())
    except ValueError as error:
        raise ValueError(f"{wrong}: its first line is {header[:40]!r}; it must hold two counts.") from error
    try:
        X = np.loadtxt(io.TextIOWrapper(io.BytesIO(body), encoding="ascii"), ndmin=2, comments=None)
    except ValueError as error:
        raise ValueError(f"{wrong}: {error}.") from error
    if X.shape != (signal + background, COLUMNS):
        raise ValueError(
            f"{wrong}: it has {X.shape[0]:,} rows of {X.shape[1]} numbers, and its first line announces "
            f"{signal + background:,} of {COLUMNS}."
        )
    return X
