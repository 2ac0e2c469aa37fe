"""A process forked after parallel use computes bit-for-bit identical results. Python forks by default until 3.14."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import nystrom_lib as nl
from nystrom_lib import _threads
from tests.cases import cloud

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")

X, S = cloud(2, 1500, 80)
KERNEL = nl.Gaussian(rho=0.8)


def bits(_: int = 0) -> str:
    """Sums large enough for the parallel loops."""
    found = nl.radial_skd_gradient(KERNEL, X, S).tobytes() + nl.TraceError(KERNEL, X).gradient(S).tobytes()
    return hashlib.sha256(found).hexdigest()


def by_pool() -> list[str]:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return pool.map(bits, range(2))


def by_executor() -> list[str]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        return list(pool.map(bits, range(2)))


def by_joblib(backend: str) -> list[str]:
    import joblib

    return list(joblib.Parallel(2, backend=backend)(joblib.delayed(bits)(task) for task in range(2)))


#: Ways to share work out among processes. loky's are not forked but new, and stay; so are joblib's others from 3.14 on.
WAYS: dict[str, Callable[[], list[str]]] = {
    "Pool.map": by_pool,
    "ProcessPoolExecutor": by_executor,
    "joblib, multiprocessing": lambda: by_joblib("multiprocessing"),
    "joblib, loky": lambda: by_joblib("loky"),
}


def rounds(way: str, count: int) -> None:
    """Share work out so many times after parallel use, while other threads keep the library's lock busy."""
    warm = bits()
    with nl.threads(1):  # the serial loops too, or every child would load them
        assert bits() == warm
    done = threading.Event()

    def busy() -> None:
        while not done.is_set():
            nl.radial_skd(KERNEL, X[:50], X[:5])
            time.sleep(0.0005)

    others = [threading.Thread(target=busy) for _ in range(2)]
    for other in others:
        other.start()
    try:
        for _ in range(count):
            assert set(WAYS[way]()) == {warm}, "other bits"
    finally:
        done.set()
        for other in others:
            other.join()
    assert bits() == warm


#: How often; a hundred times takes minutes: NYSTROM_TEST_FORKS=100.
FORKS = int(os.environ.get("NYSTROM_TEST_FORKS", "10"))


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_processes_after_parallel_use(way: str, root: Path) -> None:
    """Catches GNU OpenMP killing the child, Pool.map waiting for it, and the library's lock held in it for ever.

    In a process of its own, so that a child that is killed or hangs takes nothing with it.
    """
    if way.startswith("joblib"):
        pytest.importorskip("joblib", reason="joblib comes with scikit-learn, which is not installed")
    code = f"from tests.nystrom_lib.test_fork import rounds; rounds({way!r}, {FORKS})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=200 + 20 * FORKS
    )
    assert done.returncode == 0, done.stderr


def test_blas_has_its_threads_back_in_a_forked_child() -> None:
    """Catches a limit that another thread held at the fork and nobody lifts in the child."""

    def counts() -> list[int]:
        return [pool.num_threads for pool in _threads._controller().lib_controllers if pool.user_api == "blas"]

    bits()
    before = counts()
    read, write = os.pipe()
    # As if another thread were inside just now: the limit is set, and none of the calls is the forking thread's.
    with _threads.thread_pool(0.0):
        _threads._local.inside -= 1
        child = os.fork()
        if child == 0:
            os.write(write, repr((counts(), _threads._inside)).encode())
            os._exit(0)
        _threads._local.inside += 1
    os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read) as answer:
        assert answer.read() == repr((before, 0))
