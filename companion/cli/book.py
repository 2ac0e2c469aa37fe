"""``nystrom book``: execute the chapters and build the book."""

from __future__ import annotations

from pathlib import Path

import click

from .base import Command
from .run import JOBS


@click.command("book", cls=Command, short_help="execute every chapter and build the book")
@click.option(
    "--execute/--no-execute", default=True, show_default=True,
    help="Execute the notebooks, or show them as they are committed.",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="The pages come to _build/html in here; by default in the project's folder.",
)  # fmt: skip
@JOBS
def book(execute: bool, out: Path | None, jobs: int | None) -> None:
    """Execute every chapter at the paper's parameters and build the book from what they show.

    A chapter that fails, or a warning of the build, fails the command. The book needs no network to be read: open
    the page that is named at the end in a browser.

    \b
    Examples:
      nystrom book
      nystrom book --no-execute        after a change of the pages alone
    """
    from ..book import build

    click.echo(build(execute, jobs=jobs, out=out, say=lambda text: click.echo(text, err=True)))
