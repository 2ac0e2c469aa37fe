"""How many threads a call may use, and the one pool they come from."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numba

from . import _validation as check

_local = threading.local()
_lock = threading.Lock()
_inside = 0  # library calls that hold BLAS at one thread just now
_limit: Any = None
_started = False  # whether numba's threads are there
_forked = False  # whether this process was forked from one that had numba's threads, which do not come along


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let the library use at most ``count`` threads in calls made by the present thread.

    Results do not depend on it: sums are cut into pieces by the sizes alone and added in a fixed order. With
    ``threads(1)`` a call runs where it is called, without a pool and without the interpreter lock, so that many
    independent runs can share the cores through an ordinary thread pool.

    A process forked after the library has been used, as ``multiprocessing.Pool`` forks them on Linux, has none of
    numba's threads and uses one: share the work out among the processes. Its results are the same.

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


def available() -> int:
    """How many threads a call made now may use."""
    if _forked:
        return 1
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    count = getattr(_local, "count", None)
    return most if count is None else min(most, count)


@contextmanager
def one_pool(work: float) -> Iterator[tuple[bool, int]]:
    """Hold BLAS at one thread while our loops run; gives (use the parallel loops?, how many sets of buffers).

    Two pools that take turns spin against each other, which costs more than either gains. The limit is one of the
    whole process, so the first call in sets it and the last one out lifts it. ``work`` counts pairs: below a few
    tens of thousands the start of a parallel loop costs more than it saves.
    """
    global _inside, _limit
    count = available() if work > 50_000 else 1
    with _lock:
        if _inside == 0:
            _take_control()
            _limit = _controller().limit(limits=1, user_api="blas")
        _inside += 1
    _local.inside = getattr(_local, "inside", 0) + 1
    before = 0
    try:
        _start_threads()
        if count > 1:
            before = numba.get_num_threads()
            numba.set_num_threads(count)
        yield count > 1, (int(numba.config.NUMBA_NUM_THREADS) if count > 1 else 1)  # type: ignore[attr-defined]
    finally:
        if before > 0:
            numba.set_num_threads(before)
        _local.inside -= 1
        with _lock:
            _inside -= 1
            if _inside == 0:
                _take_control()
                _limit.restore_original_limits()


def _start_threads() -> None:
    """Start numba's threads, whose numbers the serial loops ask for too.

    Once: numba takes a lock whenever it is asked, and forked processes share that lock, so that one killed while it
    holds it would stop all the others.
    """
    global _started
    if not _started:
        numba.get_num_threads()
        _started = True


def _begin_after_fork() -> None:
    """In a child: the lock is free, calls of threads that did not come along are over, and numba's threads are gone."""
    global _lock, _inside, _forked
    _lock = threading.Lock()
    if _inside > 0 and getattr(_local, "inside", 0) == 0:
        _limit.restore_original_limits()
    _inside = getattr(_local, "inside", 0)
    try:
        numba.threading_layer()  # type: ignore[attr-defined]
    except ValueError:  # none was started
        return
    _forked = True


if hasattr(os, "register_at_fork"):
    # The lock is held across a fork, so that no thread is setting BLAS's limit just then, with a lock of BLAS's own.
    os.register_at_fork(
        before=lambda: _lock.acquire(), after_in_parent=lambda: _lock.release(), after_in_child=_begin_after_fork
    )


P = ParamSpec("P")
T = TypeVar("T")


def steady(function: Callable[P, T]) -> Callable[P, T]:
    """Hold BLAS at one thread for a function that calls NumPy or SciPy on matrices.

    What they compute depends in its last bits on the number of BLAS threads, and ours must not.
    """

    @wraps(function)
    def held(*arguments: P.args, **named: P.kwargs) -> T:
        with one_pool(0.0):
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
