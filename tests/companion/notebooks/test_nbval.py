"""nbval, which compares the committed notebooks with what they show when they are run again (notebooks/conftest.py)."""

import re
import shutil
from pathlib import Path

import nbformat
import pytest

from companion.notebook.execute import run_notebook

from . import tiny
from .processes import ROOT, Done, Several, start


def nbval(path: Path) -> Done:
    """nbval on one notebook, set up as for those of the book."""
    shutil.copy(ROOT / "notebooks" / "conftest.py", path.parent)
    return start("-m", "pytest", "-q", "-o", "cache_dir=.cache/nbval", "-c", ROOT / "pyproject.toml", path)


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory, forked: None) -> Path:
    chapter = tiny.write(tmp_path_factory.mktemp("nbval"))
    run_notebook(chapter, tiny.Parameters(), chapter.folder / "executed.ipynb", progress=False)
    return chapter.folder / "executed.ipynb"


@pytest.fixture(scope="module")
def tampered(executed: Path):
    """A notebook with another picture and another machine at its foot, and one in which a digit is wrong."""
    right, wrong = (nbformat.read(executed, as_version=4) for _ in range(2))
    for output in (output for cell in right.cells for output in cell.get("outputs", [])):
        if "image/svg+xml" in output.get("data", {}):
            output.data["image/svg+xml"] = "<svg/>"
        elif "Machine" in output.get("data", {}).get("text/plain", ""):
            output.data["text/plain"] = output.data["text/markdown"] = "Another machine"
    (prose,) = (cell.outputs[0] for cell in wrong.cells if cell.source.startswith("before, after"))
    prose.data["text/markdown"] = re.sub(r"(\d)( to )", lambda found: f"{(int(found[1]) + 1) % 10} to ",
                                         prose.data["text/markdown"])  # fmt: skip
    several = Several()
    for name, notebook in (("right", right), ("wrong", wrong)):
        nbformat.write(notebook, executed.with_name(f"{name}.ipynb"))
        several.add(name, nbval, executed.with_name(f"{name}.ipynb"))
    yield several
    several.close()


def test_pictures_and_the_foot_may_differ(tampered: Several) -> None:
    assert tampered["right"].returncode == 0, tampered["right"].stdout


def test_a_single_wrong_digit_is_found(tampered: Several) -> None:
    assert tampered["wrong"].returncode == 1
    assert re.search(r"1 failed, 5 passed", tampered["wrong"].stdout), tampered["wrong"].stdout
