"""Plain papermill and plain nbval, as CONTRIBUTING shows them."""

import re
from pathlib import Path

import nbformat
import pytest

from companion.notebook.execute import run_notebook

from . import tiny
from .processes import ROOT, papermill, start, texts


def test_values_arrive_as_the_declared_type_says(tmp_path: Path) -> None:
    values = ["-p", "n", "1e1", "-p", "ranks", "[3, 4]", "-p", "factors", "false", "-p", "file", "null", "-p", "m", "2"]
    done = papermill(tiny.write(tmp_path).path, tmp_path / "out.ipynb", *values)
    assert done.returncode == 0, done.stderr
    table = texts(tmp_path / "out.ipynb")[0]
    for line in ("`n` | `10`", "`ranks` | **`[3, 4]`**", "`factors` | **`False`**", "`file` | `None`", "`m` | **`2`**"):
        assert line in table


def test_an_unknown_name_fails_in_the_first_cell_that_computes(tmp_path: Path) -> None:
    """Catches a misspelt parameter, of which papermill alone only warns."""
    done = papermill(tiny.write(tmp_path).path, tmp_path / "out.ipynb", "-p", "nn", "80")
    assert done.returncode == 1
    assert "ConfigurationError: nn is not a parameter of tiny (did you mean 'n'?); known: n, " in done.stderr
    cells = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells
    failed = [cell for cell in cells if any(output.output_type == "error" for output in cell.get("outputs", []))]
    assert [cell.source.splitlines()[0] for cell in failed] == ["from companion import notebook"]


@pytest.mark.slow
def test_a_chapter_of_the_book(tmp_path: Path) -> None:
    """``papermill notebooks/05_bigaussian.ipynb out.ipynb -p m 20``, with fewer repetitions."""
    out = tmp_path / "out.ipynb"
    done = papermill(Path("notebooks/05_bigaussian.ipynb"), out, "-p", "m", "2", "-p", "n", "[20]")
    assert done.returncode == 0, done.stderr
    assert "| `m` | **`2`** (paper: `1000`)" in texts(out)[0]
    assert "nystrom run bigaussian -p 'n=[20]' -p m=2" in texts(out)[-1]


@pytest.mark.slow
def test_nbval_compares_texts_but_not_pictures_nor_the_foot(tmp_path: Path) -> None:
    """Another picture and another machine are accepted; a single wrong digit is not."""
    chapter = tiny.write(tmp_path)
    (tmp_path / "conftest.py").write_bytes((ROOT / "notebooks" / "conftest.py").read_bytes())
    (tmp_path / "sanitise.cfg").write_bytes((ROOT / "notebooks" / "sanitise.cfg").read_bytes())
    executed = run_notebook(chapter, tiny.Parameters(), tmp_path / "executed" / chapter.file, progress=False)
    right = executed.copy()
    for output in (output for cell in right.cells for output in cell.get("outputs", [])):
        if "image/svg+xml" in output.get("data", {}):
            output.data["image/svg+xml"] = "<svg/>"
        elif "Machine" in output.get("data", {}).get("text/plain", ""):
            output.data["text/plain"] = output.data["text/markdown"] = "Another machine"
    nbformat.write(right, tmp_path / "right.ipynb")
    (prose,) = (cell.outputs[0] for cell in right.cells if cell.source.startswith("before, after"))
    text = prose.data["text/markdown"]
    prose.data["text/markdown"] = re.sub(r"(\d)( to )", lambda found: f"{(int(found[1]) + 1) % 10} to ", text)
    nbformat.write(right, tmp_path / "wrong.ipynb")
    command = ["-m", "pytest", "-q", "-c", ROOT / "pyproject.toml", "-o", f"cache_dir={tmp_path}", "--nbval"]
    done = start(*command, tmp_path / "right.ipynb", tmp_path / "wrong.ipynb")
    assert done.returncode == 1 and re.search(r"1 failed, 11 passed", done.stdout), done.stdout
    assert re.search(r"^FAILED .*::Cell 3", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.slow
def test_nbval_on_one_notebook() -> None:
    """``pytest --nbval notebooks/02_radial_skd.ipynb``."""
    done = start("-m", "pytest", "-q", "--nbval", "notebooks/02_radial_skd.ipynb")
    assert done.returncode == 0, done.stdout
