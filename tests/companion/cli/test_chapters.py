"""``list``, ``run`` and ``sweep``."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

import nystrom_lib as nl
from companion.chapters import CHAPTERS, chapter
from companion.chapters.base import written
from companion.cli.chapters import _next_folder
from companion.results.table import Results

from .conftest import call, fine, refused


def test_list_names_every_chapter(tmp_path: Path) -> None:
    said = fine(call("list", cwd=tmp_path))
    for each in CHAPTERS.values():
        assert f"{each.number}  {each.name} " in said and each.title in said and each.section in said


@pytest.mark.parametrize("name", ["bigaussian", "5"])
def test_list_shows_type_default_range_and_meaning(name: str, tmp_path: Path) -> None:
    said = fine(call("list", name, cwd=tmp_path))
    for key, each in chapter("bigaussian").parameters.declared().items():
        (line,) = (line for line in said.splitlines() if line.split()[:1] == [key])
        for part in (each.annotation, written(each.default), each.allowed, each.meaning):
            assert part in line
    assert "profile smoke: N = 300" in said


BAD_RUNS = [
    (["-p", "itertions=5"], "itertions is not a parameter of bigaussian (did you mean 'iterations'?); known: N, "),
    (["-p", "m=2.5"], "m is 2.5; it must be a whole number"),
    (["-p", "rho=1e-320"], "rho is 1e-320; it must be from 1e-100 to 1e+100."),
    (["-p", "m"], "-p is 'm'; it must have the form KEY=VALUE, with each key once."),
    (["-p", "m=1", "-p", "m=2"], "-p is 'm=2'; it must have the form KEY=VALUE, with each key once."),
    (["--out", "full"], "which is not an empty folder"),
    (["--resume"], "--resume needs --out, the folder of the run to continue."),
]


@pytest.mark.parametrize(("words", "said"), BAD_RUNS)
def test_run_refuses_before_anything_starts(tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine", encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    assert said in refused(call("run", "bigaussian", "--profile", "smoke", *words, cwd=tmp_path), 2)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_failing_cell_is_named_and_the_partial_notebook_kept(tmp_path: Path) -> None:
    (tmp_path / "words.csv").write_text("a,b\n1,2\n3,four\n", encoding="utf-8")
    done = call("run", "your_data", "--profile", "smoke", "-p", "file=words.csv", "--out", "failed", cwd=tmp_path)
    said = refused(done, 1)
    assert "stopped at cell" in said and "for example 'four'" in said and "failed/your_data.ipynb" in said
    assert (tmp_path / "failed" / "your_data.ipynb").is_file()
    assert json.loads((tmp_path / "failed" / "run.json").read_text(encoding="utf-8"))["status"] == "failed"


@pytest.mark.parametrize("file", ["nope.csv", "~nosuchuser/a.csv"])
def test_a_file_that_is_not_there_is_refused_before_a_kernel_starts(file: str, tmp_path: Path) -> None:
    said = refused(call("run", "your_data", "-p", f"file={file}", "--out", "failed", cwd=tmp_path), 2)
    assert f"file is {file!r}, and there is no such file in" in said
    assert list(tmp_path.iterdir()) == []


def test_runs_that_begin_at_once_get_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches two processes that both find the same number free."""
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: _next_folder("bigaussian"), range(40)))
    assert sorted(found) == [Path("runs") / f"bigaussian-{number:03d}" for number in range(1, 41)]


# -- sweep -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-p", "rh=1,2"], "rh is not a parameter of bigaussian (did you mean 'rho'?)"),
        (["-p", "step=1e-6,-1"], "step is -1"),
        ([], "Missing option '-p'"),
    ],
)
def test_sweep_refuses_before_the_first_run(tmp_path: Path, words: list[str], said: str) -> None:
    assert said in refused(call("sweep", "bigaussian", "--profile", "smoke", *words, cwd=tmp_path), 2)
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_leaves_runs_and_one_table_and_keeps_finished_runs(tmp_path: Path) -> None:
    """Catches rows labelled with the parameters of other runs, incomplete folders, and a run computed again."""
    words = ["sweep", "magic", "--profile", "smoke", "-p", "rho=1,4", "-p", "n=[10,20]", "--out", "both"]
    said = fine(call(*words, cwd=tmp_path))
    table = pd.read_csv(tmp_path / "both" / "sweep.csv")
    assert list(table.columns[:3]) == ["rho", "n", "results"] and set(table["rho"]) == {1, 4}
    for row in table.to_dict("records"):
        assert row["results"] in said
        folder = tmp_path / "both" / f"rho={row['rho']}_n=_10_20_"
        results = Results.load(folder / "results" / f"{row['results']}.parquet")
        assert results.experiment.kernel == nl.Gaussian(row["rho"])
        for stage, when in (("initial", "before"), ("optimised", "after")):
            median = results.table[results.table["stage"] == stage]["R"].median()
            assert row[f"R {when}"] == pytest.approx(median)
        for name in ("magic.ipynb", "magic.html"):
            assert (folder / name).stat().st_size > 0
        drawn = {path.stem for path in (folder / "figures").glob("*.svg")}
        assert drawn and drawn == {path.stem for path in (folder / "figures").glob("*.png")}
        record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        assert record["parameters"]["rho"] == row["rho"] and record["parameters"]["n"] == [10, 20]
    stamps = {path: os.stat(path).st_mtime_ns for path in (tmp_path / "both").glob("*/run.json")}
    fine(call(*words, cwd=tmp_path))
    assert len(stamps) == 2 and {path: os.stat(path).st_mtime_ns for path in stamps} == stamps
    # the folder of a finished run belongs to that run
    again = ["run", "magic", "--profile", "smoke", "--out", folder]
    assert "--resume" in refused(call(*again, cwd=tmp_path), 2)
    assert "which holds another run" in refused(call(*again, "--resume", cwd=tmp_path), 2)
