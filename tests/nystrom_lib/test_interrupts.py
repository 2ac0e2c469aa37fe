"""Exceptions raised by signal handlers end a call and harm nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib import _step_size

INTERRUPTED = """
import signal
import numpy as np
import nystrom_lib as nl

class Stop(KeyboardInterrupt):
    pass

def stop(*_):
    raise Stop

X = np.random.default_rng(0).normal(size=(20_000, 5))
objective = nl.LocalTraceError(nl.Gaussian(0.2), X)
objective.gradient(X[:2500], np.arange(1000))
signal.signal(signal.SIGALRM, stop)
for k in range(12):
    signal.setitimer(signal.ITIMER_REAL, 0.1 + 0.01 * k)
    try:
        nl.descend(objective, X[:2500], nl.Adam(step=0.01), iterations=10**6, batch_size=2000, seed=0)
    except Stop:
        print("stopped")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGALRM")
def test_interrupted_search_for_neighbours(root: Path) -> None:
    """Catches threads that are left behind with arrays that are freed, and an exception that gets lost."""
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED], cwd=root, capture_output=True, text=True, timeout=300)
    assert (ended.returncode, ended.stdout.split()) == (0, ["stopped"] * 12), ended.stderr[-2000:]


def test_timeout_error_of_the_caller_is_not_taken_for_ours() -> None:
    """Catches a search for a step that ends quietly at a TimeoutError which a signal handler has raised."""

    def late(step: float) -> float:
        raise TimeoutError("of the caller")

    with pytest.raises(TimeoutError, match="of the caller"):
        _step_size._best_step(late, 1.0)


@pytest.mark.parametrize("n", [5, 50])
def test_steps_between_two_calls_of_progress(n: int) -> None:
    """Catches compiled loops that take so many steps at a time that Ctrl-C waits for seconds."""
    X = np.random.default_rng(0).normal(size=(2000, 5))
    done = [0]
    nl.gradient_descent(nl.Gaussian(0.2), X, X[:n], step=1e-9, iterations=1500, progress=done.append)
    pairs = n * (len(X) + n)
    assert max(np.diff(done)) * pairs * 5 <= 1e8 and done[-1] == 1500


AGAIN = """
import signal
import numpy as np
import nystrom_lib as nl

class Stop(KeyboardInterrupt):
    pass

def stop(*_):
    raise Stop

X = np.random.default_rng(0).normal(size=(20_000, 5))
none = np.empty(0, np.int64)
signal.signal(signal.SIGALRM, stop)
for kind in (nl.RadialSKD, nl.TraceError, nl.LocalTraceError):
    evaluate = kind(nl.Gaussian(0.2), X).prepare(200, len(X))
    value, gradient = evaluate(X[:200], none)
    gradient = gradient.copy()
    for k in range(10):
        signal.setitimer(signal.ITIMER_REAL, 0.02 + 0.007 * k)
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
    ended = subprocess.run([sys.executable, "-c", AGAIN], cwd=root, capture_output=True, text=True, timeout=300)
    assert (ended.returncode, ended.stdout.split()) == (0, ["same"] * 30), ended.stderr[-2000:]
