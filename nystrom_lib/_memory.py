"""The available memory, so that arrays that cannot fit are refused with an error message."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

#: Limits of a container: control groups, versions 2 and 1.
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


@cache
def memory() -> int:
    """Bytes of memory of the machine or the container; no limit where it is unknown."""
    most = sys.maxsize
    with suppress(AttributeError, ValueError, OSError):  # Windows has no sysconf
        most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in _LIMITS:
        with suppress(OSError, ValueError):
            most = min(most, int(limit.read_text()))
    return most


def gigabytes(size: float) -> str:
    """A number of bytes as a text such as "1.5 GB"."""
    return f"{size / 1e9:.3g} GB"
