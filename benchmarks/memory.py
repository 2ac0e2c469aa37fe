"""Peak memory of the MiniBooNE descent and of its trace norm, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.problems import MINIBOONE, Problem

MEGABYTE = 1e6
DESCENT_BAR = 500 * MEGABYTE
TRACE_BAR = 2000 * MEGABYTE
STEPS = 30


@dataclass
class Peak:
    """A peak and its bar, in bytes."""

    work: str
    setting: str
    bytes: float
    bar: float
    full_size: bool
    process_bytes: float
    at_start_bytes: float

    @property
    def met(self) -> bool:
        return self.bytes <= self.bar


def peak_bytes() -> float:
    """The largest resident size of this process so far.

    From the kernel's own record where there is one: ``getrusage`` also counts the parent that started us.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def child(work: str, path: str, n: int) -> None:
    """Do the work in this process and print its peaks."""
    import nystrom_lib as nl

    data = np.load(path)
    sample = nl.uniform_sample(data, n, seed=1)
    at_start = peak_bytes()
    kernel = nl.Gaussian(rho=MINIBOONE.rho)
    with nl.threads(2):
        if work == "descent":
            nl.stochastic_gradient_descent(
                kernel,
                data,
                sample,
                step=MINIBOONE.gamma,
                iterations=STEPS,
                batch_size=MINIBOONE.b,
                seed=0,
                record_every=STEPS,
            )
        else:
            nl.nystrom_errors(kernel, data, sample, norms=("trace",))
    print(json.dumps({"at_start": at_start, "peak": peak_bytes()}))


def measure(folder: Path, problem: Problem) -> list[Peak]:
    """The two peaks. The descent's is what the whole process took beyond the data themselves."""
    path = folder / "points.npy"
    np.save(path, problem.points)
    peaks = []
    for work, name, bar in (
        ("descent", "descent, whole process less the data", DESCENT_BAR),
        ("trace", "trace norm, whole process", TRACE_BAR),
    ):
        command = [sys.executable, "-m", "benchmarks.memory", work, str(path), str(problem.n)]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = json.loads(out)
        data_bytes = problem.points.nbytes if work == "descent" else 0
        peaks.append(
            Peak(
                name,
                f"N={problem.N:,}, n={problem.n}, d={problem.d}",
                found["peak"] - data_bytes,
                bar,
                problem.full_size,
                found["peak"],
                found["at_start"],
            )
        )
    return peaks


if __name__ == "__main__":
    child(sys.argv[1], sys.argv[2], int(sys.argv[3]))
