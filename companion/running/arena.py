"""The arena: every way to choose landmarks against the clock, one trial at a time on one thread.

A method that ends of itself (a start, a k-means of another package) is timed as it is. A descent, which takes the time
it is given or ends where it arrives, is run anew for each budget, since steps may shrink as the budget is used up.
Times belong to the machine and are shown, never compared.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import nystrom_lib as nl

from ..atomic_write import write_rows
from ..choices import STARTS
from ..experiments.outcome import Array
from ..experiments.paper import SEED
from ..experiments.problems import CENTRES, PROBLEMS, start
from ..experiments.seeds import Axis, seed_for
from ..results import provenance
from .engine import compute

#: Of each method, with each budget.
REPETITIONS = 11
#: Seconds given.
BUDGETS = (0.1, 0.3, 1.0, 3.0, 10.0)
#: The descents, which take a budget, by the method of find_landmarks.
DESCENTS: Mapping[str, str] = {"trace": "auto", "radial": "radial-skd", "weighted": "weighted-skd"}


def installed() -> dict[str, str]:
    """Faiss's version, if it is installed: other packages are tried where they are."""
    version = provenance.version("faiss-cpu")
    return {} if version is None else {"Faiss": version}


#: The methods that end of themselves.
ENDING = (*STARTS, *CENTRES, *installed())


@dataclass(frozen=True)
class Trial:
    """One method on one problem, once."""

    problem: str
    way: str  #: the method
    budget: float | None  #: seconds given, None for a method that ends of itself
    repetition: int


class Terms(NamedTuple):
    """What holds for all trials; by default nothing is cut."""

    most: int | None = None  #: points at most
    n: int | None = None  #: landmarks at most
    seed: int = SEED  #: of data and starts


def trials(problems: Sequence[str], budgets: Mapping[float, int], repetitions: int = REPETITIONS) -> Iterator[Trial]:
    """All of them, the quick ones of every problem first; ``budgets`` has the repetitions of each."""
    for problem in problems:
        for way in ENDING:
            yield from (Trial(problem, way, None, j) for j in range(repetitions))
    for budget, count in sorted(budgets.items()):
        for problem in problems:
            yield from (Trial(problem, way, budget, j) for j in range(count) for way in DESCENTS)


def attempt(terms: Terms, trial: Trial, _: object = None) -> dict[str, Any]:
    """Seconds, steps and E_tr of a trial."""
    kernel, data, n = _posed(trial.problem, terms)
    _warm_up(trial.problem, trial.way, terms)
    with nl.threads(1), threadpool_limits(1):
        began = time.perf_counter()
        sample, steps = _landmarks(trial, kernel, data, n, terms.seed)
        seconds = time.perf_counter() - began
        error = float(nl.nystrom_errors(kernel, data, sample, ("trace",)).trace)
    return {**asdict(trial), "seconds": seconds, "steps": steps, "E_tr": error / _best(trial.problem, terms)}


def _landmarks(trial: Trial, kernel: nl.Kernel, data: Array, n: int, number: int) -> tuple[Array, int]:
    seed = seed_for(number, Axis.INITIAL_SAMPLE, trial.repetition)
    if trial.way == "Faiss":
        return _faiss(data, n, seed), 0
    if trial.way in CENTRES:
        return start(trial.way).draw(kernel, data, n, seed), 0
    if trial.way in STARTS:
        return nl.initial_sample(kernel, data, n, trial.way, seed=seed), 0
    method = DESCENTS[trial.way]
    landmarks = nl.find_landmarks(kernel, data, n, method=method, seconds=trial.budget, seed=seed)
    return landmarks.sample, landmarks.steps


def _faiss(data: Array, n: int, seed: np.random.SeedSequence) -> Array:
    """The centres of Faiss's k-means with its defaults: 25 rounds in single precision."""
    faiss = importlib.import_module("faiss")
    number = int(seed.generate_state(1)[0] % 2**31)
    means = faiss.Kmeans(data.shape[1], n, seed=number, min_points_per_centroid=1)
    means.train(np.ascontiguousarray(data, dtype=np.float32))
    return np.asarray(means.centroids, dtype=np.float64)


@cache
def _posed(problem: str, terms: Terms) -> tuple[nl.Kernel, Array, int]:
    this = PROBLEMS[problem]
    data = this.points(terms.most).load(terms.seed).X
    return nl.Gaussian(rho=this.rho), data, min(this.n, len(data) // 4, terms.n or this.n)


@cache
def _warm_up(problem: str, way: str, terms: Terms) -> None:
    """Once without the clock: compiled code is read from its cache, and libraries are loaded."""
    kernel, data, n = _posed(problem, terms)
    with nl.threads(1), threadpool_limits(1):
        if way in DESCENTS:
            nl.find_landmarks(kernel, data, n, method=DESCENTS[way], iterations=2, seconds=60.0)
        else:
            _landmarks(Trial(problem, way, None, 0), kernel, data[:500], min(n, 50), 0)


@cache
def _best(problem: str, terms: Terms) -> float:
    """The best rank-n trace error."""
    return float(nl.best_rank_errors(*_posed(problem, terms), norms=("trace",)).trace)


def hold(chosen: Sequence[Trial], folder: Path, terms: Terms) -> pd.DataFrame:
    """Run the trials that are not stored in the folder, one after the other, and return all."""
    here = provenance.environment()
    # Trials of other code, of another processor or on other terms are not put into one table with ours.
    conditions = json.dumps([here["library"], here["commit"], here["dirty"], here["cpu"], *terms])
    folder = folder / hashlib.sha256(conditions.encode()).hexdigest()[:16]
    pieces = {f"{t.problem}.{t.way}.{t.budget}.{t.repetition}": t for t in chosen}
    done = compute(partial(attempt, terms), pieces, folder, title="arena", unit="trial")
    return pd.DataFrame([piece.value for piece in done.values()])


def save(table: pd.DataFrame, path: Path) -> Path:
    """Write the table and the machine it was measured on as JSON, a line for each trial."""
    machine = provenance.session(threads={"trials": 1, "each": 1}, others=installed())
    rows = [
        [*row[:4], round(row[4], 4), row[5], float(f"{row[6]:.8g}")]
        for row in table.astype(object).where(table.notna(), None).itertuples(index=False)
    ]
    write_rows(path, {"machine": machine, "columns": list(table)}, rows)
    return path


def load(path: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """What :func:`save` wrote: the table, and the machine."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    return pd.DataFrame(stored["rows"], columns=stored["columns"]).astype({"budget": float}), stored["machine"]


def described(machine: Mapping[str, Any]) -> str:
    """When and where a stored table was measured, and with what."""
    pairs, packages = machine["threads"], machine["packages"]
    others = "".join(f", {name} {version}" for name, version in machine["others"].items())
    return (
        f"measured on {machine['started'][:10]} on an {machine['cpu']} with {machine['cores']} cores, "
        f"{pairs['trials']} trials at a time with {pairs['each']} thread each; nystrom_lib {machine['library']}, "
        f"scikit-learn {packages['scikit-learn']}{others}, numpy {packages['numpy']}"
    )
