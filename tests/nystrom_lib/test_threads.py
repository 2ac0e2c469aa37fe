"""The same bits from 1, 2 and 4 threads, from a thread pool, and at the second run."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import numpy as np

import nystrom_lib as nl
from tests.bits import differing, digest
from tests.cases import cloud

#: Modules whose ``digests()`` must not depend on the number of threads.
MODULES = [
    "test_threads", "test_descend", "test_landmarks", "test_local", "starts.test_starts",
    "objectives.test_objectives",
]  # fmt: skip


def digests() -> dict[str, str]:
    """A digest of each threaded function's result, for few and for many coordinates."""
    result: dict[str, str] = {}
    for d, n, N in ((2, 80, 1500), (8, 50, 900), (50, 150, 1300)):
        X, S = cloud(d, N, n)
        kernel, batch = nl.Gaussian(rho=0.8), np.arange(0, N, 5)
        descent = nl.stochastic_gradient_descent(
            kernel, X, S, step=1e-5, iterations=5, batch_size=60, seed=1, record_every=5
        )
        errors = nl.nystrom_errors(kernel, X[:600], S)
        values = {
            "value": nl.radial_skd(kernel, X, S),
            "norm": nl.squared_frobenius_norm(kernel, X),
            "gradient": nl.radial_skd_gradient(kernel, X, S),
            "matern": nl.radial_skd_gradient(nl.Matern(1.5), X, S),
            "polynomial": nl.radial_skd_gradient(nl.Polynomial(), X, S),
            "one": nl.one_sample_gradient(kernel, X, S, batch),
            "product": nl.derivatives.hessian_vector_product(kernel, X, S, S),
            "gd": nl.gradient_descent(kernel, X, S, step=1e-5, iterations=3).sample,
            "sgd": descent.sample,
            "values": descent.values,
            "matrix": kernel.matrix(X[:300]),
            "errors": [errors.trace, errors.frobenius, errors.spectral],
            "best": nl.best_rank_errors(kernel, X[:300], 20, norms=("trace",)).trace,
        }
        result.update({f"{what} d={d}": digest(value) for what, value in values.items()})
    return result


def test_thread_count_does_not_change_a_bit() -> None:
    """Catches a reduction whose order depends on the number of threads, and state left behind by an earlier run."""
    assert differing(MODULES) == []


def test_thread_pool_of_serial_calls() -> None:
    """Catches shared scratch memory: many threads calling the library at once must not meet."""
    X, _ = cloud(2, 800, 1)
    kernel = nl.Gaussian(rho=2.0)

    def work(seed: int) -> str:
        with nl.threads(1):
            S = nl.uniform_sample(X, 30, seed)
            return digest(nl.gradient_descent(kernel, X, S, step=1e-5, iterations=20).sample)

    alone = [work(seed) for seed in range(12)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(12))) == alone


def test_compiled_loops_release_the_interpreter() -> None:
    """Catches a compiled loop that keeps other threads of Python waiting."""
    folder = Path(nl.__file__).parent / "_core"
    modules = [import_module(f"nystrom_lib._core.{path.stem}") for path in folder.glob("[!_]*.py")]
    loops = [each for module in modules for each in vars(module).values() if hasattr(each, "targetoptions")]
    assert len(loops) > 8 and all(each.targetoptions["nogil"] for each in loops)


def test_blas_is_limited_to_one_thread_whichever_thread_calls() -> None:
    """Catches a limit that only the thread that set it first can set again: the others would run BLAS unlimited."""
    from nystrom_lib._threads import _controller, thread_pool

    def counts() -> list[int]:
        return [pool.num_threads for pool in _controller().lib_controllers if pool.user_api == "blas"]

    before = counts()
    seen: list[list[int]] = []

    def work() -> None:
        with thread_pool(0.0):
            seen.append(counts())
        seen.append(counts())

    work()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    work()
    assert seen == [[1] * len(before), before] * 3
