"""nbval for real: the committed notebooks are run again, and every text they show is compared.

    python -m pytest -p tests.notebooks.without_pictures --nbval --nbval-current-env \\
        --nbval-sanitize-with tests/notebooks/sanitise.cfg notebooks
"""

import re
from pathlib import Path

import nbformat
import pytest

from nystrom_lib.companion.chapters import CHAPTERS
from nystrom_lib.companion.notebook.execute import run_notebook

from . import tiny
from .processes import ROOT, Done, Several, start

COMMITTED = [name for name, each in CHAPTERS.items() if each.path.is_file()]


def nbval(path: Path) -> Done:
    """nbval on one notebook, in a process of its own."""
    return start(
        "-m", "pytest", "-q", "-p", "tests.notebooks.without_pictures", "-o", "cache_dir=.cache/nbval",
        "-c", ROOT / "pyproject.toml", "--nbval", "--nbval-current-env",
        "--nbval-sanitize-with", ROOT / "tests" / "notebooks" / "sanitise.cfg", "--nbval-cell-timeout", "600",
        "--nbval-kernel-startup-timeout", "300", path,
    )  # fmt: skip


@pytest.fixture(scope="module")
def compared():
    several = Several()
    for name in COMMITTED:
        several.add(name, nbval, CHAPTERS[name].path)
    yield several
    several.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMITTED)
def test_a_notebook_shows_what_it_computes(compared: Several, name: str) -> None:
    done = compared[name]
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
    cells = [cell for cell in nbformat.read(CHAPTERS[name].path, as_version=4).cells if cell.cell_type == "code"]
    assert re.search(rf"\b{len(cells)} passed\b", done.stdout), "every code cell was run"


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
