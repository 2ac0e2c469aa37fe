"""Compiled code on disk: used by a second process, never stale, and done without where nothing can be written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import nystrom_lib as nl
import nystrom_lib._core.compile as compile_module

INNER = "from .compile import inner\n\n@inner\ndef plus(x):\n    return x + {step}\n"
OUTER = "from .compile import entry\nfrom .inner import plus\n\n@entry\ndef outer(x):\n    return 10 * plus(x)\n"


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
    kept["PYTHONDONTWRITEBYTECODE"] = "1"  # bytecode of a file that is edited twice in a second would be stale
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=package.parent, env=kept | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    value, hits = done.stdout.split()
    return int(value), int(hits)


def test_a_second_process_uses_the_cache_until_a_called_module_is_edited(package: Path) -> None:
    """Catches a cache that is never found again, and numba's own rule, which looks only at the caller's file."""
    assert outer_of_one(package) == (20, 0)
    assert outer_of_one(package) == (20, 1)
    (package / "inner.py").write_text(INNER.format(step=2))
    assert outer_of_one(package) == (30, 0)


def test_the_users_cache_serves_an_install_that_cannot_be_written_to(package: Path, tmp_path: Path) -> None:
    """Catches a second place that is never tried."""
    shutil.rmtree(package / "__pycache__", ignore_errors=True)
    (package / "__pycache__").write_text("not a folder")
    place = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    assert outer_of_one(package, **place) == (20, 0)
    assert outer_of_one(package, **place) == (20, 1)


def test_works_where_nothing_can_be_written(package: Path) -> None:
    """Catches an import that fails because numba finds no folder for its cache, as in a read-only install."""
    shutil.rmtree(package / "__pycache__", ignore_errors=True)
    (package / "__pycache__").write_text("not a folder")
    nowhere = {"XDG_CACHE_HOME": "/dev/null/nowhere", "HOME": "/dev/null", "PYTHONDONTWRITEBYTECODE": "1"}
    assert outer_of_one(package, **nowhere) == (20, 0)


def test_the_users_own_folder_is_respected(package: Path, tmp_path: Path) -> None:
    """Catches compiled code left in the package although NUMBA_CACHE_DIR names another place."""
    chosen = tmp_path / "chosen"
    outer_of_one(package, NUMBA_CACHE_DIR=str(chosen))
    assert len(list(chosen.glob("**/*.nbc"))) > 0
    assert not list(package.rglob("*.nbc"))


def test_warming_up_leaves_nothing_to_compile() -> None:
    """Catches a loop that warm_up() forgets: the first call after it would take seconds."""
    folder = Path(nl.__file__).parent / "_core"
    modules = [import_module(f"nystrom_lib._core.{path.stem}") for path in folder.glob("[!_]*.py")]
    entries = [each for module in modules for each in vars(module).values() if hasattr(each, "signatures")]
    nl.warm_up()
    assert len(entries) > 8
    parts = {"exponentials", "column_of"}  # of pivoted_cholesky, which is loaded from the cache with them
    assert {each.py_func.__name__ for each in entries if not each.signatures} <= parts


def test_closures_of_different_numbers_have_different_names() -> None:
    """Catches closures that are taken for one another when code from several processes is loaded from the cache."""
    tiles = import_module("nystrom_lib._core.tiles")
    small, large = (tiles.tile_loops(length) for length in (32, 64))
    assert all(a.__qualname__ != b.__qualname__ for a, b in zip(small, large, strict=True))
    profiles = import_module("nystrom_lib._core.profiles")
    blocks = [profiles.family_block(profiles.VALUE, code) for code in (profiles.GAUSSIAN, profiles.MATERN32)]
    assert len({block.native_name for block in blocks}) == 2
