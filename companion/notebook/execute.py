"""Run a chapter's notebook with papermill and leave a folder: notebook, page, figures, results, log and record."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import papermill  # type: ignore[import-untyped]
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError  # type: ignore[import-untyped]
from tqdm import tqdm

from ..atomic_write import write_text
from ..chapters import Chapter
from ..errors import CompanionError, ConfigurationError, Interrupted
from ..results import provenance
from ..settings import Plain, Settings
from .clean import clean, read_notebook, write_notebook
from .html_page import write_html
from .page import DASK, JOBS, RUN_FOLDER

RECORD, LOG, REPETITIONS = "run.json", "run.log", "repetitions"

_PROGRESS = " companion.running.progress: "


def execute(
    this: Chapter,
    values: Mapping[str, Any] | None = None,
    out: str | Path = "run",
    *,
    profile: str = "paper",
    jobs: int | None = None,
    dask: str | None = None,
    resume: bool = False,
) -> Path:
    """Run a chapter into the folder ``out`` and return the executed notebook.

    ``values`` are the parameters that differ from the profile's, as text or typed. A folder that holds a stopped run is
    used with ``resume`` only; finished repetitions are then kept. If a cell fails, CompanionError names it, and the
    notebook up to that cell is kept.
    """
    settings = this.settings(values, profile)
    folder = Path(out).absolute()
    _check_folder(folder, this, settings, resume)
    folder.mkdir(parents=True, exist_ok=True)
    target, began, session = folder / f"{this.name}.ipynb", time.monotonic(), provenance.session()

    def record(status: str, **more: Any) -> None:
        content: Plain = {
            "chapter": this.name,
            "profile": profile,
            "parameters": settings.to_plain(),
            "command": this.command(settings),
            "status": status,
            "seconds": round(time.monotonic() - began, 3),
            "provenance": session,
            **more,
        }
        write_text(folder / RECORD, json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    record("running")
    environment = {RUN_FOLDER: str(folder), JOBS: str(jobs or ""), DASK: dask or ""}
    try:
        with patch.dict(os.environ, environment), _progress_of(folder / LOG):  # a kernel inherits the variables
            run_notebook(this, settings, target)
    except KeyboardInterrupt:
        record("interrupted")
        raise Interrupted(f"Stopped: finished work is stored; --out {folder} --resume continues this run.") from None
    except CompanionError as error:
        record("failed", reason=str(error))
        raise
    finally:
        if target.is_file():
            write_html(target, this.title)
    shutil.rmtree(folder / REPETITIONS, ignore_errors=True)
    record("finished")
    return target


def run_notebook(this: Chapter, settings: Settings, target: Path, cwd: Path | None = None) -> NotebookNode:
    """Execute a chapter's notebook into ``target`` and clean it; CompanionError names the cell that failed.

    Parameters that are not the paper's are injected; ``cwd`` is the working folder of the kernel.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)  # or a run that fails early would leave an older notebook as its own
    changed = this.changed(settings)
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in changed.items()}
    try:
        papermill.execute_notebook(
            str(this.path),
            str(target),
            parameters=values,
            kernel_name="python3",
            language="python",
            start_timeout=300,  # seconds, on a busy machine
            progress_bar=sys.stderr.isatty(),
            record_timing=False,
            shutdown_kernel="immediate",  # after Ctrl-C the kernel would print a traceback
            cwd=None if cwd is None else str(cwd),
            coalesce_streams=True,  # how often the kernel sends output differs from run to run
        )
    except PapermillExecutionError as error:
        number = error.cell_index + 1 - bool(values)  # papermill also counts the cell that it injects
        first = next((line.strip() for line in error.source.splitlines() if line[:1] not in ("", "#")), "")
        raise CompanionError(
            f"Chapter {this.name} stopped at cell {number} ({first}): {error.ename}: {error.evalue.rstrip('.')}. "
            f"What was executed is in {target}."
        ) from None
    except RuntimeError as error:  # of nbclient
        raise CompanionError(
            f"Chapter {this.name} stopped: {str(error).rstrip('.')}. If memory ran out, use smaller parameters."
        ) from None
    except OSError:
        target.unlink(missing_ok=True)  # papermill empties the notebook before it writes
        raise
    finally:
        if target.is_file():
            write_notebook(clean(read_notebook(target)), target)
    return read_notebook(target)


@contextmanager
def _progress_of(path: Path) -> Iterator[None]:
    """Repeat the lines on the progress of repetitions, which the kernel logs, on standard error."""
    ended = threading.Event()
    path.touch()

    def follow() -> None:
        with path.open(encoding="utf-8", errors="replace") as log:
            log.seek(0, os.SEEK_END)
            while not ended.wait(1.0):
                for line in log:
                    if _PROGRESS in line:
                        tqdm.write(line.partition(_PROGRESS)[2].rstrip(), file=sys.stderr)

    thread = threading.Thread(target=follow)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


# -- the folder of a run ---------------------------------------------------------------------------------------


def _check_folder(folder: Path, this: Chapter, settings: Settings, resume: bool) -> None:
    """Refuse a folder with other files; with ``resume`` it must hold this very run."""
    record = read_record(folder)
    if record is None:
        if resume:
            raise ConfigurationError("out", f"is {folder}, which holds no run to continue.")
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ConfigurationError("out", f"is {folder}, which is not an empty folder; name another.")
    elif not resume:
        raise ConfigurationError("out", f"is {folder}, which holds a run; continue it by --resume, or name another.")
    elif (record["chapter"], record["parameters"]) != (this.name, settings.to_plain()):
        raise ConfigurationError("out", f"is {folder}, which holds another run: {record['command']}.")


def read_record(folder: Path) -> Plain | None:
    """The record of the run in a folder: chapter, parameters, status; None if it holds no run."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    known = isinstance(record, dict) and {"chapter", "parameters", "command", "status"} <= set(record)
    return record if known else None
