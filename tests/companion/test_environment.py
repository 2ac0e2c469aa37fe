"""Surroundings that numba cannot work in: one sentence, no traceback from the command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("nystrom")
BAD = {
    "NUMBA_NUM_THREADS=0": {"NUMBA_NUM_THREADS": "0"},
    "NUMBA_NUM_THREADS=many": {"NUMBA_NUM_THREADS": "many"},
    "NUMBA_DISABLE_JIT": {"NUMBA_DISABLE_JIT": "1"},
}


@pytest.mark.parametrize("case", BAD)
def test_settings_of_numba_are_refused_in_one_sentence(case: str) -> None:
    """Catches numba's own traceback, and tests of foreign code that run without a compiler."""
    environment = {**os.environ, **BAD[case]}
    done = subprocess.run([COMMAND, "list"], env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: {next(iter(BAD[case]))} is ") and done.stderr.count("\n") == 1
    words = [sys.executable, "-c", "import nystrom_lib"]
    library = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert library.stderr.splitlines()[-1].startswith(f"ImportError: {next(iter(BAD[case]))} is ")
