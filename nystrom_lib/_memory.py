"""How much memory there is, so that what cannot fit is refused in a sentence and not by the operating system."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

#: What a container may use, in the two ways Linux has of saying so.
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


@cache
def memory() -> int:
    """Bytes of memory that the machine has, or the container we are in; no limit where nobody says."""
    most = sys.maxsize
    with suppress(AttributeError, ValueError, OSError):  # Windows has no sysconf
        most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in _LIMITS:
        with suppress(OSError, ValueError):
            most = min(most, int(limit.read_text()))
    return most


def gigabytes(size: float) -> str:
    """A size in words.

    Examples
    --------
    >>> gigabytes(2.56e11), gigabytes(1.5e9)
    ('256 GB', '1.5 GB')
    """
    return f"{size / 1e9:.3g} GB"
