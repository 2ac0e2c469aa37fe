"""``nystrom optimise``: landmarks for a user's own file, in its own units."""

import csv
import json
import os
import re
import signal
import textwrap
import threading
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import nystrom_lib as nl
from tests.disks import disk, read_only

from .conftest import call, fine, refused


def printed(said: str, row: str) -> float:
    """A trace error, as the table has it."""
    (line,) = (line for line in said.splitlines() if line.startswith(row))
    return float(re.split(r"\s{2,}", line)[1])


def data_of(record: dict[str, Any]) -> np.ndarray:
    """The points that a record says were used."""
    return nl.datasets.from_file(**record["file"]).X


def recomputed(record: Path, landmarks: np.ndarray) -> float:
    """The trace error of landmarks in the file's units, from the record and the library alone."""
    known = json.loads(record.read_text(encoding="utf-8"))
    data = data_of(known)
    settings = dict(known["kernel"])
    kernel = getattr(nl, settings.pop("name"))(**settings)
    sample = (landmarks - known["standardisation"]["mean"]) / known["standardisation"]["scale"]
    return float(nl.nystrom_errors(kernel, data, sample, norms=("trace",)).trace)


@pytest.fixture(scope="module")
def optimised(measurements: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("optimise")
    words = ["optimise", measurements, "-n", 12, "--without", "sample", "--missing-code", "-999", "--iterations", 200]
    return folder, fine(call(*words, "-o", "mine.npy", cwd=folder))


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
    trace = recomputed(folder / "mine.json", np.load(folder / "mine.npy"))
    assert printed(said, "after") == float(f"{trace:.6g}")
    assert printed(said, "best possible") < printed(said, "after") < 0.9 * printed(said, "before")
    assert f"E_tr = {trace / printed(said, 'best possible'):.3g}" in said
    (needed,) = re.findall(r"Uniform landmarks would need (\d+) for the same error", said)
    assert int(needed) > 12


def test_the_record_says_what_was_done_and_does_it_again(optimised: tuple[Path, str]) -> None:
    folder, said = optimised
    record = json.loads((folder / "mine.json").read_text(encoding="utf-8"))
    assert record["standardisation"]["done"] is True
    assert all(choice in said for choice in record["choices"])
    data = data_of(record)
    how = {key: value for key, value in record["find_landmarks"].items() if key != "steps"}
    again = nl.find_landmarks(nl.Gaussian(record["kernel"]["rho"]), data, record["n"], **how)
    mean, scale = (np.array(record["standardisation"][name]) for name in ("mean", "scale"))
    np.testing.assert_allclose(mean + scale * again.sample, np.load(folder / "mine.npy"), rtol=1e-9)


REFUSED = [
    ([], 1, "columns that do not hold numbers: 'sample' (for example 's0')"),
    (["--without", "smple"], 1, "names 'smple', which is no column (did you mean 'sample'?)"),
    (["--columns", ""], 2, "Invalid value for '--columns': a name is empty."),
    (["--without", "sample", "-n", "5000"], 1, "n is 5000; it must be from 1 to 289"),
    (["--without", "sample", "--rho", "1e-320"], 2, "rho is 1e-320; it must be a number, at least 1e-100"),
    (["--one-hot"], 1, "300 different words in 'sample'"),
    (["--without", "sample", "-o", "marks.txt"], 2, "'marks.txt' must end in one of .npy, .csv"),
    (["--without", "sample", "-o", ""], 2, "--out is empty; it must name a file."),
    (["--without", "sample", "-o", "/"], 2, "Invalid value for '-o' / '--out': File '/' is a directory."),
    (["--columns", "x\ny"], 1, "columns names 'x', which is no column"),
    (["--without", "sample", "-o", "no/where.npy"], 2, "'no/where.npy' is in a folder that does not exist"),
    (["--without", "sample", "--missing", "refuse"], 1, "rows with missing values"),
    (["--tolerance", 0.2], 2, "tolerance excludes n."),
]


@pytest.mark.parametrize(("words", "code", "said"), REFUSED)
def test_what_cannot_be_done_is_refused(
    measurements: Path, tmp_path: Path, words: list[Any], code: int, said: str
) -> None:
    assert said in refused(call("optimise", measurements, "-n", "10", *words, cwd=tmp_path), code)
    assert list(tmp_path.iterdir()) == []


def mine(folder: Path, rows: int = 60) -> Path:
    path = folder / "a.csv"
    np.savetxt(path, np.random.default_rng(5).normal(size=(rows, 2)), delimiter=",", header="x,y", comments="")
    return path


QUICK = ["-n", 3, "--rho", 1, "--iterations", 20]


def test_a_full_disk_loses_no_landmarks(tmp_path: Path) -> None:
    """It takes the landmarks but not their record."""
    mine(tmp_path)
    with disk(tmp_path / "disk", "size=4k") as place:
        done = call("optimise", "a.csv", "-o", "disk/x.npy", *QUICK, cwd=tmp_path)
        said = refused(done, 1)
        assert [each.name for each in place.iterdir()] == ["x.npy"]
    assert "disk/x.npy or its record cannot be written (No space left on device); the landmarks are printed" in said
    assert done.stdout.startswith("x,y\n") and done.stdout.count("\n") == 4


def test_the_data_are_never_written_over(tmp_path: Path) -> None:
    data = mine(tmp_path)
    before = data.read_bytes()
    (tmp_path / "sub").mkdir()
    (tmp_path / "soft.csv").symlink_to(data)
    (tmp_path / "hard.csv").hardlink_to(data)
    for out in ("a.csv", "sub/../a.csv", "soft.csv", "hard.csv"):
        assert "the file with the data" in refused(call("optimise", "a.csv", "-o", out, *QUICK, cwd=tmp_path), 2)
    assert data.read_bytes() == before
    (tmp_path / "points.json").symlink_to(data)  # where the record of points.npy would go
    assert "the file with the data" in refused(call("optimise", "a.csv", "-o", "points.npy", *QUICK, cwd=tmp_path), 2)
    assert "does not exist" in refused(call("optimise", "other.npy", cwd=tmp_path), 2)


def test_a_json_file_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    mine(tmp_path)
    (tmp_path / "b.json").write_text('{"mine": 1}', encoding="utf-8")
    done = call("optimise", "a.csv", "-o", "b.npy", *QUICK, cwd=tmp_path)
    assert "'b.json', which is not a record of landmarks" in refused(done, 2)
    assert (tmp_path / "b.json").read_text(encoding="utf-8") == '{"mine": 1}' and not (tmp_path / "b.npy").exists()
    for _ in range(2):  # a record of ours may be renewed
        fine(call("optimise", "a.csv", "-o", "c.npy", *QUICK, cwd=tmp_path))


def test_european_files_and_headers(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x;y\n" + "".join(f"{i},5;{i * i},25\n" for i in range(20)), encoding="utf-8")
    done = call("optimise", "a.csv", *QUICK, cwd=tmp_path)
    assert "N = 20, d = 2" in fine(done)
    for what in ("looking for 3 landmarks", "computing the trace error", "comparing with uniform landmarks"):
        assert what in done.stderr, "a silent half-minute on larger data"
    (tmp_path / "b.csv").write_text("2019,2020\n" + "".join(f"{i},{i * i}\n" for i in range(20)), encoding="utf-8")
    assert "N = 21, d = 2" in fine(call("optimise", "b.csv", *QUICK, cwd=tmp_path))
    assert "N = 20, d = 2" in fine(call("optimise", "b.csv", *QUICK, "--header", cwd=tmp_path))


def test_a_start_that_nothing_betters_is_kept_and_said_to_be(tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.linspace(0.0, 1.0, 5)[:, None])
    said = fine(call("optimise", "data.npy", "-n", 5, "--rho", 1, "--no-standardise", cwd=tmp_path))
    assert "The start leaves no error: nothing to descend on." in said


def test_a_folder_that_cannot_be_written_to_is_refused_before_the_descent(tmp_path: Path) -> None:
    """Catches a descent whose result cannot be saved."""
    data = mine(tmp_path)
    with read_only(tmp_path / "folder") as folder:
        done = call("optimise", data, *QUICK, "-o", folder / "b.npy", cwd=tmp_path)
        assert "in a folder that does not exist or cannot be written to" in refused(done, 2)
        assert "looking for" not in done.stderr
        run = call("run", "bigaussian", "--profile", "smoke", cwd=folder)
        assert run.exit_code == 1 and re.search("Read-only file system|Permission denied", run.stderr)


def test_ctrl_c_keeps_the_best_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine(tmp_path, rows=500)
    echo = click.echo

    def echo_and_interrupt(message: Any = None, **how: Any) -> None:
        echo(message, **how)
        if "looking for" in str(message):
            threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()

    monkeypatch.setattr(click, "echo", echo_and_interrupt)
    out = fine(call("optimise", "a.csv", "-n", 20, "--rho", 1, "--seconds", 500, cwd=tmp_path))
    assert "The descent was stopped; these are the best landmarks found." in out
    assert np.load(tmp_path / "landmarks.npy").shape == (20, 2)
    assert printed(out, "after") <= printed(out, "before")


def test_two_lines_of_python_load_the_result(optimised: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches features of landmarks in units that the kernel does not have."""
    folder, said = optimised
    monkeypatch.chdir(folder)
    loading = said.split("for points X in the units of the file:")[1]
    X = np.load("mine.npy") * 1.01
    names: dict[str, Any] = {"nystrom_lib": nl, "X": X}
    exec(textwrap.dedent(loading), names)
    saved, features = names["landmarks"], names["features"]
    known = json.loads(Path("mine.json").read_text(encoding="utf-8"))
    scaled = (X - known["standardisation"]["mean"]) / known["standardisation"]["scale"]
    assert saved.columns == tuple(known["columns"]) and "It is that of the standardised data." in said
    assert features @ features.T == pytest.approx(saved.approximation.matrix(scaled), abs=1e-12)
    data = data_of(known)
    relative = nl.nystrom_errors(saved.kernel, data, saved.scaled(saved.landmarks), "trace").trace / len(data)
    assert f"over the trace of the kernel matrix, is {100 * relative:.3g} %." in said


def test_a_tolerance_decides_the_number_and_a_picture_is_drawn(measurements: Path, tmp_path: Path) -> None:
    """Catches a number of landmarks that does not keep the tolerance, and a result without its picture."""
    words = ["optimise", measurements, "--without", "sample", "--missing-code", "-999", "--tolerance", 0.2]
    said = fine(call(*words, "-o", "few.npy", cwd=tmp_path))
    landmarks, record = np.load(tmp_path / "few.npy"), json.loads((tmp_path / "few.json").read_text(encoding="utf-8"))
    assert record["n"] == len(landmarks) and record["find_landmarks"]["tolerance"] == 0.2
    assert recomputed(tmp_path / "few.json", landmarks) <= 0.2 * len(data_of(record)) * (1 + 1e-9)
    assert f"n = {len(landmarks)}, the smallest number tried that keeps the tolerance 0.2" in said
    assert (tmp_path / "few.svg").stat().st_size > 0 and "picture" in said
