"""What landmarks are for, above all: models. Ridge regressions on the features of each way's landmarks.

    python -m companion.studies.models

computes the study at full scale and stores it in ``results/beyond/models.json``; stopped, it goes on where it stopped.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache, cached_property, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh
from threadpoolctl import threadpool_limits

import nystrom_lib as nl

from ..atomic_write import write_text
from ..checkout import RESULTS, WORK
from ..experiments.outcome import Array
from ..experiments.paper import SEED
from ..results import provenance
from ..running.engine import compute

#: The ways compared, by the method of find_landmarks.
WAYS = {"uniform": "uniform", "k-means": "kmeans", "radial": "radial-skd", "trace": "trace"}
#: Ridge parameters tried, per training point.
RIDGES = tuple(10.0**power for power in range(-8, 0))
EXACT = "exact"  #: the way that has all training points as landmarks, with n = 0
FILE = Path("beyond") / "models.json"

#: What may differ when rows are computed again. Descents let rounding grow, and so does k-means.
_SAME = {way: 1e-6 for way in (EXACT, "uniform")} | {way: 0.05 for way in ("k-means", "radial", "trace")}


# -- tasks -------------------------------------------------------------------------------------------------------


class Task(NamedTuple):
    """Points, what is to be predicted of each, and how a prediction is judged."""

    points: Array
    target: Array
    loss: Callable[[Array, Array], float]


def root_mean_square(predicted: Array, target: Array) -> float:
    """Of the differences."""
    return float(np.sqrt(np.mean((predicted - target) ** 2)))


def wrong_class(predicted: Array, target: Array) -> float:
    """The share of points whose prediction has the wrong sign."""
    return float(np.mean(np.sign(predicted) != target))


@cache
def abalone_rings() -> Task:
    """Rings, by which the age is told, from sex and seven measurements."""
    points, rings = nl.datasets.abalone("sex"), nl.datasets.abalone("rings", standardise=False)
    return Task(points.X, np.asarray(rings.X[:, -1]), root_mean_square)


@cache
def magic_class() -> Task:
    """Gamma (1) or hadron (−1), from ten numbers about a picture of a shower of particles."""
    raw = (files("nystrom_lib.datasets") / "files" / "magic04.data.gz").read_bytes()
    lines = gzip.decompress(raw).decode("ascii").splitlines()
    signs = np.array([1.0 if line.rsplit(",", 1)[1] == "g" else -1.0 for line in lines])
    return Task(nl.datasets.magic(clean=False).X, signs, wrong_class)


TASKS: Mapping[str, Callable[[], Task]] = {"rings": abalone_rings, "class": magic_class}
DATA = {"rings": "Abalone", "class": "MAGIC"}
TITLES = {"rings": "Abalone's rings: error", "class": "MAGIC's class: share wrong"}


# -- one split ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Study:
    """What is computed; two that are equal have the same numbers."""

    N: int = 4_000  #: at most so many points to learn from and to test on
    n: tuple[int, ...] = (25, 50, 100, 200)  #: numbers of landmarks
    splits: int = 7  #: ways to split points into training and test
    rho_rings: float = 0.25
    rho_class: float = 0.2
    seed: int = SEED

    def rho(self, task: str) -> float:
        """The kernel's parameter."""
        return {"rings": self.rho_rings, "class": self.rho_class}[task]


FULL = Study()  #: what is stored

Row = dict[str, Any]


def split_rows(study: Study, name: str, split: int, ns: Iterable[int] | None = None) -> list[Row]:
    """One split of one task: a quarter of the points is for the test; a quarter of the rest chooses the ridge.

    A row has task, split, n, way; loss and squared (error) at the test points; residual, the mean of K − K̂ there; and
    lost: of the function f that the kernel itself fits, the part that its projection P_S f onto the landmarks leaves,
    the mean of (f − P_S f)² over the variance of f.
    """
    task, kernel = TASKS[name](), nl.Gaussian(rho=study.rho(name))
    chosen = np.random.default_rng([study.seed, split]).permutation(len(task.points))[: study.N]
    cut = len(chosen) // 4
    test, rest = chosen[:cut], chosen[cut:]
    fit = _Fit(task, kernel, rest[len(rest) // 4 :], rest[: len(rest) // 4], test)
    rows = [{"task": name, "split": split, "n": 0, "way": EXACT, **fit.exact}]
    for n in study.n if ns is None else ns:
        for way, method in WAYS.items():
            seed = np.random.SeedSequence([study.seed, split, n])
            with nl.threads(1):  # small problems, which several threads would only slow down
                sample = nl.find_landmarks(kernel, task.points[rest], n, method=method, seed=seed).sample
            rows.append({"task": name, "split": split, "n": n, "way": way, **fit.judged(sample)})
    return rows


@dataclass(frozen=True)
class _Fit:
    """Ridge regressions on some points, the ridge chosen on others, judged on others still."""

    task: Task
    kernel: nl.Kernel
    train: NDArray[np.int64]
    choose: NDArray[np.int64]
    test: NDArray[np.int64]

    @cached_property
    def mean(self) -> float:
        """Of what is to be predicted, which no regression has to learn."""
        return float(self.task.target[self.train].mean())

    def judged(self, sample: Array) -> Row:
        """With these landmarks."""
        model = nl.NystromApproximation(self.kernel, sample)
        train, choose, test = (model.features(self.task.points[some]) for some in (self.train, self.choose, self.test))
        gram, right = train.T @ train, train.T @ (self.task.target[self.train] - self.mean)
        ridged = (gram + ridge * len(self.train) * np.eye(len(gram)) for ridge in RIDGES)
        weights = self._chosen([cho_solve(cho_factor(each), right) for each in ridged], choose)
        whole, coefficients = self._whole
        lost = np.mean((whole - test @ (train.T @ coefficients)) ** 2) / np.var(whole)
        residual = model.residuals(self.task.points[self.test]).mean()
        return {**self._errors(test @ weights), "residual": float(residual), "lost": float(lost)}

    @property
    def exact(self) -> Row:
        """With the kernel itself: every training point is a landmark."""
        return {**self._errors(self._whole[0]), "residual": 0.0, "lost": 0.0}

    @cached_property
    def _whole(self) -> tuple[Array, Array]:
        """What the kernel itself fits: its values at the test points, and its coefficients at the training points."""
        points = self.task.points
        values, vectors = eigh(self.kernel.matrix(points[self.train]))
        right = vectors.T @ (self.task.target[self.train] - self.mean)
        tried = [right / (np.maximum(values, 0.0) + ridge * len(self.train)) for ridge in RIDGES]
        choose, test = (
            self.kernel.matrix(points[some], points[self.train]) @ vectors for some in (self.choose, self.test)
        )
        weights = self._chosen(tried, choose)
        return test @ weights, vectors @ weights

    def _chosen(self, tried: list[Array], features: Array) -> Array:
        """The weights with the lowest loss where the ridge is chosen."""
        target = self.task.target[self.choose]
        return min(tried, key=lambda weights: self.task.loss(features @ weights + self.mean, target))

    def _errors(self, fitted: Array) -> Row:
        target = self.task.target[self.test]
        squared = float(np.mean((fitted + self.mean - target) ** 2))
        return {"loss": self.task.loss(fitted + self.mean, target), "squared": squared}


# -- all of them -------------------------------------------------------------------------------------------------


def found(study: Study, results: Path, recompute: int = 0) -> tuple[pd.DataFrame, str]:
    """The stored rows if they are of this study, else computed ones, and where they come from in words.

    So many splits of each task are computed again, with the fewest landmarks, and must agree with the stored ones.
    """
    stored = load(results / FILE)
    if stored is None or stored[0] != study:
        rows = [row for name in TASKS for split in range(study.splits) for row in split_rows(study, name, split)]
        return pd.DataFrame(rows), "computed in this run"
    table, machine = stored[1:]
    for split in range(min(recompute, study.splits)):
        for name in TASKS:
            check(table, split_rows(study, name, split, study.n[:1]))
    day, commit = machine["started"][:10], (machine["commit"] or "")[:10]
    return table, f"computed on {day} on {machine['cpu']}, nystrom_lib {machine['library']} at commit {commit}"


def check(table: pd.DataFrame, rows: Iterable[Row]) -> None:
    """Refuse rows that differ from the stored ones by more than rounding, and what descents make of it, explain."""
    known = table.set_index(["task", "split", "n", "way"])
    for row in rows:
        before = known.loc[row["task"], row["split"], row["n"], row["way"]]
        for name in ("loss", "squared", "residual", "lost"):
            allowed = _SAME[row["way"]] * abs(before[name])
            if not abs(row[name] - before[name]) <= allowed:
                where = f"{row['task']}, split {row['split']}, n = {row['n']}, {row['way']}"
                raise ValueError(f"{name} of {where} is {row[name]:.6g}; stored is {before[name]:.6g}.")


def by_way(table: pd.DataFrame, quantity: str = "loss") -> pd.DataFrame:
    """Medians over the splits: a row for each n, a column for each way."""
    some = table[table["way"] != EXACT]
    wide = some.groupby(["n", "way"])[quantity].median().unstack("way")
    return wide[list(WAYS)]


def exact(table: pd.DataFrame, quantity: str = "loss") -> float:
    """The median of the kernel itself."""
    return float(table.loc[table["way"] == EXACT, quantity].median())


def added(table: pd.DataFrame) -> pd.Series:
    """By n: which part of the squared error uniform landmarks add to that of the kernel itself; of medians."""
    uniform = by_way(table, "squared")["uniform"]
    return 1.0 - exact(table, "squared") / uniform


def cases(table: pd.DataFrame) -> dict[str, dict[str, float]]:
    """The numbers by which questions about models are answered, by question and case."""
    parts = {name: table[table["task"] == name] for name in TASKS}
    rings, shower = (by_way(part) for part in parts.values())
    kept = {name: by_way(part, "lost") for name, part in parts.items()}
    return {
        "X11": _each(rings["trace"] / rings["uniform"]),
        "X12": _each(shower["trace"] / shower["uniform"]),
        "X13": _each(shower["k-means"] / shower["uniform"]),
        "X17": _both({name: wide["trace"] / wide["uniform"] for name, wide in kept.items()}),
        "X18": _both({name: added(part) for name, part in parts.items()}),
    }


def _each(numbers: pd.Series) -> dict[str, float]:
    return {f"n = {n}": float(each) for n, each in numbers.items()}


def _both(numbers: Mapping[str, pd.Series]) -> dict[str, float]:
    return {f"{DATA[name]}, {n}": value for name, each in numbers.items() for n, value in _each(each).items()}


def load(path: Path) -> tuple[Study, pd.DataFrame, dict[str, Any]] | None:
    """What :func:`main` wrote: the study, its rows, the machine."""
    if not path.is_file():
        return None
    stored = json.loads(path.read_text(encoding="utf-8"))
    asked: dict[str, Any] = stored["study"]
    return (
        Study(**asked | {"n": tuple(asked["n"])}),
        pd.DataFrame(stored["rows"], columns=stored["columns"]),
        stored["machine"],
    )


def _split(study: Study, key: tuple[str, int], _: object = None) -> list[Row]:
    with threadpool_limits(1):
        return split_rows(study, *key)


def main(study: Study = FULL, path: Path = RESULTS / FILE, work: Path = WORK / "models", threads: int = 2) -> int:
    """Compute and store; each finished split has a file in a folder below ``work``."""
    plain = _plain(study)
    folder = work / hashlib.sha256(json.dumps(plain).encode()).hexdigest()[:16]
    splits = {f"{name}-{split}": (name, split) for name in sorted(TASKS) for split in range(study.splits)}
    done = compute(partial(_split, study), splits, folder, threads=threads, title="models", unit="split")
    rows = [row for piece in done.values() for row in piece.value]
    head = {"machine": provenance.session(threads={"splits": threads, "each": 1}), "study": plain}
    text = json.dumps(head | {"columns": list(rows[0])})[:-1] + ', "rows": [\n'
    text += ",\n".join(json.dumps(list(row.values())) for row in rows) + "\n]}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text)
    print(f"models: {path}")
    return 0


def _plain(study: Study) -> Row:
    return json.loads(json.dumps(asdict(study)))  # type: ignore[no-any-return]


if __name__ == "__main__":
    sys.exit(main())
