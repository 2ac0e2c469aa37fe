"""A long soak: runs are killed again and again, by SIGKILL at random moments, and must all end with the same table.

    python -m benchmarks.soak_kill --minutes 10
    python -m benchmarks.soak_kill --kills 1000

One to three processes work on each run at a time. After every kill the store must open, and no repetition that was in
it before may be gone. Exit code 1 at the first difference.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path

# Children are forked, and GNU OpenMP refuses to work in a forked process; all loops here run on one thread.
os.environ.setdefault("NUMBA_THREADING_LAYER", "workqueue")

from companion.experiments.components import BiGaussian, Gaussian, StochasticGradientDescent
from companion.experiments.config import Experiment, Record
from companion.results.store import Store
from companion.results.table import Results
from companion.running.runner import run

EXPERIMENT = Experiment(
    data=BiGaussian(N=200),
    kernel=Gaussian(rho=4.0),
    n=6,
    descent=StochasticGradientDescent(step=2e-5, iterations=300, batch_size=10),
    m=60,
    seed=5,
    record=Record(repetitions=(0, 1, 2), every=50, path=True),
)


def work(folder: Path) -> None:
    """What a child does: the run, as far as it gets."""
    run(EXPERIMENT, folder, threads=2, progress=False)


def checksums(results: Results) -> dict[int, str]:
    """Every bit but the timings."""
    return {j: outcome.checksum(timings=False) for j, outcome in results.outcomes.items()}


def stored(folder: Path, data_sha256: str) -> set[int]:
    """What the store holds, every row of it checked."""
    with Store(folder, EXPERIMENT, data_sha256) as store:
        return set(store.outcomes())


def attack(context: ForkServerContext, folder: Path, longest: float, rng: random.Random) -> int:
    """Some processes on one run, each killed at its own moment; how many were alive to be killed."""
    processes: list[BaseProcess] = [context.Process(target=work, args=(folder,)) for _ in range(rng.randint(1, 3))]
    for process in processes:
        process.start()
    ends = sorted(
        ((time.monotonic() + rng.uniform(0.0, longest), process) for process in processes), key=lambda e: e[0]
    )
    kills = 0
    for end, process in ends:
        process.join(max(0.0, end - time.monotonic()))
        if process.is_alive() and process.pid is not None:
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.join()
    return kills


def soak(minutes: float, most: float, seed: int) -> int:
    """Kill for so many minutes, or so many processes; 0 if every run ended as it should."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["companion.running.runner"])
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        undisturbed = run(EXPERIMENT, Path(place) / "undisturbed", threads=2, progress=False)
        expected, data_sha256 = checksums(undisturbed), undisturbed.provenance["data"]["sha256"]
        began = time.monotonic()
        work_once = context.Process(target=work, args=(Path(place) / "once",))
        work_once.start()
        work_once.join()
        longest = time.monotonic() - began
        kills = runs = rounds = 0
        folder, before = Path(place) / "killed", set[int]()
        while time.monotonic() - began < 60 * minutes and kills < most:
            kills += attack(context, folder, longest, rng)
            rounds += 1
            now = stored(folder, data_sha256)
            if not before <= now:
                print(f"LOST after {kills} kills: repetitions {sorted(before - now)}")
                return 1
            before = now
            if len(now) == EXPERIMENT.m:
                if checksums(run(EXPERIMENT, folder, progress=False)) != expected:
                    print(f"DIFFERENT table after {kills} kills")
                    return 1
                runs += 1
                shutil.rmtree(folder)
                before = set()
        print(f"{kills} processes killed in {rounds} rounds, {runs} runs completed, all with the same table")
    return 0


def main() -> int:
    """Read the options and soak."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, help="for so long; 10 if nothing else is said")
    parser.add_argument("--kills", type=int, help="until so many processes have been killed")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    minutes = options.minutes or (math.inf if options.kills else 10.0)
    return soak(minutes, options.kills or math.inf, options.seed)


if __name__ == "__main__":
    sys.exit(main())
