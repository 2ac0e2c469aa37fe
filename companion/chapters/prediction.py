"""Chapter 11: landmarks that predict.

``python -m companion.chapters.prediction`` computes the study at full scale and stores it in
``results/beyond/prediction.json``.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

import nystrom_lib as nl

from ..atomic_write import write_rows
from ..checkout import RESULTS, WORK
from ..experiments.outcome import Array
from ..experiments.paper import SEED
from ..figures import panels, style
from ..results import provenance
from ..running.engine import compute
from ..settings import Settings, setting
from .base import Chapter

FILE = Path("beyond") / "prediction.json"
#: An earlier study: models on landmarks that have not seen the targets.
EARLIER = Path("beyond") / "models.json"
COLUMNS = ["problem", "split", "N", "n", "method", "error"]
PROBLEMS = ("rings", "class", "digits", "breast cancer", "diabetes", "friedman1")
TITLES = {
    "rings": "Abalone's rings", "class": "MAGIC's class", "digits": "digits", "breast cancer": "breast cancer",
    "diabetes": "diabetes", "friedman1": "Friedman's function",
}  # fmt: skip
#: Methods of find_landmarks by the name the chapter gives them; a supervised one is given the targets.
LANDMARKS = {"uniform": "uniform", "k-means": "kmeans", "radial": "radial-skd", "trace": "trace", "supervised": "auto"}
FITTED = "fitted scales"  #: NystroemRegressor or NystroemClassifier
OTHERS = ("support vectors", "kernel ridge", "boosting")
#: Relative differences allowed when rows are computed again: descents amplify rounding, and choices may flip.
SAME = {"uniform": 1e-6, "k-means": 0.05, "radial": 0.05, "trace": 0.05, "supervised": 0.1, FITTED: 0.1}


# -- parameters ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PredictionParameters(Settings):
    """The parameters of the chapter; the defaults are those of the stored study."""

    problems: tuple[str, ...] = setting(PROBLEMS, choices=PROBLEMS, meaning="what is predicted")
    N: int = setting(2_000, at_least=60, meaning="largest number of training points, and of test points")
    n: tuple[int, ...] = setting((10, 25, 50, 100, 200), at_least=1, meaning="numbers of landmarks")
    few: tuple[int, ...] = setting((100, 200), at_least=20, meaning="small numbers of training points, too")
    few_n: tuple[int, ...] = setting((10, 50), at_least=1, meaning="numbers of landmarks for these")
    splits: int = setting(5, at_least=1, at_most=100, meaning="random splits into training and test points")
    seed: int = setting(SEED, at_least=0, meaning="seed of splits and landmarks")


CHAPTER = Chapter(
    name="prediction",
    number=11,
    title="Landmarks that predict",
    section="beyond the paper",
    parameters=PredictionParameters,
    profiles={
        "quick": {"problems": ("rings", "diabetes"), "N": 500, "n": (10, 50), "few": (100,), "splits": 2},
        "smoke": {"problems": ("diabetes",), "N": 80, "n": (5, 10), "few": (40,), "few_n": (5,), "splits": 1},
    },
)


# -- the study -------------------------------------------------------------------------------------------------


class Split(NamedTuple):
    """Standardised training and test points with their targets."""

    X: Array
    y: Array
    new: Array
    truth: Array
    classes: bool

    def error(self, predicted: Array) -> float:
        """The share of wrong classes, or the root mean square error."""
        if self.classes:
            return float(np.mean(predicted != self.truth))
        return float(np.sqrt(np.mean(np.square(predicted - self.truth))))


def points_of(problem: str, seed: int) -> tuple[Array, Array, bool]:
    """Points, targets, and whether these are classes."""
    from sklearn import datasets

    if problem == "rings":
        data = nl.datasets.abalone("rings", standardise=False)
        return data.X[:, :-1], data.X[:, -1], False
    if problem == "class":
        X = nl.datasets.magic(clean=False).X
        return X, (np.arange(len(X)) < 12_332).astype(float), True  # the file has all gammas first
    if problem == "friedman1":
        X, y = datasets.make_friedman1(4_000, noise=1.0, random_state=seed)
        return X, y, False
    name = problem.replace(" ", "_")
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X, y, problem != "diabetes"


def split_of(problem: str, p: PredictionParameters, k: int, largest: int) -> Split:
    """The k-th split; a quarter of the points, at least, is for the test."""
    X, y, classes = points_of(problem, k)
    order = np.random.default_rng([p.seed, k]).permutation(len(X))
    cut = min(p.N, int(0.75 * len(X)))
    train, test = order[: min(cut, largest)], order[cut : cut + p.N]
    mean, spread = X[train].mean(axis=0), X[train].std(axis=0)
    spread[spread == 0.0] = 1.0
    return Split((X[train] - mean) / spread, y[train], (X[test] - mean) / spread, y[test], classes)


def landmark_error(split: Split, method: str, n: int, seed: np.random.SeedSequence) -> float:
    """The test error of ridge regression on Nyström features; the kernel is exp(−‖x − y‖²/(2d))."""
    from sklearn.linear_model import RidgeClassifierCV, RidgeCV
    from sklearn.preprocessing import LabelBinarizer

    from nystrom_lib.estimators import NystroemClassifier, NystroemRegressor

    if method == FITTED:
        number = int(seed.generate_state(1)[0] % 2**31)
        model = (NystroemClassifier if split.classes else NystroemRegressor)(n, random_state=number)
        return split.error(model.fit(split.X, split.y).predict(split.new))
    kernel = nl.Gaussian(0.5 / split.X.shape[1])
    given: dict[str, Any] = {"method": LANDMARKS[method], "seed": seed}
    if method == "supervised":
        given["targets"] = LabelBinarizer().fit_transform(split.y).astype(float) if split.classes else split.y
    features = nl.NystromApproximation(kernel, nl.find_landmarks(kernel, split.X, n, **given).sample).features
    ridge = (RidgeClassifierCV if split.classes else RidgeCV)(alphas=np.logspace(-6, 2, 17))
    return split.error(ridge.fit(features(split.X), split.y).predict(features(split.new)))


def other_error(split: Split, method: str, tuned: bool) -> float:
    """The test error of another model, at scikit-learn's defaults or tuned by three-fold cross-validation."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC, SVR

    d, y, names = split.X.shape[1], split.y, np.unique(split.y)
    model: Any
    grid: dict[str, Any]
    if method == "support vectors":
        model = SVC() if split.classes else SVR()
        spread = 1.0 if split.classes else float(np.std(y))
        grid = {"C": spread * np.array([1.0, 10.0, 100.0]), "gamma": np.array([0.1, 0.3, 1.0, 3.0]) / d}
    elif method == "kernel ridge":
        model = KernelRidge(kernel="rbf")
        grid = {"alpha": [1e-3, 1e-2, 0.1, 1.0], "gamma": np.array([0.03, 0.1, 0.3, 1.0]) / d}
        y = (split.y[:, None] == names).astype(float) if split.classes else y - y.mean()
    else:
        model = (HistGradientBoostingClassifier if split.classes else HistGradientBoostingRegressor)(random_state=0)
        grid = {"learning_rate": [0.05, 0.1], "max_leaf_nodes": [7, 31]}
    predicted = (GridSearchCV(model, grid, cv=3) if tuned else model).fit(split.X, y).predict(split.new)
    if method == "kernel ridge":
        predicted = names[predicted.argmax(axis=1)] if split.classes else predicted + split.y.mean()
    return split.error(predicted)


def rows(p: PredictionParameters, problem: str, k: int, quick: bool = False) -> Iterator[dict[str, Any]]:
    """The test errors of one split, a row for each method and numbers of landmarks and of training points.

    A quick one, of a few seconds, leaves out other models, few points, and all but the first numbers of landmarks.
    """
    tasks = [(p.N, n, method) for n in (p.n[:2] if quick else p.n) for method in (*LANDMARKS, FITTED)]
    tasks += [] if quick else [(few, n, method) for few in p.few for n in p.few_n for method in ("uniform", FITTED)]
    for N, n, method in tasks:
        split, seed = split_of(problem, p, k, N), np.random.SeedSequence([p.seed, k, n])
        error = landmark_error(split, method, min(n, len(split.X)), seed)
        yield {"problem": problem, "split": k, "N": N, "n": n, "method": method, "error": error}
    for method, tuned in itertools.product(() if quick else OTHERS, (False, True)):
        name = f"{method}, tuned" if tuned else method
        error = other_error(split_of(problem, p, k, p.N), method, tuned)
        yield {"problem": problem, "split": k, "N": p.N, "n": 0, "method": name, "error": error}


def found(p: PredictionParameters) -> tuple[pd.DataFrame, str]:
    """The stored rows, if they are of these parameters, else computed ones; and a sentence on where they come from."""
    stored = load()
    if stored is None or stored[0] != p.to_plain():
        every = (row for piece in itertools.product(p.problems, range(p.splits)) for row in rows(p, *piece))
        return pd.DataFrame(every), "All errors were computed in this run."
    table, machine = stored[1:]
    again = list(rows(p, "diabetes", 0, quick=True))
    check(table, again)
    where = f"on {machine['started'][:10]} on {machine['cpu']}, nystrom_lib {machine['library']}"
    return table, (
        f"The {len(table):,} errors were computed {where} at commit {(machine['commit'] or '')[:10]}. "
        f"{len(again)} of them were computed again and agree."
    )


def check(table: pd.DataFrame, again: Iterable[dict[str, Any]]) -> None:
    """Raise an error if rows that were computed again differ from the stored ones."""
    known = table.set_index(["problem", "split", "N", "n", "method"])["error"]
    for row in again:
        before = float(known[row["problem"], row["split"], row["N"], row["n"], row["method"]])
        if abs(row["error"] - before) > SAME[row["method"]] * before:
            raise ArithmeticError(f"The stored error is {before:.6g}; computed again: {row}.")


def load(results: Path = RESULTS) -> tuple[dict[str, Any], pd.DataFrame, dict[str, Any]] | None:
    """The stored study: its parameters, its rows, and the machine."""
    path = results / FILE
    if not path.is_file():
        return None
    stored = json.loads(path.read_text(encoding="utf-8"))
    return stored["study"], pd.DataFrame(stored["rows"], columns=stored["columns"]), stored["machine"]


def _piece(p: PredictionParameters, piece: tuple[str, int], _: object) -> list[list[Any]]:
    with threadpool_limits(1):
        return [list(row.values()) for row in rows(p, *piece)]


def main() -> None:
    """Compute the study, a piece at a time, and store it. A run that was stopped continues where it stopped."""
    machine = provenance.session(threads=1)
    if machine["dirty"]:
        sys.exit("Commit all changes first: a stored result names the commit that computed it.")
    p = PredictionParameters()
    folder = WORK / f"prediction-{machine['commit']}"
    each = {f"{problem}-{k}": (problem, k) for problem in p.problems for k in range(p.splits)}
    done = compute(partial(_piece, p), each, folder, title="prediction", unit="split")
    found = [row for piece in done.values() for row in piece.value]
    write_rows(RESULTS / FILE, {"machine": machine, "study": p.to_plain(), "columns": COLUMNS}, found)


# -- answers ---------------------------------------------------------------------------------------------------


def medians(table: pd.DataFrame, N: int) -> pd.Series:
    """Median errors by problem, method and number of landmarks, with this many training points at most."""
    return table[table["N"] == N].groupby(["problem", "method", "n"])["error"].median()


def cases(table: pd.DataFrame, p: PredictionParameters) -> Mapping[str, dict[str, float]]:
    """The numbers that answer the questions X19 to X24, by question and case."""
    small, large, small_few = nearest(p.n, 50), nearest(p.n, 200), nearest(p.few_n, 50)

    def ratios(first: tuple[str, int], second: tuple[str, int], N: int = p.N, more: str = "") -> dict[str, float]:
        errors = medians(table, N)
        return {f"{TITLES[each]}{more}": float(errors[each, *first] / errors[each, *second]) for each in p.problems}

    few = [ratios((FITTED, small_few), ("uniform", small_few), N, f", {N}") for N in p.few]
    return {
        "X19": ratios(("supervised", small), ("uniform", large)),
        "X20": ratios((FITTED, small), ("supervised", small)),
        "X21": ratios((FITTED, small), ("support vectors, tuned", 0)),
        "X22": ratios((FITTED, small), ("boosting, tuned", 0)),
        "X23": ratios((FITTED, large), (FITTED, small)),
        "X24": {name: value for each in few for name, value in each.items()},
    }


def earlier_cases(results: Path = RESULTS) -> dict[str, dict[str, float]]:
    """The numbers that answer X11, X12, X13, X17 and X18, by question and case; none if they are not stored."""
    if not (results / EARLIER).is_file():
        return {}
    stored = json.loads((results / EARLIER).read_text(encoding="utf-8"))
    table = pd.DataFrame(stored["rows"], columns=stored["columns"])
    table["data"] = table["task"].map({"rings": "Abalone", "class": "MAGIC"})
    medians = table.groupby(["data", "n", "way"])[["loss", "lost", "squared"]].median().unstack("way")
    loss, lost, squared = (medians[name] for name in ("loss", "lost", "squared"))
    # the rows called exact have all training points as landmarks, whatever n
    exact = table[table["way"] == "exact"].groupby("data")["squared"].median()
    numbers = {
        "X11": (loss["trace"] / loss["uniform"]).loc[["Abalone"]],
        "X12": (loss["trace"] / loss["uniform"]).loc[["MAGIC"]],
        "X13": (loss["k-means"] / loss["uniform"]).loc[["MAGIC"]],
        "X17": lost["trace"] / lost["uniform"],
        "X18": 1.0 - exact.reindex(squared.index, level="data") / squared["uniform"],
    }
    both = ("X17", "X18")
    return {
        name: {
            f"{data}, n = {n}" if name in both else f"n = {n}": float(each) for (data, n), each in row.dropna().items()
        }
        for name, row in numbers.items()
    }


def nearest(numbers: tuple[int, ...], wanted: int) -> int:
    """The one of these numbers of landmarks that a question is answered with; that of the question at full scale."""
    return min(numbers, key=lambda each: abs(each - wanted))


def by_method(table: pd.DataFrame, problem: str, p: PredictionParameters) -> pd.DataFrame:
    """Median errors: a row for each number of landmarks, a column for each method."""
    return medians(table, p.N)[problem].unstack("method").loc[list(p.n), [*LANDMARKS, FITTED]].reset_index()


def others(table: pd.DataFrame, p: PredictionParameters) -> pd.DataFrame:
    """Median errors of the estimator with about 50 landmarks, and of the other models."""
    n, wide = nearest(p.n, 50), medians(table, p.N).unstack(["method", "n"]).loc[list(p.problems)]
    columns = {f"{FITTED}, n = {n}": wide[FITTED, n]}
    columns |= {name: wide[name, 0] for each in OTHERS for name in (each, f"{each}, tuned")}
    return pd.DataFrame({"problem": map(TITLES.get, p.problems)}, index=wide.index).assign(**columns)


# -- pictures --------------------------------------------------------------------------------------------------

_COLOURS = dict(zip((*LANDMARKS, FITTED), (style.DATA, "#e8a33d", "#4c9a8f", "#8d97a1", style.OPTIMISED, "#b0325b"),
                    strict=True))  # fmt: skip


@style.drawn
def figure_errors(table: pd.DataFrame, p: PredictionParameters) -> Figure:
    """A panel for each problem."""
    figure, axes = panels.grid(len(p.problems), 2, 2.2)
    for panel, problem in zip(axes, p.problems, strict=True):
        wide = by_method(table, problem, p)
        for method, colour in _COLOURS.items():
            panel.plot(wide["n"], wide[method], "o-", color=colour, markersize=3, label=method)
        for method, dash in (("support vectors, tuned", "--"), ("boosting, tuned", ":")):
            level = medians(table, p.N)[problem, method, 0]
            panel.axhline(level, color=style.REFERENCE, linestyle=dash, linewidth=0.9, label=method)
        panel.set_xscale("log")
        style.label(panel, "$n$", "test error", TITLES[problem])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


@style.drawn
def figure_moves(p: PredictionParameters) -> Figure:
    """Where landmarks go when they are to predict."""
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (min(1_500, p.N), 2))
    y = np.sin(10.0 * X[:, 0]) * np.exp(-6.0 * np.square(X - [0.4, 0.3]).sum(axis=1))
    kernel = nl.Gaussian(16.0)
    trace, supervised = nl.find_landmarks(kernel, X, 12), nl.find_landmarks(kernel, X, 12, targets=y)
    figure, axes = style.subplots(1, 2, height=3.7, sharex=True, sharey=True)
    for panel, landmarks, title in zip(axes[0], (trace, supervised), ("trace error", "supervised"), strict=True):
        left = nl.PredictionError(kernel, X, y, ridge=0.1).value(landmarks.sample) / float(np.mean(y**2))
        panel.scatter(*X.T, c=y, s=9, cmap=style.COLOUR_MAP, alpha=0.9, linewidths=0, rasterized=True)
        if landmarks is supervised:
            for path in np.stack([landmarks.start, landmarks.sample], axis=1):
                panel.plot(*path.T, "-", color=style.PATH, linewidth=0.9)
            panel.plot(*landmarks.start.T, "s", color=style.INITIAL, linestyle="none", markersize=3.5)
        panel.plot(*landmarks.sample.T, "o", color=style.OPTIMISED, linestyle="none", markersize=5.5)
        panel.set_aspect("equal")
        style.label(panel, title=f"{title}: {100.0 * left:.0f} % left")
    return figure


if __name__ == "__main__":
    main()
