"""Compiled code on disk: used by a second process, never stale, and done without where nothing can be written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numba
import pytest

import nystrom_lib as nl
import nystrom_lib._core.compile as compile_module

INNER = "from .compile import jit\n\n@jit()\ndef inner(x):\n    return x + {step}\n"
OUTER = "from .compile import jit\nfrom .inner import inner\n\n@jit()\ndef outer(x):\n    return 10 * inner(x)\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of two jitted functions, one calling the other across modules, around our own ``compile.py``."""
    folder = tmp_path / "toy"
    folder.mkdir()
    shutil.copy(compile_module.__file__, folder / "compile.py")
    (folder / "__init__.py").write_text("")
    (folder / "inner.py").write_text(INNER.format(step=1))
    (folder / "outer.py").write_text(OUTER)
    return folder


def outer_of_one(package: Path, **environment: str) -> tuple[int, int]:
    """outer(1) in a process of its own, and how many of its calls found compiled code on disk."""
    code = "from toy.outer import outer; print(outer(1), sum(outer.stats.cache_hits.values()))"
    kept = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=package.parent, env=kept | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    value, hits = done.stdout.split()
    return int(value), int(hits)


def test_a_second_process_starts_hot(package: Path) -> None:
    """Catches a cache that is written but never found again."""
    assert outer_of_one(package) == (20, 0)
    assert outer_of_one(package) == (20, 1)


def test_an_edit_of_a_called_module_is_noticed(package: Path) -> None:
    """Catches numba's own rule, which looks only at the file of the caller and would still answer 20."""
    assert outer_of_one(package) == (20, 0)
    (package / "inner.py").write_text(INNER.format(step=2))
    assert outer_of_one(package) == (30, 0)


def test_code_compiled_with_vectors_is_not_taken_for_plain_loops(package: Path) -> None:
    """Catches a comparison of the vectors with themselves."""
    assert outer_of_one(package) == (20, 0)
    assert outer_of_one(package, NYSTROM_PLAIN_LOOPS="1") == (20, 0)
    assert outer_of_one(package, NYSTROM_PLAIN_LOOPS="1") == (20, 1)


def test_the_users_cache_serves_an_install_that_cannot_be_written_to(package: Path, tmp_path: Path) -> None:
    """Catches a second place that is never tried."""
    shutil.rmtree(package / "__pycache__", ignore_errors=True)
    (package / "__pycache__").write_text("not a folder")
    place = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    assert outer_of_one(package, **place) == (20, 0)
    assert outer_of_one(package, **place) == (20, 1)
    assert list(tmp_path.glob("**/nystrom-companion/nystrom-*/**/*.nbc"))


def test_works_where_nothing_can_be_written(package: Path) -> None:
    """Catches an import that fails because numba finds no folder for its cache, as in a read-only install."""
    nowhere = "/dev/null/nowhere"
    assert outer_of_one(package, NUMBA_CACHE_DIR=nowhere) == (20, 0)


def test_the_users_own_folder_is_respected(package: Path, tmp_path: Path) -> None:
    """Catches compiled code left in the package although NUMBA_CACHE_DIR names another place."""
    chosen = tmp_path / "chosen"
    outer_of_one(package, NUMBA_CACHE_DIR=str(chosen))
    assert len(list(chosen.glob("nystrom-*/**/*.nbc"))) > 0
    assert not list(package.rglob("*.nbc"))


def test_warming_up_leaves_nothing_to_compile() -> None:
    """Catches a loop that warm_up() forgets: whoever times the library afterwards would time the compiler."""
    from nystrom_lib._core import nearest, pairs, precise, residuals, stages, trace

    nl.warm_up()
    assert pairs.run.signatures and trace.descend.signatures and precise.pivoted_cholesky.signatures
    for stage in (
        pairs.landmark_group, pairs.data_piece, pairs.add_tile, pairs.fill_rows, nearest.nearest, trace.point_panel,
        residuals.feature_tile, residuals.residual_tile, residuals.symmetric_strip,
    ):  # fmt: skip
        assert stage._addresses, stage.name
    assert stages.sharing.cache_info().currsize == min(2, numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


def test_threads_that_compile_at_once_keep_to_the_folder() -> None:
    """Catches compiled code in whatever folder the user is in: a thread took our setting away while another used it."""
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    begun, ended, seen = threading.Event(), threading.Event(), []

    def first(_: bool) -> None:
        begun.set()
        time.sleep(0.1)

    def second(_: bool) -> None:
        ended.wait(5.0)
        seen.append(numba.config.CACHE_DIR)  # type: ignore[attr-defined]

    def one() -> None:
        compile_module._cached(first)
        ended.set()

    thread = threading.Thread(target=one)
    thread.start()
    begun.wait()
    compile_module._cached(second)
    thread.join()
    assert seen == [compile_module._FOLDER]
    assert before == numba.config.CACHE_DIR  # type: ignore[attr-defined]
