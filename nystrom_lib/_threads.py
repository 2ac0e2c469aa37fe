"""The number of threads that a call may use, and the thread pool."""

from __future__ import annotations

import _thread
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from queue import SimpleQueue
from typing import Any, TypeVar

import numba

from . import _validation as check

_local = threading.local()
_lock = threading.Lock()
_inside = 0  # calls of the library under way that limit BLAS to one thread
_limit: Any = None
# The tasks of our own threads. numba's threads would spin while they wait, and would not survive a fork. The locks of
# concurrent.futures are written in Python: an exception of a signal handler could leave them locked for ever.
_tasks: SimpleQueue[_Call] = SimpleQueue()
_workers = 0


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let the library use at most ``count`` threads in calls made by the present thread.

    Results do not depend on it: sums are cut into pieces by the sizes alone and added in a fixed order. With
    ``threads(1)`` a call takes one core and not the interpreter lock, so that many independent runs can share the
    cores through an ordinary thread pool.

    Parameters
    ----------
    count
        At least 1; more than numba was started with (``NUMBA_NUM_THREADS``, the number of cores) has no effect.

    Examples
    --------
    >>> import nystrom_lib as nl
    >>> with nl.threads(1):
    ...     value = nl.radial_skd(nl.Gaussian(1.0), [[0.0], [1.0]], [[0.5]])
    >>> round(value, 6)
    0.799153
    """
    count = check.integer("count", count, least=1)
    before = getattr(_local, "count", sys.maxsize)
    _local.count = count
    try:
        yield
    finally:
        _local.count = before


def available_threads() -> int:
    """The number of threads that a call made now may use."""
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    return min(most, getattr(_local, "count", most))


@dataclass(frozen=True)
class ParallelLoop:
    """Divides the items of a loop among threads."""

    threads: int

    def __call__(self, function: Callable[..., object], count: int, *arguments: object) -> None:
        """Call ``function(first, count, step, *arguments)``, which does the items ``range(first, count, step)``."""
        threads = max(1, min(self.threads, count))
        _values(function, [(first, count, threads, *arguments) for first in range(threads)])


def call(function: Callable[..., Any], *arguments: object) -> Any:
    """The value of a compiled function, which the main thread lets another thread call."""
    return _values(function, [arguments])[0]


class _Call:
    """A call for another thread to make."""

    def __init__(self, function: Callable[..., object], arguments: tuple[object, ...]) -> None:
        self.function, self.arguments = function, arguments
        self.claim, self.signal = _thread.allocate_lock(), _thread.allocate_lock()
        self.signal.acquire()
        self.ended, self.value, self.error = False, None, None  # type: bool, object, BaseException | None

    def make(self) -> None:
        if self.claim.acquire(blocking=False):
            try:
                self.value = self.function(*self.arguments)
            except BaseException as error:
                self.error = error
            self.ended = True
            self.signal.release()


def _values(function: Callable[..., Any], arguments: list[tuple[object, ...]]) -> list[Any]:
    """Call a function with each of the tuples of arguments, at the same time in as many threads.

    One of them is the present thread, unless it is the main one: numba loses or replaces an exception that a signal
    handler raises in the main thread as it converts arguments.
    """
    global _workers
    calls = [_Call(function, each) for each in arguments]
    here = threading.current_thread() is not threading.main_thread()
    others, raised = calls[:-1] if here else calls, None
    with _lock:
        while _workers < len(others):
            _thread.start_new_thread(_work, (_tasks,))
            _workers += 1
    try:
        for each in others:
            _tasks.put(each)
        if here:
            calls[-1].make()
    except BaseException as error:
        others = [each for each in others if not each.claim.acquire(blocking=False)]  # those not begun will not begin
        raised = error
    for each in others:  # even if a signal handler raises an exception: they write to shared buffers
        while not each.ended:
            try:
                each.signal.acquire(timeout=0.1)
            except BaseException as error:
                raised = error
    for failure in (raised, *(each.error for each in calls)):
        if failure is not None:
            raise failure
    return [each.value for each in calls]


def _work(tasks: SimpleQueue[_Call]) -> None:
    while True:
        tasks.get().make()


@contextmanager
def thread_pool(work: float) -> Iterator[ParallelLoop]:
    """Limit BLAS to one thread while our loops run; yields a loop that divides its items among our threads.

    Two thread pools that take turns compete for the cores, which costs more than either gains. The limit holds for the
    whole process, so the first call sets it and the last one restores it. ``work`` is a number of pairs: for fewer than
    a few tens of thousands, waking a thread takes longer than it saves.
    """
    global _inside, _limit
    count = available_threads() if work > 50_000 else 1
    with _lock:
        if _inside == 0:
            _take_control()
            _limit = _controller().limit(limits=1, user_api="blas")
        _inside += 1
    _local.inside = getattr(_local, "inside", 0) + 1
    try:
        yield ParallelLoop(count)
    finally:
        _local.inside -= 1
        with _lock:
            _inside -= 1
            if _inside == 0:
                _take_control()
                _limit.restore_original_limits()


def _begin_after_fork() -> None:
    """Reset the state in a child process: only the thread that forked is there."""
    global _lock, _inside, _tasks, _workers
    _lock, _tasks, _workers = threading.Lock(), SimpleQueue(), 0
    if _inside > 0 and getattr(_local, "inside", 0) == 0:
        _limit.restore_original_limits()
    _inside = getattr(_local, "inside", 0)


if hasattr(os, "register_at_fork"):
    # The lock is held across a fork: no other thread may then hold BLAS's own lock, to set the limit.
    os.register_at_fork(
        before=lambda: _lock.acquire(), after_in_parent=lambda: _lock.release(), after_in_child=_begin_after_fork
    )


F = TypeVar("F", bound=Callable[..., Any])


def limit_blas_threads(function: F) -> F:
    """Limit BLAS to one thread in a function that calls NumPy or SciPy on matrices.

    Results are deterministic, and those of BLAS depend in their last bits on its number of threads.
    """
    return thread_pool(0.0)(function)


@cache
def _controller() -> Any:
    """The BLAS libraries of this process, searched for once (this takes milliseconds)."""
    import scipy.linalg.cython_blas  # noqa: F401  (loads SciPy's BLAS, so that it is found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _take_control() -> None:
    """Let the present thread set the limit.

    Newer versions of threadpoolctl silently ignore all threads but the one that set a limit first. Here the lock and
    the counter make sure that threads do not compete for the limit.
    """
    from threadpoolctl import OpenBLASController

    let_go = getattr(OpenBLASController, "clear_controlling_thread", None)
    if let_go is not None:
        let_go(force=True)
