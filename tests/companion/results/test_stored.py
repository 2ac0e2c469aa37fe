"""The stored results: all there, of known origin, and the same when computed again.

Which repetitions are computed again changes from run to run (NYSTROM_TEST_SEED), so that in time all of them are. The
other checks set stored numbers against a second way to come by them: plain numpy, or another stored experiment.
"""

import hashlib
import os
import re
import subprocess
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import nystrom_lib as nl
from companion.experiments.components import MiniBooNE
from companion.experiments.paper import PAPER
from companion.experiments.protocol import load_data
from companion.experiments.seeds import Axis, seed_for
from companion.results.table import Results
from companion.results.tolerances import Tolerance, tolerance_for
from companion.running.stored import verify
from nystrom_lib import Gaussian

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "results"

SEED = int(os.environ.get("NYSTROM_TEST_SEED") or time.time())

#: How many repetitions of each experiment are computed again. Figure 5's one takes minutes; its beginning is computed
#: again by chapter 8, which nbval runs.
HANDFUL = {"figure-1": 1, "figure-2": 2, "figure-3": 1, "figure-4": 1}

FACTORS = {"E_tr": "trace", "E_F": "frobenius", "E_sp": "spectral"}

NUMPY_NORM = Tolerance(1e-6, 0.0, "numpy inverts K_S, whose condition number here is below 1e9")


@cache
def stored(name: str) -> Results:
    path = FOLDER / f"{name}.parquet"
    assert path.is_file(), f"{path.name} is not there; `make paper` computes it."
    return Results.load(path)


@cache
def dataset(name: str) -> nl.datasets.Dataset:
    """The data a stored result was made from: MiniBooNE's may be the stand-in even where the file is at hand."""
    experiment, origin = PAPER[name], stored(name).provenance["data"]
    if isinstance(experiment.data, MiniBooNE) and origin["stand_in"]:
        experiment = experiment.replace(data=experiment.data.replace(stand_in="always"))
    found = load_data(experiment)
    if found.stand_in and not origin["stand_in"]:
        pytest.skip("the results are of MiniBooNE itself, which is not here")
    assert found.sha256 == origin["sha256"], "the data are not those the results were made from"
    return found


def chosen(name: str, count: int) -> list[int]:
    """Repetitions of an experiment, chosen by the seed and the experiment's name."""
    salt = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
    rng = np.random.default_rng([SEED, salt])
    return sorted(rng.choice(PAPER[name].m, min(count, PAPER[name].m), replace=False).tolist())


def same(found: float, expected: float, tolerance: Tolerance) -> None:
    assert tolerance.excess(found, expected) <= 1.0, (
        f"found {found!r}, stored {expected!r}, allowed {tolerance} ({tolerance.reason}); seed {SEED}"
    )


# -- all there, of known origin ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAPER)
def test_it_is_complete(name: str) -> None:
    results = stored(name)
    assert results.complete
    table = results.table
    assert len(table) == 2 * PAPER[name].m
    quantities = ["R", *PAPER[name].norms, *(f for f, norm in FACTORS.items() if norm in PAPER[name].norms)]
    if not PAPER[name].factors:
        quantities = ["R", *PAPER[name].norms]
    assert np.isfinite(table[quantities].to_numpy()).all(), "a repetition diverged or lacks a number"
    assert (table[quantities].to_numpy() > 0.0).all()


@pytest.mark.parametrize("name", PAPER)
def test_its_origin_is_known(name: str) -> None:
    origin = stored(name).provenance
    assert origin["sessions"]
    for session in origin["sessions"]:
        assert re.fullmatch("[0-9a-f]{40}", session["commit"] or "")
        assert session["dirty"] is False, "the library had changes that no commit holds"
        assert all(session[key] for key in ("library", "python", "cpu", "blas", "packages", "started", "threads"))
    assert (origin["data"]["name"], origin["data"]["stand_in"]) == (dataset(name).name, dataset(name).stand_in)


def test_the_commits_are_in_the_history() -> None:
    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)

    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("this copy has no full history to look into")
    for commit in {session["commit"] for name in PAPER for session in stored(name).provenance["sessions"]}:
        assert git("cat-file", "-e", f"{commit}^{{commit}}").returncode == 0, f"no commit {commit}"


# -- the same when computed again -------------------------------------------------------------------------------------


@pytest.mark.slow  # the chapters compute some again, too, whenever nbval runs them
@pytest.mark.parametrize("name", [name for name in PAPER if name != "figure-5"])
def test_a_handful_of_repetitions_computed_again(name: str) -> None:
    count = HANDFUL["-".join(name.split("-")[:2])]
    verify(stored(name), chosen(name, count))


def initial_sample(name: str, j: int) -> np.ndarray:
    experiment = PAPER[name]
    seed = seed_for(experiment.seed, Axis.INITIAL_SAMPLE, j)
    return nl.uniform_sample(dataset(name).X, experiment.n, seed)


# -- the same by other ways -------------------------------------------------------------------------------------------


def squared_distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return cdist(a, b, "sqeuclidean")


def rho_of(name: str) -> float:
    kernel = PAPER[name].kernel
    assert isinstance(kernel, Gaussian)
    return kernel.rho


def test_all_norms_of_a_well_conditioned_sample_by_numpy() -> None:
    """n = 20 and ρ = 16: K_S can be inverted, the tail of the spectrum is far above rounding."""
    name = "figure-2-n20-rho16"
    (j,) = chosen(name, 1)
    results, data, sample, rho = stored(name), dataset(name).X, initial_sample(name, j), rho_of(name)
    K = np.exp(-rho * squared_distances(data, data))
    C, W = (np.exp(-rho * squared_distances(points, sample)) for points in (data, sample))
    assert np.linalg.cond(W) < 1e9
    error = np.linalg.eigvalsh(K - C @ np.linalg.solve(W, C.T))
    tail = np.linalg.eigvalsh(K)[:-20]
    row = results.table.query("stage == 'initial'").set_index("repetition").loc[j]
    norms: dict[str, Callable[[np.ndarray], float]] = {
        "trace": lambda values: float(values.sum()),
        "frobenius": lambda values: float(np.sqrt(np.square(values).sum())),
        "spectral": lambda values: float(np.abs(values).max()),
    }
    for factor, norm in FACTORS.items():
        same(norms[norm](error), row[norm], NUMPY_NORM)
        same(norms[norm](tail), results.constants[norm], NUMPY_NORM)
        same(norms[norm](error) / norms[norm](tail), row[factor], NUMPY_NORM)


@pytest.mark.parametrize("variant", ["", "-rho16"])
def test_figures_1_and_2_tell_of_the_same_descent(variant: str) -> None:
    """Same data, n, seed and step: repetition 0 of Figure 2 is Figure 1's descent, 1,000 steps into its 1,300."""
    one, two = stored(f"figure-1{variant}"), stored(f"figure-2-n50{variant}")
    row = two.table.query("repetition == 0").set_index("stage")["R"]
    curve = one.curves.set_index("iteration")["R"]
    tolerance = tolerance_for("R", one.constants)
    same(curve[0], row["initial"], tolerance)
    same(curve[two.experiment.to_plain()["descent"]["iterations"]], row["optimised"], tolerance)
