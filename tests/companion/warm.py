"""Imported once by the server that forks the tests' child processes: compiles what they will call."""

import tempfile

from nystrom_lib.companion.runner import run

from .small import EXPERIMENT

with tempfile.TemporaryDirectory() as folder:
    run(EXPERIMENT.replace(m=2), folder, threads=1, progress=False)
