"""``list``, ``params``, ``run`` and ``sweep``."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

import nystrom_lib as nl
from companion.chapters import CHAPTERS, chapter
from companion.chapters.parameters import read_file, written
from companion.cli import folders
from companion.cli.listing import as_yaml
from companion.results.table import Results

from .conftest import call, fine, refused

RUN = Path("runs") / "magic-001"


def test_list_names_every_chapter(tmp_path: Path) -> None:
    said = fine(call("list", cwd=tmp_path))
    for each in CHAPTERS.values():
        assert f"{each.number}  {each.name} " in said and each.title in said and each.section in said


def test_params_shows_type_default_range_and_meaning(tmp_path: Path) -> None:
    said = fine(call("params", "bigaussian", cwd=tmp_path))
    for name, each in chapter("bigaussian").parameters.declared().items():
        (line,) = (line for line in said.splitlines() if line.split()[:1] == [name])
        for part in (each.annotation, written(each.default), each.allowed, each.meaning):
            assert part in line
    assert "profile smoke: N = 300" in said


def test_params_as_yaml_reads_back_as_the_same_parameters(tmp_path: Path) -> None:
    written = fine(call("params", "bigaussian", "--yaml", "--profile", "smoke", cwd=tmp_path))
    assert written == as_yaml(chapter("bigaussian"), "smoke")
    for each in CHAPTERS.values():
        path = tmp_path / f"{each.name}.yml"
        path.write_text(as_yaml(each, "smoke"), encoding="utf-8")
        assert each.settings(read_file(path)) == each.settings({}, "smoke")


BAD_RUNS = [
    (["-p", "itertions=5"], "itertions is not a parameter of bigaussian (did you mean 'iterations'?); known: N, "),
    (["-p", "m=2.5"], "m is 2.5; it must be a whole number"),
    (["-p", "n=8,x"], "n is [8, 'x']; it must be a list of whole numbers"),
    (["-p", "rho=1e-320"], "rho is 1e-320; it must be from 1e-100 to 1e+100."),
    (["-p", "m"], "-p is 'm'; it must have the form KEY=VALUE."),
    (["-p", "m=1", "-p", "m=2"], "m is given twice."),
    (["-f", "missing.yml"], "File 'missing.yml' does not exist"),
    (["-f", "bad.yml"], "steps is not a parameter of bigaussian (did you mean 'step'?)"),
    (["-f", "deep.yml"], "is not plain YAML"),
    (["--out", "full"], "which is not empty and holds no run"),
    (["--resume"], "--resume finds no unfinished run of bigaussian with these parameters below 'runs'"),
]


@pytest.mark.parametrize(("words", "said"), BAD_RUNS)
def test_run_refuses_before_anything_starts(tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine", encoding="utf-8")
    (tmp_path / "bad.yml").write_text("steps: 3\n", encoding="utf-8")
    (tmp_path / "deep.yml").write_text("n: " + "[" * 5000 + "]" * 5000, encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    assert said in refused(call("run", "bigaussian", "--profile", "smoke", *words, cwd=tmp_path), 2)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_run_leaves_notebook_page_figures_results_and_log(smoke: Path) -> None:
    folder = smoke / RUN
    said = (smoke / "said").read_text(encoding="utf-8")
    assert str(RUN) in said and "magic.html" in said
    for name in ("magic.ipynb", "magic.html", "run.json", "run.log"):
        assert (folder / name).stat().st_size > 0
    drawn = {path.stem for path in (folder / "figures").glob("*.svg")}
    assert drawn and drawn == {path.stem for path in (folder / "figures").glob("*.png")}
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert record["parameters"]["rho"] == 4.0 and record["parameters"]["n"] == [8]
    for path in (folder / "results").glob("*.parquet"):
        results = Results.load(path)
        assert results.experiment.kernel == nl.Gaussian(4.0)
        assert results.provenance["sessions"][0]["library"]


def test_a_folder_with_a_run_is_not_written_over(smoke: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (smoke / RUN / "run.json").read_bytes()
    assert "--resume" in refused(call("run", "magic", "--profile", "smoke", "--out", RUN, cwd=smoke), 2)
    said = refused(call("run", "magic", "--profile", "smoke", "--out", RUN, "--resume", cwd=smoke), 2)
    assert "can only go on so" in said
    assert (smoke / RUN / "run.json").read_bytes() == before


def test_a_failing_cell_is_named_and_the_partial_notebook_kept(tmp_path: Path) -> None:
    (tmp_path / "words.csv").write_text("a,b\n1,2\n3,four\n", encoding="utf-8")
    done = call("run", "your_data", "--profile", "smoke", "-p", "file=words.csv", "--out", "failed", cwd=tmp_path)
    said = refused(done, 1)
    assert "stopped at cell" in said and "'four' in line 3" in said and "failed/your_data.ipynb" in said
    assert (tmp_path / "failed" / "your_data.ipynb").is_file()
    assert json.loads((tmp_path / "failed" / "run.json").read_text(encoding="utf-8"))["status"] == "failed"


def test_a_file_that_is_not_there_is_refused_before_a_kernel_starts(tmp_path: Path) -> None:
    said = refused(call("run", "your_data", "-p", "file=nope.csv", "--out", "failed", cwd=tmp_path), 2)
    assert "file is 'nope.csv', and there is no such file in" in said
    assert list(tmp_path.iterdir()) == []


def test_runs_that_begin_at_once_get_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches two processes that both find the same number free."""
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: folders.next_folder("bigaussian"), range(40)))
    assert sorted(found) == [Path("runs") / f"bigaussian-{number:03d}" for number in range(1, 41)]


# -- sweep -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-p", "rh=1,2"], "rh is not a parameter of bigaussian (did you mean 'rho'?)"),
        (["-p", "step=1e-6,-1"], "step is -1"),
        (["-p", "rho=4,4"], "-p asks for the same run twice (rho = 4 and rho = 4)."),
        ([], "Missing option '-p'"),
    ],
)
def test_sweep_refuses_before_the_first_run(tmp_path: Path, words: list[str], said: str) -> None:
    assert said in refused(call("sweep", "bigaussian", "--profile", "smoke", *words, cwd=tmp_path), 2)
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_leaves_one_table_and_keeps_finished_runs(tmp_path: Path) -> None:
    """Catches a table whose labels belong to other runs, and a finished run that is computed again."""
    words = ["sweep", "magic", "--profile", "smoke", "-p", "rho=1,4", "-p", "n=[10,20]", "--out", "both"]
    said = fine(call(*words, cwd=tmp_path))
    table = pd.read_csv(tmp_path / "both" / "sweep.csv")
    assert set(table["run"]) == {"rho = 1", "rho = 4"} and all(run in said for run in table["run"])
    for row in table.to_dict("records"):
        folder = tmp_path / "both" / row["run"].replace(" ", "")
        results = Results.load(folder / "results" / f"{row['results']}.parquet")
        assert f"rho = {results.experiment.kernel.parameters['rho']:g}" == row["run"]
        for stage, when in (("initial", "before"), ("optimised", "after")):
            median = results.table[results.table["stage"] == stage]["R"].median()
            assert row[f"R {when}"] == pytest.approx(median)
    stamps = {path: os.stat(path).st_mtime_ns for path in (tmp_path / "both").glob("*/run.json")}
    fine(call(*words, cwd=tmp_path))
    assert len(stamps) == 2 and {path: os.stat(path).st_mtime_ns for path in stamps} == stamps
