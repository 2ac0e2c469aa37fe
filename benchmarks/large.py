"""``python -m benchmarks.large``: landmarks for 10⁴ to 10⁸ points on disk, time and memory against N.

Each size is a file of float32, written block by block to a temporary folder and deleted afterwards; the largest takes
4 GB. The library's steps and the whole command ``nystrom optimise`` are each done in a process of their own, whose
largest resident size is the system's figure. Files are read, not mapped: what the system keeps of them in memory is
its own cache and no part of that.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.memory import peak_bytes

SIZES = (10**4, 10**5, 10**6, 10**7, 10**8)
DIMENSION, LANDMARKS, POINTS = 10, 1000, 100_000
SECONDS_BAR, MEMORY_BAR = 300.0, 1.5e9
RESULTS = Path(__file__).with_name("results")
#: What is timed, in the order it is done, and how the plot shows it.
STEPS = {
    "reading": ("all rows read once, for mean and scale", "s--"),
    "drawing": ("drawing points, start and judgement", "D-."),
    "descent": ("the descent", "o-"),
    "errors": (f"the trace error before and after, from {POINTS:,} points", "^:"),
    "command": ("`nystrom optimise`, everything, start to end", "x-"),
}


@dataclass
class Size:
    """What one number of points took."""

    N: int
    seconds: dict[str, float]
    peak: dict[str, float]  #: bytes, of the library's process and of the command's
    trace: list[float]  #: before and after
    bounds: list[float]  #: of the latter
    bytes_on_disk: int
    commit: str  #: what was measured; sizes may be renewed one by one

    @property
    def met(self) -> bool:
        return max(self.seconds.values()) <= SECONDS_BAR and max(self.peak.values()) <= MEMORY_BAR


# --- in the children ------------------------------------------------------------------------------------------------


def library(path: str) -> None:
    """Open, find, estimate; print what each took."""
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
    estimate = errors[1].estimate
    assert estimate is not None
    traces = [one.trace for one in errors]
    print(json.dumps({"seconds": seconds, "peak": peak_bytes(), "trace": traces, "bounds": estimate.bounds}))


def command(path: str) -> None:
    """What the user types; print the peak when it is over."""
    from companion.cli import main

    try:
        main(["optimise", path, "-n", str(LANDMARKS), "-o", str(Path(path).with_name("landmarks.npy"))])
    finally:
        print(json.dumps(peak_bytes()))


# --- in the parent ---------------------------------------------------------------------------------------------------


def write(path: Path, N: int) -> None:
    """N rows of a mixture of twenty Gaussians, as float32, in random order."""
    rng = np.random.default_rng(0)
    centres = 3.0 * rng.standard_normal((20, DIMENSION), dtype=np.float32)
    with open(path, "wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (N, DIMENSION)}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, N, 2**20):
            rows = min(2**20, N - start)
            noise = rng.standard_normal((rows, DIMENSION), dtype=np.float32)
            file.write((centres[rng.integers(0, 20, rows)] + noise).tobytes())


def measure(N: int, folder: Path) -> Size:
    """Both, on a file of N rows."""
    path = folder / f"{N}.npy"
    write(path, N)
    try:
        found = json.loads(_child("library", path)[1])
        seconds, printed = _child("command", path)
        size = path.stat().st_size
    finally:
        path.unlink()
    peaks = {"library": found["peak"], "command": json.loads(printed.splitlines()[-1])}
    times, commit = found["seconds"] | {"command": seconds}, machine.commit()
    return Size(N, times, peaks, found["trace"], list(found["bounds"]), size, commit)


def _child(what: str, path: Path) -> tuple[float, str]:
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.large", "--child", what, str(path)],
        check=True, capture_output=True, text=True, cwd=machine.ROOT,
    )  # fmt: skip
    return time.perf_counter() - begin, done.stdout


def table(sizes: list[Size], where: dict[str, Any]) -> str:
    """For people."""
    columns = ["N", "on disk", *(what for what, _ in STEPS.values())]
    columns += ["peak memory, library", "peak memory, command", "trace error", "bars", "commit"]
    lines = [
        "# A hundred million points",
        "",
        f"- {where['processor']}, {where['cores']} cores, {where['system']}; last measured {where['date']}.",
        f"- d = {DIMENSION}, float32, n = {LANDMARKS:,} landmarks; twenty Gaussians, standardised.",
        "- Seconds by the clock; peak memory is the largest resident size of the process, as the system counts it.",
        "  Files are read from the system's cache where it has room for them.",
        f"- Bars: {SECONDS_BAR:.0f} s and {MEMORY_BAR / 1e9:g} GB. The trace error is estimated; in brackets its 95 %",
        "  bounds, which hold whatever the data.",
        "",
        f"| {' | '.join(columns)} |",
        f"|{'---|' * len(columns)}",
    ]
    for size in sizes:
        low, high = size.bounds
        cells = [
            f"10{str(round(math.log10(size.N))).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}",
            f"{size.bytes_on_disk / 1e6:,.1f} MB",
            *(f"{size.seconds[step]:.3g} s" for step in STEPS),
            *(f"{size.peak[process] / 1e6:,.0f} MB" for process in ("library", "command")),
            f"{size.trace[0]:.5g} → {size.trace[1]:.5g} ({low:.5g} to {high:.5g})",
            "met" if size.met else "**missed**",
            size.commit,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def plot(sizes: list[Size], folder: Path) -> None:
    """Seconds against N."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    with plt.rc_context({"font.size": 9, "svg.fonttype": "none", "svg.hashsalt": "benchmarks", "axes.linewidth": 0.6}):
        figure, axes = plt.subplots(figsize=(6.5, 4.2))
        for grey, (step, (what, look)) in zip(("0.55", "0.4", "0.0", "0.3", "0.0"), STEPS.items(), strict=True):
            times = [size.seconds[step] for size in sizes]
            axes.loglog([size.N for size in sizes], times, look, color=grey, label=what.replace("`", ""), linewidth=1)
        axes.set_xlabel("points N")
        axes.set_ylabel("seconds")
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(0.0, -0.15))
        figure.tight_layout()
        figure.savefig(folder / "large.svg", metadata={"Date": None})
        figure.savefig(folder / "large.png", dpi=110)
        plt.close(figure)


def main() -> None:
    """Measure, write, say where."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large", description=__doc__)
    parser.add_argument("--most", type=float, default=SIZES[-1], help="the largest number of points (default 1e8)")
    parser.add_argument("--least", type=float, default=SIZES[0], help="the smallest; other sizes stay as they were")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where table and plot go")
    parser.add_argument("--scratch", type=Path, help="where the data go, 4 GB (default: among temporary files)")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        {"library": library, "command": command}[asked.child[0]](asked.child[1])
        return
    record = asked.out / "large.json"
    known = json.loads(record.read_text(encoding="utf-8"))["sizes"] if record.exists() else []
    sizes = [Size(**size) for size in known if not asked.least <= size["N"] <= asked.most]
    asked.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=asked.scratch) as folder:
        for N in SIZES:
            if asked.least <= N <= asked.most:
                sizes.append(measure(N, Path(folder)))
                print(f"N = {N:,}: {sizes[-1].seconds['command']:.1f} s", flush=True)
    sizes.sort(key=lambda size: size.N)
    where = machine.describe()
    constants = {"d": DIMENSION, "landmarks": LANDMARKS, "points": POINTS}
    measured = {"machine": where, **constants, "sizes": [asdict(size) for size in sizes]}
    record.write_text(json.dumps(measured, indent=1) + os.linesep)
    (asked.out / "large.md").write_text(table(sizes, where), encoding="utf-8")
    plot(sizes, asked.out)


if __name__ == "__main__":
    main()
