"""Driving ``opponents.py`` in an interpreter that has JAX."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.problems import Problem

SCRIPT = Path(__file__).with_name("opponents.py")


class Rival:
    """JAX in a process of its own, on as many cores as the library uses."""

    def __init__(self, python: str, threads: int) -> None:
        environment = os.environ | {"OMP_NUM_THREADS": str(threads), "JAX_PLATFORMS": "cpu"}
        self._process = subprocess.Popen(
            [python, str(SCRIPT), str(threads)], text=True, env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def ask(self, **request: Any) -> Any:
        """Send one request and wait for its answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"JAX stopped with code {self._process.wait()}")
        return json.loads(line)

    def prepare(self, problem: Problem, steps: int, folder: Path, objective: str) -> dict[str, float]:
        """Load the problem and compile; returns the seconds for a step in each way to write it."""
        arrays: dict[str, NDArray[Any]] = {"data": problem.points, "sample": problem.sample}
        if problem.b is not None:
            arrays["batches"] = problem.batches(steps)
        path = folder / "problem.npz"
        np.savez(path, **arrays)  # type: ignore[arg-type]
        settings = {"steps": steps, "rho": problem.rho, "gamma": problem.gamma, "objective": objective}
        seconds: dict[str, float] = self.ask(do="prepare", arrays=str(path), **settings)["seconds"]
        return seconds

    def timed(self) -> float:
        """Seconds for one step in the fastest way."""
        return float(self.ask(do="time")["seconds"])

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@contextmanager
def rival(python: str, threads: int) -> Iterator[Rival]:
    """A rival whose process ends with the block."""
    opened = Rival(python, threads)
    try:
        yield opened
    finally:
        opened.close()


def version(python: str) -> str:
    """The version of JAX that ``python`` has, or the empty string."""
    with rival(python, 1) as opened:
        return str(opened.ask(do="version")["version"])
