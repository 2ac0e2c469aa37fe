"""A real cluster on this machine: a scheduler and workers, each a process of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import nystrom_lib as nl
from companion.cli.optimise import optimise
from companion.errors import ClusterError
from companion.experiments.components import StochasticGradientDescent
from companion.experiments.config import Record
from companion.running import cluster as cluster_module
from companion.running.engine import count
from companion.running.runner import run

from .small import EXPERIMENT, checksums, wait_until

pytest.importorskip("distributed")

#: Of which some repetitions are under way when a worker is killed.
SLOWER = EXPERIMENT.replace(
    m=20, descent=StochasticGradientDescent(step=2e-7, iterations=60_000, batch_size=10), record=Record()
)


class LocalCluster:
    """Started with Dask's own commands, as on a real cluster; workers have no nanny, so a dead one stays dead."""

    def __init__(self, folder: Path, root: Path) -> None:
        self._folder, self._root = folder, root
        self._file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
        wait_until(lambda: self._file.is_file() and self._file.read_text().rstrip().endswith("}"))  # written to its end
        self.workers: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
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
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[LocalCluster]:
    started = LocalCluster(tmp_path_factory.mktemp("cluster"), root)
    started.add_worker()
    started.add_worker()
    yield started
    started.close()


@pytest.fixture
def doomed(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[LocalCluster]:
    """A cluster of one worker, for a test to kill."""
    started = LocalCluster(tmp_path_factory.mktemp("doomed"), root)
    started.add_worker()
    yield started
    started.close()


def test_the_same_numbers_as_here_to_the_last_bit(cluster: LocalCluster, tmp_path: Path) -> None:
    here = run(EXPERIMENT, tmp_path / "here")
    there = run(EXPERIMENT, tmp_path / "there", cluster=cluster.address)
    assert checksums(there) == checksums(here)
    assert there.constants == here.constants
    (session,) = there.provenance["sessions"]
    assert session["where"] == "cluster" and session["workers"] and session["repetitions"] == 40


def killed_on_the_way(cluster: LocalCluster, folder: Path, victims: list[subprocess.Popen[bytes]]) -> int:
    """Run, and kill some processes after four repetitions; give how many were stored by then."""
    counts: list[int] = []

    def kill() -> None:
        wait_until(lambda: count(folder) >= 4)
        for victim in victims:
            victim.send_signal(signal.SIGKILL)
        counts.append(count(folder))

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        run(SLOWER, folder, cluster=cluster.address)
    finally:
        killer.join()
    return counts[0]


def test_a_worker_that_dies_costs_nothing(cluster: LocalCluster, tmp_path: Path) -> None:
    """Killed with repetitions under way; the others compute them again, and the table is the same."""
    victim = cluster.add_worker()
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(3, timeout=60)
        assert killed_on_the_way(cluster, tmp_path / "there", [victim]) < SLOWER.m
        assert len(client.nthreads()) == 2
    there, here = (run(SLOWER, tmp_path / name, threads=1) for name in ("there", "here"))
    assert checksums(there) == checksums(here)


@pytest.mark.parametrize("what", ["the workers", "the scheduler"])
def test_a_cluster_that_is_lost_is_an_error_and_loses_nothing(
    doomed: LocalCluster, tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a wait for ever, and repetitions that were stored and are computed again."""
    monkeypatch.setattr(cluster_module, "PATIENCE_SECONDS", 2.0)
    victims = [doomed.scheduler] if what == "the scheduler" else doomed.workers
    with pytest.raises(ClusterError, match=r"^The cluster failed \(.+\); what is stored is safe, and the same call "):
        killed_on_the_way(doomed, tmp_path / "there", victims)
    stored = count(tmp_path / "there")
    there, here = (run(SLOWER, tmp_path / name, threads=1) for name in ("there", "here"))
    assert checksums(there) == checksums(here)
    shares = [session["repetitions"] for session in there.provenance["sessions"]]
    assert shares == [stored, SLOWER.m - stored]


# --- passes over the data -----------------------------------------------------------------------------------------

KERNEL = nl.Gaussian(rho=0.5)


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Any]:
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as client:
        yield client


@pytest.fixture
def points(tmp_path: Path) -> Path:
    """Ten blocks on disk, and a row in the seventh where a value is missing."""
    rows = np.random.default_rng(0).normal(3.0, 2.0, size=(300_000, 3)).astype(np.float32)
    rows[200_000, 1] = np.nan
    np.save(tmp_path / "points.npy", rows)
    return tmp_path / "points.npy"


def in_one_pass(path: Path, client: Any = None) -> tuple[Any, ...]:
    """Mean, scale and rows left out, and errors from all landmarks and from the nearest."""
    data = nl.open_data(path, standardise=True, missing="drop", cluster=client)
    sample = data.rows(np.arange(40))
    errors = [nl.nystrom_errors(KERNEL, data, sample, "trace", neighbours=k).trace for k in (None, 3)]
    return *data.mean.tolist(), *data.scale.tolist(), *data.dropped.tolist(), *errors


def test_a_pass_gives_the_same_numbers_to_the_last_bit(
    client: Any, points: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a block done twice or not at all, sums put together in another order, a path that only we can follow."""
    monkeypatch.chdir(tmp_path)
    here = in_one_pass(points)
    assert in_one_pass(Path("points.npy"), client) == here
    pandas = pytest.importorskip("pandas")
    (tmp_path / "folder").mkdir()
    frame = pandas.DataFrame(np.load(points), columns=["a", "b", "c"])
    for k, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
        frame.iloc[part].to_parquet(tmp_path / "folder" / f"{k}.parquet", index=False)
    assert in_one_pass(Path("folder"), client) == here


def test_optimise_on_a_cluster_saves_the_same(cluster: LocalCluster, tmp_path: Path) -> None:
    """Catches errors of another kind, or landmarks that depend on who helped."""
    np.save(tmp_path / "data.npy", np.random.default_rng(5).normal(size=(40_000, 2)).astype(np.float32))
    records = []
    for name, more in (("here", ["--exact"]), ("there", ["--dask", cluster.address])):
        words = [str(tmp_path / "data.npy"), "-n", "7", "--iterations", "20"]
        done = CliRunner().invoke(
            optimise, [*words, "-o", str(tmp_path / f"{name}.npy"), *more], catch_exceptions=False
        )
        assert done.exit_code == 0, done.output
        records.append(json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8")))
    assert np.array_equal(np.load(tmp_path / "here.npy"), np.load(tmp_path / "there.npy"))
    assert records[0]["trace"] == records[1]["trace"]


def test_no_scheduler_and_no_workers(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 1.0)
    with pytest.raises(ClusterError, match=r"cluster is 'tcp://127.0.0.1:1'; no Dask scheduler answers there"):
        run(EXPERIMENT, tmp_path, cluster="tcp://127.0.0.1:1")
    threads = set(threading.enumerate())
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, and says nothing
        port = silent.getsockname()[1]
        for address, why in (
            ("nonsense", ""),
            (f"tcp://127.0.0.1:{port}", r" \(nothing within 1 s\)"),
            (f"tls://127.0.0.1:{port}", r" \(TLS expects"),
        ):
            with pytest.raises(ClusterError, match=f"no Dask scheduler answers there{why}"):
                run(EXPERIMENT, tmp_path, cluster=address)
    assert set(threading.enumerate()) <= threads  # no client is left behind
    lonely = LocalCluster(tmp_path_factory.mktemp("lonely"), root)
    try:
        # An old Dask takes seconds over its first connection, and no time over the next.
        cluster_module.Client(lonely.address, set_as_default=False).close()
        with pytest.raises(ClusterError, match="its scheduler has no workers"):
            run(EXPERIMENT, tmp_path, cluster=lonely.address)
    finally:
        lonely.close()
