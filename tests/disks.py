"""Disks that are full and folders that cannot be written to, for whoever runs the tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def disk(folder: Path, options: str) -> Iterator[Path]:
    """A disk of memory at ``folder``, with options such as ``size=16k``; skips where it cannot be had."""
    folder.mkdir()
    try:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount here")
    if done.returncode:
        pytest.skip("only root may mount a disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@contextmanager
def read_only(folder: Path) -> Iterator[Path]:
    """An empty folder that cannot be written to. Permissions do not bind root, a read-only disk does."""
    if os.getuid() == 0:
        with disk(folder, "ro"):
            yield folder
        return
    folder.mkdir(mode=0o500)
    yield folder
    folder.chmod(0o700)
