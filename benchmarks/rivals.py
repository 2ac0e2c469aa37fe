"""Driving ``opponents.py`` in an interpreter that has JAX or PyTorch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.problems import Problem
from benchmarks.timing import Timed

FRAMEWORKS = ("jax", "torch")
SCRIPT = Path(__file__).with_name("opponents.py")


class Rival:
    """One framework in a process of its own, allowed as many cores as we use ourselves."""

    def __init__(self, python: str, framework: str, threads: int) -> None:
        self.framework, self.threads = framework, threads
        # Thread pools spin or sleep by these settings alone; the cores are what is held equal.
        environment = os.environ | {"OMP_NUM_THREADS": str(threads), "JAX_PLATFORMS": "cpu"}
        self._process = subprocess.Popen(
            [python, str(SCRIPT), str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send one request and wait for its answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request | {"framework": self.framework}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the {self.framework} opponent stopped with code {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def prepare(self, problem: Problem, steps: int, folder: Path, objective: str = "radial-skd") -> dict[str, Any]:
        """Load the problem and compile; the answer names the ways tried and the fastest one."""
        arrays: dict[str, NDArray[Any]] = {"data": problem.points, "sample": problem.sample}
        if problem.b is not None:
            arrays["batches"] = problem.batches(steps)
        path = folder / "problem.npz"
        np.savez(path, **arrays)  # type: ignore[arg-type]
        return self.ask(
            {
                "do": "prepare",
                "arrays": str(path),
                "steps": steps,
                "rho": problem.rho,
                "gamma": problem.gamma,
                "threads": self.threads,
                "objective": objective,
            }
        )

    @property
    def timed(self) -> Timed:
        """Seconds for one step, from one more run."""
        return lambda: float(self.ask({"do": "time"})["seconds"])

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@contextmanager
def rival(python: str, framework: str, threads: int) -> Iterator[Rival]:
    """A rival that is gone at the end of the block."""
    opened = Rival(python, framework, threads)
    try:
        yield opened
    finally:
        opened.close()


def versions(python: str | None) -> dict[str, str]:
    """The frameworks that can be imported by `python`, with their versions."""
    found: dict[str, str] = {}
    for framework in FRAMEWORKS:
        with rival(python or sys.executable, framework, 1) as opened:
            version = str(opened.ask({"do": "version"})["version"])
        if version:
            found[framework] = version
    return found
