"""The library's wheel, installed in an empty environment outside the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

#: What the library installs; llvmlite comes with numba.
PACKAGES = {"llvmlite", "numba", "numpy", "scipy", "threadpoolctl"}


def run(command: list[object], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "NYSTROM", "PYTHON"))}
    return subprocess.run(
        [str(word) for word in command], cwd=cwd, env=kept | environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in ("nystrom_lib", "companion"):
        shutil.copytree(root / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, source)
    code = f"from setuptools import build_meta; build_meta.build_wheel({str(folder)!r})"
    built = run([sys.executable, "-c", code], source)
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_the_library_alone(root: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
        (entry_points,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        assert b"Name: nystrom-lib" in archive.read(entry_points)
        assert not any(name.endswith("entry_points.txt") for name in archive.namelist())
    files = {p for p in (root / "nystrom_lib").rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert packed == {str(path.relative_to(root)) for path in files}
    assert "nystrom_lib/py.typed" in packed and "nystrom_lib/datasets/files/abalone.data.gz" in packed
    assert wheel.stat().st_size < 2e6


@pytest.fixture(scope="module")
def python(root: Path, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel and the locked versions of its dependencies."""
    uv, folder = Path(sys.executable).with_name("uv"), tmp_path_factory.mktemp("environment")
    if not uv.is_file():
        pytest.skip("uv is not installed, and pip would take minutes")
    made = run([uv, "venv", "--python", sys.executable, folder / "venv"], folder)
    assert made.returncode == 0, made.stderr
    interpreter = folder / "venv" / "bin" / "python"
    words = [uv, "pip", "install", "--python", interpreter, "--constraint", root / "requirements.txt", wheel]
    done = run([*words, "--offline"], folder)
    if done.returncode:
        done = run(words, folder)
    if done.returncode:
        pytest.skip(f"the dependencies cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
    return interpreter


LIGHT = """
import importlib.metadata as m
import nystrom_lib as nl
for load in (nl.datasets.bigaussian, nl.datasets.abalone, nl.datasets.magic):
    print(load().X.shape)
print(*sorted(d.name for d in m.distributions()))
for needs in (lambda: nl.datasets.from_file("a.csv"), nl.datasets.fetch_miniboone):
    try:
        needs()
    except ImportError as error:
        print(error)
"""


@pytest.mark.slow
def test_the_library_works_with_its_dependencies_alone(python: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2\n3,4\n", encoding="utf-8")
    done = run([python, "-c", LIGHT], tmp_path, NYSTROM_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    *shapes, names, csv, fetched = done.stdout.splitlines()
    assert shapes == ["(2000, 2)", "(4175, 8)", "(18905, 10)"]
    assert set(names.split()) - {"nystrom-lib"} == PACKAGES
    sentence = "This needs {}, which is not installed: pip install 'nystrom-lib[files]' brings it."
    assert csv == sentence.format("pandas") and fetched == sentence.format("pooch")


FIND = """
import hashlib
import nystrom_lib as nl
kernel, X = nl.Gaussian(rho=16.0), nl.datasets.bigaussian().X
numbers = nl.find_landmarks(kernel, X, 50, iterations=20).sample, nl.radial_skd_gradient(kernel, X, X[:80])
print(hashlib.sha256(b"".join(array.tobytes() for array in numbers)).hexdigest())
"""


@pytest.mark.slow
def test_only_the_first_process_compiles(python: Path, tmp_path: Path) -> None:
    """Catches code that gives other results in the process that compiles it than in those that load it."""
    first, second = (run([python, "-c", FIND], tmp_path) for _ in range(2))
    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    assert first.stdout == second.stdout
    assert first.stderr == second.stderr == ""


@pytest.mark.slow
def test_the_command_works_outside_a_checkout(python: Path, tmp_path: Path) -> None:
    points = np.random.default_rng(0).normal(size=(200, 2))
    np.savetxt(tmp_path / "points.csv", points, delimiter=",", header="a,b", comments="")
    done = run([python, "-m", "nystrom_lib", "points.csv", "-n", "5", "-o", "landmarks.npy"], tmp_path)
    assert done.returncode == 0 and "method: trace" in done.stdout, done.stderr
    assert np.load(tmp_path / "landmarks.npy").shape == (5, 2)
