"""Imported once by the server that forks the tests' child processes: compiles what they will call."""

import os
import tempfile

# GNU OpenMP refuses to work in a forked process, even for loops that run on one thread only, as they all do here.
os.environ["NUMBA_THREADING_LAYER"] = "workqueue"

from companion.running.runner import run

from .small import EXPERIMENT

with tempfile.TemporaryDirectory() as folder:
    run(EXPERIMENT.replace(m=2), folder, threads=1, progress=False)
