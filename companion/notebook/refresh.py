"""Renew the notebooks of the repository: run each at the paper's parameters, in place, and show what changed.

    python -m companion.notebook.refresh [NAMES]

A notebook in which nothing changed but where and how long it ran is left as it is; so is one that fails.
"""

from __future__ import annotations

import dataclasses
import difflib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
from nbformat import NotebookNode

from ..chapters import CHAPTERS, Chapter, chapter
from ..errors import ChapterError, CompanionError
from .clean import clean, notebook_text, read_notebook, tags, write_notebook
from .execute import run_notebook

#: What nbval does not compare is no change.
UNCOMPARED = "nbval-ignore-output"


def refresh(this: Chapter, progress: bool = True) -> list[str]:
    """Run a chapter at the paper's parameters and renew its notebook; what changed, line by line.

    Parameters
    ----------
    this : Chapter
        Which chapter.
    progress : bool
        Show a bar where there is a terminal?

    Returns
    -------
    list of str
        A difference of the texts, cell by cell; empty if the notebook was up to date.
    """
    before = read_notebook(this.path)
    with tempfile.TemporaryDirectory(prefix="nystrom-") as scratch:
        draft = Path(scratch)
        # The parameters cell says what the chapter's settings say, whatever the notebook had.
        write_notebook(_with_parameters(read_notebook(this.path), this), draft / this.file)
        current = dataclasses.replace(this, folder=draft)
        target = draft / "executed" / this.file
        after = run_notebook(current, this.parameters(), target, progress=progress, cwd=this.folder)
    changes = list(differences(before, after))
    if changes or _untidy(before):
        write_notebook(after, this.path)
    return changes


def _with_parameters(notebook: NotebookNode, this: Chapter) -> NotebookNode:
    cells = [cell for cell in notebook.cells if "parameters" in tags(cell)]
    if len(cells) != 1:
        raise ChapterError(
            f"The notebook {this.file} has {len(cells)} cells with the tag 'parameters'; it must have one.",
            chapter=this.name,
        )
    cells[0].source = this.cell()
    return notebook


def _untidy(notebook: NotebookNode) -> bool:
    """Is there something in it that cleaning takes away?"""
    as_it_is = notebook_text(notebook)
    return notebook_text(clean(notebook)) != as_it_is


def differences(before: NotebookNode, after: NotebookNode) -> Iterator[str]:
    """What a reader would see changed, cell by cell; pictures are only said to have changed."""
    if len(before.cells) != len(after.cells):
        yield f"{len(before.cells)} cells, now {len(after.cells)}"
    for number, (old, new) in enumerate(zip(before.cells, after.cells, strict=False), start=1):
        changes = _diff(old.source, new.source)
        if new.cell_type == "code" and old.get("execution_count") is None:
            changes.append("had not been run")
        else:
            changes += [] if UNCOMPARED in tags(new) else _diff(_shown(old), _shown(new))
            changes += ["the picture changed"] if _pictures(old) != _pictures(new) else []
        yield from (f"cell {number}: {line}" for line in changes)


def _diff(old: str, new: str) -> list[str]:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def _shown(cell: NotebookNode) -> str:
    """Every text a cell shows; of several forms of one output the plainest."""
    texts = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        name = output.get("name", output.output_type)
        texts.append(f"[{name}]")
        texts.append(output.get("text") or data.get("text/plain") or output.get("evalue") or "")
        texts.append(data.get("text/html", ""))
    return "\n".join(texts)


def _pictures(cell: NotebookNode) -> list[str]:
    return [
        str(content)
        for output in cell.get("outputs", [])
        for kind, content in output.get("data", {}).items()
        if kind.startswith("image/")
    ]


@click.command()
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    """Renew the notebooks of chapters NAMES (by default of all) at the paper's parameters and show what changed."""
    failed = False
    try:
        chosen = [chapter(name) for name in names] or list(CHAPTERS.values())
        for this in chosen:
            try:
                changes = refresh(this)
            except ChapterError as error:
                failed = True
                click.echo(f"{this.file}: left as it was. {error}", err=True)
                continue
            click.echo(f"{this.file}: {'renewed' if changes else 'up to date'}")
            for line in changes:
                click.echo(f"  {line}")
    except CompanionError as error:
        raise click.ClickException(str(error)) from None
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
