"""``python -m companion.book``: execute every chapter with papermill, then render the book with Jupyter Book."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from ..chapters import CHAPTERS
from ..checkout import BOOK, NOTEBOOKS, ROOT
from ..wording import duration

#: Chapters executed at a time: a kernel spends much of its life on one core, starting up.
AT_ONCE = 2


def build(execute: bool = True, *, out: Path = ROOT, notebooks: Path = NOTEBOOKS) -> Path:
    """Build the book below ``out/_build`` and return its first page.

    Without ``execute`` the pages show the notebooks as they are committed.
    """
    staged = out / "_build" / "source"
    shutil.rmtree(out / "_build" / "html", ignore_errors=True)
    shutil.rmtree(staged, ignore_errors=True)
    shutil.copytree(BOOK, staged, ignore=shutil.ignore_patterns("notebooks", "_generated"))
    shutil.copytree(notebooks, staged / "notebooks")
    if execute:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(execute_chapter, [staged / "notebooks" / each.file for each in CHAPTERS.values()]))
    render(staged, out)
    return out / "_build" / "html" / "index.html"


def execute_chapter(path: Path) -> None:
    """Execute a notebook in place, in a process of its own."""
    began = time.monotonic()
    threads = max(1, (os.cpu_count() or 1) // AT_ONCE)
    options = ["--no-progress-bar", "--start-timeout", "300", "-k", "python3"]
    command = [sys.executable, "-m", "papermill", str(path), str(path), *options]
    _run(command, f"The chapter {path.name} failed", NYSTROM_JOBS=str(threads))
    click.echo(f"book: {path.name} ({duration(time.monotonic() - began)})", err=True)


def render(source: Path, out: Path, config: Path = ROOT / "_config.yml") -> None:
    """Render a folder with ``_toc.yml``; any warning is an error."""
    # --all: Sphinx does not notice that a number on a page has changed
    options = ["--config", str(config), "--path-output", str(out), "--all", "-W", "-n", "--keep-going", "-q"]
    jupyter_book = str(Path(sys.executable).with_name("jupyter-book"))
    _run([jupyter_book, "build", str(source), *options], "Jupyter Book did not build the book")


def _run(command: Sequence[str], failure: str, **variables: str) -> None:
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", **variables}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stdout + done.stderr).splitlines()
        reasons = [line for line in lines if re.search(r"WARNING|ERROR|CRITICAL|Error:|Exception", line)]
        raise click.ClickException("\n".join([f"{failure}:", *(reasons or lines)[:40]]))


@click.command("book")
@click.option("--execute/--no-execute", default=True, show_default=True, help="Execute the chapters first.")
def main(execute: bool) -> None:
    """Build the book; a chapter that fails or a warning ends it with exit code 1."""
    began = time.monotonic()
    page = build(execute)
    click.echo(f"book: done in {duration(time.monotonic() - began)}; open {page.resolve()}")


if __name__ == "__main__":
    main()
