"""A source whose passes are made by the workers of a Dask cluster.

What a descent costs does not depend on N, so it stays where it is and reads its few rows itself. What grows with N is a
pass over all the data: means and scales, the exact trace error. A pass does one thing to every block; the workers do
that, each with the blocks it reads itself from the path it is told, and what a block comes to, a few numbers, is sent
back and put together here in the order of the blocks. So the numbers are those of a machine alone, whoever did which
block. A worker that is lost costs the blocks it was at: Dask gives them to another.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from .._threads import threads
from .base import Indices, Result, Source, Span

#: Parts of a pass for each thread of the cluster: the last to end should not be waited for long.
SHARES = 8

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
        """By the workers, put together here."""
        spans = self.spans()
        workers = sum(self._client.nthreads().values())
        share = -(-len(spans) // (SHARES * max(1, workers)))
        sent, work = self._client.scatter([self.here, task], broadcast=True, hash=False)
        mark = self.mark()
        parts = [
            self._client.submit(_done, sent, work, spans[k : k + share], mark, pure=False)
            for k in range(0, len(spans), share)
        ]
        try:
            for part in parts:
                yield from part.result()
        finally:
            self._client.cancel(parts)


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
