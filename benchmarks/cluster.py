"""``python -m benchmarks.cluster``: what a pass over the data costs on a Dask cluster, and by which law.

Writes ``results/cluster_timings.json``. Measured on one thread are a block of the exact trace error, with the reading
of its rows, and the factor that every worker makes once; on workers of this machine, an empty task, and a whole pass by
one worker and by two, each beside what the law says it should take. The law,

    seconds = factor + blocks / threads · block + tasks · task,

then tells what more workers would take. The descent is in no part of it: its cost does not depend on N.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import nystrom_lib as nl
from benchmarks import machine
from benchmarks.timing import best_of

FILE = Path(__file__).resolve().parent.parent / "results" / "cluster_timings.json"
N, D, LANDMARKS = 2**19, 10, (100, 1000)
SHARES = 8  #: parts of a pass for each thread
EMPTY = 200  #: empty tasks that are timed


def points(folder: Path) -> Path:
    """Write normal points in single precision to a file."""
    path = folder / "points.npy"
    np.save(path, np.random.default_rng(0).standard_normal((N, D), dtype=np.float32))
    return path


def block_seconds(source: nl.Source, n: int) -> dict[str, float]:
    """Of one thread: the factor of K_S, a block read, and the same with its errors."""
    kernel, sample = kernel_and_sample(source, n)
    start, stop = source.spans()[1]
    with nl.threads(1):
        approximation = nl.NystromApproximation(kernel, sample)
        return {
            "factor_s": best_of(lambda: nl.NystromApproximation(kernel, sample), 3),
            "read_s": best_of(lambda: source.block(start, stop), 3),
            "block_s": best_of(lambda: approximation.residuals(source.block(start, stop)).sum(), 3),
        }


def kernel_and_sample(source: nl.Source, n: int) -> tuple[nl.Kernel, Any]:
    """A width at which the errors are neither 0 nor 1."""
    return nl.Gaussian(rho=0.5 / D), source.rows(np.arange(n)).astype(np.float64)


def there(path: Path, workers: int) -> dict[str, Any]:
    """Seconds of an empty task and of whole passes on so many workers of one thread each."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        client.gather(client.map(_warm, range(4 * workers), pure=False))
        began = time.perf_counter()
        client.gather([client.submit(_nothing, k, pure=False) for k in range(EMPTY)])
        found: dict[str, Any] = {"task_s": (time.perf_counter() - began) / EMPTY, "pass_s": {}}
        source = nl.open_data(path, cluster=client)
        for n in LANDMARKS:
            kernel, sample = kernel_and_sample(source, n)
            found["pass_s"][str(n)] = best_of(lambda k=kernel, s=sample: nl.nystrom_errors(k, source, s, "trace"), 1)
        return found


def _nothing(k: int) -> int:
    return k


def _warm(k: int) -> None:
    """Load the compiled loops."""
    with nl.threads(1):
        nl.NystromApproximation(nl.Gaussian(), np.zeros((1, D))).residuals(np.zeros((300, D), np.float32))


def main() -> int:
    """Measure and write."""
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as folder:
        path = points(Path(folder))
        source = nl.open_data(path)
        found = {
            "machine": f"{machine.processor()}, {machine.cores()} cores",
            "details": machine.describe(),
            "N": N,
            "d": D,
            "blocks": len(source.spans()),
            "shares": SHARES,
            "landmarks": {str(n): block_seconds(source, n) for n in LANDMARKS},
            "workers": {str(count): there(path, count) for count in (1, 2)},
        }
    FILE.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    print(json.dumps({name: found[name] for name in ("landmarks", "workers")}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
