"""The folders that runs leave behind: where a new one goes, what an old one holds."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from ..errors import ConfigurationError

#: Where runs go unless they are told to go elsewhere: below the folder one is in.
RUNS = Path("runs")


def next_folder(name: str) -> Path:
    """Where a run goes that is not told where: the next free number below ``runs``, taken by making the folder."""
    number = max((int(path.name.rpartition("-")[2]) for path in _numbered(name)), default=0)
    while True:
        number += 1
        folder = RUNS / f"{name}-{number:03d}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:  # another run began just now
            continue
        except OSError as error:
            reason = error.strerror or error
            raise ConfigurationError("--out", f"is not given, and {folder} cannot be made: {reason}.") from None
        return folder


def check_writable(option: str, folder: Path) -> None:
    """Refuse a folder in which nothing can be written, before the work that is to go there."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK):
        raise ConfigurationError(option, f"is {str(folder)!r}, and {str(place)!r} cannot be written to.")


def stopped_folder(name: str, parameters: Mapping[str, Any]) -> Path:
    """The latest folder below ``runs`` of a run with these parameters that did not come to its end."""
    from ..notebook.execute import read_record

    asked = (name, json.loads(json.dumps(dict(parameters))))
    for folder in reversed(_numbered(name)):
        record = read_record(folder)
        if record and (record["chapter"], record["parameters"]) == asked and record.get("status") != "finished":
            return folder
    raise ConfigurationError(
        "--resume", f"finds no unfinished run of {name} with these parameters below {str(RUNS)!r}; name its --out."
    )


def _numbered(name: str) -> list[Path]:
    pattern = re.compile(rf"{re.escape(name)}-\d+")
    return sorted(path for path in RUNS.glob(f"{name}-*") if pattern.fullmatch(path.name))


def repetitions_stored(folder: Path) -> int:
    """How many finished repetitions the stores of a run hold."""
    return sum(_count(path) for path in folder.rglob("*.sqlite"))


def _count(path: Path) -> int:
    try:
        # Not read-only: what a killed process was in the middle of must be rolled back before anything can be read.
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=5.0)) as connection:
            (count,) = connection.execute("SELECT count(*) FROM repetitions").fetchone()
    except sqlite3.Error:
        return 0
    return int(count)
