"""Plain papermill, as CONTRIBUTING shows it."""

from pathlib import Path

import nbformat
import pytest

from . import tiny
from .processes import papermill, texts


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
