"""Jupyter Book is run, its warnings are errors, and what it made is looked over."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from ..checkout import ROOT
from . import links
from .errors import BookError
from .lightening import lighten

CONFIG = ROOT / "_config.yml"
#: Read by the book's Sphinx extension: where the launch buttons lead.
REPOSITORY = "NYSTROM_REPOSITORY"
#: Read by the extension, too: the generated pages are there already.
STAGED = "NYSTROM_STAGED"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_SHOWN = 40


def render(source: Path, out: Path, config: Path = CONFIG) -> Path:
    """The pages of ``source`` as HTML below ``out``.

    Parameters
    ----------
    source : Path
        The folder with ``_toc.yml``; executed notebooks and generated pages are in it already.
    out : Path
        The pages come to ``_build/html`` in here; what was there is deleted.
    config : Path
        The book's configuration.

    Returns
    -------
    Path
        The folder of the pages.
    """
    html = out / "_build" / "html"
    for old in (html, out / "_build" / ".doctrees"):
        shutil.rmtree(old, ignore_errors=True)
    # Glued numbers go stale in a build that reuses pages, without a word: hence --all.
    options = ["--config", str(config), "--path-output", str(out), "--all", "-W", "-n", "--keep-going", "-q"]
    start = "import sys; from jupyter_book.cli.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", start, "build", str(source), *options],
        cwd=ROOT,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BookError(f"Jupyter Book did not build the book:\n{_complaint(done.stdout + done.stderr)}")
    lighten(html)
    check(html)
    return html


def check(html: Path) -> None:
    """Refuse a book with a link that leads nowhere, or one that would ask another host for anything."""
    troubles = links.troubles(html)
    if troubles:
        raise BookError(f"The book is built but not sound:\n{_first(troubles)}")


def _complaint(output: str) -> str:
    """The lines that say what is wrong; everything, if none does."""
    lines = [line for line in _COLOUR.sub("", output).splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"WARNING|ERROR|CRITICAL|[Ee]rror:|Exception", line)]
    return _first(list(dict.fromkeys(telling or lines)))


def _first(lines: list[str]) -> str:
    more = [f"… and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n".join([*lines[:_SHOWN], *more])


def _environment() -> dict[str, str]:
    repository = own_repository()
    return {**os.environ, "PYTHONWARNINGS": "ignore", STAGED: "1", **({REPOSITORY: repository} if repository else {})}


def own_repository() -> str | None:
    """The address of the repository this checkout is of, if it is known: as CI says, or as git's origin says."""
    if os.environ.get(REPOSITORY):
        return os.environ[REPOSITORY]
    server, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    if server and name:
        return f"{server}/{name}"
    try:
        command = ["git", "-C", str(ROOT), "remote", "get-url", "origin"]
        origin = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return None
    return github_page(origin)


def github_page(origin: str) -> str | None:
    """The web address of a remote on GitHub; None for any other.

    Examples
    --------
    >>> github_page("git@github.com:someone/something.git")
    'https://github.com/someone/something'
    """
    match = re.fullmatch(r"(?:https://|ssh://git@|git@)github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?", origin)
    return f"https://github.com/{match[1]}" if match else None
