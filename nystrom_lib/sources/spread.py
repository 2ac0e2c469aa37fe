"""A source whose passes are made by the workers of a Dask cluster.

A descent reads few rows and stays here. What grows with N is a pass over all the data, which does one thing to every
block: the workers read the blocks themselves, and send back a few numbers, which are put together here in the order of
the blocks. So the numbers do not depend on who computed which block. Dask gives the blocks of a lost worker to another.
If the whole cluster is lost, a warning says so, and the rest is computed here.
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

SHARES = 8  #: parts of a pass for each thread of the cluster
PATIENCE = 30.0  #: seconds to wait for other workers when none is left
_INTERVAL = 1.0  # seconds between two requests for the number of workers

Task = Callable[[Source, int, int], Result]


class ClusterLost(Exception):
    """The cluster failed, and not what it was asked to do."""


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
            for results in self._parts(task, spans):
                for result in results:
                    done += 1
                    yield result
        except ClusterLost as lost:
            warnings.warn(f"The cluster failed ({lost}); the pass over {self.name} goes on here.", stacklevel=2)
        for start, stop in spans[done:]:
            yield task(self.here, start, stop)

    def _parts(self, task: Task[Result], spans: list[Span]) -> Iterator[list[Result]]:
        """The results of some blocks at a time."""
        client, futures = self._client, list[Any]()
        mark = self.mark()
        try:
            count = workers(client)
            if count == 0:
                raise ClusterLost("it has no workers")
            try:
                sent = client.scatter([self.here, task], broadcast=True, hash=False)
            except (TimeoutError, OSError) as error:
                raise ClusterLost("it cannot be reached") from error
            share = -(-len(spans) // (SHARES * count))
            for k in range(0, len(spans), share):
                futures.append(client.submit(_done, *sent, spans[k : k + share], mark, pure=False))
            for future in futures:
                _wait(client, future)
                yield future.result()
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in ("distributed", "asyncio", "concurrent"):
                raise
            raise ClusterLost(type(error).__name__) from error
        finally:
            with suppress(Exception):  # of a cluster that is gone
                client.cancel(futures)


def workers(client: Any) -> int:
    """How many threads the workers of a cluster have; 0 if it is gone."""
    try:
        return sum(client.nthreads().values()) if client.status == "running" else 0
    except Exception:  # whatever the connection raises
        return 0


def _wait(client: Any, future: Any) -> None:
    """Wait for a result as long as there are workers; without any, Dask would wait forever."""
    asked = seen = time.monotonic()
    while not future.done():
        time.sleep(0.005)
        now = time.monotonic()
        if now - asked > _INTERVAL:
            asked = now
            if workers(client):
                seen = now
            elif now - seen > PATIENCE:
                raise ClusterLost("no worker is left")


# --- on the worker

_lock = threading.Lock()
_seen: set[str] = set()


def _done(source: Source, task: Task[Result], spans: Sequence[Span], mark: str) -> list[Result]:
    """The results of these blocks; other data under the same name are refused, once in a process."""
    with threads(1):
        with _lock:
            if mark not in _seen and source.mark() != mark:
                raise ValueError(f"{source.name} is not the same file everywhere: a worker reads other values from it.")
            _seen.add(mark)
        return [task(source, *span) for span in spans]
