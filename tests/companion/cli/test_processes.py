"""The command as a process: exit codes, a full disk, a closed pipe, Ctrl-C, SIGTERM and SIGKILL."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from companion.results.table import Results
from tests.companion.small import repetitions_stored

from .conftest import COMMAND, call, fine, process, sentence

SMALL = ["run", "magic", "--profile", "smoke", "-p", "n=8", "-p", "iterations=400"]


def test_exit_codes_and_a_full_disk(tmp_path: Path) -> None:
    """Catches a console script that is not the module, and a failure that looks like success."""
    script = Path(sys.executable).with_name("nystrom")
    done = subprocess.run([script, "list", "nothing"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and sentence(done.stderr).startswith("There is no chapter 'nothing'; known: ")
    if Path("/dev/full").exists():
        with open("/dev/full", "w") as full:
            done = subprocess.run([script, "list"], stdout=full, stderr=subprocess.PIPE, text=True)
        assert (done.returncode, done.stderr) == (1, "Error: No space left on device\n")


def test_a_closed_pipe_loses_nothing(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.random.default_rng(0).normal(size=(40, 2)))
    words = ["optimise", "a.npy", "-n", "3", "--rho", "1", "--iterations", "5"]
    with subprocess.Popen([*COMMAND, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        assert started.stdout is not None
        started.stdout.close()
        started.wait(timeout=300)
    assert np.load(tmp_path / "landmarks.npy").shape == (3, 2) and (tmp_path / "landmarks.json").stat().st_size > 0


def test_ctrl_c_says_what_is_stored_and_resume_continues(tmp_path: Path) -> None:
    out = tmp_path / "stopped"
    words = [*SMALL, "-p", "m=100", "--out", out]
    done = process(words, tmp_path, signal.SIGINT, lambda: repetitions_stored(out) > 1)
    assert done.returncode == 130 and 1 < repetitions_stored(out) < 101
    assert f"--out {out} --resume" in sentence(done.stderr)
    fine(call(*words, "--resume", cwd=tmp_path))
    every = [Results.load(path) for path in (out / "results").glob("*.parquet")]
    (results,) = (each for each in every if each.experiment.m == 100)
    assert results.complete and len(results.provenance["sessions"]) == 2


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGTERM])
def test_a_stopped_computation_continues(tmp_path: Path, kind: signal.Signals) -> None:
    """Catches a finished repetition that is computed again, and an experiment called done before it is saved."""
    out, work = tmp_path / "out", tmp_path / "work"
    names = {"bigaussian-1.kmeans-radial", "bigaussian-1.KMeans", "bigaussian-1.uniform-radial"}
    words = ["reproduce", "beyond", *sorted(names), "--out", out, "--work", work, "--jobs", 2]
    done = process(words, tmp_path, kind, lambda: repetitions_stored(work) > 2)
    saved = [Results.load(path) for path in out.glob("*.parquet")]
    there = {path: path.stat().st_mtime_ns for path in work.rglob("*.piece")}
    assert 2 < repetitions_stored(work) < 33
    if kind == signal.SIGTERM:
        assert done.returncode == 130
        assert sentence(done.stderr).startswith(f"Stopped: {len(saved)} of 3 experiments are saved")
    fine(call(*words, cwd=tmp_path))
    assert {path.stem for path in out.glob("*.parquet")} == names
    assert all(Results.load(path).complete for path in out.glob("*.parquet"))
    assert all(path.stat().st_mtime_ns == time for path, time in there.items())
