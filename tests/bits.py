"""Results are bit-for-bit the same on any number of threads: modules give ``digests()``, this compares them."""

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
from tests.bits import all_digests
import nystrom_lib as nl
result = []
for k in (1, 2, 4, 1):
    with nl.threads(k):
        result.append(all_digests({modules}))
print(json.dumps(result))
"""


def digest(*values: object) -> str:
    """A few letters that any other bit would change."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(value).tobytes() for value in values)).hexdigest()[:16]


def all_digests(modules: list[str]) -> dict[str, str]:
    """The digests of several modules of ``tests.nystrom_lib``."""
    found = {name: import_module(f"tests.nystrom_lib.{name}").digests() for name in modules}
    return {f"{name}: {what}": value for name, values in found.items() for what, value in values.items()}


def differing(modules: list[str]) -> list[str]:
    """The digests that are not the same on 1, 2, 4 and again 1 threads, and in this process.

    They are computed in a process of its own, for numba fixes its pool at import.
    """
    environment = {**os.environ, "NUMBA_NUM_THREADS": "4"}
    command = [sys.executable, "-c", _SCRIPT.format(modules=modules)]
    run = subprocess.run(command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    here = all_digests(modules)
    runs = [*json.loads(run.stdout), here]
    assert all(set(each) == set(here) for each in runs)
    return [what for what in here if len({each[what] for each in runs}) > 1]
