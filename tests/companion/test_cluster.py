"""A real cluster on this machine: a scheduler and workers, each a process of its own."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib.companion.errors import ClusterError
from nystrom_lib.companion.experiments.components import Given, StochasticGradientDescent
from nystrom_lib.companion.experiments.config import Record
from nystrom_lib.companion.results.store import Store
from nystrom_lib.companion.running import cluster as cluster_module
from nystrom_lib.companion.running.runner import run

from .small import EXPERIMENT, checksums, wait_until

pytest.importorskip("distributed")


class LocalCluster:
    """Started with Dask's own commands, as on a real cluster; workers have no nanny, so a dead one stays dead."""

    def __init__(self, folder: Path, root: Path) -> None:
        self._folder, self._root = folder, root
        self._file = folder / "scheduler.json"
        self._scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
        wait_until(self._file.is_file)
        self.workers: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
        import json

        return str(json.loads(self._file.read_text())["address"])

    def add_worker(self) -> subprocess.Popen[bytes]:
        worker = self._start("worker", "--nthreads", "1", "--no-nanny", "--no-dashboard")
        self.workers.append(worker)
        return worker

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", what, *options, "--scheduler-file", str(self._file)]
        with open(self._folder / f"{what}.log", "ab") as log:
            environment = {**os.environ, "PYTHONPATH": str(self._root)}
            return subprocess.Popen(command, cwd=self._folder, stdout=log, stderr=log, env=environment)

    def close(self) -> None:
        for process in (*self.workers, self._scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[LocalCluster]:
    started = LocalCluster(tmp_path_factory.mktemp("cluster"), root)
    started.add_worker()
    started.add_worker()
    yield started
    started.close()


def test_the_same_numbers_as_here_to_the_last_bit(cluster: LocalCluster, tmp_path: Path) -> None:
    here = run(EXPERIMENT, tmp_path / "here", progress=False)
    there = run(EXPERIMENT, tmp_path / "there", cluster=cluster.address, progress=False)
    assert checksums(there) == checksums(here)
    assert there.constants == here.constants
    (session,) = there.provenance["sessions"]
    assert session["where"] == "cluster" and session["workers"] and session["repetitions"] == 40


def test_a_run_begun_here_goes_on_there(cluster: LocalCluster, tmp_path: Path) -> None:
    run(EXPERIMENT.replace(m=5), tmp_path, progress=False)
    both = run(EXPERIMENT.replace(m=8), tmp_path, cluster=cluster.address, progress=False)
    assert [session["where"] for session in both.provenance["sessions"]] == ["here", "cluster"]
    assert both.complete
    again = run(EXPERIMENT.replace(m=8), tmp_path, cluster="tcp://127.0.0.1:1", progress=False)
    assert again.checksum == both.checksum, "nothing is left to do, so nobody is asked"


def test_data_that_only_we_have_are_sent(cluster: LocalCluster, tmp_path: Path) -> None:
    dataset = nl.datasets.from_array(np.random.default_rng(3).normal(size=(150, 3)))
    experiment = EXPERIMENT.replace(data=Given(sha256=dataset.sha256), m=4)
    there = run(experiment, tmp_path / "there", dataset=dataset, cluster=cluster.address, progress=False)
    here = run(experiment, tmp_path / "here", dataset=dataset, progress=False)
    assert checksums(there) == checksums(here)


def test_a_worker_that_dies_costs_nothing(cluster: LocalCluster, tmp_path: Path) -> None:
    """Killed with repetitions under way; the other does them again, and the table is the same."""
    victim = cluster.add_worker()
    slower = EXPERIMENT.replace(
        descent=StochasticGradientDescent(step=2e-7, iterations=10_000, batch_size=10), record=Record()
    )
    dataset = nl.datasets.bigaussian(200)
    counts: list[int] = []

    def kill() -> None:
        with Store(tmp_path / "there", slower, dataset.sha256) as store:
            wait_until(lambda: len(store.finished()) >= 8)
            victim.send_signal(signal.SIGKILL)
            counts.append(len(store.finished()))

    with Store(tmp_path / "there", slower, dataset.sha256):
        pass
    killer = threading.Thread(target=kill)
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(3, timeout=60)
        killer.start()
        there = run(slower, tmp_path / "there", cluster=cluster.address, progress=False)
        killer.join()
        assert len(client.nthreads()) == 2
    assert counts[0] < 40, "the worker died before the end"
    here = run(slower, tmp_path / "here", progress=False)
    assert checksums(there) == checksums(here)


def test_an_error_on_a_worker_comes_back(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Data that the workers see differently are refused there."""
    real = cluster_module.Order

    def wrong(experiment: str, data_sha256: str, *rest: object, **named: object) -> object:
        return real(experiment, "0" * 64, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(cluster_module, "Order", wrong)
    from nystrom_lib.companion.errors import DataMismatchError

    with pytest.raises(DataMismatchError, match="give both the same data"):
        run(EXPERIMENT.replace(m=2), tmp_path, cluster=cluster.address, progress=False)


def test_no_scheduler_and_no_workers(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 1.0)
    with pytest.raises(ClusterError, match=r"cluster is 'tcp://127.0.0.1:1'; no Dask scheduler answers there"):
        run(EXPERIMENT, tmp_path, cluster="tcp://127.0.0.1:1", progress=False)
    with pytest.raises(ClusterError, match="no Dask scheduler answers there"):
        run(EXPERIMENT, tmp_path, cluster="nonsense", progress=False)
    lonely = LocalCluster(tmp_path_factory.mktemp("lonely"), root)
    try:
        with pytest.raises(ClusterError, match="its scheduler has no workers"):
            run(EXPERIMENT, tmp_path, cluster=lonely.address, progress=False)
    finally:
        lonely.close()
