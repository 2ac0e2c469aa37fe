"""A Dask cluster, reached by the address of its scheduler.

Workers get the function and the argument of a piece and load the data themselves, so nothing large travels. Dask gives
the pieces of a lost worker to another one.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from distributed import Client, Security, as_completed, get_worker
from distributed.comm.core import connect

from ..errors import ClusterError
from ..results import provenance
from .engine import Arriving, Function, apply

#: How long to wait for the scheduler, and for a first worker.
CONNECT_SECONDS = 30.0
#: How long to wait without any worker: the cluster may start new ones.
PATIENCE_SECONDS = 30.0


def on_cluster(function: Function, pieces: Mapping[str, Any], address: str) -> Arriving:
    """Compute pieces on the workers of a cluster, on one thread each; a single piece has all threads of its worker."""
    with connection(address) as client, _watched(client) as lost:
        shared = {"repetitions": min(len(pieces), sum(client.nthreads().values())), "each": 1}
        workers = sorted(set(client.run(_machine).values()))
        session = provenance.session(where="cluster", threads=shared, workers=workers)
        try:
            # Not by joblib's Dask backend, which computes in this process if the cluster has one thread only.
            alone = len(pieces) == 1
            futures = [client.submit(_apply, *each, function, alone, pure=False) for each in pieces.items()]
            for future in as_completed(futures, loop=client.loop):
                yield *future.result(), session
        except Exception as error:
            if lost.is_set() or type(error).__module__.partition(".")[0] in ("distributed", "asyncio", "concurrent"):
                reason = "no worker is left" if lost.is_set() else type(error).__name__
                raise ClusterError(
                    f"The cluster failed ({reason}); what is stored is safe, and the same call continues from there."
                ) from error
            raise


def _apply(name: str, piece: Any, function: Function, alone: bool) -> tuple[str, Any]:
    return apply(name, function, piece, int(get_worker().state.nthreads) if alone else 1)


@contextmanager
def _watched(client: Client) -> Iterator[threading.Event]:
    """Close the client, which ends all waiting, and set the event if there has been no worker for a while."""
    lost, ended = threading.Event(), threading.Event()

    def watch() -> None:
        seen = time.monotonic()
        while not ended.wait(1.0) and client.status == "running":
            try:
                workers = len(client.nthreads())
            except Exception:
                workers = 0
            seen = time.monotonic() if workers else seen
            if time.monotonic() - seen > PATIENCE_SECONDS:
                lost.set()
                client.close()

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield lost
    finally:
        ended.set()


@contextmanager
def connection(address: str) -> Iterator[Client]:
    """A client of a scheduler that has workers with this version of the library."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # it logs tracebacks of what our errors say
    try:
        with ThreadPoolExecutor(1) as apart:  # from a loop of events that may run here, as it does in a notebook
            apart.submit(asyncio.run, _answers(address)).result()
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error) or f"nothing within {CONNECT_SECONDS:g} s"
        raise ClusterError(f"cluster is {address!r}; no Dask scheduler answers there ({reason}).") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            raise ClusterError(f"cluster is {address!r}; its scheduler has no workers.") from None
        _check_versions(client, address)
        yield client


async def _answers(address: str) -> None:
    """Check that something there speaks as Dask does: a client without an answer waits forever and is never closed."""
    options = Security().get_connection_args("client")
    comm = await asyncio.wait_for(connect(address, timeout=CONNECT_SECONDS, **options), CONNECT_SECONDS)
    await comm.close()


def _check_versions(client: Client, address: str) -> None:
    here = provenance.version("nystrom-lib")
    try:
        there = client.run(provenance.version, "nystrom-lib")
    except Exception as error:
        raise ClusterError(f"cluster is {address!r}; its workers cannot import nystrom_lib ({error}).") from error
    other = sorted({str(version) for version in there.values() if version != here})
    if other:
        raise ClusterError(f"cluster is {address!r}; its workers have nystrom_lib {', '.join(other)}, here is {here}.")


def _machine() -> str:
    return f"{provenance.cpu_model()}; {', '.join(provenance.blas())}"
