"""Notebook files: read, written, and cleaned of what differs from run to run: times, identifiers, papermill's notes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from ..atomic_write import write_text

#: What the notebook format puts where nobody gave an identifier.
_RANDOM = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){0,3}(-[0-9a-f]{12})?|[0-9a-f]{32}")
_LANGUAGE = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python", "pygments_lexer": "ipython3"}
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
#: papermill's own tags: on the cell with the parameters of a run, and on what it writes beside a cell that failed.
ERROR_TAG = "papermill-error-cell-tag"
INJECTED = "injected-parameters"


def read_notebook(path: Path) -> NotebookNode:
    """Read a notebook."""
    notebook: NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    return notebook


def notebook_text(notebook: NotebookNode) -> str:
    """A notebook as its file has it, with a line break at the end as Jupyter writes it."""
    text: str = nbformat.writes(notebook, version=4)  # type: ignore[no-untyped-call]
    return text.rstrip("\n") + "\n"


def write_notebook(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook."""
    write_text(path, notebook_text(notebook))


def clean(notebook: NotebookNode) -> NotebookNode:
    """The same notebook, in place, with nothing in it but what the reader is to see.

    The cell that papermill injects stays, so that the notebook can be run again as it is, but the book leaves it out:
    the parameters used are shown as a table.
    """
    notebook.cells = [cell for cell in notebook.cells if ERROR_TAG not in tags(cell)]
    for key in ("papermill", "widgets"):
        notebook.metadata.pop(key, None)
    notebook.metadata.update(kernelspec=dict(_KERNEL), language_info=dict(_LANGUAGE))
    for number, cell in enumerate(notebook.cells, start=1):
        _clean_cell(cell, number)
    return notebook


def _clean_cell(cell: NotebookNode, number: int) -> None:
    for key in ("papermill", "execution", "ExecuteTime", "collapsed", "scrolled"):
        cell.metadata.pop(key, None)
    if INJECTED in tags(cell):
        cell.id = INJECTED
        cell.metadata.tags = [INJECTED, "remove-cell"]
    elif _RANDOM.fullmatch(cell.get("id", "0" * 8)):
        cell.id = f"cell-{number:02d}"
    if not tags(cell):
        cell.metadata.pop("tags", None)
    if "outputs" in cell:
        cell.outputs = _together(cell.outputs)
    for output in cell.get("outputs", []):
        output.pop("transient", None)
        # a picture brings its caption and its alternative text with it; the book reads them from the cell
        if described := output.get("metadata", {}).pop("mystnb", None):
            cell.metadata.mystnb = {**cell.metadata.get("mystnb", {}), **described}


def _together(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """What was printed in one go came in as many pieces as it took the kernel to send it: one piece, always."""
    found: list[NotebookNode] = []
    for output in outputs:
        last = found[-1] if found else None
        if last is not None and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            found.append(output)
    return found


def tags(cell: NotebookNode) -> list[str]:
    """The tags of a cell."""
    listed: Any = cell.metadata.get("tags", [])
    return list(listed)
