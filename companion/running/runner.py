"""Runs the repetitions of an experiment, here or on a cluster, and stores each as soon as it is done.

On this machine the cores are shared out in one of two ways, never both: many repetitions at once, each on one thread,
or a single repetition that has all the threads to itself.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import nystrom_lib as nl

from ..errors import ConfigurationError, Interrupted
from ..experiments.config import Experiment
from ..experiments.outcome import Outcome
from ..experiments.protocol import Problem, load_data, prepare, repetition
from ..results import provenance
from ..results.store import Store
from ..results.table import Results
from .progress import Progress

logger = logging.getLogger(__name__)

#: How long Ctrl-C waits for repetitions that are on their way to notice it.
PATIENCE_SECONDS = 1.0
#: How often the bar moves while nothing is finished.
TICK_SECONDS = 0.2

Item = TypeVar("Item")
Result = TypeVar("Result")


class Backend(Protocol):
    """Where repetitions are computed."""

    #: How many repetitions to hand over at a time.
    capacity: int

    def submit(self, j: int) -> None:
        """Have repetition j done."""

    def next(self, timeout: float) -> tuple[int, Outcome] | None:
        """One that is done (raise what it raised), or None if there is none in time."""

    def steps(self) -> int | None:
        """How many steps the repetition under way has done, if there is only one; None if nobody knows."""

    def stop(self) -> None:
        """Give up what is under way."""


class Cancelled(Exception):
    """Ends a repetition that nobody waits for any more."""


class Threads:
    """Repetitions on threads of this process.

    The threads are daemons: a process that is told to end does not wait for a compiled loop to return.

    Parameters
    ----------
    problem : Problem
        What the repetitions share.
    count : int
        How many repetitions there are to do.
    threads : int
        How many threads to use in all.
    """

    def __init__(self, problem: Problem, count: int, threads: int) -> None:
        self.problem = problem
        self.workers, self.inner = share_out(threads, count)
        self.capacity = 2 * self.workers
        self._tasks: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[int, Outcome | BaseException]] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._steps = 0
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(self.workers)]
        for thread in self._threads:
            thread.start()

    def _work(self) -> None:
        with nl.threads(self.inner):
            while (j := self._tasks.get()) is not None and not self._stopped.is_set():
                try:
                    self._done.put((j, repetition(self.problem, j, self._progress)))
                except Cancelled:
                    return
                except BaseException as error:
                    self._done.put((j, error))

    def _progress(self, steps: int) -> None:
        if self._stopped.is_set():
            raise Cancelled
        self._steps = steps

    def submit(self, j: int) -> None:
        """Queue repetition j."""
        self._tasks.put(j)

    def next(self, timeout: float) -> tuple[int, Outcome] | None:
        """Wait for a repetition to end."""
        try:
            j, outcome = self._done.get(timeout=timeout)
        except queue.Empty:
            return None
        if isinstance(outcome, BaseException):
            raise outcome
        return j, outcome

    def steps(self) -> int | None:
        """How far the one repetition has come."""
        return self._steps if self.workers == 1 else None

    def stop(self) -> None:
        """End the threads, those that notice in time."""
        self._stopped.set()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS / len(self._threads))


def share_out(threads: int, count: int) -> tuple[int, int]:
    """(repetitions at a time, threads of each): one of the two is always 1.

    Examples
    --------
    >>> share_out(4, 1000), share_out(4, 1)
    ((4, 1), (1, 4))
    """
    return (1, threads) if count <= 1 else (min(threads, count), 1)


def run(
    experiment: Experiment,
    folder: str | Path = "runs",
    *,
    dataset: nl.datasets.Dataset | None = None,
    threads: int | None = None,
    cluster: str | None = None,
    progress: bool = True,
) -> Results:
    """Do what is left to do of an experiment, and give all of it.

    Every repetition is stored as soon as it is done. A run that was killed, or ended by Ctrl-C, a full disk or an
    error, is continued by the same call. Several processes may run the same experiment in the same folder: they share
    the work.

    Parameters
    ----------
    experiment : Experiment
        What to do.
    folder : path
        Where the repetitions are stored.
    dataset : Dataset, optional
        The data, if they are in memory already.
    threads : int, optional
        How many threads to use on this machine, by default one per core.
    cluster : str, optional
        The address of a Dask scheduler, which then does the work.
    progress : bool
        Show a progress bar where there is a terminal?

    Returns
    -------
    Results
        All m repetitions.
    """
    threads = provenance.cores() if threads is None else threads
    if threads < 1:
        raise ConfigurationError("threads", f"is {threads}; it must be at least 1.")
    dataset = interruptible(lambda: load_data(experiment, dataset))
    with Store(folder, experiment, dataset.sha256) as store:
        try:
            if cluster is None:
                run_here(experiment, dataset, store, threads, progress)
            else:
                from .cluster import run_there

                run_there(experiment, dataset, store, threads, progress, cluster)
        except KeyboardInterrupt:
            finished = len(store.finished() & set(range(experiment.m)))
            raise Interrupted(
                f"Stopped: {finished} of {experiment.m} repetitions are stored in {store.path}; "
                "the same call goes on from there."
            ) from None
        return Results.from_store(store, experiment, dataset)


def run_here(experiment: Experiment, dataset: nl.datasets.Dataset, store: Store, threads: int, progress: bool) -> None:
    """Do what is left on threads of this process."""
    pending = left_to_do(store, experiment)
    if not pending:
        return
    problem = ready(experiment, dataset, store, threads)
    backend = Threads(problem, len(pending), threads)
    store.begin_session(
        provenance.session(where="here", threads={"repetitions": backend.workers, "each": backend.inner})
    )
    complete(experiment, store, backend, progress)


def left_to_do(store: Store, experiment: Experiment) -> list[int]:
    """The repetitions nobody has stored yet."""
    finished = store.finished()
    return [j for j in range(experiment.m) if j not in finished]


def ready(experiment: Experiment, dataset: nl.datasets.Dataset, store: Store, threads: int) -> Problem:
    """The problem with its constants, which are computed once and kept in the store."""
    known = store.constants()

    def work() -> Problem:
        with nl.threads(threads):
            return prepare(experiment, dataset, known)

    problem = interruptible(work)
    # Another process may have been quicker: then its constants count.
    return problem if known is not None else replace(problem, constants=store.keep_constants(problem.constants))


def complete(experiment: Experiment, store: Store, backend: Backend, show: bool) -> None:
    """Hand out what is left, and store what comes back, until nothing is left."""
    pending = deque(_in_turn(left_to_do(store, experiment), store.session or 1))
    alone = len(pending) == 1 and backend.steps() is not None
    total, done, unit = (
        (experiment.descent.steps, 0, "step") if alone else (experiment.m, experiment.m - len(pending), "repetition")
    )
    title = f"{experiment.data.kind}, n = {experiment.n}"
    under_way: set[int] = set()
    try:
        with Progress(total, done=done, unit=unit, title=title, show=show) as bar:
            while pending or under_way:
                _hand_out(pending, under_way, store, backend)
                finished = backend.next(TICK_SECONDS) if under_way else None
                if finished is not None:
                    store.add(*finished)
                    under_way.remove(finished[0])
                bar.reach((backend.steps() or 0) if alone else experiment.m - len(pending) - len(under_way))
    finally:
        backend.stop()


def _hand_out(pending: deque[int], under_way: set[int], store: Store, backend: Backend) -> None:
    """Fill the backend, leaving out what another process has stored in the meantime."""
    if not pending or len(under_way) >= backend.capacity:
        return
    elsewhere = store.finished()
    while pending and len(under_way) < backend.capacity:
        j = pending.popleft()
        if j not in elsewhere:
            under_way.add(j)
            backend.submit(j)


def _in_turn(pending: list[int], session: int) -> list[int]:
    """Each session begins elsewhere, so that two at work on one run seldom do the same repetition.

    No claims are made, hence none can be left behind by a killed process. Multiples of the golden section spread any
    number of sessions about evenly.
    """
    start = int((session - 1) * 0.6180339887498949 % 1.0 * len(pending))
    return pending[start:] + pending[:start]


def interruptible(work: Callable[[], Result], interrupted: Callable[[], object] | None = None) -> Result:
    """Do ``work`` on another thread, so that Ctrl-C is heard at once, however long a compiled call takes.

    At Ctrl-C ``interrupted`` is called, and unless it raises, the wait goes on; without it the wait is over.
    """
    results: list[tuple[bool, Any]] = []
    ended = threading.Event()

    def task() -> None:
        try:
            results.append((True, work()))
        except BaseException as error:
            results.append((False, error))
        ended.set()

    threading.Thread(target=task, daemon=True).start()
    while True:
        try:
            while not ended.wait(0.2):  # where a signal does not end the wait, its handler runs after it
                pass
            break
        except KeyboardInterrupt:
            if interrupted is None:
                raise
            interrupted()
    good, value = results[0]
    if not good:
        raise value
    done: Result = value
    return done


def several(work: Callable[[Item], Result], items: Iterable[Item], count: int) -> Iterator[tuple[Item, Result]]:
    """Do ``work`` on every item, ``count`` at a time on threads, and give each with its result as soon as it is done.

    What Ctrl-C or an error of one finds under way is left to itself, on threads that end with the process.
    """
    left = deque(items)
    total = len(left)
    results: queue.SimpleQueue[tuple[Item, bool, Any]] = queue.SimpleQueue()

    def task() -> None:
        while left:
            try:
                item = left.popleft()
            except IndexError:  # another thread was quicker
                return
            try:
                results.put((item, True, work(item)))
            except BaseException as error:
                left.clear()
                results.put((item, False, error))

    for _ in range(count):
        threading.Thread(target=task, daemon=True).start()
    try:
        for _ in range(total):
            item, good, value = results.get()
            if not good:
                raise value
            yield item, value
    finally:
        left.clear()


def recompute(problem: Problem, repetitions: Iterable[int], threads: int | None = None) -> dict[int, Outcome]:
    """Do chosen repetitions again, without a store."""
    chosen = list(repetitions)
    backend = Threads(problem, len(chosen), threads or provenance.cores())
    outcomes: dict[int, Outcome] = {}
    try:
        for j in chosen:
            backend.submit(j)
        while len(outcomes) < len(chosen):
            finished = backend.next(TICK_SECONDS)
            if finished is not None:
                outcomes[finished[0]] = finished[1]
    finally:
        backend.stop()
    return outcomes
