"""Import and compile times, apart from every other figure: with an empty cache, then with a warm one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

IMPORT_BAR = 1.0


def child() -> None:
    """Import the library, call each hot path twice, and print what the first call took above the second."""
    begin = time.perf_counter()
    import nystrom_lib as nl

    times = {"import nystrom_lib": time.perf_counter() - begin}
    import numpy as np

    X = np.random.default_rng(0).standard_normal((300, 3))
    wide = np.random.default_rng(0).standard_normal((300, 50))
    kernel = nl.Gaussian(rho=0.5)
    calls: dict[str, Callable[[], object]] = {
        "gradient descent": lambda: nl.gradient_descent(kernel, X, X[:20], step=1e-6, iterations=2),
        "stochastic descent": lambda: nl.stochastic_gradient_descent(
            kernel, X, X[:20], step=1e-6, iterations=2, batch_size=10, seed=0
        ),
        "stochastic descent, d=50": lambda: nl.stochastic_gradient_descent(
            kernel, wide, wide[:20], step=1e-6, iterations=2, batch_size=10, seed=0
        ),
        "radial SKD": lambda: nl.radial_skd(kernel, X, X[:20]),
        "criteria": lambda: nl.nystrom_errors(kernel, X, X[:20]),
    }
    for name, call in calls.items():
        pair = []
        for _ in range(2):
            begin = time.perf_counter()
            call()
            pair.append(time.perf_counter() - begin)
        times[f"first call: {name}"] = max(0.0, pair[0] - pair[1])
    print(json.dumps(times))


def measure(folder: Path) -> dict[str, dict[str, float]]:
    """Times of a first process, which compiles, and of a second one, which finds the cache."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "numba-cache")}
    found = {}
    for state in ("empty cache", "warm cache"):
        command = [sys.executable, "-m", "benchmarks.startup"]
        out = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
        found[state] = json.loads(out)
    return found


if __name__ == "__main__":
    child()
