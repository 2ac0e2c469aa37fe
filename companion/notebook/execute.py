"""Runs a chapter's notebook with papermill and leaves a folder: notebook, page, figures, results, log.

The parameters are checked before anything starts. papermill is used as a library.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import papermill  # type: ignore[import-untyped]
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError  # type: ignore[import-untyped]
from tqdm import tqdm

from ..atomic_write import write_text
from ..chapters import Chapter, chapter
from ..errors import ChapterError, ConfigurationError, Interrupted
from ..results import provenance
from ..settings import Plain, Settings
from .clean import ERROR_TAG, INJECTED, clean, read_notebook, tags, write_notebook
from .html_page import write_html
from .page import DASK, JOBS, RUN_FOLDER

logger = logging.getLogger(__name__)

RECORD = "run.json"
LOG = "run.log"
REPETITIONS = "repetitions"

#: How long a kernel may take to start, on a machine that is busy with other things.
START_SECONDS = 300
FOLLOW_SECONDS = 1.0
_PROGRESS = "companion.running.progress"


def execute(
    which: str | Chapter,
    values: Mapping[str, Any] | None = None,
    out: str | Path = "run",
    *,
    profile: str = "paper",
    jobs: int | None = None,
    dask: str | None = None,
    progress: bool = True,
    resume: bool = False,
    page: bool = True,
) -> Path:
    """Run a chapter.

    Parameters
    ----------
    which : str or Chapter
        The chapter, usually by its name.
    values : mapping, optional
        Parameters that differ from the profile's, as text or typed.
    out : path
        The folder to make. One that holds a run is only taken with ``resume``.
    profile : {"paper", "quick", "smoke"}
        Where the other parameters come from.
    jobs : int, optional
        How many threads to use, by default one per core.
    dask : str, optional
        The address of a Dask scheduler that does the repetitions instead.
    progress : bool
        Show a bar where there is a terminal?
    resume : bool
        Go on with a run that was stopped: finished repetitions are kept.
    page : bool
        Write a page beside the notebook? The book makes its own.

    Returns
    -------
    Path
        The executed notebook. If a cell fails, ChapterError says which and why, and what was executed is kept.
    """
    this = chapter(which) if isinstance(which, str) else which
    settings = this.settings(values, profile)
    if jobs is not None and jobs < 1:
        raise ConfigurationError("jobs", f"is {jobs}; it must be a whole number, at least 1.")
    folder = Path(out).absolute()
    _take(folder, this, settings, resume)
    environment = {RUN_FOLDER: str(folder), JOBS: str(jobs or ""), DASK: dask or ""}
    record = _Record(folder, this, settings, profile)
    target = folder / f"{this.name}.ipynb"
    with _logging_to(folder / LOG), _following(folder / LOG, progress and sys.stderr.isatty()):
        try:
            run_notebook(this, settings, target, environment, progress=progress)
        except KeyboardInterrupt:
            record.end("interrupted")
            raise Interrupted(
                f"Stopped: what is finished is kept in {folder}; the same command with --resume goes on from there."
            ) from None
        except ChapterError as error:
            with suppress(OSError):  # the disk may be full, which is what it says
                record.end("failed", cell=error.cell, reason=error.reason)
            raise
        finally:
            if page and target.is_file():
                _write_page(target, this)
        shutil.rmtree(folder / REPETITIONS, ignore_errors=True)
        record.end("finished")
    return target


def _write_page(target: Path, this: Chapter) -> None:
    try:
        write_html(target, this)
    except OSError as error:
        raise ChapterError(
            f"The page of {target} cannot be written ({error.strerror or error}); the notebook is whole.",
            chapter=this.name,
        ) from None


def run_notebook(
    this: Chapter,
    settings: Settings,
    target: Path,
    environment: Mapping[str, str] | None = None,
    *,
    progress: bool = True,
    cwd: Path | None = None,
) -> NotebookNode:
    """Execute a chapter's notebook into ``target``, clean it, and say which cell failed if one did.

    Parameters
    ----------
    this : Chapter
        Which chapter.
    settings : Settings
        Its parameters; those that are not the paper's are injected.
    target : Path
        The notebook to write.
    environment : mapping, optional
        Variables for the kernel.
    progress : bool
        Show a bar where there is a terminal?
    cwd : Path, optional
        The folder the kernel works in, by default the caller's.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    # A run that fails early must not leave an older notebook behind that looks like its own.
    target.unlink(missing_ok=True)
    values = {name: _listed(value) for name, value in this.changed(settings).items()}
    _loopback()
    with _variables(environment or {}):
        try:
            papermill.execute_notebook(
                str(this.path).translate(_BRACES),
                str(target).translate(_BRACES),
                parameters=values,
                kernel_name="python3",
                language="python",
                log_output=True,
                start_timeout=START_SECONDS,
                progress_bar={
                    "desc": this.name,
                    "unit": " cells",
                    "file": sys.stderr,
                    "disable": not (progress and sys.stderr.isatty()),
                },
                record_timing=False,
                shutdown_kernel="immediate",
                cwd=None if cwd is None else str(cwd),
            )
        except PapermillExecutionError as error:
            raise _failed(this, target, error.ename, error.evalue, "\n".join(error.traceback)) from None
        except RuntimeError as error:
            died = isinstance(error, DeadKernelError)
            what = "the kernel died; if the system killed it for want of memory, use smaller parameters"
            raise _failed(this, target, type(error).__name__, what if died else str(error), "") from None
        except (OSError, UnicodeError) as error:
            # papermill empties the notebook before it writes: half of one must not stay behind
            target.unlink(missing_ok=True)
            reason = getattr(error, "strerror", None) or str(error)
            raise ChapterError(
                f"Chapter {this.name} stopped: {target} cannot be written ({reason}).", chapter=this.name, reason=reason
            ) from None
        finally:
            if target.is_file():
                write_notebook(clean(read_notebook(target)), target)
    return read_notebook(target)


@contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for a while: a kernel inherits them."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _loopback() -> None:
    """See that processes of this machine can speak to each other: else a kernel would be waited for in vain."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), timeout=5).close()
    except OSError as error:
        raise ChapterError(
            f"Notebooks need the machine's own network, 127.0.0.1, which does not answer ({error.strerror or error})."
        ) from None


#: papermill takes braces in a path for the name of a parameter.
_BRACES = str.maketrans({"{": "{{", "}": "}}"})


_ADDED = {INJECTED, ERROR_TAG}


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _failed(this: Chapter, target: Path, name: str, what: str, traceback: str) -> ChapterError:
    """Which cell of the chapter failed, counted as in the chapter, without the cell that papermill injects."""
    notebook = read_notebook(target if target.is_file() else this.path)
    cells = [cell for cell in notebook.cells if not _ADDED & set(tags(cell))]
    # Its status says little: papermill calls a cell completed that a kernel died in, and all those after it.
    begun = [place for place, cell in enumerate(cells) if cell.metadata.get("papermill", {}).get("start_time")]
    number = begun[-1] + 1 if begun else None
    source = cells[number - 1].source if number else ""
    reason = f"{name}: {what}".strip()
    first = next((line for line in source.splitlines() if line.strip() and not line.startswith("#")), "")
    where = f"at cell {number} ({first.strip()})" if number else "before its first cell"
    return ChapterError(
        f"Chapter {this.name} stopped {where}: {reason.rstrip('.')}. What was executed is in {target}.",
        chapter=this.name,
        cell=number,
        source=source,
        reason=reason,
        traceback=traceback,
    )


# -- the folder of a run ---------------------------------------------------------------------------------------


def _take(folder: Path, this: Chapter, settings: Settings, resume: bool) -> None:
    """Make the folder, or see that it holds the run that is to go on."""
    try:
        there = folder.is_dir() and any(folder.iterdir())
        if folder.exists() and not folder.is_dir():
            raise ConfigurationError("out", f"is {folder}, which is a file; name a folder.")
        before = read_record(folder) if there else None
        if there and before is None:
            raise ConfigurationError("out", f"is {folder}, which is not empty and holds no run; name another folder.")
        if before is not None:
            _may_go_on(folder, before, this, settings, resume)
        elif resume:
            raise ConfigurationError("out", f"is {folder}, which holds no run to go on with.")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError("out", f"is {folder}, which cannot be made: {error.strerror or error}.") from None


def _may_go_on(folder: Path, before: Plain, this: Chapter, settings: Settings, resume: bool) -> None:
    if not resume:
        raise ConfigurationError(
            "out", f"is {folder}, which holds a run of {before['chapter']}; go on with it by --resume, or name another."
        )
    if before["chapter"] != this.name:
        raise ConfigurationError("out", f"is {folder}, which holds a run of {before['chapter']}, not of {this.name}.")
    now = settings.to_plain()
    other = [name for name in now if now[name] != before["parameters"].get(name)]
    if other:
        name = other[0]
        raise ConfigurationError(
            name, f"is {now[name]!r}; the run in {folder} has {before['parameters'].get(name)!r} and can only go on so."
        )


def read_record(folder: str | Path) -> Plain | None:
    """What ``run.json`` says of the run in a folder: chapter, parameters, how it ended; None if it holds no run."""
    try:
        record = json.loads((Path(folder) / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and {"chapter", "parameters"} <= set(record) else None


class _Record:
    """run.json: what the run is, where it runs, how it ended."""

    def __init__(self, folder: Path, this: Chapter, settings: Settings, profile: str) -> None:
        self._path = folder / RECORD
        self._began = time.monotonic()
        self._content: Plain = {
            "chapter": this.name,
            "title": this.title,
            "profile": profile,
            "parameters": settings.to_plain(),
            "command": this.command(settings),
            "status": "running",
            "provenance": provenance.session(),
        }
        self._write()

    def end(self, status: str, **more: Any) -> None:
        """How it ended, and what it left."""
        folder = self._path.parent
        self._content |= {"status": status, "seconds": round(time.monotonic() - self._began, 3), **more}
        for kind in ("figures", "results"):
            self._content[kind] = sorted(path.name for path in (folder / kind).glob("*.*"))
        self._write()

    def _write(self) -> None:
        write_text(self._path, json.dumps(self._content, indent=1, ensure_ascii=False) + "\n")


@contextmanager
def _logging_to(path: Path) -> Iterator[None]:
    """What papermill and we have to say goes into the log, not onto the screen."""
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    loggers = [logging.getLogger(name) for name in ("papermill", "nystrom_lib", "companion", "traitlets")]
    before = [(each.level, each.propagate) for each in loggers]
    for each in loggers:
        each.addHandler(handler)
        each.setLevel(logging.INFO)
        each.propagate = False
    try:
        yield
    finally:
        for each, (level, propagate) in zip(loggers, before, strict=True):
            each.removeHandler(handler)
            each.setLevel(level)
            each.propagate = propagate
        with suppress(OSError):
            handler.close()
        with suppress(OSError):  # nothing could be written
            if path.stat().st_size == 0:
                path.unlink()


@contextmanager
def _following(path: Path, show: bool) -> Iterator[None]:
    """While a long cell runs, show what its repetitions say about how far they are."""
    done = threading.Event()

    def follow() -> None:
        with path.open(encoding="utf-8", errors="replace") as log:
            log.seek(0, os.SEEK_END)
            while not done.wait(FOLLOW_SECONDS):
                for line in log:
                    if f" {_PROGRESS}: " in line:
                        tqdm.write(line.partition(f" {_PROGRESS}: ")[2].rstrip(), file=sys.stderr)

    thread = threading.Thread(target=follow, daemon=True)
    if show:
        thread.start()
    try:
        yield
    finally:
        done.set()
        if show:
            thread.join()
