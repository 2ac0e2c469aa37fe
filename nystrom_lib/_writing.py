"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path


def whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a file beside ``path``, then put it in the place of ``path`` in one step.

    If it cannot be filled, what was at ``path`` is as it was, and nothing is left beside it. The file that is filled
    has the ending of ``path``, by which some programs choose a format.
    """
    part = path.with_name(f".{uuid.uuid4().hex[:12]}.part{path.suffix}")
    try:
        write(part)
        with open(part, "rb") as file:
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
