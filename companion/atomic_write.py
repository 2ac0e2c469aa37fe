"""Atomic file writes: a file is replaced in one step or left as it was."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def atomic_write(path: Path, write: Callable[[Path], object], *, sync: bool = True) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then rename it to ``path``.

    If that fails, ``path`` is unchanged and the temporary file is deleted. Its name begins with a dot and has the
    suffix of ``path``, by which some programs choose a format. With ``sync`` the content is on the disk before the file
    is renamed, so that even a crash of the machine leaves no empty file.
    """
    temporary = path.with_name(f".{uuid.uuid4().hex[:12]}.part{path.suffix}")
    try:
        write(temporary)
        if sync:
            with open(temporary, "rb") as file:
                os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, content: str) -> None:
    """Write a text in UTF-8 atomically."""
    atomic_write(path, lambda part: part.write_text(content, encoding="utf-8"))


def write_rows(path: Path, head: Mapping[str, Any], rows: Iterable[Sequence[Any]]) -> None:
    """Write a mapping and its ``rows`` as JSON atomically, a line for each row, so that versions can be compared."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(map(json.dumps, rows))
    write_text(path, f'{json.dumps(head)[:-1]}, "rows": [\n{lines}\n]}}\n')
