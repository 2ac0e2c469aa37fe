"""Disks of memory: full ones, and ones that cannot be written to, whoever asks."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def disk(folder: Path, options: str) -> Iterator[Path]:
    """A disk at ``folder``, with options such as ``size=16k`` or ``ro``; skips where it cannot be had."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("mounting a disk needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)
