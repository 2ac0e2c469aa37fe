"""Exceptions raised by signal handlers end a call and harm nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib import _threads, criteria, kernels
from nystrom_lib.landmarks.objectives import trace_error

#: How both programs begin.
BEGIN = """
import signal
import numpy as np
import nystrom_lib as nl

class Stop(KeyboardInterrupt):
    pass

def stop(*_):
    raise Stop

X = np.random.default_rng(0).normal(size=(20_000, 5))
signal.signal(signal.SIGALRM, stop)
"""

INTERRUPTED = """
objective = nl.LocalTraceError(nl.Gaussian(0.2), X)
objective.gradient(X[:2500], np.arange(1000))
for k in range(6):
    signal.setitimer(signal.ITIMER_REAL, 0.1 + 0.01 * k)
    try:
        nl.descend(objective, X[:2500], nl.Adam(step=0.01), iterations=10**6, batch_size=2000, seed=0)
    except Stop:
        print("stopped")
"""


def printed(program: str, root: Path) -> list[str]:
    command = [sys.executable, "-c", BEGIN + program]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr[-2000:]
    return ended.stdout.split()


@pytest.mark.parametrize(
    "call",
    [
        lambda X: nl.Gaussian(0.2).matrix(X),
        lambda X: nl.nystrom_errors(nl.Gaussian(0.2), X, X[:20], "frobenius"),
        lambda X: nl.TraceError(nl.Gaussian(0.2), X).gradient(X[:100]),
    ],
    ids=["matrix", "frobenius", "gradient"],
)
def test_large_calls_are_divided_so_that_ctrl_c_is_noticed(
    call: Callable[[Any], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a single compiled call for all of the work, during which Ctrl-C has to wait; the result is the same."""
    X = np.random.default_rng(0).normal(size=(1200, 2))
    expected, calls, share_out = call(X), [], _threads.ParallelLoop.__call__

    def counted(self: Any, *arguments: Any) -> None:
        calls.append(arguments)
        share_out(self, *arguments)

    monkeypatch.setattr(_threads.ParallelLoop, "__call__", counted)
    for module, name, small in ((kernels, "_CALL", 1e6), (trace_error, "_CALL", 1e6), (criteria, "_TILES", 2)):
        monkeypatch.setattr(module, name, small)
    with nl.threads(1):
        assert np.array_equal(call(X), expected) if isinstance(expected, np.ndarray) else str(call(X)) == str(expected)
    assert len(calls) > 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGALRM")
def test_interrupted_search_for_neighbours(root: Path) -> None:
    """Catches threads that are left behind with arrays that are freed, and an exception that gets lost."""
    assert printed(INTERRUPTED, root) == ["stopped"] * 6


@pytest.mark.parametrize("n", [5, 50])
def test_steps_between_two_calls_of_progress(n: int) -> None:
    """Catches compiled loops that take so many steps at a time that Ctrl-C waits for seconds."""
    X = np.random.default_rng(0).normal(size=(2000, 5))
    done = [0]
    nl.gradient_descent(nl.Gaussian(0.2), X, X[:n], step=1e-9, iterations=1500, progress=done.append)
    pairs = n * (len(X) + n)
    assert max(np.diff(done)) * pairs * 5 <= 1e8 and done[-1] == 1500


EXTENDED = """
kernel, data = nl.Gaussian(0.2), X[:1000]
nl.nystrom_errors(kernel, data[:50], data[:9], "trace", precision="extended")
for k in range(6):
    signal.setitimer(signal.ITIMER_REAL, 0.05 + 0.01 * k)
    try:
        while True:
            nl.nystrom_errors(kernel, data, data[:100], "trace", precision="extended")
    except Stop:
        print("stopped")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGALRM")
def test_interrupted_extended_precision(root: Path) -> None:
    """Catches an exception that numba replaces by a SystemError."""
    assert printed(EXTENDED, root) == ["stopped"] * 6


AGAIN = """
none = np.empty(0, np.int64)
for kind in (nl.RadialSKD, nl.TraceError, nl.LocalTraceError):
    evaluate = kind(nl.Gaussian(0.2), X).prepare(200, len(X))
    value, gradient = evaluate(X[:200], none)
    gradient = gradient.copy()
    for k in range(4):
        signal.setitimer(signal.ITIMER_REAL, 0.02 + 0.017 * k)
        try:
            while True:
                evaluate(X[200:400], none)
        except Stop:
            pass
        again, slope = evaluate(X[:200], none)
        print("same" if again == value and np.array_equal(slope, gradient) else f"{kind.__name__} differs")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGALRM")
def test_results_after_an_interrupted_call(root: Path) -> None:
    """Catches threads of an interrupted call that still write to the buffers which the next call uses."""
    assert printed(AGAIN, root) == ["same"] * 12
