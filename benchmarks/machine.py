"""Where the figures come from: processor, libraries, versions, commit; and the memory of this process."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import scipy.linalg.cython_blas  # noqa: F401  (loaded, so that its BLAS is found)
from threadpoolctl import threadpool_info

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("numpy", "scipy", "numba", "llvmlite")


def processor() -> str:
    """The model of the processor, as it calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def blas() -> str:
    """The BLAS of NumPy and that of SciPy, which numba calls, with the kernels chosen for this processor."""
    found = [
        f"{library['internal_api']} {library['version']} ({library.get('architecture', 'unknown')})"
        for library in threadpool_info()
        if library["user_api"] == "blas"
    ]
    return ", ".join(sorted(set(found))) or "unknown"


def commit() -> str:
    """The commit, marked where the checkout differs from it."""
    try:
        head = _git("rev-parse", "--short=12", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + (" with uncommitted changes" if changed else "")


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def busy(seconds: float = 2.0) -> float:
    """How many cores other processes keep busy while this one sleeps: a load average includes what has ended."""
    try:
        before = _busy_ticks()
        time.sleep(seconds)
        return (_busy_ticks() - before) / os.sysconf("SC_CLK_TCK") / seconds
    except (OSError, ValueError):
        return os.getloadavg()[0]


def _busy_ticks() -> int:
    """Clock ticks that all cores together have not been idle."""
    line = Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0]
    user, nice, system, _, _, *rest = map(int, line.split()[1:9])
    return user + nice + system + sum(rest)


def peak_bytes() -> float:
    """The largest resident size of this process so far.

    Linux records it for each process; ``getrusage`` also counts the parent that started this one.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def describe() -> dict[str, Any]:
    """What a reader needs to interpret the figures."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": processor(),
        "cores": cores(),
        "load at the start": round(busy(), 2),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "blas": blas(),
        "commit": commit(),
    }
