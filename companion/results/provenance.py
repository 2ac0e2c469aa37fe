"""Where numbers come from: the code, the machine and the data that made them."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import time
from functools import cache
from pathlib import Path
from typing import Any

import joblib
from threadpoolctl import threadpool_info

from nystrom_lib.datasets import Dataset

from ..checkout import ROOT

PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "scikit-learn", "pandas", "pyarrow", "dask", "distributed")


def session(**how: Any) -> dict[str, Any]:
    """Everything about this process that numbers may depend on, and ``how`` it is asked to compute."""
    return {"started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **environment(), **how}


@cache
def environment() -> dict[str, Any]:
    """Library, commit, processor, BLAS, versions: all that stays the same while a process lives."""
    commit, dirty = git_state(ROOT)
    return {
        "library": version("nystrom-lib"),
        "commit": commit,
        "dirty": dirty,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": cpu_model(),
        "cores": cores(),
        "blas": blas(),
        "packages": {name: known for name in PACKAGES if (known := version(name)) is not None},
    }


def describe(dataset: Dataset) -> dict[str, Any]:
    """What the data are."""
    names = ("name", "sha256", "N", "d", "stand_in", "citation", "licence", "source")
    return {name: getattr(dataset, name) for name in names} | {"removed": [list(step) for step in dataset.removed]}


def version(package: str) -> str | None:
    """The installed version of a package, if it is installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def cores() -> int:
    """How many cores this process may use."""
    return int(joblib.cpu_count())


def cpu_model() -> str:
    """The processor's name, as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def blas() -> list[str]:
    """Each BLAS that is loaded: its name, version and the processor it chose its code for."""
    libraries = {
        " ".join(str(pool.get(key)) for key in ("internal_api", "version", "architecture") if pool.get(key))
        for pool in threadpool_info()
        if pool.get("user_api") == "blas"
    }
    return sorted(libraries)


def git_state(folder: Path) -> tuple[str | None, bool | None]:
    """The commit of the repository whose top ``folder`` is, and whether either of our packages differs from it."""
    if not (folder / ".git").exists():
        return None, None
    changes = _git(folder, "status", "--porcelain", "--", "nystrom_lib", "companion")
    return _git(folder, "rev-parse", "HEAD"), None if changes is None else bool(changes)


def _git(folder: Path, *arguments: str) -> str | None:
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    # In a hook git has variables that would make it ignore the folder.
    here = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(command, env=here, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
