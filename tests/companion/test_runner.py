"""Running: on threads, in turns, interrupted, killed; always the same table."""

import fcntl
import json
import logging
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import textwrap
import threading
import time
from collections import deque
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nystrom_lib as nl
from companion.errors import ConfigurationError, DamagedStoreError
from companion.experiments.components import StochasticGradientDescent
from companion.experiments.config import Record
from companion.results import provenance
from companion.results.store import Store, store_path
from companion.results.table import Results
from companion.running import progress as progress_module
from companion.running import runner
from companion.running.progress import Progress
from companion.running.runner import run, share_out

from .. import warm
from . import small
from .small import EXPERIMENT, checksums


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run(EXPERIMENT, tmp_path_factory.mktemp("undisturbed"), threads=2, progress=False)


def without_times(table: pd.DataFrame) -> pd.DataFrame:
    return table.drop(columns="seconds")


def test_the_table_is_tidy_and_complete(undisturbed: Results) -> None:
    table = undisturbed.table
    assert undisturbed.complete
    columns = ["repetition", "stage", "R", "trace", "frobenius", "spectral", "E_tr", "E_F", "E_sp", "rank", "seconds"]
    assert list(table.columns) == columns
    assert table["repetition"].tolist() == [j for j in range(40) for _ in range(2)]
    assert table["stage"].tolist() == ["initial", "optimised"] * 40
    assert not without_times(table).isna().any().any()
    assert table.groupby("repetition").size().eq(2).all()


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


def test_order_makes_no_difference(undisturbed: Results, tmp_path: Path) -> None:
    chosen = runner.recompute(runner.prepare(EXPERIMENT), [31, 4, 17], threads=2)
    assert {j: outcome.checksum(timings=False) for j, outcome in chosen.items()} == {
        j: checksums(undisturbed)[j] for j in (4, 17, 31)
    }


def test_a_finished_run_is_not_computed_again(undisturbed: Results, tmp_path: Path) -> None:
    first = run(EXPERIMENT.replace(m=3), tmp_path, progress=False)
    second = run(EXPERIMENT.replace(m=3), tmp_path, progress=False)
    assert second.checksum == first.checksum, "timings included"
    assert len(second.provenance["sessions"]) == 1


def test_the_cores_are_shared_out_one_way_or_the_other() -> None:
    for threads in range(1, 9):
        for count in range(1, 20):
            repetitions, each = share_out(threads, count)
            assert 1 in (repetitions, each) and repetitions * each <= threads
            assert each == threads if count == 1 else repetitions == min(threads, count)


def test_bad_arguments(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="threads is 0; it must be at least 1"):
        run(EXPERIMENT, tmp_path, threads=0)


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


def test_killed_again_and_again_the_run_ends_with_the_same_table(undisturbed: Results, tmp_path: Path) -> None:
    """SIGKILL at random moments, then a last run to the end."""
    whole = min(lifetime(tmp_path), 3.0)
    rng = np.random.default_rng(11)
    kills, counts = 0, []
    while kills < 16:
        if small.kill_after(small.start(small.run_quietly, tmp_path), rng.uniform(0.0, whole)):
            kills += 1
        else:  # it got to the end: begin anew
            forget(tmp_path)
        counts.append(stored(tmp_path))
    resumed = run(EXPERIMENT, tmp_path, threads=2, progress=False)
    assert checksums(resumed) == checksums(undisturbed)
    pd.testing.assert_frame_equal(without_times(resumed.table), without_times(undisturbed.table))
    assert resumed.curves.equals(undisturbed.curves)
    assert len(set(counts)) > 3, "kills must have come at different moments of the run"


def lifetime(folder: Path) -> float:
    """How long a child takes that nobody kills (the second one: the first waits for imports); nothing is left of it."""
    small.start(small.run_quietly, folder).join()
    forget(folder)
    began = time.monotonic()
    small.start(small.run_quietly, folder).join()
    forget(folder)
    return time.monotonic() - began


def forget(folder: Path) -> None:
    """Remove a finished run."""
    (store,) = folder.glob("*.sqlite")
    store.unlink()


def stored(folder: Path) -> int:
    """How many repetitions there are, through a store that must open."""
    if not list(folder.glob("*.sqlite")):
        return 0
    with Store(folder, EXPERIMENT, nl.datasets.bigaussian(200).sha256) as store:
        return len(store.outcomes())


def test_two_processes_share_one_run(tmp_path: Path) -> None:
    """Repetitions of some 50 ms, so that both have their part."""
    slower = EXPERIMENT.replace(
        descent=StochasticGradientDescent(step=2e-7, iterations=20_000, batch_size=10), record=Record()
    )
    processes = [small.start(small.run_quietly, tmp_path / "both", slower, 1) for _ in range(2)]
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    together = run(slower, tmp_path / "both", progress=False)
    assert checksums(together) == checksums(run(slower, tmp_path / "alone", progress=False))
    shares = [session["repetitions"] for session in together.provenance["sessions"]]
    assert sum(shares) == 40 and len(shares) == 2 and min(shares) > 1


def test_two_processes_of_which_one_is_killed(undisturbed: Results, tmp_path: Path) -> None:
    survivor, victim = (small.start(small.run_quietly, tmp_path, EXPERIMENT, 1) for _ in range(2))
    small.kill_after(victim, 0.2)
    survivor.join(60)
    assert survivor.exitcode == 0
    assert checksums(run(EXPERIMENT, tmp_path, progress=False)) == checksums(undisturbed)


def test_what_another_process_has_stored_is_not_done_again(tmp_path: Path) -> None:
    """It is left out when repetitions are handed out, however late it was stored."""

    class Recorder:
        capacity = 3

        def __init__(self) -> None:
            self.submitted: list[int] = []

        def submit(self, j: int) -> None:
            self.submitted.append(j)

    ours = Store(tmp_path, EXPERIMENT, small.SHA)
    with ours, Store(tmp_path, EXPERIMENT, small.SHA) as theirs:
        pending, under_way, backend = deque(range(6)), {99}, Recorder()
        theirs.begin_session({})
        theirs.add(0, small.made_up(0))
        theirs.add(2, small.made_up(2))
        runner._hand_out(pending, under_way, ours, backend)  # type: ignore[arg-type]
    assert backend.submitted == [1, 3] and under_way == {99, 1, 3} and list(pending) == [4, 5]


def test_sessions_begin_in_different_places() -> None:
    pending = list(range(100))
    starts = [runner._in_turn(pending, session)[0] for session in range(1, 6)]
    assert starts[0] == 0 and len(set(starts)) == 5
    assert all(sorted(runner._in_turn(pending, session)) == pending for session in range(1, 20))
    assert runner._in_turn([], 3) == []


# -- interrupted -----------------------------------------------------------------------------------------------

INTERRUPTED = """
    import sys
    from tests.companion import small
    from companion.running.runner import run
    from companion.errors import Interrupted
    experiment = small.EXPERIMENT if sys.argv[2] == "many" else small.slow_experiment().replace(m=int(sys.argv[2]))
    if sys.argv[2] == "many":
        experiment = experiment.replace(m=100_000)
    print("ready", flush=True)
    try:
        run(experiment, sys.argv[1], progress=False)
    except Interrupted as stop:
        print(stop, flush=True)
        sys.exit(130)
"""


@pytest.mark.parametrize("what", ["many", "2", "1"])
def test_ctrl_c_ends_within_two_seconds_and_says_how_to_go_on(tmp_path: Path, root: Path, what: str) -> None:
    """Short repetitions, two long ones side by side, and a single one with all threads to itself."""
    command = [*warm.python(), "-c", textwrap.dedent(INTERRUPTED), str(tmp_path), what]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        small.wait_until(lambda: sessions_begun(tmp_path) > 0)
        time.sleep(0.5)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        line = process.stdout.readline()
        assert time.monotonic() - began < 2.0
        output, errors = process.communicate(timeout=30)
        # What is left is Python taking itself down, which takes longer on a busy machine.
        assert time.monotonic() - began < 4.0
        output = line + output
    assert process.returncode == 130
    assert errors == ""
    found = re.search(r"Stopped: (\d+) of \d+ repetitions are stored in .*; the same call goes on from there\.", output)
    assert found is not None, output
    if what == "many":
        assert int(found[1]) > 0
        assert run(EXPERIMENT.replace(m=int(found[1])), tmp_path, progress=False).complete


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


def test_an_error_of_one_of_several_ends_them_all() -> None:
    """Catches a failure that is noticed only when everything else is done, or never."""
    begun = []

    def work(item: int) -> int:
        begun.append(item)
        if item == 1:
            raise OSError("the disk is full")
        return item

    with pytest.raises(OSError, match="full"):
        for _ in runner.several(work, range(9), 1):
            pass
    assert begun == [0, 1]


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

SHOWN = """
    import sys
    from tests.companion import small
    from companion.running.runner import run
    run(small.EXPERIMENT.replace(m=int(sys.argv[2])), sys.argv[1])
"""


@pytest.mark.parametrize(("m", "unit"), [(12, "repetitions"), (1, "steps")])
def test_a_bar_with_rate_and_time_left_on_a_terminal(tmp_path: Path, root: Path, m: int, unit: str) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    command = [*warm.python(), "-c", textwrap.dedent(SHOWN), str(tmp_path), str(m)]
    with subprocess.Popen(command, cwd=root, stderr=theirs, stdout=subprocess.PIPE) as process:
        os.close(theirs)
        shown = b""
        while select.select([ours], [], [], 60)[0]:
            try:
                shown += os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
        assert process.wait(60) == 0
        assert process.stdout is not None and process.stdout.read() == b""
    os.close(ours)
    text = shown.decode()
    assert "bigaussian, n = 6" in text and "100%" in text
    assert re.search(rf"\[\d\d:\d\d<\d\d:\d\d, +[\d.]+ ?(s/)? ?{unit}", text), text


def test_silence_where_there_is_no_terminal(tmp_path: Path, root: Path) -> None:
    command = [*warm.python(), "-c", textwrap.dedent(SHOWN), str(tmp_path), "3"]
    done = subprocess.run(command, cwd=root, capture_output=True, timeout=100, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_a_line_every_ten_seconds_in_the_log(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    clock = [1000.0]
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: clock[0])
    with Progress(100, done=10, unit="repetition", title="abalone, n = 50") as bar:
        for second in range(31):
            clock[0] = 1000.0 + second
            bar.reach(10 + second // 2)
    assert [record.message for record in caplog.records] == [
        "abalone, n = 50: 15/100 repetitions, 0.5 repetitions/s, about 2 min 50 s left",
        "abalone, n = 50: 20/100 repetitions, 0.5 repetitions/s, about 2 min 40 s left",
        "abalone, n = 50: 25/100 repetitions, 0.5 repetitions/s, about 2 min 30 s left",
    ]


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


@pytest.mark.parametrize("place", [".venv/site-packages", ".", "copies"])
def test_another_repository_around_the_package_is_not_ours(tmp_path: Path, place: str) -> None:
    """Catches the commit of a user's project in the records, where the package is installed inside of it."""
    repository(tmp_path, "paper.tex", "copies/nystrom_lib/code.py")
    (tmp_path / place / "nystrom_lib").mkdir(parents=True, exist_ok=True)
    assert provenance.git_state(tmp_path / place) == (None, None)


def test_looking_at_a_repository_writes_nothing_into_it(tmp_path: Path) -> None:
    """Catches an index that is renewed by the way: a full disk, or a kill, left its lock, and nobody could commit."""
    repository(tmp_path, "nystrom_lib/code.py", "companion/code.py")
    index = tmp_path / ".git" / "index"
    os.utime(tmp_path / "nystrom_lib" / "code.py", (1e9, 1e9))  # what git would note
    before = index.read_bytes()
    assert provenance.git_state(tmp_path)[1] is False
    assert index.read_bytes() == before


def test_a_hook_of_another_repository_lends_us_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches GIT_DIR, which git sets for its hooks, and which counts for more than the folder that is asked about."""
    ours = repository(tmp_path / "ours", "nystrom_lib/code.py", "companion/code.py")
    theirs = repository(tmp_path / "theirs", "paper.tex")
    commit = provenance.git_state(ours)
    monkeypatch.setenv("GIT_DIR", str(theirs / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(theirs / ".git" / "index"))
    assert commit[0] is not None and provenance.git_state(ours) == commit
    assert provenance.git_state(tmp_path) == (None, None)


def test_a_stand_in_says_so(tmp_path: Path) -> None:
    from companion.experiments.components import MiniBooNE

    experiment = EXPERIMENT.replace(
        data=MiniBooNE(stand_in="always"), norms=(), factors=False, constant=False, m=1, record=Record()
    )
    results = run(experiment, tmp_path, progress=False)
    assert results.stand_in and "stand-in" in results.provenance["data"]["name"]
