"""Running: on threads, in turns, interrupted, killed; always the same table."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nystrom_lib as nl
from companion.errors import DamagedStoreError
from companion.experiments.components import StochasticGradientDescent
from companion.experiments.config import Record
from companion.results import provenance
from companion.results.store import Store, store_path
from companion.results.table import Results
from companion.running import runner
from companion.running.runner import run

from . import small
from .small import EXPERIMENT, checksums

#: Repetitions of some 50 ms.
SLOWER = EXPERIMENT.replace(
    descent=StochasticGradientDescent(step=2e-7, iterations=20_000, batch_size=10), record=Record()
)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run(EXPERIMENT, tmp_path_factory.mktemp("undisturbed"), threads=2, progress=False)


def without_times(table: pd.DataFrame) -> pd.DataFrame:
    return table.drop(columns="seconds")


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_make_no_difference(undisturbed: Results, tmp_path: Path, threads: int) -> None:
    assert checksums(run(EXPERIMENT, tmp_path, threads=threads, progress=False)) == checksums(undisturbed)


def test_m_makes_no_difference_and_a_run_can_be_extended(undisturbed: Results, tmp_path: Path) -> None:
    alone = run(EXPERIMENT.replace(m=1), tmp_path, threads=2, progress=False)
    assert checksums(alone) == {0: checksums(undisturbed)[0]}
    few = run(EXPERIMENT.replace(m=7), tmp_path, progress=False)
    assert [session["repetitions"] for session in few.provenance["sessions"]] == [1, 6]
    more = run(EXPERIMENT, tmp_path, progress=False)
    assert checksums(more) == checksums(undisturbed)
    fewer = run(EXPERIMENT.replace(m=7), tmp_path, progress=False)
    assert checksums(fewer) == checksums(few) and len(fewer.table) == 14


def test_an_error_in_a_repetition_is_raised_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repetition that fails for a reason of its own (here: no memory) ends the run, with the others stored."""
    real = runner.repetition

    def failing(problem: object, j: int, progress: object) -> object:
        if j == 5:
            raise MemoryError("no room for the matrix")
        return real(problem, j, progress)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "repetition", failing)
    with pytest.raises(MemoryError, match="no room"):
        run(EXPERIMENT.replace(m=8), tmp_path, threads=1, progress=False)
    monkeypatch.undo()
    with Store(tmp_path, EXPERIMENT, nl.datasets.bigaussian(200).sha256) as store:
        assert store.finished() == {0, 1, 2, 3, 4}
    assert run(EXPERIMENT.replace(m=8), tmp_path, progress=False).complete


def test_a_damaged_store_is_not_computed_over(tmp_path: Path) -> None:
    results = run(EXPERIMENT.replace(m=4), tmp_path, progress=False)
    path = store_path(tmp_path, EXPERIMENT, results.provenance["data"]["sha256"])
    os.truncate(path, path.stat().st_size - 4096)
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(DamagedStoreError, match="left as it is"):
            run(EXPERIMENT.replace(m=4), tmp_path, progress=False)
    assert path.read_bytes() == before


# -- killed ----------------------------------------------------------------------------------------------------


def test_killed_again_and_again_the_run_ends_with_the_same_table(tmp_path: Path) -> None:
    """SIGKILL, each time after some more repetitions, then a last run to the end."""
    for wanted in (3, 6, 9):
        process = small.start(small.run_quietly, tmp_path / "killed", SLOWER)
        small.kill_when(process, lambda wanted=wanted: stored(tmp_path / "killed") >= wanted)
    assert stored(tmp_path / "killed") < SLOWER.m
    resumed, undisturbed = (run(SLOWER, tmp_path / name, threads=2, progress=False) for name in ("killed", "whole"))
    assert checksums(resumed) == checksums(undisturbed)
    pd.testing.assert_frame_equal(without_times(resumed.table), without_times(undisturbed.table))


def stored(folder: Path) -> int:
    """How many repetitions there are, through a store that must open."""
    if not list(folder.glob("*.sqlite")):
        return 0
    with Store(folder, SLOWER, nl.datasets.bigaussian(200).sha256) as store:
        return len(store.outcomes())


def test_two_processes_share_one_run(tmp_path: Path) -> None:
    """Repetitions are long enough that both have their part."""
    processes = [small.start(small.run_quietly, tmp_path / "both", SLOWER, 1) for _ in range(2)]
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    together = run(SLOWER, tmp_path / "both", progress=False)
    assert checksums(together) == checksums(run(SLOWER, tmp_path / "alone", progress=False))
    shares = [session["repetitions"] for session in together.provenance["sessions"]]
    assert sum(shares) == 40 and len(shares) == 2 and min(shares) > 1


# -- interrupted -----------------------------------------------------------------------------------------------

INTERRUPTED = """
    import sys
    from tests.companion import small
    from companion.running.runner import run
    from companion.errors import Interrupted
    experiment = small.slow_experiment().replace(m=1) if sys.argv[2] == "1" else small.EXPERIMENT.replace(m=100_000)
    try:
        run(experiment, sys.argv[1], progress=False)
    except Interrupted as stop:
        print(stop, flush=True)
        sys.exit(130)
"""


@pytest.mark.parametrize("m", ["100000", "1"])
def test_ctrl_c_ends_it_and_says_how_to_go_on(tmp_path: Path, root: Path, m: str) -> None:
    """Many short repetitions, and a single one of minutes that has all threads to itself."""
    command = [sys.executable, "-c", textwrap.dedent(INTERRUPTED), str(tmp_path), m]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        small.wait_until(lambda: sessions_begun(tmp_path) > 0 and (m == "1" or small.repetitions_stored(tmp_path) > 0))
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "")
    found = re.search(r"Stopped: (\d+) of \d+ repetitions are stored in .*; the same call goes on from there\.", output)
    assert found is not None, output
    assert m == "1" or run(EXPERIMENT.replace(m=int(found[1])), tmp_path, progress=False).complete


def test_several_at_a_time_each_given_as_soon_as_it_is_done() -> None:
    """Catches one that waits for another, more at a time than asked for, and items left out or done twice."""
    gate, busy, most = threading.Event(), 0, 0

    def work(item: int) -> int:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        if item == 0:
            assert gate.wait(60)
        busy -= 1
        return 10 * item

    given = []
    for item, result in runner.several(work, range(6), 2):
        given.append((item, result))
        if len(given) == 5:
            gate.set()
    assert given[-1] == (0, 0), "the others did not wait for it"
    assert sorted(given) == [(item, 10 * item) for item in range(6)]
    assert most == 2


def sessions_begun(folder: Path) -> int:
    """How many sessions there are in the only store of a folder."""
    import sqlite3

    for path in folder.glob("*.sqlite"):
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
        try:
            return int(connection.execute("SELECT count(*) FROM sessions").fetchone()[0])
        finally:
            connection.close()
    return 0


# -- progress --------------------------------------------------------------------------------------------------

# -- provenance ------------------------------------------------------------------------------------------------


def test_where_the_numbers_come_from(undisturbed: Results, root: Path) -> None:
    origin = undisturbed.provenance
    assert undisturbed.experiment == EXPERIMENT
    assert origin["fingerprint"] == EXPERIMENT.fingerprint and origin["seed"] == 5
    dataset = nl.datasets.bigaussian(200)
    assert (origin["data"]["sha256"], origin["data"]["N"], origin["data"]["d"]) == (dataset.sha256, 200, 2)
    assert origin["data"]["stand_in"] is False and not undisturbed.stand_in
    assert set(origin["constants"]) == {"squared_norm", "trace", "frobenius", "spectral"}
    (session,) = origin["sessions"]
    assert session["library"] == nl.__version__
    assert session["packages"]["numpy"] == np.__version__
    assert {"scipy", "numba", "pandas", "pyarrow"} <= set(session["packages"])
    assert session["cpu"] and session["blas"] and session["cores"] >= 1 and session["python"]
    assert session["threads"] == {"repetitions": 2, "each": 1}
    assert session["repetitions"] == 40 and session["wall_seconds"] > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", session["started"])
    assert str(root) not in json.dumps(session), "no path of this machine"
    assert session["commit"] is None or re.fullmatch("[0-9a-f]{40}", session["commit"])
    assert session["dirty"] in (None, True, False)


def repository(folder: Path, *files: str) -> Path:
    """A repository with one commit of these files."""
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x = 1\n")
    for words in (["init"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", "one"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("changed", ["nystrom_lib", "companion"])
def test_commit_and_dirty_flag(tmp_path: Path, changed: str) -> None:
    assert provenance.git_state(tmp_path) == (None, None)
    repository(tmp_path, "nystrom_lib/code.py", "companion/code.py", "other.py")
    commit, dirty = provenance.git_state(tmp_path)
    assert commit is not None and re.fullmatch("[0-9a-f]{40}", commit) and dirty is False
    (tmp_path / "other.py").write_text("x = 2\n")
    assert provenance.git_state(tmp_path) == (commit, False)
    (tmp_path / changed / "code.py").write_text("x = 2\n")
    assert provenance.git_state(tmp_path) == (commit, True)
