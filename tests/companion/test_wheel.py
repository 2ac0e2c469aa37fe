"""The wheel, installed in an empty environment outside the checkout: light at first, then with the companion."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

FOUR = {"llvmlite", "numba", "numpy", "scipy", "threadpoolctl"}


def tried(command: list[object], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "NYSTROM", "PYTHON"))}
    return subprocess.run(
        [str(word) for word in command], cwd=cwd, env=kept | environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    rubbish = shutil.ignore_patterns("__pycache__")
    for name in ("nystrom_lib", "notebooks", "results"):
        shutil.copytree(root / name, source / name, ignore=rubbish)
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(root / name, source)
    code = f"from setuptools import build_meta; build_meta.build_wheel({str(folder)!r})"
    built = tried([sys.executable, "-c", code], source)
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return path


def test_it_holds_the_package_its_data_the_chapters_and_the_results(root: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("nystrom_lib/")}
    package = {p for p in (root / "nystrom_lib").rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    wanted = {str(path.relative_to(root)) for path in package}
    assert "nystrom_lib/py.typed" in wanted and "nystrom_lib/datasets/files/abalone.data.gz" in wanted
    for path in [*root.glob("notebooks/*.ipynb"), *root.glob("notebooks/data/*"), *root.glob("results/*.parquet")]:
        wanted.add(f"companion/files/{path.relative_to(root)}")
    assert packed == wanted
    assert wheel.stat().st_size < 8e6


def installed(wheel: Path, folder: Path, extra: str, root: Path) -> Path:
    """An environment with the wheel and an extra in the locked versions, new or extended; its folder of programs."""
    uv = Path(sys.executable).with_name("uv")
    if not uv.is_file():
        pytest.skip("uv is not here, and pip would take minutes")
    python = folder / "venv" / "bin" / "python"
    if not python.is_file():
        made = tried([uv, "venv", "--python", sys.executable, folder / "venv"], folder)
        assert made.returncode == 0, made.stderr
    words = [uv, "pip", "install", "--python", python, "--constraint", root / "requirements.txt", f"{wheel}{extra}"]
    done = tried([*words, "--offline"], folder)
    if done.returncode:
        done = tried(words, folder)
    if done.returncode:
        pytest.skip(f"the packages cannot be had here: {done.stderr.strip().splitlines()[-1]}")
    return python.parent


@pytest.fixture(scope="module")
def light(root: Path, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(wheel, tmp_path_factory.mktemp("light"), "", root)


LIGHT = """
import importlib.metadata as m
import nystrom_lib as nl
for load in (nl.datasets.bigaussian, nl.datasets.abalone, nl.datasets.magic):
    print(load().X.shape)
print(nl.datasets.cache_folder().name)
print(*sorted(d.name for d in m.distributions()))
for needs in (lambda: nl.datasets.from_file("a.csv"), nl.datasets.fetch_miniboone):
    try:
        needs()
    except ImportError as error:
        print(error)
"""


def test_the_library_needs_four_packages_and_names_what_is_missing(light: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2\n3,4\n", encoding="utf-8")
    done = tried([light / "python", "-c", LIGHT], tmp_path, NYSTROM_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    *shapes, cache, names, csv, fetched = done.stdout.splitlines()
    assert shapes == ["(2000, 2)", "(4175, 8)", "(18905, 10)"] and cache == "cache"
    assert set(names.split()) - {"nystrom-lib"} == FOUR
    sentence = "This needs {}, which is not installed: pip install 'nystrom-lib[companion]' brings it."
    assert csv == sentence.format("pandas") and fetched == sentence.format("pooch")
    command = tried([light / "nystrom", "list"], tmp_path)
    assert command.returncode == 1 and command.stderr == f"nystrom: {sentence.format('click')}\n"


FIND = """
import hashlib
import nystrom_lib as nl
kernel, X = nl.Gaussian(rho=16.0), nl.datasets.bigaussian().X
found = nl.find_landmarks(kernel, X, 50, seconds=0.5)
print(found.method, "in many steps" if found.steps > 50 else "in few")
numbers = nl.find_landmarks(kernel, X, 50, iterations=20).sample, nl.radial_skd_gradient(kernel, X, X[:80])
print(hashlib.sha256(b"".join(array.tobytes() for array in numbers)).hexdigest())
"""


@pytest.mark.slow
def test_the_first_answer_says_that_it_compiles_and_the_second_does_not(light: Path, tmp_path: Path) -> None:
    """Catches compiling or loading that uses up the seconds a descent was given.

    Catches, too, code that is linked otherwise in the process that compiles it than in those that load it.
    """
    first, second = (tried([light / "python", "-c", FIND], tmp_path) for _ in range(2))
    assert first.stdout.startswith("trace in many steps\n"), first.stdout + first.stderr
    assert first.stdout == second.stdout
    assert first.stderr.count("\n") == 1 and "compiles its loops for this processor" in first.stderr
    assert second.stderr == ""


REFUSED = """
import contextlib, io, json, sys
from nystrom_lib.__main__ import main
for sys.argv[1:] in json.loads(sys.argv[1]):
    with contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            main()
        except SystemExit as end:
            print(json.dumps([end.code, said.getvalue()]))
"""


@pytest.mark.slow
def test_the_command_works_outside_a_checkout(root: Path, wheel: Path, light: Path, tmp_path: Path) -> None:
    """It comes last: the companion is added to the light environment, whose compiled loops serve again."""
    programs = installed(wheel, light.parents[2], "[companion]", root)
    site = next((light.parent / "lib").glob("python*/site-packages/companion/files"))
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*")}
    here = tmp_path / "here"
    here.mkdir()
    np.save(here / "points.npy", np.random.default_rng(0).normal(size=(200, 2)))

    def nystrom(*words: str) -> subprocess.CompletedProcess[str]:
        return tried([programs / "nystrom", *words], here)

    listed = nystrom("list")
    assert listed.returncode == 0 and "bigaussian" in listed.stdout and "your_data" in listed.stdout, listed.stderr
    assert "number of landmark points" in nystrom("params", "your_data").stdout
    done = nystrom("optimise", "points.npy", "-n", "5", "--iterations", "20")
    assert done.returncode == 0 and (here / "landmarks.npy").is_file(), done.stderr
    done = nystrom("run", "sphere", "--profile", "smoke", "--out", "mine")
    assert done.returncode == 0 and (here / "mine" / "sphere.html").is_file(), done.stderr
    done = nystrom("paper", "figure-1")
    assert done.returncode == 0 and (here / "results" / "figure-1.parquet").is_file(), done.stderr
    wanting = [
        (["run", "bigaussian", "--dask", "tcp://127.0.0.1:1"], "nystrom-lib[cluster]"),
        (["book"], "a checkout of the project"),
        (["run", "starts", "--profile", "smoke"], "nystrom-lib[sklearn]"),
        (["arena"], "nystrom-lib[sklearn]"),
        (["beyond"], "nystrom-lib[sklearn]"),
        (["paper", "--dask", "tcp://127.0.0.1:1"], "nystrom-lib[cluster]"),
    ]
    refused = tried([programs / "python", "-c", REFUSED, json.dumps([words for words, _ in wanting])], here)
    for line, (words, said) in zip(refused.stdout.splitlines(), wanting, strict=True):
        code, complaint = json.loads(line)
        assert code == 1 and said in complaint, (words, complaint)
    left = {"landmarks.json", "landmarks.npy", "mine", "points.npy", "results"}
    assert {path.name for path in here.iterdir()} == left
    assert {path: path.stat().st_mtime_ns for path in site.rglob("*")} == before
