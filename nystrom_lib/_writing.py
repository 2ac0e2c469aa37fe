"""Files that are there whole or not at all."""

from __future__ import annotations

import io
import os
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


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


def finished(paths: Iterable[Path]) -> list[Path]:
    """The files that are whole, in order: without those that :func:`whole` is filling just now, here or elsewhere."""
    return sorted(path for path in paths if not path.name.startswith("."))


def text(path: Path, content: str) -> None:
    """A text in UTF-8, whole."""
    whole(path, lambda part: part.write_text(content, encoding="utf-8"))


def array(path: Path, values: NDArray[Any]) -> None:
    """An array as .npy, whole. By way of memory: numpy itself does not say why a disk took only a part."""
    content = io.BytesIO()
    np.save(content, values, allow_pickle=False)
    whole(path, lambda part: part.write_bytes(content.getvalue()))
