"""A small experiment, and processes that run it, for tests that kill and count."""

import faulthandler
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from companion.experiments.components import BiGaussian, StochasticGradientDescent
from companion.experiments.config import Experiment, Record
from companion.results.table import Results
from companion.running.engine import count as repetitions_stored  # noqa: F401
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
    run(experiment, folder, threads=threads)


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
