"""The command line through real processes, and a few things that are made once and looked at by many tests."""

import atexit
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from nystrom_lib.companion.experiments.components import BiGaussian, Gaussian, StochasticGradientDescent
from nystrom_lib.companion.experiments.config import Experiment, Record
from nystrom_lib.companion.running.runner import run

from ..notebooks import warm

ROOT = Path(__file__).resolve().parents[2]
Done = subprocess.CompletedProcess[str]
COMMAND = [sys.executable, "-m", "nystrom_lib"]


class Server:
    """Forks a real process for each call; see ``server``."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.cli.server", *warm.start()]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
        self._answer("ready")

    def _answer(self, expected: str | None = None) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert line and expected in (None, line), "the server of the tests is gone"
        return line

    def call(self, words: list[str], cwd: Path, environment: dict[str, str]) -> Done:
        """Run ``nystrom`` with these words."""
        assert self._process.stdin is not None
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            order = {"words": words, "cwd": str(cwd), "environment": environment, "out": str(out), "err": str(err)}
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            code = int(self._answer())
            texts = (path.read_text(encoding="utf-8") for path in (out, err))
            return subprocess.CompletedProcess(words, code, *texts)

    def close(self) -> None:
        """Nobody asks any more."""
        self._process.communicate(timeout=30)


@functools.cache
def server() -> Server:
    """One for all tests of a session."""
    started = Server()
    atexit.register(started.close)
    return started


def call(*words: object, cwd: Path, **environment: str) -> Done:
    """Run ``nystrom`` with these words in a folder, with no terminal."""
    return server().call([str(word) for word in words], cwd, environment)


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
        [*COMMAND, *map(str, words)],
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
    """A folder with one small run of the bi-Gaussian chapter in ``runs/bigaussian-001``."""
    folder = tmp_path_factory.mktemp("smoke")
    done = call("run", "bigaussian", "--profile", "smoke", "-p", "rho=4", "-p", "n=8", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "said").write_text(done.stdout, encoding="utf-8")
    return folder
