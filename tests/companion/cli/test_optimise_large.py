"""``nystrom optimise`` on what is too large to be read whole, and on folders of Parquet files."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nystrom_lib as nl

from .conftest import call, fine, refused
from .test_optimise import printed

QUICK = ["-n", 5, "--iterations", 20, "--rho", 0.5]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1.1 million rows of float32, one of them without a value."""
    rows = np.random.default_rng(0).standard_normal((1_100_000, 2), dtype=np.float32) * [1.0, 50.0] + [7.0, 0.0]
    rows[-1, 1] = np.nan
    path = tmp_path_factory.mktemp("large") / "large.npy"
    np.save(path, rows.astype(np.float32))
    return path


def folder_of(rows: np.ndarray, folder: Path) -> Path:
    folder.mkdir()
    for k, part in enumerate(np.array_split(rows, 3)):
        pq.write_table(pa.table({"a": part[:, 0], "b": part[:, 1]}), folder / f"part-{k}.parquet")
    return folder


def test_a_large_file_is_read_as_needed_and_its_errors_are_estimated(large: Path, tmp_path: Path) -> None:
    """Landmarks in the file's units, the row without a value left out, and bounds that hold for the exact error."""
    said = fine(call("optimise", large, *QUICK, "-n", 200, cwd=tmp_path))
    record = json.loads((tmp_path / "landmarks.json").read_text(encoding="utf-8"))
    assert "N = 1,099,999, d = 2; rows with missing values: 1" in said
    assert "It uses 1,000,000 of 1,099,999 points, drawn at random." in said
    data = np.load(large)[:-1].astype(np.float64)
    assert np.allclose(record["standardisation"]["mean"], data.mean(axis=0), rtol=1e-9)
    assert np.allclose(record["standardisation"]["scale"], data.std(axis=0), rtol=1e-9)
    inner = nl.open_data(large, standardise=True, missing="drop")
    landmarks = (np.load(tmp_path / "landmarks.npy") - inner.mean) / inner.scale
    exact = nl.nystrom_errors(nl.Gaussian(0.5), inner, landmarks, "trace").trace
    known = record["trace"]["after_is_estimated"]
    assert known["bounds"][0] < exact < known["bounds"][1] and known["points"] == 100_000
    assert printed(said, "after") == float(f"{record['trace']['after']:.6g}") < printed(said, "before")
    assert "Errors are estimated from 100,000 points (--exact: from all);" in said
    assert "Uniform landmarks would need" in said


def test_a_folder_of_parquet_files_is_one_file_in_parts(tmp_path: Path) -> None:
    rows = np.random.default_rng(1).normal(size=(300, 2)) * [1.0, 9.0]
    folder_of(rows, tmp_path / "parts")
    pq.write_table(pa.table({"a": rows[:, 0], "b": rows[:, 1]}), tmp_path / "whole.parquet")
    names = ("parts", "whole.parquet")
    told = [fine(call("optimise", name, *QUICK, "-o", f"{name[:5]}.csv", cwd=tmp_path)) for name in names]
    one, other = (np.loadtxt(tmp_path / f"{name}.csv", delimiter=",", skiprows=1) for name in ("parts", "whole"))
    assert np.allclose(one, other, rtol=1e-9) and "best possible" in told[0]
    assert (tmp_path / "parts.csv").read_text(encoding="utf-8").startswith("a,b\n")


def test_what_cannot_be_read_is_named(large: Path, tmp_path: Path) -> None:
    """A row, a file, a column; nothing is written."""
    rows = np.ones((30, 2)) * np.arange(30)[:, None]
    parts, words = folder_of(rows, tmp_path / "parts"), folder_of(rows, tmp_path / "words")
    pq.write_table(pa.table({"a": [1.0], "b": ["two"]}), words / "part-2.parquet")
    cases = [
        ([str(large), "--missing", "refuse"], 1, "large.npy holds nan at row 1099999, column 1; every value must"),
        ([str(words)], 1, "part-2.parquet has other columns than part-0.parquet"),
        ([str(words), "--without", "c"], 1, "names 'c', which is no column"),
        ([str(parts), "--separator", ";"], 1, "separator is ';', which means nothing for a folder"),
    ]
    there = sorted(os.listdir(tmp_path))
    for words, code, said in cases:
        assert said in refused(call("optimise", *words, cwd=tmp_path), code)
    assert sorted(os.listdir(tmp_path)) == there
