"""Execute the committed notebooks again in place, at the paper's parameters, and name the cells that changed.

    python -m companion.notebook.refresh [NAMES]

A notebook in which only times changed, or in which a cell fails, is left as it is; ``git diff`` shows the others.
"""

from __future__ import annotations

import dataclasses
import sys
import tempfile
from pathlib import Path

import click
from nbformat import NotebookNode

from ..chapters import CHAPTERS, Chapter, chapter
from ..errors import CompanionError
from .clean import clean, notebook_text, read_notebook, tags, write_notebook
from .execute import run_notebook


def refresh(this: Chapter) -> tuple[bool, list[int]]:
    """Execute the notebook of a chapter, write it if anything but times changed, and number the cells that did.

    A cell that was only deleted leaves a gap in the execution counts, by which it is noticed.
    """
    before, text = read_notebook(this.path), this.path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="nystrom-") as scratch:
        draft = dataclasses.replace(this, folder=Path(scratch))
        notebook = read_notebook(this.path)
        for cell in notebook.cells:
            if "parameters" in tags(cell):
                cell.source = this.cell()
        write_notebook(notebook, draft.path)
        target = Path(scratch) / "executed" / this.file
        after = run_notebook(draft, this.parameters(), target, cwd=this.folder)
    pairs = enumerate(zip(before.cells, after.cells, strict=True), start=1)
    changed = [number for number, (old, new) in pairs if _compared(old, new) != _compared(new, new)]
    counts = [[cell.get("execution_count") for cell in each.cells] for each in (before, after)]
    renewed = bool(changed) or counts[0] != counts[1] or text != notebook_text(clean(before))
    if renewed:
        write_notebook(after, this.path)
    return renewed, changed


def _compared(cell: NotebookNode, renewed: NotebookNode) -> list[object]:
    """What nbval compares of a cell, and its pictures."""
    if "outputs" not in cell or "nbval-ignore-output" in tags(renewed):
        return [cell.source, cell.get("execution_count") is None]
    outputs = [output.get("data") or [output.get("name"), output.get("text")] for output in cell.outputs]
    return [cell.source, cell.execution_count is None, *outputs]


@click.command()
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    """Renew the notebooks of chapters NAMES (by default of all)."""
    failed = False
    for this in [chapter(name) for name in names] or CHAPTERS.values():
        try:
            renewed, changed = refresh(this)
        except CompanionError as error:
            failed = True
            click.echo(f"{this.file}: left as it was. {error}", err=True)
            continue
        cells = f", cells {', '.join(map(str, changed))} changed" if changed else ""
        click.echo(f"{this.file}: {'renewed' if renewed else 'up to date'}{cells}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
