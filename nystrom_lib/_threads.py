"""How many threads a call may use, and the one pool they come from."""

from __future__ import annotations

import _thread
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

import numba

from . import _validation as check

_local = threading.local()
_lock = threading.Lock()
_inside = 0  # library calls that hold BLAS at one thread just now
_limit: Any = None
# What our own threads are to do. Those of numba would spin while they wait, and not survive a fork. An exception of a
# signal handler can leave locks that are written in Python locked for ever, as those of concurrent.futures are.
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
    before = getattr(_local, "count", None)
    _local.count = count
    try:
        yield
    finally:
        _local.count = before


def available_threads() -> int:
    """How many threads a call made now may use."""
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    count = getattr(_local, "count", None)
    return most if count is None else min(most, count)


class ParallelLoop:
    """Shares the items of a loop out among some threads."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def __call__(self, function: Callable[..., object], count: int, *arguments: object) -> None:
        """Call ``function(first, count, step, *arguments)``, which does the items ``range(first, count, step)``.

        The last of these calls is made here, where one would only wait for the others; but not in the main thread:
        numba replaces an exception that a signal handler raises while it converts a function's arguments by another.
        """
        threads = max(1, min(self.threads, count))
        here = threading.current_thread() is not threading.main_thread()
        calls = [_Call(function, (i, count, threads, *arguments)) for i in range(threads - here)]
        _start_workers(len(calls))
        try:
            for call in calls:
                _tasks.put(call)
            if here:
                function(threads - 1, count, threads, *arguments)
        except BaseException:
            _wait([call for call in calls if not call.claim.acquire(blocking=False)])  # the others will not begin
            raise
        _wait(calls)
        for call in calls:
            if call.error is not None:
                raise call.error


class _Call:
    """A call for another thread to make."""

    def __init__(self, function: Callable[..., object], arguments: tuple[object, ...]) -> None:
        self.function, self.arguments = function, arguments
        self.claim, self.signal = _thread.allocate_lock(), _thread.allocate_lock()
        self.signal.acquire()
        self.ended, self.error = False, None  # type: bool, BaseException | None

    def make(self) -> None:
        if self.claim.acquire(blocking=False):
            try:
                self.function(*self.arguments)
            except BaseException as error:
                self.error = error
            self.ended = True
            self.signal.release()


def _wait(calls: list[_Call]) -> None:
    """Wait even if a signal handler raises meanwhile: the next call may use the same buffers."""
    raised: BaseException | None = None
    for call in calls:
        while not call.ended:
            try:
                call.signal.acquire(timeout=0.1)
            except BaseException as error:
                raised = error
    if raised is not None:
        raise raised


def _start_workers(count: int) -> None:
    """Let there be at least this many threads that wait for tasks."""
    global _workers
    with _lock:
        while _workers < count:
            _workers += 1
            _thread.start_new_thread(_work, (_tasks,))


def _work(tasks: SimpleQueue[_Call]) -> None:
    while True:
        tasks.get().make()


@contextmanager
def thread_pool(work: float) -> Iterator[ParallelLoop]:
    """Hold BLAS at one thread while our loops run; gives what shares the items of a loop out among our threads.

    Two pools that take turns compete for the cores, which costs more than either gains. The limit is one of the whole
    process, so the first call in sets it and the last one out lifts it. ``work`` counts pairs: below a few tens of
    thousands it costs more to wake a thread than it saves.
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
    """In a child: the lock is free, calls of threads that did not come along are over, and the pool has no threads."""
    global _lock, _inside, _tasks, _workers
    _lock, _tasks, _workers = threading.Lock(), SimpleQueue(), 0
    if _inside > 0 and getattr(_local, "inside", 0) == 0:
        _limit.restore_original_limits()
    _inside = getattr(_local, "inside", 0)


if hasattr(os, "register_at_fork"):
    # The lock is held across a fork, so that no thread is setting BLAS's limit just then, with a lock of BLAS's own.
    os.register_at_fork(
        before=lambda: _lock.acquire(), after_in_parent=lambda: _lock.release(), after_in_child=_begin_after_fork
    )


P = ParamSpec("P")
T = TypeVar("T")


def limit_blas_threads(function: Callable[P, T]) -> Callable[P, T]:
    """Hold BLAS at one thread for a function that calls NumPy or SciPy on matrices.

    What they compute depends in its last bits on the number of BLAS threads, and ours must not.
    """

    @wraps(function)
    def held(*arguments: P.args, **named: P.kwargs) -> T:
        with thread_pool(0.0):
            return function(*arguments, **named)

    return held


_found: Any = None


def _controller() -> Any:
    """The BLAS libraries of this process, looked for once (a search takes milliseconds)."""
    global _found
    if _found is None:
        import scipy.linalg.cython_blas  # noqa: F401  (the BLAS that numba calls must be loaded to be found)
        from threadpoolctl import ThreadpoolController

        _found = ThreadpoolController()
    return _found


def _take_control() -> None:
    """Let the present thread set the limit.

    Newer versions of threadpoolctl obey only the thread that set a limit first and ignore all others without a word.
    Here the lock and the count see to it that threads do not fight over the limit.
    """
    from threadpoolctl import OpenBLASController

    let_go = getattr(OpenBLASController, "clear_controlling_thread", None)
    if let_go is not None:
        let_go(force=True)
