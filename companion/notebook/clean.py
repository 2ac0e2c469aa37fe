"""Read and write notebooks, without what differs from run to run: times, random identifiers, papermill's metadata."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ..atomic_write import write_text

_LANGUAGE = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python", "pygments_lexer": "ipython3"}
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
#: papermill's tag on the cell that it writes beside a cell that failed, and on that with the parameters of a run.
ERROR_TAG, INJECTED = "papermill-error-cell-tag", "injected-parameters"


def read_notebook(path: Path) -> NotebookNode:
    """Read a notebook."""
    notebook: NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    return notebook


def notebook_text(notebook: NotebookNode) -> str:
    """The content of a notebook's file, with a line break at the end as Jupyter writes it."""
    text: str = nbformat.writes(notebook, version=4)  # type: ignore[no-untyped-call]
    return text.rstrip("\n") + "\n"


def write_notebook(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook."""
    write_text(path, notebook_text(notebook))


def clean(notebook: NotebookNode) -> NotebookNode:
    """Clean a notebook in place. The cell that papermill injects stays, but the book and the page leave it out."""
    notebook.cells = [cell for cell in notebook.cells if ERROR_TAG not in tags(cell)]
    for key in ("papermill", "widgets"):
        notebook.metadata.pop(key, None)
    notebook.metadata.update(kernelspec=dict(_KERNEL), language_info=dict(_LANGUAGE))
    for cell in notebook.cells:
        for key in ("papermill", "execution", "ExecuteTime", "collapsed", "scrolled"):
            cell.metadata.pop(key, None)
        if INJECTED in tags(cell):
            cell.id = INJECTED
            cell.metadata.tags = [INJECTED, "remove-cell"]
        if not tags(cell):
            cell.metadata.pop("tags", None)
        for output in cell.get("outputs", []):
            output.pop("transient", None)
    return notebook


def tags(cell: NotebookNode) -> list[str]:
    """The tags of a cell."""
    return list(cell.metadata.get("tags", []))
