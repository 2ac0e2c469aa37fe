"""The engine: computes the pieces of a computation and stores each result as soon as it arrives.

A piece is a repetition of an experiment, a trial of the arena or a split of a study. It is computed in this process, in
one of several processes by joblib, or on a Dask cluster. This process writes every result to a file of its own,
atomically. The same call again computes the pieces that have no file, so a run that was stopped or killed loses at most
the pieces under way.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, delayed, parallel_config

import nystrom_lib as nl

from ..atomic_write import atomic_write
from ..errors import CompanionError
from ..results import provenance
from .progress import Progress

logger = logging.getLogger(__name__)

#: A function of a piece, which may call ``progress`` with the number of its steps. It returns what JSON can represent.
Function = Callable[..., Any]

#: How often in a row worker processes may be killed before the run gives up.
ATTEMPTS = 3
_SUFFIX = ".piece"


class Piece(NamedTuple):
    """The result of a piece, and what computed it."""

    value: Any
    session: dict[str, Any]  #: the machine, the versions and the threads
    seconds: float  #: from the beginning of the session until the result arrived


def compute(
    function: Function,
    pieces: Mapping[str, Any],
    folder: Path,
    *,
    threads: int = 1,
    cluster: str | None = None,
    title: str = "",
    unit: str = "piece",
) -> dict[str, Piece]:
    """Compute the pieces that are not stored yet, store them, and return all of them.

    ``function``, which workers import by its name, is called with the argument of each piece; ``pieces`` has these by
    names that can be names of files. Several pieces are computed at a time, on one thread each; a single piece has all
    ``threads`` of this machine to itself. ``cluster`` is the address of a Dask scheduler, whose workers then compute
    the pieces. The progress calls the computation ``title`` and a piece ``unit``.
    """
    found = {name: Piece(**stored) for name in pieces if (stored := load(folder, name)) is not None}
    left = {name: piece for name, piece in pieces.items() if name not in found}
    if left:
        with closing(Progress(len(pieces), len(found), unit, title)) as progress:
            if cluster is None:
                arriving = _on_this_machine(function, left, threads, progress)
            else:
                from .cluster import on_cluster

                arriving = on_cluster(function, left, cluster)
            began = time.monotonic()
            with closed(arriving) as results:
                for name, value, session in results:
                    found[name] = Piece(value, session, time.monotonic() - began)
                    store(folder, name, found[name]._asdict())
                    progress.reach(len(found))
    return {name: found[name] for name in pieces}


def sessions(pieces: Mapping[str, Piece]) -> list[dict[str, Any]]:
    """The sessions that computed some pieces, each with the number of its pieces and its wall time."""
    groups: dict[str, list[Piece]] = {}
    for piece in pieces.values():
        groups.setdefault(json.dumps(piece.session), []).append(piece)
    found = [
        {**group[0].session, "repetitions": len(group), "wall_seconds": max(piece.seconds for piece in group)}
        for group in groups.values()
    ]
    return sorted(found, key=lambda session: str(session["started"]))


# -- files -----------------------------------------------------------------------------------------------------


def store(folder: Path, name: str, value: Any) -> None:
    """Write a value atomically, with its checksum in the first line."""
    text = json.dumps(value).encode("ascii")
    content = hashlib.sha256(text).hexdigest().encode("ascii") + b"\n" + text
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Not synchronised, which can take longer than a piece: after a crash of the machine the checksum finds damage.
        atomic_write(folder / f"{name}{_SUFFIX}", lambda part: part.write_bytes(content), sync=False)
    except OSError as error:
        raise CompanionError(
            f"Nothing can be written to {folder} ({error.strerror}). What is stored is safe, and the same call "
            "continues from there."
        ) from error


def load(folder: Path, name: str) -> Any:
    """A stored value, or None if there is none. A damaged file counts as none: its piece is computed again."""
    path = folder / f"{name}{_SUFFIX}"
    try:
        checksum, _, text = path.read_bytes().partition(b"\n")
    except (FileNotFoundError, NotADirectoryError):
        return None
    if hashlib.sha256(text).hexdigest().encode("ascii") != checksum:
        logger.warning("The file %s is damaged; it is computed again.", path)
        return None
    return json.loads(text)


def count(folder: Path) -> int:
    """How many pieces are stored in a folder and in those below it."""
    return len(list(folder.rglob(f"[!._]*{_SUFFIX}")))


# -- computing -------------------------------------------------------------------------------------------------

Arriving = Iterator[tuple[str, Any, dict[str, Any]]]


def _on_this_machine(function: Function, left: Mapping[str, Any], threads: int, progress: Progress) -> Arriving:
    jobs, each = (1, threads) if len(left) == 1 else (min(threads, len(left)), 1)
    session = provenance.session(where="here", threads={"repetitions": jobs, "each": each})
    if jobs > 1:
        for name, value in _in_processes(function, left, jobs):
            yield name, value, session
        return
    for name, piece in left.items():
        yield *apply(name, function, piece, each, lambda steps: progress.reach(progress.done, steps)), session


def _in_processes(function: Function, pieces: Mapping[str, Any], jobs: int) -> Iterator[tuple[str, Any]]:
    """Compute pieces in processes of their own; those of a process that was killed are computed again."""
    left, failures = dict(pieces), 0
    with parallel_config("loky", initializer=_begin_worker, initargs=(os.getpid(),), inner_max_num_threads=1):
        parallel = Parallel(jobs, return_as="generator_unordered", batch_size=1)
    while left:
        try:
            with _without_ctrl_c():  # processes that are started leave it to this one
                arriving = parallel(delayed(apply)(name, function, piece) for name, piece in [*left.items()])
            with closed(arriving) as results:
                for name, value in results:
                    del left[name]
                    failures = 0
                    yield name, value
        except BrokenProcessPool as error:
            failures += 1
            if failures == ATTEMPTS:
                raise CompanionError(
                    f"Worker processes were killed {failures} times in a row, perhaps for lack of memory; what is "
                    "stored is safe. Use fewer jobs."
                ) from error
            logger.warning("A worker process was killed; its piece is computed again.")


def apply(
    name: str, function: Function, piece: Any, threads: int = 1, progress: Callable[[int], None] | None = None
) -> tuple[str, Any]:
    """Compute one piece and return it with its name."""
    with nl.threads(threads):
        return name, function(piece, progress)


def _begin_worker(parent: int) -> None:
    """Let a worker ignore Ctrl-C, and end when its parent does, even if that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def follow() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Defer Ctrl-C until the end, and block it in the processes that are started meanwhile.

    The handler is replaced as well, because multiprocessing unblocks the signal when it starts its resource tracker.
    """
    pressed: list[int] = []
    handler: Any = None
    if threading.current_thread() is threading.main_thread():
        handler = signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
    if pressed:
        raise KeyboardInterrupt


@contextmanager
def closed(results: Any) -> Iterator[Any]:
    """Close a generator at the end. joblib then ends the workers, and would warn about the pieces under way."""
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            results.close()
