"""The same bits whatever the number of threads: a module says what by its ``digests()``, this compares."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np

_ROOT = Path(__file__).parents[1]
_SCRIPT = """
import json
from {module} import digests
import nystrom_lib as nl
result = []
for k in (1, 2, 4, 1):
    with nl.threads(k):
        result.append(digests())
print(json.dumps(result))
"""


def digest(*values: object) -> str:
    """A few letters that any other bit would change."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(value).tobytes() for value in values)).hexdigest()[:16]


def differing(module: str) -> list[str]:
    """The digests of a module that are not the same on 1, 2, 4 and again 1 threads, and in this process.

    They are computed in a process of its own, for numba fixes its pool at import.
    """
    environment = {**os.environ, "NUMBA_NUM_THREADS": "4"}
    command = [sys.executable, "-c", _SCRIPT.format(module=module)]
    run = subprocess.run(command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    here: dict[str, str] = import_module(module).digests()
    runs = [*json.loads(run.stdout), here]
    assert here and all(set(each) == set(here) for each in runs)
    return [what for what in here if len({each[what] for each in runs}) > 1]
