"""Renewing a committed notebook: what changed is shown, what did not is left alone."""

import copy
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from companion.chapters import Chapter
from companion.errors import ChapterError
from companion.notebook.refresh import differences, main, refresh

from . import tiny


@pytest.fixture
def small(tmp_path: Path) -> Chapter:
    return tiny.write(tmp_path)


def test_a_notebook_is_renewed_once(small: Chapter) -> None:
    stale = nbformat.read(small.path, as_version=4)
    stale.cells[1].source = "n: int = 11"
    stale.cells[2].id = "0123abcd"
    nbformat.write(stale, small.path)
    changes = refresh(small, progress=False)
    assert "cell 2: -n: int = 11" in changes
    assert "cell 4: had not been run" in changes
    renewed = nbformat.read(small.path, as_version=4)
    assert renewed.cells[1].source == small.cell()
    assert [cell.id for cell in renewed.cells][:4] == ["tiny-0", "tiny-1", "cell-03", "tiny-3"]
    text = small.path.read_bytes()
    assert refresh(small, progress=False) == []
    assert small.path.read_bytes() == text, "only where and how long it ran differs, which is no reason to write"


def test_what_a_reader_would_see_changed_is_listed(small: Chapter) -> None:
    before = nbformat.read(small.path, as_version=4)
    shown = {4: ("text/plain", "The median is 1."), 5: ("image/svg+xml", "<svg> </svg>"), 6: ("text/plain", "Here.")}
    for number, cell in enumerate(before.cells):
        if cell.cell_type == "code":
            cell.execution_count = number
        if number in shown:
            cell.outputs = [nbformat.v4.new_output("display_data", data=dict([shown[number]]))]
    after = copy.deepcopy(before)
    assert list(differences(before, after)) == []
    after.cells[4].outputs[0].data["text/plain"] = "The median is 2."
    after.cells[5].outputs[0].data["image/svg+xml"] = "<svg/>"
    after.cells[6].outputs[0].data["text/plain"] = "Another machine."
    assert list(differences(before, after)) == [
        "cell 5: -The median is 1.", "cell 5: +The median is 2.", "cell 6: the picture changed"
    ]  # fmt: skip


def test_a_notebook_that_fails_is_left_as_it_was(small: Chapter) -> None:
    notebook = nbformat.read(small.path, as_version=4)
    notebook.cells[3].source = "1 / 0"
    nbformat.write(notebook, small.path)
    text = small.path.read_bytes()
    with pytest.raises(ChapterError, match="stopped at cell 4"):
        refresh(small, progress=False)
    assert small.path.read_bytes() == text


def test_the_command_refuses_a_misspelt_chapter() -> None:
    done = CliRunner().invoke(main, ["bigausian"])
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: There is no chapter 'bigausian'")
