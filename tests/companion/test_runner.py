"""Running: in this process and in others, interrupted, killed, with a full disk; always the same table."""

import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import nystrom_lib as nl
from companion.errors import CompanionError
from companion.experiments.components import StochasticGradientDescent
from companion.experiments.config import Record
from companion.results import provenance
from companion.results.table import Results
from companion.running import engine
from companion.running.progress import Progress
from companion.running.runner import run

from . import small
from .small import EXPERIMENT, checksums

#: Repetitions of some 50 ms.
SLOWER = EXPERIMENT.replace(
    descent=StochasticGradientDescent(step=2e-7, iterations=20_000, batch_size=10), record=Record()
)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run(EXPERIMENT, tmp_path_factory.mktemp("undisturbed"), threads=2)


def test_processes_make_no_difference(undisturbed: Results, tmp_path: Path) -> None:
    assert checksums(run(EXPERIMENT, tmp_path, threads=1)) == checksums(undisturbed)


def test_m_makes_no_difference_and_a_run_can_be_extended(undisturbed: Results, tmp_path: Path) -> None:
    alone = run(EXPERIMENT.replace(m=1), tmp_path, threads=2)
    assert checksums(alone) == {0: checksums(undisturbed)[0]}
    few = run(EXPERIMENT.replace(m=7), tmp_path, threads=1)
    assert [session["repetitions"] for session in few.provenance["sessions"]] == [1, 6]
    more = run(EXPERIMENT, tmp_path, threads=1)
    assert checksums(more) == checksums(undisturbed)
    fewer = run(EXPERIMENT.replace(m=7), tmp_path, threads=1)
    assert fewer.checksum == few.checksum and len(fewer.table) == 14


# -- the engine by itself --------------------------------------------------------------------------------------


def double(calls: Path, piece: int, progress: object) -> dict[str, int]:
    """Notes the call; the piece 5 lacks memory until a file is there."""
    (calls / f"{piece}-{os.getpid()}").touch()
    if piece == 5 and not (calls / "fixed").exists():
        raise MemoryError("the matrix does not fit")
    return {"doubled": 2 * piece}


def die_once(calls: Path, piece: int, progress: object) -> int:
    """Kills its own process at the first call for piece 3."""
    if piece == 3 and not (calls / "died").exists():
        (calls / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return piece


def die(piece: int, progress: object) -> None:
    """Kills its own process."""
    os.kill(os.getpid(), signal.SIGKILL)


def pieces(count: int) -> dict[str, int]:
    return {f"piece {k}": k for k in range(count)}


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_a_piece_is_raised_and_loses_nothing(tmp_path: Path, threads: int) -> None:
    """Catches a finished piece that is lost, or computed twice."""
    calls, folder = tmp_path / "calls", tmp_path / "folder"
    calls.mkdir()
    compute = partial(engine.compute, partial(double, calls), pieces(8), folder, threads=threads)
    with pytest.raises(MemoryError, match="does not fit"):
        compute()
    before = engine.count(folder)
    assert before >= 5 or threads == 2
    (calls / "fixed").touch()
    for called in calls.glob("*-*"):
        called.unlink()
    found = compute()
    assert {name: piece.value["doubled"] for name, piece in found.items()} == {f"piece {k}": 2 * k for k in range(8)}
    assert len(list(calls.glob("*-*"))) == 8 - before
    assert sum(session["repetitions"] for session in engine.sessions(found)) == 8


def test_a_killed_worker_costs_time_only(tmp_path: Path) -> None:
    found = engine.compute(partial(die_once, tmp_path), pieces(6), tmp_path / "folder", threads=2)
    assert (tmp_path / "died").exists()
    assert [piece.value for piece in found.values()] == list(range(6))


def test_workers_that_are_always_killed_end_the_run(tmp_path: Path) -> None:
    """Catches a run that retries forever."""
    with pytest.raises(CompanionError, match=r"Worker processes were killed 3 times in a row.* Use fewer jobs\."):
        engine.compute(die, pieces(4), tmp_path, threads=2)


@pytest.mark.parametrize(
    "damage",
    [lambda path: os.truncate(path, 40), lambda path: path.write_bytes(b""), lambda path: flip(path)],
    ids=["truncated", "empty", "changed"],
)
def test_a_damaged_piece_is_computed_again(tmp_path: Path, damage: Callable[[Path], Any]) -> None:
    compute = partial(run, EXPERIMENT.replace(m=3), tmp_path, threads=1)
    expected = checksums(compute())
    (path,) = tmp_path.rglob("1.piece")
    damage(path)
    assert checksums(compute()) == expected
    assert len(compute().provenance["sessions"]) in (1, 2)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def fill_the_disk(folder: Path, report: Any) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        run(EXPERIMENT.replace(m=3, record=Record(repetitions=(2,), every=1, path=True)), folder, threads=1)
    except CompanionError as error:
        report.send(str(error))


def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    """Repetition 2 is larger than the disk allows; 0 and 1 stay, and no part of 2."""
    receiver, sender = small.context.Pipe(duplex=False)
    process = small.start(fill_the_disk, tmp_path, sender)
    sender.close()
    assert re.match(r"Nothing can be written to .* \(File too large\)\. What is stored is safe", receiver.recv())
    process.join()
    assert sorted(path.name for path in tmp_path.rglob("*.piece")) == ["0.piece", "1.piece", "_constants.piece"]


# -- killed ----------------------------------------------------------------------------------------------------


def test_killed_again_and_again_the_run_ends_with_the_same_table(tmp_path: Path) -> None:
    """SIGKILL, each time after some more repetitions, then a last run to the end."""
    for wanted in (3, 6, 9):
        process = small.start(small.run_quietly, tmp_path / "killed", SLOWER)
        small.kill_when(process, lambda wanted=wanted: engine.count(tmp_path / "killed") >= wanted)
    there = {path: path.stat().st_mtime_ns for path in (tmp_path / "killed").rglob("*.piece")}
    assert 9 <= len(there) - 1 < SLOWER.m
    resumed, undisturbed = (run(SLOWER, tmp_path / name, threads=1) for name in ("killed", "once"))
    assert all(path.stat().st_mtime_ns == time for path, time in there.items()), "nothing was computed twice"
    assert checksums(resumed) == checksums(undisturbed)
    pd.testing.assert_frame_equal(resumed.table.drop(columns="seconds"), undisturbed.table.drop(columns="seconds"))


INTERRUPTED = """
    import sys
    from tests.companion import small
    from companion.running.runner import run
    from companion.errors import Interrupted
    m, threads = map(int, sys.argv[2:])
    try:
        run(small.slow_experiment().replace(m=m), sys.argv[1], threads=threads)
    except Interrupted as stop:
        print(stop, flush=True)
        sys.exit(130)
"""


@pytest.mark.parametrize(("m", "threads"), [(1, 2), (100, 2)])
def test_ctrl_c_ends_it_and_says_how_to_go_on(tmp_path: Path, root: Path, m: int, threads: int) -> None:
    """A single repetition of minutes in this process, and some in processes, which must not stay behind.

    The signal goes to all processes, as a terminal sends it.
    """
    command = [sys.executable, "-c", textwrap.dedent(INTERRUPTED), str(tmp_path), str(m), str(threads)]
    with subprocess.Popen(
        command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        small.wait_until(lambda: bool(list(tmp_path.rglob("_constants.piece"))))
        if m > 1:
            small.wait_until(lambda: len(members(process.pid)) > 2)
        os.killpg(process.pid, signal.SIGINT)
        try:
            output, _ = process.communicate(timeout=60)  # which also waits for every process that holds the pipe
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert process.returncode == 130
    assert re.search(rf"Stopped: 0 of {m} repetitions are stored in .*; the same call continues from there\.", output)


def members(group: int) -> list[int]:
    """The processes of a group."""
    found = subprocess.run(["ps", "-eo", "pid=,pgid="], capture_output=True, text=True, check=True).stdout
    return [int(pid) for pid, pgid in map(str.split, found.splitlines()) if int(pgid) == group]


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


def test_progress_is_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with closing(Progress(4, 1, "trial", "arena")) as progress:
        progress.reach(3, steps=1_000)
    assert "arena" in terminal.getvalue() and "3/4" in terminal.getvalue()
