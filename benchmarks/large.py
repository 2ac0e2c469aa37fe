"""``python -m benchmarks.large``: large data and many landmarks, time and memory.

``points``: landmarks for 10⁴ to 10⁸ points on disk, by the library and by the command ``nystrom optimise``.
``landmarks``: up to 100,000 landmarks for a million points. Each case is a file of float32, written block by block to a
temporary folder (the largest takes 4 GB) and deleted afterwards, and a process of its own, whose largest resident size
is the system's figure. Writes ``results/large.json`` and ``results/many_landmarks.json``, which the book shows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.machine import peak_bytes

RESULTS = Path(__file__).with_name("results")
#: Cases of ``points``: how many points, their coordinates, landmarks, and points from which errors are estimated.
SIZES, DIMENSION, LANDMARKS, POINTS = (10**4, 10**5, 10**6, 10**7, 10**8), 10, 1000, 100_000
#: Cases of ``landmarks``: at that ρ the fewest landmarks leave most of the kernel, and the most little.
MANY, N, D, RHO, NEIGHBOURS = (5_000, 20_000, 100_000), 10**6, 3, 1000.0, 20


def find(path: str) -> dict[str, Any]:
    """Open, find landmarks, estimate the errors before and after; what each took."""
    import nystrom_lib as nl

    nl.warm_up()
    times = [time.perf_counter()]
    data = nl.open_data(path, standardise=True)
    times.append(time.perf_counter())
    kernel, ticks = nl.Gaussian(nl.median_rho(data)), []
    found = nl.find_landmarks(kernel, data, LANDMARKS, progress=lambda done: ticks.append((done, time.perf_counter())))
    times.append(time.perf_counter())
    errors = [nl.nystrom_errors(kernel, data, S, "trace", points=POINTS) for S in (found.start, found.sample)]
    times.append(time.perf_counter())
    (first, begin), (last, end) = ticks[0], ticks[-1]
    reading, finding, estimating = np.diff(times).tolist()
    descent = (end - begin) * last / (last - first)
    seconds = {"reading": reading, "drawing": max(finding - descent, 0.0), "descent": descent, "errors": estimating}
    return {"seconds": seconds, "peak": {"library": peak_bytes()}, **traces(errors)}


def command(path: str) -> float:
    """The peak of the process that runs what a user types."""
    import resource

    output = ["-o", str(Path(path).with_name("landmarks.npy"))]
    run = [sys.executable, "-m", "companion", "optimise", path, "-n", str(LANDMARKS), *output]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
    return float(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024))


def find_many(path: str, n: str) -> dict[str, Any]:
    """Find n landmarks, estimate the errors before and after."""
    import nystrom_lib as nl

    kernel = nl.Gaussian(RHO)
    nl.find_landmarks(kernel, np.random.default_rng(1).uniform(size=(5000, D)), 2100, iterations=1)  # compiled, loaded
    at_start, times = peak_bytes(), [time.perf_counter()]
    data = nl.open_data(path)
    found = nl.find_landmarks(kernel, data, int(n))
    times.append(time.perf_counter())
    settings: dict[str, Any] = {"points": POINTS, "neighbours": NEIGHBOURS}
    errors = [nl.nystrom_errors(kernel, data, S, "trace", **settings) for S in (found.start, found.sample)]
    times.append(time.perf_counter())
    seconds = dict(zip(("finding", "errors"), np.diff(times).tolist(), strict=True))
    memory = {"at_start_bytes": at_start, "peak_bytes": peak_bytes()}
    return {"n": int(n), "steps": found.steps, "seconds": seconds, **memory, **traces(errors)}


def traces(errors: list[Any]) -> dict[str, list[float]]:
    """The estimates before and after, and the bounds of the latter."""
    return {"trace": [one.trace for one in errors], "bounds": list(errors[1].estimate.bounds)}


CHILDREN: dict[str, Callable[..., Any]] = {"find": find, "command": command, "find_many": find_many}


def child(name: str, *arguments: object) -> Any:
    """What one of these functions returns in a process of its own."""
    run = [sys.executable, "-m", "benchmarks.large", "--child", name, *map(str, arguments)]
    done = subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True, cwd=machine.ROOT)
    return json.loads(done.stdout.splitlines()[-1])


def write_mixture(path: Path, count: int) -> None:
    """A mixture of twenty Gaussians, as float32, in random order."""
    rng = np.random.default_rng(0)
    centres = 3.0 * rng.standard_normal((20, DIMENSION), dtype=np.float32)
    with open(path, "wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (count, DIMENSION)}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, count, 2**20):
            rows = min(2**20, count - start)
            noise = rng.standard_normal((rows, DIMENSION), dtype=np.float32)
            file.write((centres[rng.integers(0, 20, rows)] + noise).tobytes())


def large_data(path: Path, count: int) -> dict[str, Any]:
    """The library and the command on a file with this number of points."""
    write_mixture(path, count)
    size: dict[str, Any] = {"N": count, **child("find", path), "bytes_on_disk": path.stat().st_size}
    begin = time.perf_counter()
    size["peak"]["command"] = child("command", path)
    size["seconds"]["command"] = time.perf_counter() - begin
    return size | {"commit": machine.commit()}


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("points", "landmarks"), default="points")
    parser.add_argument("--most", type=float, default=SIZES[-1], help="the largest number of points (default 1e8)")
    parser.add_argument("--least", type=float, default=SIZES[0], help="the smallest; other sizes stay as they were")
    parser.add_argument("--scratch", type=Path, help="where the data go, 4 GB (default: among temporary files)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the figures go")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(CHILDREN[asked.child[0]](*asked.child[1:])))
        return
    record = asked.out / ("large.json" if asked.what == "points" else "many_landmarks.json")
    with tempfile.TemporaryDirectory(dir=asked.scratch) as folder:
        path = Path(folder) / "points.npy"
        if asked.what == "points":
            known = json.loads(record.read_text(encoding="utf-8"))["sizes"] if record.exists() else []
            sizes = [size for size in known if not asked.least <= size["N"] <= asked.most]
            sizes += [large_data(path, count) for count in SIZES if asked.least <= count <= asked.most]
            constants: dict[str, float] = {"d": DIMENSION, "landmarks": LANDMARKS, "points": POINTS}
        else:
            np.save(path, np.random.default_rng(0).uniform(size=(N, D)).astype(np.float32))
            sizes = [child("find_many", path, n) for n in MANY]
            constants = {"N": N, "d": D, "rho": RHO, "points": POINTS}
    sizes.sort(key=lambda size: size.get("N", size.get("n")))
    found = {"machine": machine.describe(), **constants, "sizes": sizes}
    record.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(sizes, indent=1))


if __name__ == "__main__":
    main()
