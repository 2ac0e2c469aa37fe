"""A small experiment, and processes that run it, for tests that kill and count."""

import faulthandler
import multiprocessing
import os
import resource
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np

from companion.errors import StoreError
from companion.experiments.components import BiGaussian, StochasticGradientDescent
from companion.experiments.config import Experiment, Record
from companion.experiments.outcome import Outcome
from companion.results.store import Store
from companion.results.table import Results
from companion.running.runner import run
from nystrom_lib import Gaussian

#: A repetition takes some milliseconds; R, all norms, a curve and a path are there.
EXPERIMENT = Experiment(
    data=BiGaussian(N=200),
    kernel=Gaussian(rho=4.0),
    n=6,
    descent=StochasticGradientDescent(step=2e-5, iterations=300, batch_size=10),
    m=40,
    seed=5,
    record=Record(repetitions=(0,), every=50, path=True),
)

SHA = "ab" * 32


def made_up(j: int, *, path: bool = False) -> Outcome:
    """An outcome that needs no numerics."""
    arrays = {"path": np.arange(12.0).reshape(2, 3, 2) / (j + 1)} if path else {}
    return Outcome({"R.initial": 1 / (j + 3), "rank.initial": 5, "seconds.optimised": 0.25}, arrays)


def checksums(results: Results) -> dict[int, str]:
    """Every bit of a set of results but its timings."""
    return {j: outcome.checksum(timings=False) for j, outcome in results.outcomes.items()}


#: Each child is a new interpreter.
context = multiprocessing.get_context("spawn")


def start(target: Callable[..., Any], *arguments: Any) -> BaseProcess:
    """A process of its own."""
    process = context.Process(target=guarded, args=(target, *arguments))
    process.start()
    return process


def kill_when(process: BaseProcess, ready: Callable[[], bool]) -> None:
    """SIGKILL once something is true."""
    wait_until(ready)
    assert process.pid is not None and process.is_alive()
    os.kill(process.pid, signal.SIGKILL)
    process.join()


def guarded(target: Callable[..., Any], *arguments: Any) -> None:
    """A child that hangs says where, and ends."""
    faulthandler.dump_traceback_later(200.0, exit=True)
    target(*arguments)


def run_quietly(folder: Path, experiment: Experiment = EXPERIMENT, threads: int = 2) -> None:
    """What a child does."""
    run(experiment, folder, threads=threads, progress=False)


def write_for_ever(folder: Path, announce: Any) -> None:
    """Add made-up repetitions, and say so after each."""
    with Store(folder, EXPERIMENT, SHA) as store:
        store.begin_session({})
        for j in range(100_000):
            if j not in store.finished():
                store.add(j, made_up(j, path=True))
                announce.send(j)


def write_until_it_fails(folder: Path, largest_file: int | None, report: Any) -> None:
    """Add repetitions of 7 kB until the store refuses; report the error's name, its text and what is stored."""
    if largest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    try:
        with Store(folder, EXPERIMENT, SHA) as store:
            store.begin_session({})
            for j in range(100_000):
                if j not in store.finished():
                    store.add(j, Outcome(made_up(j).numbers, {"path": np.zeros((40, 10, 2))}))
    except StoreError as error:
        try:
            with Store(folder, EXPERIMENT, SHA) as store:
                count = len(store.outcomes())
        except StoreError:
            count = 0
        report.send((type(error).__name__, str(error), count))


def slow_experiment() -> Experiment:
    """One whose repetitions take minutes."""
    descent = StochasticGradientDescent(step=1e-9, iterations=10**8, batch_size=10)
    return EXPERIMENT.replace(descent=descent, record=Record(), m=4)


def wait_until(condition: Callable[[], bool], seconds: float = 200.0) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        threading.Event().wait(0.01)


def repetitions_stored(folder: Path) -> int:
    """How many finished repetitions the stores in a folder hold."""
    count = 0
    for path in folder.rglob("*.sqlite"):
        # Not read-only: what a killed process was in the middle of must be rolled back first.
        with suppress(sqlite3.Error), closing(sqlite3.connect(path, timeout=5.0)) as connection:
            count += int(connection.execute("SELECT count(*) FROM repetitions").fetchone()[0])
    return count
