"""A folder of prepared matrices: each written whole or not at all, mapped into memory, checked when read."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .._core.compile import user_cache
from .._writing import whole
from ._dataset import frozen, sha256_of
from ._prepare import Prepared, Rows

#: The environment variable that names the cache folder.
CACHE_VARIABLE = "NYSTROM_CACHE"
#: Part of every file's name: raise it whenever the rules of preparation change.
FORMAT = 1
#: What a killed process leaves behind is swept away after this many seconds.
STALE_AFTER = 24 * 3600.0


class DamagedFileError(RuntimeError):
    """A file that this package wrote, or brought with it, is not what it was."""


def cache_folder() -> Path:
    """The folder for fetched and prepared data; it need not exist.

    The environment variable NYSTROM_CACHE names it; otherwise it is the platform's place for caches.

    Returns
    -------
    Path
        The folder.
    """
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    return user_cache()


def sweep(folder: Path) -> None:
    """Delete what processes killed a day ago or longer left in ``folder``."""
    for path in folder.glob("*.part*"):
        try:
            if time.time() - path.stat().st_mtime < STALE_AFTER:
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
        except OSError:
            continue  # another process was quicker, or the folder is not ours to tidy


def _files(key: str) -> tuple[Path, Path]:
    stem = f"{key}-v{FORMAT}"
    return cache_folder() / f"{stem}.npy", cache_folder() / f"{stem}.json"


def is_stored(key: str) -> bool:
    """Whether a matrix of this name is in the cache, damaged or not."""
    return all(path.is_file() for path in _files(key))


def load(key: str) -> Rows:
    """Stored rows as a read-only memory map.

    Raises
    ------
    DamagedFileError
        If one of its two files is not what was written.
    """
    matrix, record = _files(key)
    advice = "delete it to have it made again"
    try:
        written = json.loads(record.read_text(encoding="utf-8"))
        expected, shape = str(written["sha256"]), tuple(written["shape"])
        removed = tuple((str(reason), int(count)) for reason, count in written["removed"])
        mean, scale = (
            frozen(np.array(written[name], dtype=np.float64)) if written.get(name) is not None else None
            for name in ("mean", "scale")
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedFileError(f"The cache file {record} is damaged; {advice}.") from error
    try:
        X = np.load(matrix, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise DamagedFileError(f"The cache file {matrix} is damaged; {advice}.") from error
    if X.shape != shape or X.dtype != np.dtype("<f8") or sha256_of(X) != expected:
        raise DamagedFileError(
            f"The cache file {matrix} is damaged (its sha256 is not the recorded one); {advice}."
        )
    return Rows(frozen(X), expected, removed, mean, scale)


def _store(key: str, prepared: Prepared) -> None:
    matrix, record = _files(key)
    matrix.parent.mkdir(parents=True, exist_ok=True)
    sweep(matrix.parent)
    digest = hashlib.sha256()

    def write_matrix(part: Path) -> None:
        header = {"descr": "<f8", "fortran_order": False, "shape": prepared.shape}
        # Written in order rather than through a map: a full disk is then an error, not a killed process.
        with open(part, "xb") as file:
            np.lib.format.write_array_header_1_0(file, header)
            for block in prepared.blocks():
                data = np.ascontiguousarray(block, dtype="<f8").data
                digest.update(data)
                file.write(data)

    def write_record(part: Path) -> None:
        written: dict[str, Any] = {
            "sha256": digest.hexdigest(),
            "shape": prepared.shape,
            "removed": prepared.removed,
        }
        if prepared.mean is not None and prepared.scale is not None:
            written |= {"mean": prepared.mean.tolist(), "scale": prepared.scale.tolist()}
        part.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")

    # The record last: without it the matrix does not count.
    whole(matrix, write_matrix)
    whole(record, write_record)


def cached(key: str, make: Callable[[], Prepared], *, standardised: bool = False) -> Rows:
    """The rows ``key`` from the cache, where ``make`` puts them if they are not yet there.

    Standardised rows that were stored without their mean and scale, as earlier versions did, are made again.
    Where the cache cannot be written, a warning says so and the rows are held in memory.
    """
    rows = load(key) if is_stored(key) else None
    if rows is None or (standardised and rows.mean is None):
        prepared = make()
        try:
            _store(key, prepared)
        except OSError as error:
            warnings.warn(
                f"The cache folder {cache_folder()} cannot be written ({error}), so the data are held in "
                f"memory; set {CACHE_VARIABLE} to a folder that can.",
                stacklevel=3,
            )
            return prepared.collect()
        rows = load(key)
    return rows
