"""A process forked after parallel use computes the same bits, whoever forks it: the default on Linux until 3.14."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import subprocess
import sys
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


def bits_and_threads(task: int) -> tuple[str, int]:
    return bits(task), _threads.available()


# In a process of its own, so that a child that is killed or hangs takes nothing with it.
SCRIPT = """
import multiprocessing, sys, threading, time
from tests.test_fork import KERNEL, X, bits, bits_and_threads
import nystrom_lib as nl
warm = bits()
with nl.threads(1):     # the serial loops too, or every child would load them
    assert bits() == warm
fork = multiprocessing.get_context("fork")
done = threading.Event()
def busy():
    while not done.is_set():
        nl.radial_skd(KERNEL, X[:50], X[:5])
        time.sleep(0.0005)
others = [threading.Thread(target=busy) for _ in range(2)]
for other in others: other.start()     # forks then happen while the library's lock is held
for _ in range(int(sys.argv[1])):
    with fork.Pool(2) as pool:
        assert set(pool.map(bits_and_threads, range(2))) == {(warm, 1)}, "other bits"
done.set()
for other in others: other.join()
assert bits() == warm
"""


def test_a_hundred_pools_forked_after_parallel_use(root: Path) -> None:
    """Catches GNU OpenMP killing the child, Pool.map waiting for it, and the library's lock held in it for ever."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "100"], cwd=root, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr


def test_an_executor_forked_after_parallel_use() -> None:
    """Catches the same behind concurrent.futures."""
    warm = bits()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        assert set(pool.map(bits, range(4))) == {warm}


@pytest.mark.parametrize("backend", ["multiprocessing", "loky"])
def test_joblib_after_parallel_use(backend: str) -> None:
    """Catches the same behind joblib, which scikit-learn uses; loky's workers have one thread by its own rule."""
    joblib = pytest.importorskip("joblib", reason="joblib comes with scikit-learn, which is not installed")
    warm = bits()
    found = joblib.Parallel(2, backend=backend)(joblib.delayed(bits)(task) for task in range(4))
    assert set(found) == {warm}


def test_blas_is_free_again_in_the_child() -> None:
    """Catches a limit that another thread held at the fork and nobody lifts in the child."""

    def counts() -> list[int]:
        return [pool.num_threads for pool in _threads._controller().lib_controllers if pool.user_api == "blas"]

    bits()
    before = counts()
    read, write = os.pipe()
    # As if another thread were inside just now: the limit is set, and none of the calls is the forking thread's.
    with _threads.one_pool(0.0):
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
