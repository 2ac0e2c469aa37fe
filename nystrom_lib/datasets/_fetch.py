"""Fetching MiniBooNE: the only place that uses the network, and only when called."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import sys
import time
import zipfile
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .. import _validation as check
from .._extras import needed
from ._cache import cache_folder, sweep
from ._miniboone_file import FILE_NAME, SHA256, URL, cached_text, open_text

#: What is fetched may be this large, packed or not (it has 91 MB), and may take this many seconds in all.
MOST_BYTES, MOST_SECONDS = 512 * 2**20, 3600.0


class FetchError(RuntimeError):
    """The data could not be fetched; the cache is as it was."""


class _Capped(io.FileIO):
    """A file that takes only so much, in only so much time."""

    def __init__(self, path: Path, began: float) -> None:
        super().__init__(path, "w")
        self.began = began

    def write(self, data: Any) -> int:
        """Write all of it, or refuse."""
        if self.tell() + len(data) > MOST_BYTES:
            raise OSError(f"what arrives is larger than {MOST_BYTES:,} bytes, which the data are not")
        if time.monotonic() - self.began > MOST_SECONDS:
            raise OSError(f"the transfer has taken more than {MOST_SECONDS:,.0f} seconds")
        view = memoryview(data)
        while len(view):
            view = view[super().write(view) :]
        return len(data)


class _Unpacking:
    """A downloader for pooch: fetches an archive and hands on the text inside it."""

    def __init__(self, progress: bool, timeout: float) -> None:
        self.progress = progress
        self.timeout = timeout

    def __call__(self, url: str, output_file: str, _: Any) -> None:
        pooch = needed("pooch")
        archive = Path(output_file + ".zip")
        # A downloader of its own for each attempt: a progress bar cannot be started twice.
        download = pooch.HTTPDownloader(progressbar=self.progress, timeout=self.timeout)
        began = time.monotonic()
        try:
            with _Capped(archive, began) as arriving:
                download(url, arriving, None)
            with open_text(archive) as packed, _Capped(Path(output_file), began) as text:
                shutil.copyfileobj(packed, text, 2**20)
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            # pooch tries again after a ValueError.
            raise ValueError(f"the archive is incomplete or damaged ({error})") from error
        finally:
            archive.unlink(missing_ok=True)


def _sha256_of_file(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch_miniboone(
    *,
    url: str = URL,
    sha256: str = SHA256,
    retries: int = 4,
    timeout: float = 30.0,
    progress: bool | None = None,
) -> Path:
    """Fetch the MiniBooNE data from the UCI repository into the cache.

    What arrives is unpacked and checked beside the cached files, and takes its place among them only when
    its sha256 is right: an interrupted transfer leaves nothing behind, and a failed one is tried again.
    Where the right file is already in the cache, the network is not touched.

    Parameters
    ----------
    url : str
        The repository's zip archive, or the text itself.
    sha256 : str
        Of the text inside the archive.
    retries : int
        How often to try again, after 1, 2, 3, … seconds.
    timeout : float
        Seconds of silence after which a transfer counts as failed.
    progress : bool, optional
        Whether to show a progress bar; by default if standard error is a terminal.

    Returns
    -------
    pathlib.Path
        The text file in the cache, where `miniboone` finds it.

    Raises
    ------
    FetchError
        If every attempt failed.
    """
    check.whole("retries", retries, least=0)
    check.positive("timeout", timeout)
    target = cached_text()
    if target.is_file() and _sha256_of_file(target) == sha256:
        return target
    pooch = needed("pooch")
    shown = sys.stderr.isatty() if progress is None else progress
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sweep(folder)
        with TemporaryDirectory(prefix="fetch-", suffix=".part", dir=folder) as staging:
            store = pooch.create(
                path=staging,
                base_url="",
                registry={FILE_NAME: f"sha256:{sha256}"},
                urls={FILE_NAME: url},
                retry_if_failed=retries,
            )
            fetched = store.fetch(FILE_NAME, downloader=_Unpacking(shown, timeout))
            with open(fetched, "rb") as file:
                os.fsync(file.fileno())
            # Temporary files are private; what is in the cache may be shared like any other file.
            os.chmod(fetched, 0o644)
            os.replace(fetched, target)
    except (ValueError, OSError) as error:
        raise FetchError(
            f"MiniBooNE could not be fetched from {url} in {retries + 1} attempts: {error} "
            "(the file can also be brought by hand and named by NYSTROM_MINIBOONE)."
        ) from error
    return target
