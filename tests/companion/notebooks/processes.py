"""Real processes: papermill, pytest and chapters, as a user starts them."""

import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import nbformat

from tests import warm

ROOT = Path(__file__).resolve().parents[3]
Done = subprocess.CompletedProcess[str]

#: How many at a time: each has a thread of its own and is told to use no more.
AT_A_TIME = max(1, min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2))


def environment(**changes: str | None) -> dict[str, str]:
    """Ours, with the project importable from any folder; None takes a variable away."""
    # Set by whoever runs these tests, not by a user.
    ours = {key: value for key, value in os.environ.items() if not key.startswith(("JUPYTER", "NYSTROM", "PYTEST"))}
    full = {**ours, "PYTHONPATH": str(ROOT), "NYSTROM_JOBS": "1", **changes}
    return {key: value for key, value in full.items() if value is not None}


def start(
    *arguments: str | Path,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
    timeout: float = 300,
    new: bool = False,
) -> Done:
    """``python arguments…`` to its end: forked, unless what a new interpreter does is the point."""
    return subprocess.run(
        [*([sys.executable] if new else warm.python()), *map(str, arguments)],
        cwd=cwd,
        env=dict(env or environment()),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def papermill(source: Path, target: Path, *arguments: str, cwd: Path = ROOT) -> Done:
    """Plain papermill, as one without our command line would call it."""
    return start("-m", "papermill", "--no-progress-bar", source, target, *arguments, cwd=cwd)


class Several:
    """A few processes at a time; each test waits for its own."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(AT_A_TIME)
        self._futures: dict[str, Future[Done]] = {}

    def add(self, key, work, *arguments, **options) -> None:
        self._futures[key] = self._pool.submit(work, *arguments, **options)

    def __getitem__(self, key: str) -> Done:
        return self._futures[key].result()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def texts(path: Path) -> list[str]:
    """Every text that the outputs of a notebook hold, in order; pictures left out."""
    found = []
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            found.append(output.get("text") or data.get("text/markdown") or output.get("evalue") or "")
    return found


def pictures(path: Path) -> list[str]:
    """Every SVG that a notebook shows."""
    return [
        output.data["image/svg+xml"]
        for cell in nbformat.read(path, as_version=4).cells
        for output in cell.get("outputs", [])
        if "image/svg+xml" in output.get("data", {})
    ]
