"""Processes that compute beside this one, and end when it ends, however it does."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager


@contextmanager
def pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """So many processes, each a Python of its own: loops of several threads do not survive a fork."""
    there = set(multiprocessing.active_children())
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _end_with_parent) as workers:
        try:
            yield workers
        except BaseException:  # Ctrl-C above all: nobody waits for what is under way
            for worker in set(multiprocessing.active_children()) - there:
                worker.terminate()
            workers.shutdown(wait=False, cancel_futures=True)
            raise


def _end_with_parent() -> None:
    """A parent that was killed tells nobody, and its workers would wait for ever; on Ctrl-C they end without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
