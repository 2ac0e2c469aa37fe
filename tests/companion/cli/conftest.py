"""The command line, called in this process, and results that many tests share."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from companion.cli import nystrom
from companion.experiments.components import BiGaussian, StochasticGradientDescent
from companion.experiments.config import Experiment, Record
from companion.running.runner import run
from nystrom_lib import Gaussian

#: ``nystrom`` as a process of its own.
COMMAND = [sys.executable, "-m", "companion"]


def call(*words: object, cwd: Path, **environment: str) -> Result:
    """Call ``nystrom`` with these words in a folder."""
    with contextlib.chdir(cwd):
        return CliRunner().invoke(nystrom, [str(word) for word in words], env=environment)


def fine(done: Result) -> str:
    """The standard output of a call that must succeed."""
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(done: Result, code: int) -> str:
    """The error of a call that must fail with this code."""
    assert done.exit_code == code, (done.exit_code, done.output)
    return sentence(done.stderr)


def sentence(stderr: str) -> str:
    """The last line of standard error, which must be an error as click shows it."""
    assert "Traceback" not in stderr
    last = stderr.strip().splitlines()[-1]
    assert last.startswith("Error: ") and last.endswith("."), stderr
    return last.removeprefix("Error: ")


def process(
    words: Sequence[object], cwd: Path, kind: signal.Signals, ready: Callable[[], bool]
) -> subprocess.CompletedProcess[str]:
    """Start ``nystrom`` in a session of its own, and send it a signal once it is ``ready``.

    Ctrl-C goes to the whole process group, as a terminal sends it.
    """
    started = subprocess.Popen(
        [*COMMAND, *map(str, words)], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        end = time.monotonic() + 200
        while not ready():
            assert started.poll() is None, started.communicate()
            assert time.monotonic() < end, "the command hangs"
            time.sleep(0.02)
        (os.killpg if kind == signal.SIGINT else os.kill)(started.pid, kind)
        out, err = started.communicate(timeout=100)
    finally:
        started.kill()
    return subprocess.CompletedProcess(words, started.returncode, out, err)


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of stored results: ``small`` with rho = 4, and ``other`` with rho = 1."""
    folder = tmp_path_factory.mktemp("stored")
    for name, rho in (("small", 4.0), ("other", 1.0)):
        experiment = Experiment(
            data=BiGaussian(N=200),
            kernel=Gaussian(rho=rho),
            n=6,
            descent=StochasticGradientDescent(step=2e-5, iterations=100, batch_size=10),
            m=5,
            seed=5,
            record=Record(repetitions=(0,), every=50, path=True),
        )
        run(experiment, folder / "repetitions").save(folder / f"{name}.parquet")
    return folder


@pytest.fixture(scope="session")
def measurements(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with a name in each row, units that differ by powers of ten, and missing values."""
    rng = np.random.default_rng(7)
    rows = ["sample,mass,height,count,signal"]
    for i in range(300):
        mass = "" if i % 29 == 3 else float(rng.lognormal(3.0, 0.7))
        signal = "-999" if i % 71 == 5 else float(rng.exponential(1e-6))
        rows.append(f"s{i},{mass},{float(rng.normal(1e6, 10.0))},{rng.integers(0, 6)},{signal}")
    path = tmp_path_factory.mktemp("data") / "measurements.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path
