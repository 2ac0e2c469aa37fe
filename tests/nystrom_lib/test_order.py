"""What is computed does not depend on what was computed before.

numba keeps a copy of a function in each of its callers, optimised apart, and the copy that was loaded first serves all.
So all copies must agree to the last bit: a worker of a cluster has loaded less than the process that asks.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import nystrom_lib as nl
from tests.bits import digest


def calls() -> Iterator[tuple[str, Callable[[], object]]]:
    """Whatever has loops of its own, for a few coordinates and for many, whose distances come from norms."""
    for d in (5, 20):
        yield from _in(d)


def _in(d: int) -> Iterator[tuple[str, Callable[[], object]]]:
    X = np.random.default_rng(d).normal(size=(10_000, d))
    S, kernel = X[:50] + 0.1, nl.Gaussian(rho=1.0 / d)
    yield f"R of few, {d}", lambda: nl.radial_skd(kernel, X[:500], S)
    yield f"R, {d}", lambda: nl.radial_skd(kernel, X, S)
    yield f"slope of R, {d}", lambda: nl.radial_skd_gradient(kernel, X, S)
    yield f"residuals, {d}", lambda: nl.NystromApproximation(kernel, S).residuals(X)
    yield f"Frobenius, {d}", lambda: nl.nystrom_errors(kernel, X[:300], S, "frobenius").frobenius
    yield f"matrix, {d}", lambda: kernel.matrix(X[:100], S)
    yield f"kmeans, {d}", lambda: nl.initial_sample(kernel, X, 40, "kmeans++", seed=0)
    yield f"rpcholesky, {d}", lambda: nl.initial_sample(kernel, X, 40, "rpcholesky", seed=0)
    for objective in (nl.TraceError(kernel, X), nl.WeightedSKD(kernel, X), nl.LocalTraceError(kernel, X)):
        yield f"{objective.name}, {d}", lambda objective=objective: objective.gradient(S)
    yield f"landmarks, {d}", lambda: nl.find_landmarks(kernel, X, 40, iterations=30).sample


def digests(step: int) -> dict[str, str]:
    """Of every call, made in this order or in the reverse."""
    return {name: digest(call()) for name, call in list(calls())[::step]}


def in_a_process(step: int) -> dict[str, str]:
    """The same by a process that has computed nothing else."""
    code = f"import json; from tests.nystrom_lib.test_order import digests; print(json.dumps(digests({step})))"
    root = Path(__file__).parents[2]
    run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(run.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
def test_the_order_of_calls_does_not_matter() -> None:
    forwards, backwards = in_a_process(1), in_a_process(-1)
    assert [name for name, bits in forwards.items() if backwards[name] != bits] == []
