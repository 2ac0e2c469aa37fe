"""``python -m benchmarks.many_landmarks``: thousands to a hundred thousand landmarks, each point using the nearest.

Writes ``results/many_landmarks.json``. For each number of landmarks a process of its own reads a million points from a
file, finds the landmarks, gives new points their weights and estimates the errors before and after; its largest
resident size is the system's figure. The file is uniform in the unit cube, of float32, and deleted afterwards.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.memory import peak_bytes

FILE = Path(__file__).with_name("results") / "many_landmarks.json"
LANDMARKS = (5_000, 20_000, 100_000)
N, D, RHO = 10**6, 3, 1000.0  #: at that width the fewest landmarks leave most of the kernel, and the most little
NEW = 100_000  #: points that are given weights
POINTS = 100_000  #: from which errors are estimated
NEIGHBOURS = 20


def child(path: str, n: int) -> None:
    """Find, give weights, estimate; print what each took."""
    import nystrom_lib as nl

    kernel = nl.Gaussian(RHO)
    some = np.random.default_rng(1).uniform(size=(NEW, D))
    nl.find_landmarks(kernel, some[:5000], 2100, iterations=1)  # compiled and loaded
    nl.LocalApproximation(kernel, some[:100]).weights(some[:300])
    at_start, times = peak_bytes(), [time.perf_counter()]
    data = nl.open_data(path)
    found = nl.find_landmarks(kernel, data, n)
    times.append(time.perf_counter())
    nl.LocalApproximation(kernel, found.sample).weights(some)
    times.append(time.perf_counter())
    errors = [
        nl.nystrom_errors(kernel, data, sample, "trace", points=POINTS, neighbours=NEIGHBOURS)
        for sample in (found.start, found.sample)
    ]
    times.append(time.perf_counter())
    estimate = errors[1].estimate
    assert estimate is not None
    result = {
        "n": n,
        "steps": found.steps,
        "seconds": dict(zip(("finding", "weights", "errors"), np.diff(times).tolist(), strict=True)),
        "at_start_bytes": at_start,
        "peak_bytes": peak_bytes(),
        "trace": [one.trace for one in errors],
        "bounds": estimate.bounds,
    }
    print(json.dumps(result))


def measure(path: Path, n: int) -> dict[str, Any]:
    """One number of landmarks, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.many_landmarks", "--child", str(path), str(n)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=machine.ROOT)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_landmarks", description=__doc__)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(asked.child[0], int(asked.child[1]))
        return 0
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as folder:
        path = Path(folder) / "points.npy"
        np.save(path, np.random.default_rng(0).uniform(size=(N, D)).astype(np.float32))
        sizes = [measure(path, n) for n in LANDMARKS]
    found = {
        "machine": machine.describe(),
        "N": N,
        "d": D,
        "rho": RHO,
        "new": NEW,
        "points": POINTS,
        "sizes": sizes,
    }
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(sizes, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
