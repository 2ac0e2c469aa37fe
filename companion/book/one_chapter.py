"""One chapter, executed by a process of its own, so that several can run at a time without sharing logs or settings.

``python -m companion.book.one_chapter NAME NOTEBOOKS OUT THREADS``
"""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

from ..chapters import Chapter, chapter
from ..errors import ChapterError, CompanionError


def in_its_own_process(which: Chapter, out: Path, threads: int) -> Path:
    """Execute a chapter at the paper's parameters into the folder ``out``; the executed notebook."""
    arguments = [which.name, str(which.folder), str(out), str(threads)]
    done = subprocess.run(
        [sys.executable, "-m", __name__, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise ChapterError(lines[-1] if lines else f"Chapter {which.name} stopped without a word.", chapter=which.name)
    return out / f"{which.name}.ipynb"


def main(name: str, notebooks: str, out: str, threads: str) -> int:
    """Execute one chapter; an error is one sentence and exit code 1."""
    from ..notebook.execute import execute

    try:
        this = dataclasses.replace(chapter(name), folder=Path(notebooks))
        execute(this, out=out, jobs=int(threads), progress=False, page=False)
    except CompanionError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
