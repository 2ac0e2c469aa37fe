"""``list``, ``params``, ``run`` and ``sweep``."""

import csv
import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from companion.chapters import CHAPTERS, chapter
from companion.chapters.parameters import read_file
from companion.cli import folders
from companion.cli.folders import next_folder, repetitions_stored
from companion.cli.listing import as_yaml
from companion.results.table import Results

from .conftest import all_refused, call, fine, interrupt, refused

RUN = Path("runs") / "magic-001"


def test_list_names_every_chapter(tmp_path: Path) -> None:
    said = fine(call("list", cwd=tmp_path))
    for each in CHAPTERS.values():
        assert f"{each.number}  {each.name} " in said and each.title in said and each.section in said
        assert each.section.startswith("paper §") or "§" not in each.section


def test_params_shows_type_default_range_and_meaning(tmp_path: Path) -> None:
    said = fine(call("params", "bigaussian", cwd=tmp_path))
    for each in chapter("bigaussian").describe():
        (line,) = (line for line in said.splitlines() if line.split()[:1] == [each.name])
        for part in (each.type, each.default, each.allowed, each.meaning):
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
    (["-p", "m=0"], "m is 0; it must be a whole number, at least 1"),
    (["-p", "m=2.5"], "m is 2.5; it must be a whole number"),
    (["-p", "m=many"], "m is 'many'; it must be a whole number"),
    (["-p", "n=8,x"], "n is [8, 'x']; it must be a list of whole numbers"),
    (["-p", "rho=1e-320"], "rho is 1e-320; it must be from 1e-100 to 1e+100."),
    (["-p", "m"], "-p is 'm'; it must have the form KEY=VALUE."),
    (["-p", "m=1", "-p", "m=2"], "m is given twice."),
    (["-f", "missing.yml"], "File 'missing.yml' does not exist"),
    (["-f", "bad.yml"], "steps is not a parameter of bigaussian (did you mean 'step'?)"),
    (["--out", "full"], "which is not empty and holds no run"),
    (["--resume"], "--resume finds no unfinished run of bigaussian with these parameters below 'runs'"),
]


def test_run_refuses_before_anything_starts(tmp_path: Path) -> None:
    folders = [tmp_path / str(place) for place in range(len(BAD_RUNS))]
    for folder in folders:
        (folder / "full").mkdir(parents=True)
        (folder / "full" / "file").write_text("mine", encoding="utf-8")
        (folder / "bad.yml").write_text("steps: 3\n", encoding="utf-8")
    all_refused([(["run", "bigaussian", "--profile", "smoke", *words], 2, said) for words, said in BAD_RUNS], folders)
    for folder in folders:
        assert sorted(path.name for path in folder.rglob("*")) == ["bad.yml", "file", "full"]


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
        assert results.experiment.kernel.to_plain() == {"kind": "gaussian", "rho": 4.0}
        assert results.provenance["sessions"][0]["library"]


def test_the_next_run_gets_the_next_folder(smoke: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(smoke)
    assert next_folder("magic") == Path("runs") / "magic-002"
    assert next_folder("magic-sweep") == Path("runs") / "magic-sweep-001"


def test_a_folder_with_a_run_is_not_written_over(smoke: Path) -> None:
    before = (smoke / RUN / "run.json").stat().st_mtime_ns
    said = refused(call("run", "magic", "--profile", "smoke", "--out", RUN, cwd=smoke), 2)
    assert "--resume" in said
    said = refused(call("run", "magic", "--profile", "smoke", "--out", RUN, "--resume", cwd=smoke), 2)
    assert "can only go on so" in said
    assert (smoke / RUN / "run.json").stat().st_mtime_ns == before


def test_a_failing_cell_is_named_and_the_partial_notebook_kept(tmp_path: Path) -> None:
    (tmp_path / "words.csv").write_text("a,b\n1,2\n3,four\n", encoding="utf-8")
    done = call("run", "your_data", "--profile", "smoke", "-p", "file=words.csv", "--out", "failed", cwd=tmp_path)
    said = refused(done, 1)
    assert "stopped at cell" in said and "'four' in line 3" in said and "failed/your_data.ipynb" in said
    assert (tmp_path / "failed" / "your_data.ipynb").is_file()
    assert json.loads((tmp_path / "failed" / "run.json").read_text(encoding="utf-8"))["status"] == "failed"


def test_a_file_that_is_not_there_is_refused_before_a_kernel_starts(tmp_path: Path) -> None:
    said = refused(call("run", "your_data", "-p", "rho=1e-320", "--out", "failed", cwd=tmp_path), 2)
    assert said == "rho is 1e-320; it must be from 1e-100 to 1e+100."
    said = refused(call("run", "your_data", "-p", "file=nope.csv", "--out", "failed", cwd=tmp_path), 2)
    assert "file is 'nope.csv', and there is no such file in" in said
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_says_what_is_stored_and_resume_goes_on(tmp_path: Path) -> None:
    words: list[object] = ["run", "magic", "--profile", "smoke", "-p", "n=8", "-p", "iterations=400", "-p", "m=200"]
    out = tmp_path / "stopped"
    done = interrupt([*words, "--out", out], tmp_path, lambda: repetitions_stored(out) > 1)
    said = refused(done, 130)
    stored = repetitions_stored(out)
    assert 1 < stored < 201 and f"{stored} finished repetitions are stored in {out}" in said and "--resume" in said
    fine(call(*words, "--out", out, "--resume", cwd=tmp_path))
    (results,) = (
        found for path in (out / "results").glob("*.parquet") if (found := Results.load(path)).experiment.m == 200
    )
    assert results.complete and len(results.provenance["sessions"]) == 2


# -- sweep -----------------------------------------------------------------------------------------------------


BAD_SWEEPS = [
    (["-p", "rh=1,2"], "rh is not a parameter of bigaussian (did you mean 'rho'?)"),
    (["-p", "step=1e-6,-1"], "step is -1"),
    (["-p", "rho=1,1e-320"], "rho is 1e-320; it must be from 1e-100 to 1e+100."),
    (["-p", "rho=4,4"], "-p asks for the same run twice (rho = 4 and rho = 4)."),
    (["-p", "rho=1,2", "--resume"], "--resume needs --out"),
    ([], "Missing option '-p'"),
]


def test_sweep_refuses_before_the_first_run(tmp_path: Path) -> None:
    cases = [(["sweep", "bigaussian", "--profile", "smoke", *words], 2, said) for words, said in BAD_SWEEPS]
    all_refused(cases, [tmp_path] * len(cases))
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    words = ["sweep", "magic", "--profile", "smoke", "-p", "rho=1,4", "-p", "n=[10,20]", "--out", "both"]
    said = fine(call(*words, cwd=folder))
    assert "rho = 1" in said and "rho = 4" in said
    return folder


def test_sweep_makes_a_page_with_links_and_figures_side_by_side(swept: Path) -> None:
    page = swept / "both" / "comparison.html"
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    for tag, attribute in (("a", "href"), ("img", "src")):
        targets = [found[attribute] for found in soup.find_all(tag)]
        assert targets
        for target in targets:
            assert (page.parent / str(target).replace("%3D", "=")).exists(), target
    figures = soup.select("div.figures")
    assert figures and all(len(each.find_all("img")) == 2 for each in figures)
    assert all(image["alt"] for image in soup.find_all("img"))
    assert not [tag for tag in soup.find_all(["script", "link"])]


def test_the_table_of_a_sweep_holds_what_the_runs_computed(swept: Path) -> None:
    with open(swept / "both" / "comparison.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["run"] for row in rows} == {"rho = 1", "rho = 4"}
    for row in rows:
        (folder,) = (path for path in (swept / "both").glob(f"*{row['run'].replace(' ', '')}"))
        table = Results.load(folder / "results" / f"{row['results']}.parquet").table
        for stage, when in (("initial", "before"), ("optimised", "after")):
            assert float(row[f"R {when}"]) == pytest.approx(table[table["stage"] == stage]["R"].median())


def test_a_sweep_that_is_done_is_not_done_again(swept: Path) -> None:
    stamps = {path: os.stat(path).st_mtime_ns for path in (swept / "both").glob("*/run.json")}
    words = ["sweep", "magic", "--profile", "smoke", "-p", "rho=1,4", "-p", "n=[10,20]", "--out", "both"]
    assert "not an empty folder" in refused(call(*words, cwd=swept), 2)
    fine(call(*words, "--resume", cwd=swept))
    assert {path: os.stat(path).st_mtime_ns for path in stamps} == stamps
    other = [*words[:5], "rho=1,2", "--out", "both", "--resume"]
    assert "another sweep" in refused(call(*other, cwd=swept), 2)


def test_runs_that_begin_at_once_get_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches two processes that both find the same number free."""
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: folders.next_folder("bigaussian"), range(40)))
    assert len(set(found)) == 40 and all(folder.is_dir() for folder in found)


def test_sigterm_says_what_is_stored_and_leaves_no_temporary_folder(tmp_path: Path) -> None:
    """Catches the silent end that a batch system or a shutdown brings, with a kernel's folder left in /tmp."""
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    words = ["run", "magic", "--profile", "smoke", "-p", "m=100000", "--out", "run", "--jobs", "1"]
    done = interrupt(
        words, tmp_path, lambda: any((tmp_path / "run").rglob("*.sqlite")), kind=signal.SIGTERM, TMPDIR=str(scratch)
    )
    assert done.returncode == 143, done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("nystrom: Stopped: ") and "--resume" in last and "Traceback" not in done.stderr
    assert not list(scratch.glob("nystrom-*"))


def test_values_nested_without_end_are_refused(tmp_path: Path) -> None:
    """Catches a RecursionError of YAML."""
    (tmp_path / "deep.yml").write_text("n: " + "[" * 5000 + "]" * 5000)
    assert "nested too deeply" in refused(call("run", "bigaussian", "-f", "deep.yml", cwd=tmp_path), 2)


def test_a_cluster_for_stored_results_is_refused(tmp_path: Path) -> None:
    """Catches an option that is taken and ignored, or refused only once a kernel has started."""
    cluster = ["--dask", "tcp://127.0.0.1:9"]
    for words in (["run", "bigaussian"], ["run", "miniboone"], ["run", "sphere"], ["sweep", "abalone", "-p", "n=50"]):
        assert "--dask has nothing to do" in refused(call(*words, *cluster, cwd=tmp_path), 2)
    assert not list(tmp_path.iterdir())


def test_a_cluster_computes_what_is_not_stored() -> None:
    """Catches a refusal because something else is."""
    bigaussian = chapter("bigaussian")
    assert not bigaussian.computes(bigaussian.settings())
    assert bigaussian.computes(bigaussian.settings({"rho": [1.0, 2.0]}))
    assert bigaussian.computes(bigaussian.settings(profile="smoke"))
