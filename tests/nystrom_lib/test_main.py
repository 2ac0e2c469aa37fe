"""``python -m nystrom_lib``."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib.__main__ import main, read_points
from tests.disks import disk

X = nl.datasets.bigaussian(N=60).X


@pytest.fixture
def points(tmp_path: Path) -> Path:
    path = tmp_path / "points.csv"
    np.savetxt(path, X, fmt="%.17g", delimiter=",", header="a,b", comments="")
    return path


def test_it_is_find_landmarks(points: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "landmarks.npy"
    assert main([str(points), "-n", "5", "-o", str(out), "--seed", "3"]) == 0
    expected = nl.find_landmarks(nl.Gaussian(nl.median_rho(X, 3)), X, 5, seed=3)
    np.testing.assert_array_equal(np.load(out), expected.sample)
    printed = capsys.readouterr().out
    assert "60 points of 2 coordinates" in printed and "method: trace" in printed
    assert f"relative error: at most {expected.error_bound:.4g}; " in printed
    assert all(reason in printed for reason in expected.reasons)


def test_landmarks_of_standardised_data_are_in_the_units_of_the_file(tmp_path: Path) -> None:
    np.save(tmp_path / "points.npy", 3.0 + X * [1.0, 100.0])
    out = tmp_path / "landmarks.csv"
    words = ["-n", "4", "--standardise", "--method", "uniform", "--rho", "0.5", "-o", str(out)]
    assert main([str(tmp_path / "points.npy"), *words]) == 0
    found = np.loadtxt(out, delimiter=",")
    distances = np.abs(found[:, None] - (3.0 + X * [1.0, 100.0])).max(axis=2)
    assert found.shape == (4, 2) and (distances.min(axis=1) < 1e-9).all()


@pytest.mark.parametrize(
    "text",
    [
        "x,y\n1,2\n3,4.5\n",
        "1,2\n3,4.5\n",
        " 1 2\n 3  4.5\n",
        "x y\n\n1\t2\n3\t4.5\n",
        "\ufeffx,y\r\n1, 2\r\n3, 4.5\r\n",
    ],
)
def test_text_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "points.txt"
    path.write_bytes(text.encode("utf-8"))
    assert read_points(path).tolist() == [[1.0, 2.0], [3.0, 4.5]]


WRONG = {
    "no such file": ("absent.csv", [], "absent.csv cannot be read: No such file or directory."),
    "a word among numbers": (b"1,2\n3,red\n", [], "could not convert string 'red' to float64 at row 1, column 2.\n"),
    "semicolons": (b"x;y\n1;2\n", [], "could not convert string '1;2' to float64"),
    "names only": (b"x,y\n", [], "points.csv cannot be read: it holds no point."),
    "no line": (b"", [], "points.csv cannot be read: it holds no point."),
    "not a file": (".", [], ". is not a regular file."),
    "not a file to write": (b"1,2\n3,4\n", ["-o", "/dev/full"], "output is '/dev/full'; it must be a file"),
    "a missing value": (b"1,2\n3,nan\n4,5\n", [], "data holds nan at row 1"),
    "a constant column": (b"1,2\n3,2\n", ["--standardise"], "is constant in column 'x1'"),
    "no folder": (
        b"1,2\n3,4\n",
        ["-o", "absent/landmarks.npy"],
        "a file in a folder that exists and can be written to.",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors_are_one_sentence(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    content, words, sentence = WRONG[case]
    name = content if isinstance(content, str) else "points.csv"
    if isinstance(content, bytes):
        Path(name).write_bytes(content)
    assert main([name, "-n", "1", "-o", "landmarks.npy", *words]) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1
    assert not Path("landmarks.npy").exists()


def test_the_data_are_never_overwritten(points: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = points.read_bytes()
    assert main([str(points), "-n", "1", "-o", str(points)]) == 2
    assert "it must not be the file of points" in capsys.readouterr().err and points.read_bytes() == before


def test_as_a_process(points: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "nystrom_lib", "points.csv", "-n", "3", "-o", "landmarks.npy"]
    root = str(Path(nl.__file__).parents[1])
    done = subprocess.run(
        words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": root}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "3 landmarks saved in landmarks.npy" in done.stdout, done.stderr
    assert np.load(tmp_path / "landmarks.npy").shape == (3, 2)


@pytest.mark.parametrize("suffix", [".NPY", ".csv"])
def test_a_full_disk_leaves_what_was_there(
    suffix: str, points: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(points), "--method", "uniform", "--rho", "1"]
    with disk(tmp_path / "disk", "size=12k") as place:
        out = place / f"landmarks{suffix}"
        assert main([*words, "-n", "2", "-o", str(out)]) == 0
        before = out.read_bytes()
        (place / "full").write_bytes(bytes(8192))
        assert main([*words, "-n", "60", "-o", str(out)]) == 2
        assert out.read_bytes() == before and sorted(each.name for each in place.iterdir()) == ["full", out.name]
    assert capsys.readouterr().err.count("\n") == 1


def test_ctrl_c(
    points: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nystrom_lib.__main__.find_landmarks", interrupted)
    assert main([str(points), "-n", "2", "-o", str(tmp_path / "landmarks.npy")]) == 130
    assert capsys.readouterr().err == "nystrom_lib: stopped; nothing was saved\n"
