"""Test errors of the supervised estimators beside scikit-learn's, on packaged and generated data.

``python -m benchmarks.prediction [--splits 5] [--full] [NAME ...]`` prints the median error of each method: the share
of wrong classes, or the root mean squared error. ``--full`` adds support vector machine or kernel ridge regression,
and gradient boosting, at their defaults. At most 4,000 points are trained on; features are standardised.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import nystrom_lib as nl
from nystrom_lib.estimators import NystroemClassifier, NystroemRegressor

LARGEST = 4_000
Problem = Callable[[int], tuple[Any, Any]]


def magic(seed: int) -> tuple[Any, Any]:
    """MAGIC's class: the file has all 12,332 gammas first."""
    X = nl.datasets.magic(clean=False).X
    return X, np.arange(len(X)) < 12_332


def abalone(seed: int) -> tuple[Any, Any]:
    """Abalone's rings from seven measurements."""
    data = nl.datasets.abalone("rings", clean=False, standardise=False)
    rings = data.columns.index("rings")
    return np.delete(data.X, rings, axis=1), data.X[:, rings]


def waveform(seed: int) -> tuple[Any, Any]:
    """Breiman's waveforms with 19 features of noise."""
    rng, t = np.random.default_rng(seed), np.arange(1, 22)
    waves = np.array([np.maximum(6 - abs(t - c), 0) for c in (11, 15, 7)])
    y, u = rng.integers(0, 3, 5_000), rng.random((5_000, 1))
    X = u * waves[np.array([0, 0, 1])[y]] + (1 - u) * waves[np.array([1, 2, 2])[y]]
    return np.hstack([X, np.zeros((5_000, 19))]) + rng.standard_normal((5_000, 40)), y


def ringnorm(seed: int) -> tuple[Any, Any]:
    """A wide and a narrow normal distribution."""
    rng = np.random.default_rng(seed)
    y, Z = rng.integers(0, 2, 5_000), rng.standard_normal((5_000, 20))
    return np.where(y[:, None] == 0, 2.0 * Z, Z + 2.0 / np.sqrt(20)), y


def mixtures(seed: int) -> tuple[Any, Any]:
    """Twenty-six classes, each a mixture of four normal distributions, in integers from 0 to 15."""
    rng = np.random.default_rng(seed)
    centres = 1.1 * rng.standard_normal((26, 1, 16)) + 0.9 * rng.standard_normal((26, 4, 16))
    shapes = 0.25 * rng.standard_normal((26, 4, 16, 16))
    y, part = rng.integers(0, 26, 5_000), rng.integers(0, 4, 5_000)
    X = centres[y, part] + np.einsum("nij,nj->ni", shapes[y, part], rng.standard_normal((5_000, 16)))
    return np.round(7.5 + 2.3 * X).clip(0, 15), y


def generated(**settings: Any) -> Problem:
    """Of scikit-learn's generator of clusters on the corners of a cube."""
    return lambda seed: datasets.make_classification(5_000, random_state=seed, **settings)


CLASSIFICATION: dict[str, Problem] = {
    "magic": magic,
    "digits": lambda seed: datasets.load_digits(return_X_y=True),
    "breast cancer": lambda seed: datasets.load_breast_cancer(return_X_y=True),
    "wine": lambda seed: datasets.load_wine(return_X_y=True),
    "iris": lambda seed: datasets.load_iris(return_X_y=True),
    "clusters, 2": generated(n_features=20, n_informative=5, flip_y=0.05),
    "clusters, 5": generated(n_features=50, n_informative=10, n_classes=5, n_clusters_per_class=3),
    "spheres": lambda seed: datasets.make_gaussian_quantiles(n_samples=5_000, n_features=16, random_state=seed),
    "waveform": waveform,
    "ringnorm": ringnorm,
    "mixtures, 26": mixtures,
}
REGRESSION: dict[str, Problem] = {
    "abalone": abalone,
    "diabetes": lambda seed: datasets.load_diabetes(return_X_y=True),
    "friedman 1": lambda seed: datasets.make_friedman1(3_000, noise=1.0, random_state=seed),
    "friedman 2": lambda seed: datasets.make_friedman2(3_000, noise=100.0, random_state=seed),
    "friedman 3": lambda seed: datasets.make_friedman3(3_000, noise=0.1, random_state=seed),
}


def methods(classes: bool, d: int, N: int, seed: int, full: bool) -> dict[str, Any]:
    """The estimators by name."""
    ridge = (RidgeClassifierCV if classes else RidgeCV)(alphas=np.logspace(-3, 3, 13))
    chosen: dict[str, Any] = {"ours 50": (NystroemClassifier if classes else NystroemRegressor)(50, random_state=seed)}
    for n in (200, 400):
        features = Nystroem(gamma=0.5 / d, n_components=min(n, N), random_state=seed)
        chosen[f"Nystroem {n}"] = make_pipeline(features, ridge)
    if full:
        chosen["SVC, KRR"] = SVC() if classes else KernelRidge(kernel="rbf", gamma=0.5 / d, alpha=0.1)
        chosen["boosting"] = (HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor)()
    return chosen


def errors(name: str, splits: int, full: bool) -> dict[str, float]:
    """Median errors, and our seconds."""
    classes = name in CLASSIFICATION
    found: dict[str, list[float]] = {}
    for seed in range(splits):
        X, y = (CLASSIFICATION | REGRESSION)[name](seed)
        X, new, y, truth = train_test_split(
            X, y, train_size=min(LARGEST, int(0.75 * len(X))), random_state=seed, stratify=y if classes else None
        )
        scaler = StandardScaler().fit(X)
        for method, estimator in methods(classes, X.shape[1], len(X), seed, full).items():
            began = time.perf_counter()
            predicted = estimator.fit(scaler.transform(X), y).predict(scaler.transform(new))
            found.setdefault("seconds", []).append(time.perf_counter() - began if method == "ours 50" else np.nan)
            error = np.mean(predicted != truth) if classes else np.sqrt(np.mean(np.square(predicted - truth)))
            found.setdefault(method, []).append(error)
    return {method: float(np.nanmedian(values)) for method, values in found.items()}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="problems; all by default")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--full", action="store_true", help="with support vector machine and gradient boosting")
    given = parser.parse_args()
    for name in given.names or [*CLASSIFICATION, *REGRESSION]:
        row = errors(name, given.splits, given.full)
        print(f"{name:14}", *(f"{method} {value:.4g}" for method, value in row.items()), sep="  ", flush=True)
