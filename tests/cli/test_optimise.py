"""``nystrom optimise``: landmarks for a user's own file, in its own units."""

import csv
import json
import os
import pty
import re
import subprocess
import termios
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import nystrom_lib as nl
from nystrom_lib.companion.cli.optimise import optimise
from nystrom_lib.companion.experiments.config import Experiment

from .conftest import COMMAND, all_refused, call, fine, interrupt, refused


def printed(said: str, quantity: str) -> tuple[str, str]:
    """Before and after, as the table has them."""
    (line,) = (line for line in said.splitlines() if line.startswith(quantity))
    before, after = re.split(r"\s{2,}", line)[1:3]
    return before, after


def recomputed(record: Path, landmarks: np.ndarray) -> tuple[float, float]:
    """R and the trace error of landmarks in the file's units, from the record and the library alone."""
    known = json.loads(record.read_text(encoding="utf-8"))
    experiment = Experiment.from_plain(known["experiment"])
    data = experiment.data.load(0).X
    kernel = experiment.kernel.build()
    sample = (landmarks - known["standardisation"]["mean"]) / known["standardisation"]["scale"]
    return nl.radial_skd(kernel, data, sample), float(nl.nystrom_errors(kernel, data, sample, norms=("trace",)).trace)


@pytest.fixture(scope="module")
def optimised(measurements: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("optimise")
    words = ["optimise", measurements, "-n", 12, "--without", "sample", "--missing-code", "-999", "--iterations", 200]
    return folder, fine(call(*words, "-o", "mine.npy", "--plot", "mine.svg", cwd=folder))


def test_the_landmarks_are_in_the_units_of_the_file(optimised: tuple[Path, str], measurements: Path) -> None:
    folder, said = optimised
    landmarks = np.load(folder / "mine.npy")
    assert landmarks.shape == (12, 4)
    with open(measurements, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["mass"] and row["signal"] != "-999"]
    columns = json.loads((folder / "mine.json").read_text(encoding="utf-8"))["columns"]
    assert columns == ["mass", "height", "count", "signal"]
    data = np.array([[float(row[name]) for name in columns] for row in rows])
    assert f"N = {len(data)}, d = 4; rows with missing values: {300 - len(data)}" in said
    # Landmarks move a little beyond the data at most, whatever the size of a column's numbers.
    spread = np.ptp(data, axis=0)
    assert (landmarks > data.min(axis=0) - spread).all() and (landmarks < data.max(axis=0) + spread).all()
    assert (np.ptp(landmarks, axis=0) > 0.1 * spread).all()


def test_what_is_printed_is_what_the_saved_landmarks_have(optimised: tuple[Path, str]) -> None:
    folder, said = optimised
    R, trace = recomputed(folder / "mine.json", np.load(folder / "mine.npy"))
    assert printed(said, "trace error")[1] == f"{trace:.6g}"
    assert printed(said, "R, Eq. (3)")[1] == f"{R:.6g}"
    for quantity in ("trace error", "R, Eq. (3)"):
        before, after = map(float, printed(said, quantity))
        assert after < 0.9 * before


def test_the_record_says_what_was_done_and_does_it_again(optimised: tuple[Path, str]) -> None:
    from nystrom_lib.companion.running.runner import run

    folder, said = optimised
    record = json.loads((folder / "mine.json").read_text(encoding="utf-8"))
    assert record["standardisation"]["done"] is True and len(record["choices"]) == 4
    assert all(choice in said for choice in record["choices"])
    again = run(Experiment.from_plain(record["experiment"]), folder / "again", progress=False)
    mean, scale = (np.array(record["standardisation"][name]) for name in ("mean", "scale"))
    np.testing.assert_allclose(mean + scale * again.path(0)[1][-1], np.load(folder / "mine.npy"), rtol=1e-9)


def test_the_picture_is_one(optimised: tuple[Path, str]) -> None:
    folder, _ = optimised
    text = (folder / "mine.svg").read_text(encoding="utf-8")
    assert text.startswith("<?xml") and "<svg" in text


def test_every_kind_of_file_and_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the record names the file as the command line did
    data = np.random.default_rng(2).normal(size=(150, 2)) * [1.0, 1e4]
    np.savez(tmp_path / "data.npz", points=data, other=data[:3])
    quick = ["-n", 5, "--iterations", 30, "--rho", 0.5]
    words = ["optimise", "data.npz", "--array", "points", *quick, "--columns", "x1", "-o", "one.csv"]
    fine(call(*words, "--kernel", "matern-5/2", "--batch-size", 20, cwd=tmp_path))
    header, *rows = (tmp_path / "one.csv").read_text(encoding="utf-8").splitlines()
    assert header == "x1" and len(rows) == 5
    assert recomputed(tmp_path / "one.json", np.array([[float(row)] for row in rows]))[0] > 0
    record = json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))
    assert record["experiment"]["descent"]["batch_size"] == 20 and record["experiment"]["kernel"]["nu"] == 2.5


def test_without_standardisation_nothing_is_rescaled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save(tmp_path / "data.npy", np.random.default_rng(3).normal(5.0, 0.1, size=(80, 2)))
    said = fine(call("optimise", "data.npy", "-n", 4, "--iterations", 50, "--no-standardise", cwd=tmp_path))
    record = json.loads((tmp_path / "landmarks.json").read_text(encoding="utf-8"))
    assert record["standardisation"]["done"] is False and record["standardisation"]["scale"] == [1.0, 1.0]
    trace = recomputed(tmp_path / "landmarks.json", np.load(tmp_path / "landmarks.npy"))[1]
    assert printed(said, "trace error")[1] == f"{trace:.6g}"


def test_the_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "data.npy", np.random.default_rng(6).normal(5.0, 0.1, size=(80, 2)))
    reads, read = [], nl.datasets.from_file
    monkeypatch.setattr(nl.datasets, "from_file", lambda path, **how: reads.append(path) or read(path, **how))
    words = [str(tmp_path / "data.npy"), "-n", "4", "--iterations", "5", "-o", str(tmp_path / "marks.npy")]
    assert CliRunner().invoke(optimise, words, catch_exceptions=False).exit_code == 0
    assert len(reads) == 1


REFUSED = [
    ([], 1, "columns that do not hold numbers: 'sample'"),
    (["--without", "smple"], 2, "--without names 'smple', which is no column (did you mean 'sample'?)"),
    (["--columns", "mass,wight"], 2, "--columns names 'wight', which is no column (did you mean 'height'?)"),
    (["--without", "sample", "-n", "5000"], 2, "-n is 5000; it must be from 1 to 289"),
    (["--without", "sample", "--rho", "-1"], 2, "--rho is -1.0; it must be a finite number greater than 0."),
    (["--without", "sample", "--step", "nan"], 2, "--step is nan; it must be finite."),
    (["--without", "sample", "--kernel", "linear"], 2, "'linear' is not one of 'gaussian'"),
    (["--without", "sample", "-o", "marks.txt"], 2, "'marks.txt' must end in one of .npy, .csv"),
    (["--without", "sample", "-o", "no/where.npy"], 2, "'no/where.npy' is in a folder that does not exist"),
    (["--without", "sample", "--missing", "refuse"], 1, "rows with missing values; allow --missing drop"),
    (["--without", "sample", "--iterations", "20", "--step", "1e9"], 1, "R did not get lower with γ = 1e+09"),
]


def test_what_cannot_be_done_is_said(measurements: Path, tmp_path: Path) -> None:
    cases = [(["optimise", str(measurements), "-n", "10", *words], code, said) for words, code, said in REFUSED]
    all_refused(cases, [tmp_path] * len(cases))
    assert list(tmp_path.iterdir()) == []


def test_the_data_are_never_written_over(tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.eye(3))
    assert "the file with the data" in refused(call("optimise", "data.npy", "-o", "data.npy", cwd=tmp_path), 2)
    assert "does not exist" in refused(call("optimise", "other.npy", cwd=tmp_path), 2)


def test_ctrl_c_saves_nothing_and_says_so(tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.random.default_rng(4).normal(size=(50, 2)))
    words = ["optimise", "data.npy", "-n", 3, "--rho", 1, "--step", 1e-9, "--iterations", 10**9]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = interrupt(words, tmp_path, lambda: bool(list(scratch.glob("*/*.sqlite"))), TMPDIR=str(scratch))
    assert refused(done, 130) == "Stopped before the descent was done; nothing was saved."
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["data.npy", "scratch"]


def test_a_terminal_gets_a_bar(tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.random.default_rng(5).normal(size=(60, 2)))
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    words = ["optimise", "data.npy", "-n", "3", "--rho", "1", "--iterations", "50"]
    with subprocess.Popen([*COMMAND, *words], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            said += piece
    os.close(ours)
    assert process.returncode == 0
    assert b"file, n = 3" in said and b"steps" in said
