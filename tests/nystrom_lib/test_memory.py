"""Peak memory of processes that work on large data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

BEGIN = """
import sys
import numpy as np
import nystrom_lib as nl
from benchmarks.machine import peak_bytes
"""


def printed(root: Path, program: str, *arguments: object) -> list[str]:
    """The words that a program prints in a process of its own."""
    command = [sys.executable, "-c", BEGIN + program, *map(str, arguments)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


ERRORS = """
N, n, d = (int(number) for number in sys.argv[1:4])
X = np.random.default_rng(0).normal(size=(N, d)) * 0.7 ** np.arange(d)  # a spectrum that decays, as real data have
assert getattr(nl.nystrom_errors(nl.Gaussian(rho=2.0 / d), X, X[:n].copy(), norms=sys.argv[4]), sys.argv[4]) > 0
print(peak_bytes())
"""


@pytest.mark.parametrize(
    "N, n, d, norm, limit",
    [
        (9_452, 100, 10, "frobenius", 1.2e9),
        (9_452, 100, 10, "spectral", 1.2e9),
        (129_592, 1_000, 50, "trace", 2e9),
    ],
)
def test_errors(root: Path, N: int, n: int, d: int, norm: str, limit: float) -> None:
    """Catches a second N×N array at half the size of MAGIC (one is 0.7 GB), or N×n at MiniBooNE's (one is 1 GB)."""
    assert float(printed(root, ERRORS, N, n, d, norm)[0]) <= limit


OBJECTIVES = """
X, S = np.random.default_rng(0).normal(size=(200_000, 2)), np.random.default_rng(1).normal(size=(200, 2))
kernel = nl.Gaussian(rho=50.0)
for data in (X[:3000], X):  # the few points first, to compile
    before = peak_bytes()
    some = nl.TraceError(kernel, data), nl.LocalTraceError(kernel, data, 8)
    for objective in (*some, nl.WeightedSKD(kernel, data), nl.RadialSKD(kernel, data)):
        objective.gradient(S), objective.gradient(S, np.arange(0, len(data), 3))
    for objective in some:
        objective.value(S)
print(peak_bytes() - before)
"""


def test_objectives(root: Path) -> None:
    """Catches a gradient that keeps what it should have added up: N × n doubles would be 320 MB."""
    assert float(printed(root, OBJECTIVES)[0]) < 80e6


LARGE = """
file = np.load(sys.argv[1], mmap_mode="r")
nl.find_landmarks(nl.Gaussian(0.5), file[:3000].astype(float), 10, iterations=2)
data = nl.open_data(sys.argv[1])
before = peak_bytes()
nl.find_landmarks(nl.Gaussian(0.5), data, 10, iterations=2)
nl.nystrom_errors(nl.Gaussian(0.5), data, file[:10], "trace", points=1000)
data.check()
print(peak_bytes() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="measures memory as Linux does")
def test_landmarks_of_a_large_file(root: Path, tmp_path: Path) -> None:
    """Catches a file of 384 MB that is read into memory, beyond the rows that a descent keeps."""
    large = tmp_path / "large.npy"
    rows = np.random.default_rng(0).standard_normal((1_200_000, 4), dtype=np.float32)
    with open(large, "wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (20 * len(rows), 4)}
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(20):
            file.write(rows.tobytes())
    found = printed(root, LARGE, large)
    large.unlink()
    assert float(found[0]) < 250e6
