"""A source whose passes are made by the workers of a Dask cluster.

What a descent costs does not depend on N, so it stays where it is and reads its few rows itself. What grows with N is a
pass over all the data: means and scales, the exact trace error. A pass does one thing to every block; the workers do
that, each with the blocks it reads itself from the path it is told, and what a block comes to, a few numbers, is sent
back and put together here in the order of the blocks. So the numbers are those of a machine alone, whoever did which
block. A worker that is lost costs the blocks it was at: Dask gives them to another. If the whole cluster is lost, a
warning says so, and what it has not done is done here.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from numpy.typing import NDArray

from .._threads import threads
from .base import Indices, Result, Source, Span

#: Parts of a pass for each thread of the cluster: the last to end should not be waited for long.
SHARES = 8
#: Seconds to wait when no worker is left: whoever watches over them may start others.
PATIENCE = 30.0
_LOOK = 1.0  # seconds between two looks at whether there are any

Task = Callable[[Source, int, int], Result]


class SpreadSource(Source):
    """Another source, with passes made by the workers of a ``distributed.Client``.

    A file is read by the workers, who must find it under the same path; an array is sent to them, once.
    """

    def __init__(self, source: Source, client: Any) -> None:
        self.name, self.shape, self.dtype, self.columns = source.name, source.shape, source.dtype, source.columns
        self.edges, self.mean, self.scale = source.edges, source.mean, source.scale
        self.checked, self.dropped = source.checked, source.dropped
        self.here, self._client = source, client  #: the source without the cluster

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        return self.here._read(start, stop)

    def _pick(self, indices: Indices) -> NDArray[Any]:
        return self.here._pick(indices)

    def each(self, task: Task[Result]) -> Iterator[Result]:
        """By the workers, put together here; without them, here."""
        spans, done = self.spans(), 0
        try:
            for part in self._parts(task, spans):
                for result in part:
                    done += 1
                    yield result
        except Exception as error:
            if not is_its_own(error):
                raise
            warnings.warn(f"The cluster failed ({why(error)}); the pass over {self.name} goes on here.", stacklevel=2)
        for start, stop in spans[done:]:
            yield task(self.here, start, stop)

    def _parts(self, task: Task[Result], spans: list[Span]) -> Iterator[list[Result]]:
        """What the blocks come to, some at a time."""
        client, lookout = self._client, Lookout(self._client)
        share = -(-len(spans) // (SHARES * lookout.threads()))
        sent, work = lookout.send(self.here, task)
        mark = self.mark()
        parts = [
            client.submit(_done, sent, work, spans[k : k + share], mark, pure=False)
            for k in range(0, len(spans), share)
        ]
        try:
            for part in parts:
                yield lookout.result(part)
        finally:
            with suppress(Exception):  # of a cluster that is gone
                client.cancel(parts)


# --- when it fails


class Lookout:
    """Sees whether a cluster still has workers: without any, Dask would wait for ever."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._looked = self._seen = time.monotonic()

    def threads(self) -> int:
        """How many its workers have; an error if there is none."""
        count = self._count()
        if count == 0:
            raise TimeoutError("it has no workers")
        return count

    def send(self, *things: Any) -> Any:
        """What every worker is to have."""
        self.threads()
        try:
            return self._client.scatter(list(things), broadcast=True, hash=False)
        except OSError as error:
            raise TimeoutError("it cannot be reached") from error

    def look(self) -> None:
        """Called while waiting, however often; an error if there has been no worker for a while."""
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        self._looked = now
        if self._count():
            self._seen = now
        elif now - self._seen > PATIENCE:
            raise TimeoutError("no worker is left")

    def result(self, future: Any) -> Any:
        """What a worker makes of it."""
        while True:
            try:
                return future.result(timeout=_LOOK)
            except TimeoutError:
                if future.status == "error":
                    raise
                self.look()

    def _count(self) -> int:
        if self._client.status != "running":  # the scheduler is gone, and to ask it would take long
            return 0
        try:
            return sum(self._client.nthreads().values())
        except Exception:
            return 0


def is_its_own(error: Exception) -> bool:
    """Whether it is the cluster that failed, and not what it was asked to do."""
    home = type(error).__module__.partition(".")[0]
    return isinstance(error, TimeoutError) or home in ("distributed", "asyncio", "concurrent")


def why(error: Exception) -> str:
    """What it was, in a few words; Dask's own have several lines."""
    return str(error) if isinstance(error, TimeoutError) else type(error).__name__


# --- on the worker

_lock = threading.Lock()
_seen: set[str] = set()


def _done(source: Source, task: Task[Result], spans: Sequence[Span], mark: str) -> list[Result]:
    """What each of these blocks comes to."""
    with threads(1):
        _same(source, mark)
        return [task(source, *span) for span in spans]


def _same(source: Source, mark: str) -> None:
    """Refuse other data under the same name; looked at once by a process."""
    with _lock:
        if mark not in _seen and source.mark() != mark:
            raise ValueError(f"{source.name} is not the same file everywhere: a worker reads other values from it.")
        _seen.add(mark)
