"""The whole book in one call: execute or copy the chapters, generate, render, check."""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path

from ..chapters import CHAPTERS, Chapter
from ..checkout import BOOK, NOTEBOOKS, RESULTS, ROOT
from ..errors import ConfigurationError
from ..results import provenance
from ..wording import duration
from .generating import GENERATED, generate
from .one_chapter import in_its_own_process
from .rendering import render

#: How many chapters are executed at a time: much of a kernel's life is spent on one core, starting up.
AT_ONCE = 2

Say = Callable[[str], None]


def build(
    execute: bool = True,
    *,
    jobs: int | None = None,
    out: str | Path | None = None,
    source: str | Path = BOOK,
    notebooks: str | Path = NOTEBOOKS,
    results: str | Path = RESULTS,
    say: Say = print,
) -> Path:
    """Build the book.

    Parameters
    ----------
    execute : bool
        Execute every chapter at the paper's parameters? Otherwise the notebooks are shown as they are committed.
    jobs : int, optional
        How many cores to use, by default all.
    out : path, optional
        The pages come to ``_build/html`` in here, by default in the project's folder.
    source : path
        The book's sources; they are copied to ``_build/source`` in ``out``, and executed notebooks and generated
        pages added there.
    notebooks : path
        The chapters' notebooks.
    results : path
        The stored results.
    say : callable
        Told in a sentence what is being done.

    Returns
    -------
    Path
        The page to open.

    Raises
    ------
    ChapterError
        A cell of a chapter failed; nothing is rendered then.
    BookError
        Jupyter Book gave a warning, a link leads nowhere, or a page would load something from another host.
    """
    began = time.monotonic()
    source, out = Path(source), Path(out) if out is not None else ROOT
    jobs = provenance.cores() if jobs is None else jobs
    if jobs < 1:
        raise ConfigurationError("jobs", f"is {jobs}; it must be at least 1.")
    chapters = [dataclasses.replace(chapter, folder=Path(notebooks)) for chapter in CHAPTERS.values()]
    staged = out / "_build" / "source"
    shutil.rmtree(staged, ignore_errors=True)
    shutil.copytree(source, staged, ignore=shutil.ignore_patterns("notebooks", GENERATED, "__pycache__"))
    shown = staged / "notebooks"
    shown.mkdir()
    if execute:
        say(f"book: executing {len(chapters)} chapters, {min(AT_ONCE, jobs)} at a time")
        execute_all(chapters, shown, out / "_build" / "chapters", jobs, say)
    else:
        say(f"book: taking {len(chapters)} chapters as they are committed")
        for chapter in chapters:
            shutil.copyfile(chapter.source(), shown / chapter.file)
    say("book: generating landing page, claims and status from the stored results")
    generate(staged, Path(results), chapters, executed=execute)
    say("book: rendering; warnings are errors, and every link is followed")
    page = render(staged, out) / "index.html"
    say(f"book: done in {duration(time.monotonic() - began)}; open {page.resolve()}")
    return page


def empty(folder: Path) -> Path:
    """A folder with nothing in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def execute_all(chapters: Sequence[Chapter], shown: Path, runs: Path, jobs: int, say: Say) -> None:
    """Execute chapters, two at a time; the first that fails ends it, once those under way have come to an end."""
    at_once = min(AT_ONCE, jobs)
    threads = max(1, jobs // at_once)

    def one(chapter: Chapter) -> None:
        began = time.monotonic()
        made = in_its_own_process(chapter, empty(runs / chapter.name), threads)
        shutil.copyfile(made, shown / chapter.file)
        say(f"book:   {chapter.number}. {chapter.title} ({duration(time.monotonic() - began)})")

    with ThreadPoolExecutor(at_once) as pool:
        under_way: list[Future[None]] = [pool.submit(one, chapter) for chapter in chapters]
        done, rest = wait(under_way, return_when=FIRST_EXCEPTION)
        for future in rest:
            future.cancel()
        for future in done:
            future.result()
