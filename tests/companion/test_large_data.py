"""Data that do not fit into the memory a process may have."""

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

ROWS, COLUMNS = 2**19, 80
ROOM = 130_000_000

CHILD = """
    import resource, sys, tempfile
    import numpy as np
    from tests.companion.small import large_experiment
    from companion.running.runner import run

    little, large, room = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        # Compiles what will be needed, and shows how much memory the program itself takes.
        run(large_experiment(little), folder, threads=2)
    status = dict(line.split(":") for line in open("/proc/self/status"))
    limit = int(status["VmData"].split()[0]) * 1024 + int(room)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    try:
        np.load(large)
    except MemoryError:
        print("too large")
    with tempfile.TemporaryDirectory() as folder:
        print(run(large_experiment(large), folder, threads=2).table["R"].tolist())
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits a process's memory as Linux does")
def test_a_memory_map_larger_than_memory(tmp_path: Path, root: Path) -> None:
    """335 MB of data, 130 MB of room: the whole protocol runs where the file cannot even be loaded."""
    large, little = tmp_path / "large.npy", tmp_path / "little.npy"
    rng = np.random.default_rng(0)
    block = rng.normal(size=(2**14, COLUMNS))
    np.save(little, np.tile(block[:1000], (40, 1)))
    header = {"descr": "<f8", "fortran_order": False, "shape": (ROWS, COLUMNS)}
    with open(large, "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(ROWS // len(block)):
            file.write((block + rng.normal()).tobytes())
    assert large.stat().st_size > 2.5 * ROOM
    command = [sys.executable, "-c", textwrap.dedent(CHILD), str(little), str(large), str(ROOM)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    loaded, values = done.stdout.splitlines()
    assert loaded == "too large", "the limit must bind, or the test shows nothing"
    before, after = map(float, values.strip("[]").split(","))
    assert after < before < 0
