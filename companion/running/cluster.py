"""The same repetitions on a Dask cluster, reached by the address of its scheduler.

Workers get the configuration, load the data themselves and check their hash, so that nothing large travels; only data
that exist in this process alone are sent. A worker that is lost costs the repetitions it was at: Dask gives them to
another, and they come out the same.
"""

from __future__ import annotations

import asyncio
import json
import queue
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from distributed import Client, Security, get_worker
from distributed.client import Future
from distributed.comm.core import connect

import nystrom_lib as nl

from ..errors import ClusterError, DataMismatchError
from ..experiments.components import Given
from ..experiments.config import Experiment
from ..experiments.outcome import Outcome
from ..experiments.protocol import Problem, prepare, repetition
from ..results import provenance
from ..results.store import Store
from ..settings import canonical_json
from .runner import complete, left_to_do, ready
from .workers import Workers, describe, is_cluster_error

#: How long to wait for the scheduler, and for a first worker.
CONNECT_SECONDS = 30.0


@dataclass(frozen=True)
class Order:
    """What a worker must know to do a repetition: the configuration, which data, what is known, which threads."""

    experiment: str
    data_sha256: str
    constants: tuple[tuple[str, float], ...]
    alone: bool


class Cluster:
    """Repetitions on the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
        The connection.
    order : Order
        What all repetitions share.
    dataset : Dataset or Future or None
        The data, where workers cannot load them.
    """

    def __init__(self, client: Client, order: Order, dataset: Any) -> None:
        self._client, self._order, self._dataset = client, order, dataset
        self.threads = sum(client.nthreads().values())
        self.capacity = 2 * self.threads
        self._workers = Workers(client)
        self._futures: dict[int, Future[Any]] = {}
        self._done: queue.SimpleQueue[int] = queue.SimpleQueue()

    def submit(self, j: int) -> None:
        """Send repetition j to the cluster."""
        future = self._client.submit(_repetition, self._order, self._dataset, j, pure=False)
        self._futures[j] = future
        future.add_done_callback(lambda _: self._done.put(j))

    def next(self, timeout: float) -> tuple[int, Outcome] | None:
        """Wait for one to come back."""
        try:
            j = self._done.get(timeout=timeout)
        except queue.Empty:
            with _failures_told():
                self._workers.check()
            return None
        with _failures_told():
            outcome: Outcome = self._futures.pop(j).result()
        return j, outcome

    def steps(self) -> int | None:
        """Workers do not report steps."""
        return None

    def stop(self) -> None:
        """Withdraw what is under way."""
        for future in self._futures.values():
            future.cancel()


def run_there(
    experiment: Experiment,
    dataset: nl.datasets.Dataset,
    store: Store,
    threads: int,
    progress: bool,
    address: str,
) -> None:
    """Do what is left with the help of a cluster."""
    pending = left_to_do(store, experiment)
    if not pending:
        return
    with connection(address) as client:
        sent = client.scatter(dataset, broadcast=True) if isinstance(experiment.data, Given) else None
        constants = store.constants() or dict(ready(experiment, dataset, store, threads).constants)
        plain = canonical_json(experiment.to_plain())
        order = Order(plain, dataset.sha256, tuple(constants.items()), alone=len(pending) == 1)
        backend = Cluster(client, order, sent)
        shared = {"repetitions": backend.threads, "each": 1}
        store.begin_session(provenance.session(where="cluster", threads=shared, workers=_machines(client)))
        complete(experiment, store, backend, progress)


@contextmanager
def connection(address: str) -> Iterator[Client]:
    """A client of a scheduler that has workers with this version of the library."""
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
        _same_versions(client, address)
        yield client


async def _answers(address: str) -> None:
    """See that something there speaks as Dask does: a client that is left without an answer waits for ever, and one
    that fails is never closed.
    """
    options = Security().get_connection_args("client")
    comm = await asyncio.wait_for(connect(address, timeout=CONNECT_SECONDS, **options), CONNECT_SECONDS)
    await comm.close()


def _same_versions(client: Client, address: str) -> None:
    here = _version()
    try:
        there = client.run(_version)
    except Exception as error:
        raise ClusterError(f"cluster is {address!r}; its workers cannot import nystrom_lib ({error}).") from error
    other = sorted({version for version in there.values() if version != here})
    if other:
        raise ClusterError(f"cluster is {address!r}; its workers have nystrom_lib {', '.join(other)}, here is {here}.")


def _version() -> str:
    return provenance.version("nystrom-lib") or "unknown"


def _machines(client: Client) -> list[str]:
    """The processors and BLAS of the workers, each kind once."""
    described = client.run(_machine)
    return sorted(set(described.values()))


def _machine() -> str:
    return f"{provenance.cpu_model()}; {', '.join(provenance.blas())}"


@contextmanager
def _failures_told() -> Iterator[None]:
    """A cluster that is gone is said to be."""
    try:
        yield
    except Exception as error:
        if is_cluster_error(error):
            raise ClusterError(f"The cluster failed ({describe(error)}); {_SAFE}") from error
        raise


_SAFE = "repetitions already stored are safe, and the same call goes on from there."


def found_there(
    client: Client, kernel: nl.Kernel, X: Any, n: int, seeds: Sequence[int], how: Mapping[str, Any]
) -> list[nl.Landmarks]:
    """Landmarks from each of some seeds, by a worker each; what they are does not depend on who finds them."""
    found: list[nl.Landmarks] = []
    workers = Workers(client)
    try:
        (sent,) = workers.send(X)
        futures = [client.submit(_found, kernel, sent, n, seed, dict(how), pure=False) for seed in seeds]
        for future in futures:
            found.append(workers.result(future))
    except Exception as error:
        if not is_cluster_error(error):
            raise
        warnings.warn(f"The cluster failed ({describe(error)}); what is left to try is tried here.", stacklevel=2)
    return [*found, *(nl.find_landmarks(kernel, X, n, seed=seed, **how) for seed in seeds[len(found) :])]


# -- on the worker ---------------------------------------------------------------------------------------------

_lock = threading.Lock()
_prepared: dict[tuple[str, str], Problem] = {}


def _problem(order: Order, dataset: nl.datasets.Dataset | None) -> Problem:
    """Data and K, prepared once for each process and experiment; only the latest is kept."""
    key = (order.experiment, order.data_sha256)
    with _lock:
        if key not in _prepared:
            _prepared.clear()
            _prepared[key] = prepare(Experiment.from_plain(json.loads(order.experiment)), dataset, constants={})
        problem = _prepared[key]
    if problem.dataset.sha256 != order.data_sha256:
        raise DataMismatchError(
            f"A worker loads {problem.dataset.name} with sha256 {problem.dataset.sha256[:16]}… where this machine has "
            f"{order.data_sha256[:16]}…; give both the same data."
        )
    return replace(problem, constants=dict(order.constants))


def _threads(order: Order) -> int:
    return int(get_worker().state.nthreads) if order.alone else 1


def _repetition(order: Order, dataset: nl.datasets.Dataset | None, j: int) -> Outcome:
    with nl.threads(_threads(order)):
        return repetition(_problem(order, dataset), j)


def _found(kernel: nl.Kernel, data: Any, n: int, seed: int, how: dict[str, Any]) -> nl.Landmarks:
    with nl.threads(1):
        return nl.find_landmarks(kernel, data, n, seed=seed, **how)
