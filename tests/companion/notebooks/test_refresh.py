"""Renewing a committed notebook: what changed is shown, what did not is left alone."""

from pathlib import Path

import nbformat
import pytest

from companion.chapters import Chapter
from companion.errors import CompanionError
from companion.notebook.refresh import refresh

from . import tiny


@pytest.fixture
def small(tmp_path: Path) -> Chapter:
    return tiny.write(tmp_path)


def test_a_notebook_is_renewed_once(small: Chapter) -> None:
    stale = nbformat.read(small.path, as_version=4)
    stale.cells[1].source = "n: int = 11"
    nbformat.write(stale, small.path)
    assert refresh(small) == (True, [2, 3, 4, 5, 6, 7])  # all code cells: none had been run
    renewed = nbformat.read(small.path, as_version=4)
    assert renewed.cells[1].source == small.cell()
    assert [cell.id for cell in renewed.cells][:4] == ["tiny-0", "tiny-1", "tiny-2", "tiny-3"]
    text = small.path.read_bytes()
    assert refresh(small) == (False, [])
    assert small.path.read_bytes() == text, "only where and how long it ran differs, which is no reason to write"

    del renewed.cells[4]
    nbformat.write(renewed, small.path)
    assert refresh(small) == (True, []), "a deleted cell leaves a gap in the execution counts"
    counts = [cell.execution_count for cell in nbformat.read(small.path, as_version=4).cells if "outputs" in cell]
    assert counts == [1, 2, 3, 4, 5]


def test_a_notebook_that_fails_is_left_as_it_was(small: Chapter) -> None:
    notebook = nbformat.read(small.path, as_version=4)
    notebook.cells[3].source = "1 / 0"
    nbformat.write(notebook, small.path)
    text = small.path.read_bytes()
    with pytest.raises(CompanionError, match="stopped at cell 4"):
        refresh(small)
    assert small.path.read_bytes() == text
