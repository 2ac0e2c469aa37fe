"""The command line through real processes, and a few things that are made once and looked at by many tests."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from companion.experiments.components import BiGaussian, Gaussian, StochasticGradientDescent
from companion.experiments.config import Experiment, Record
from companion.running.runner import run
from tests import warm

ROOT = Path(__file__).resolve().parents[3]
Done = subprocess.CompletedProcess[str]
#: ``nystrom`` in a new interpreter, and in one that is forked where nothing depends on how it begins.
COMMAND = [sys.executable, "-m", "companion"]


def forked() -> list[str]:
    return [*warm.python(), *COMMAND[1:]]


def call(*words: object, cwd: Path, **environment: str) -> Done:
    """Run ``nystrom`` with these words in a folder, with no terminal."""
    return subprocess.run(
        [*forked(), *map(str, words)],
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def fine(done: Done) -> str:
    """What a call that must have worked wrote."""
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(done: Done, code: int) -> str:
    """The one sentence of a call that must have failed with this code, and without a traceback."""
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr + done.stdout
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("nystrom: ") and last.endswith("."), done.stderr
    return last.removeprefix("nystrom: ")


def all_refused(cases: Sequence[tuple[list[str], int, str]], folders: Sequence[Path]) -> None:
    """Each of many calls must be refused with this code and this sentence or part of one."""
    wrong = []
    for (words, code, part), folder in zip(cases, folders, strict=True):
        said = refused(call(*words, cwd=folder), code)
        if part not in said:
            wrong.append((words, said, part))
    assert not wrong


def interrupt(
    words: Sequence[object], cwd: Path, ready: Callable[[], bool], kind: int = signal.SIGINT, **environment: str
) -> Done:
    """Start ``nystrom`` in a process group of its own; press Ctrl-C, as a terminal does, once it is ``ready``.

    Of another kind, the signal goes to the process alone, as a system sends it.
    """
    process = subprocess.Popen(
        [*forked(), *map(str, words)],
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        end = time.monotonic() + 200
        while not ready():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end, "it never came so far"
            time.sleep(0.02)
        (os.killpg if kind == signal.SIGINT else os.kill)(process.pid, kind)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    return subprocess.CompletedProcess(words, process.returncode, out, err)


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
        run(experiment, folder / "repetitions", progress=False).save(folder / f"{name}.parquet")
    return folder


@pytest.fixture(scope="session")
def measurements(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table as people have them: a name for each row, units that differ by powers of ten, values that are missing."""
    rng = np.random.default_rng(7)
    rows = ["sample,mass,height,count,signal"]
    for i in range(300):
        mass = "" if i % 29 == 3 else repr(float(rng.lognormal(3.0, 0.7)))
        signal = "-999" if i % 71 == 5 else repr(float(rng.exponential(1e-6)))
        rows.append(f"s{i},{mass},{rng.normal(1e6, 10.0)!r},{rng.integers(0, 6)},{signal}")
    path = tmp_path_factory.mktemp("data") / "measurements.csv"
    path.write_text("\n".join(rows).replace("np.float64(", "").replace(")", "") + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one small run of the chapter on MAGIC, which draws least, in ``runs/magic-001``."""
    folder = tmp_path_factory.mktemp("smoke")
    done = call("run", "magic", "--profile", "smoke", "-p", "rho=4", "-p", "n=8", "-p", "iterations=150", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "said").write_text(done.stdout, encoding="utf-8")
    return folder
