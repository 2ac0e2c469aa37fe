"""Running a chapter: the folder it leaves, what happens when a cell fails, and going on after an interruption."""

import json
import re
import sys
from pathlib import Path

import nbformat
import pytest

from companion.chapters import Chapter
from companion.errors import CompanionError, ConfigurationError
from companion.notebook.execute import execute, read_record
from companion.results.table import Results

from . import tiny
from .processes import texts


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Chapter:
    return tiny.write(tmp_path_factory.mktemp("notebooks"))


@pytest.fixture(scope="module")
def two_runs(small: Chapter, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same chapter with the paper's parameters and with others, in a folder whose name has spaces."""
    folder = tmp_path_factory.mktemp("runs with $HOME and spaces")
    return (
        execute(small, {}, folder / "first", jobs=1).parent,
        execute(small, {"n": "20", "ranks": "3,4"}, folder / "second", jobs=1).parent,
    )


def test_a_run_leaves_everything_in_its_folder(two_runs: tuple[Path, Path]) -> None:
    _, run = two_runs
    left = {path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()}
    (result,) = (run / "results").glob("*.parquet")
    assert left == {
        "tiny.ipynb", "tiny.html", "run.json", "run.log", "figures/fig-tiny.svg", "figures/fig-tiny.png",
        f"results/{result.name}",
    }  # fmt: skip
    record = json.loads((run / "run.json").read_text())
    assert record["status"] == "finished"
    assert (record["parameters"]["n"], record["parameters"]["ranks"]) == (20, [3, 4])
    assert record["command"] == "nystrom run tiny -p n=20 -p 'ranks=[3, 4]'"
    assert record["provenance"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert Results.load(result).experiment.n == 20


def test_nothing_in_a_notebook_differs_from_run_to_run(
    small: Chapter, two_runs: tuple[Path, Path], tmp_path: Path
) -> None:
    again = execute(small, {"n": 20, "ranks": [3, 4]}, tmp_path / "again", jobs=1)
    before, after = (nbformat.read(path, as_version=4) for path in (two_runs[1] / "tiny.ipynb", again))
    for notebook in (before, after):
        assert notebook.cells.pop().source == "page.foot()"
    assert before == after
    assert set(after.metadata) == {"kernelspec", "language_info"}
    assert not any({"papermill", "execution"} & set(cell.metadata) for cell in after.cells)


def test_the_page_of_a_run_reads_without_the_book(two_runs: tuple[Path, Path]) -> None:
    page = (two_runs[1] / "tiny.html").read_text(encoding="utf-8")
    assert "<title>A tiny chapter</title>" in page
    assert not re.findall(r"""<(?:script|link|img)[^>]*(?:src|href)=["'](?:https?:)?//""", page), "needs a network"
    assert "See (5), figure 2 and fig tiny" in page, "references of the book are words here"
    assert "# Parameters" not in page, "the parameters are a table"
    assert "before:.4g" not in page  # folded code is left out
    assert "tiny.figure(results)" in re.sub(r"<[^>]+>", "", page)  # folded code is left out
    assert re.search(r'<img alt="Two dots"\s+src="data:image/svg', page)
    assert "<p>Before and after." in page
    (mathjax,) = re.findall(r'src="([^"]*/mathjax/tex-chtml.js)', page)
    assert (two_runs[1] / mathjax).resolve().is_file()


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("raise", "at cell 4 (tiny.fail(p.fail)): ValueError: n is too small for this. What was executed is in"),
        ("die", "Kernel died. If memory ran out, use smaller parameters."),
    ],
)
def test_a_cell_that_fails_is_named_and_what_ran_is_kept(small: Chapter, tmp_path: Path, how: str, reason: str) -> None:
    with pytest.raises(CompanionError) as caught:
        execute(small, {"fail": how}, tmp_path / "run", jobs=1)
    assert reason in str(caught.value)
    shown = texts(tmp_path / "run" / "tiny.ipynb")
    assert "number of landmark points" in shown[0]
    assert not any("median" in text for text in shown)
    assert not any("papermill" in cell.source for cell in nbformat.read(tmp_path / "run" / "tiny.ipynb", 4).cells)
    assert (tmp_path / "run" / "tiny.html").is_file()
    record = read_record(tmp_path / "run")
    assert record is not None and record["status"] == "failed"


def test_no_folder_is_overwritten(small: Chapter, two_runs: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="holds a run; continue it by --resume, or name another"):
        execute(small, {}, two_runs[0])
    with pytest.raises(ConfigurationError, match="which holds another run: nystrom run tiny"):
        execute(small, {"n": 11}, two_runs[0], resume=True)
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(ConfigurationError, match="which is not an empty folder"):
        execute(small, {}, tmp_path)
    with pytest.raises(ConfigurationError, match="which is not an empty folder"):
        execute(small, {}, tmp_path / "letter.txt")
    with pytest.raises(ConfigurationError, match="holds no run to continue"):
        execute(small, {}, tmp_path / "new", resume=True)
    assert (tmp_path / "letter.txt").read_text() == "dear"
