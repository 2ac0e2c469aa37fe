"""Waiting for the workers of a Dask cluster, which may all be lost."""

from __future__ import annotations

import time
from typing import Any

#: Seconds to wait when no worker is left: whoever manages them may start others.
PATIENCE = 30.0
_INTERVAL = 1.0  # seconds between two checks


class Workers:
    """Waits for results as long as the cluster has workers; without any, Dask would wait forever."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._checked = self._seen = time.monotonic()

    def send(self, *objects: Any) -> Any:
        """Send objects to every worker."""
        if self._count() == 0:
            raise TimeoutError("it has no workers")
        try:
            return self._client.scatter(list(objects), broadcast=True, hash=False)
        except OSError as error:
            raise TimeoutError("it cannot be reached") from error

    def check(self) -> None:
        """Raise TimeoutError if there has been no worker for a while; may be called often."""
        now = time.monotonic()
        if now - self._checked < _INTERVAL:
            return
        self._checked = now
        if self._count():
            self._seen = now
        elif now - self._seen > PATIENCE:
            raise TimeoutError("no worker is left")

    def result(self, future: Any) -> Any:
        """The result of a future."""
        while True:
            try:
                return future.result(timeout=_INTERVAL)
            except TimeoutError:
                if future.status == "error":
                    raise
                self.check()

    def _count(self) -> int:
        if self._client.status != "running":  # asking a scheduler that is gone takes long
            return 0
        try:
            return sum(self._client.nthreads().values())
        except Exception:
            return 0


def is_cluster_error(error: Exception) -> bool:
    """Whether the cluster failed, and not the task."""
    home = type(error).__module__.partition(".")[0]
    return isinstance(error, TimeoutError) or home in ("distributed", "asyncio", "concurrent")


def describe(error: Exception) -> str:
    """The error in a few words; Dask's own messages have several lines."""
    return str(error) if isinstance(error, TimeoutError) else type(error).__name__
