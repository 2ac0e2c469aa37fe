"""What landmarks are for: prediction, designs of experiments, a picture of the data, and what one landmark is worth."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh, orthogonal_procrustes
from scipy.stats import qmc

import nystrom_lib as nl

from ..experiments.outcome import Array

#: The ways compared, by the method of find_landmarks.
WAYS = {"uniform": "uniform", "k-means": "kmeans", "radial": "radial-skd", "trace": "trace"}
#: Ridge parameters tried, per training point.
RIDGES = tuple(10.0**power for power in range(-8, 0))


# -- prediction --------------------------------------------------------------------------------------------------


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


def abalone_rings() -> Task:
    """Rings, by which the age is told, from sex and seven measurements."""
    points, rings = nl.datasets.abalone("sex"), nl.datasets.abalone("rings", standardise=False)
    return Task(points.X, np.asarray(rings.X[:, -1]), root_mean_square)


def magic_class() -> Task:
    """Gamma (1) or hadron (−1), from ten numbers about a picture of a shower of particles."""
    raw = (files("nystrom_lib.datasets") / "files" / "magic04.data.gz").read_bytes()
    lines = gzip.decompress(raw).decode("ascii").splitlines()
    signs = np.array([1.0 if line.rsplit(",", 1)[1] == "g" else -1.0 for line in lines])
    return Task(nl.datasets.magic(clean=False).X, signs, wrong_class)


def predictions(task: Task, rho: float, ns: Sequence[int], splits: int, N: int, seed: int) -> pd.DataFrame:
    """Test losses of ridge regressions on the features of each way's landmarks, and of the whole kernel.

    For each split, a quarter of at most N points is for the test; a quarter of the rest chooses the ridge.

    Returns
    -------
    DataFrame
        Columns split, n, way, loss, residual (the mean of K − K̂ over the test points). The way "exact" has all
        training points as landmarks, and n = 0.
    """
    kernel, rows = nl.Gaussian(rho=rho), []
    for split in range(splits):
        rng = np.random.default_rng([seed, split])
        chosen = rng.permutation(len(task.points))[:N]
        cut = len(chosen) // 4
        test, rest = chosen[:cut], chosen[cut:]
        fitted = _Fit(task, kernel, rest[len(rest) // 4 :], rest[: len(rest) // 4], test)
        rows.append({"split": split, "n": 0, "way": "exact", "loss": fitted.exact(), "residual": 0.0})
        train = task.points[rest]
        for n in ns:
            for way, method in WAYS.items():
                own = np.random.SeedSequence([seed, split, n])
                with nl.threads(1):  # small problems, which several threads would only slow down
                    sample = nl.find_landmarks(kernel, train, n, method=method, seed=own).sample
                loss, residual = fitted.judged(sample)
                rows.append({"split": split, "n": n, "way": way, "loss": loss, "residual": residual})
    return pd.DataFrame(rows)


class _Fit(NamedTuple):
    """One split."""

    task: Task
    kernel: nl.Kernel
    train: NDArray[np.int64]
    choose: NDArray[np.int64]
    test: NDArray[np.int64]

    def judged(self, sample: Array) -> tuple[float, float]:
        """The test loss with these landmarks, and the mean error of the approximation at the test points."""
        points, mean = self.task.points, self.task.target[self.train].mean()
        model = nl.NystromApproximation(self.kernel, sample)
        features = {name: model.features(points[getattr(self, name)]) for name in ("train", "choose", "test")}
        gram = features["train"].T @ features["train"]
        right = features["train"].T @ (self.task.target[self.train] - mean)
        best, weights = np.inf, right
        for ridge in RIDGES:
            tried = cho_solve(cho_factor(gram + ridge * len(self.train) * np.eye(len(gram))), right)
            loss = self.task.loss(features["choose"] @ tried + mean, self.task.target[self.choose])
            if loss < best:
                best, weights = loss, tried
        loss = self.task.loss(features["test"] @ weights + mean, self.task.target[self.test])
        return loss, float(model.residuals(points[self.test]).mean())

    def exact(self) -> float:
        """The test loss of the ridge regression with the kernel itself: every training point is a landmark."""
        points, mean = self.task.points, self.task.target[self.train].mean()
        matrix = self.kernel.matrix(points[self.train])
        values, vectors = eigh(matrix)
        right = vectors.T @ (self.task.target[self.train] - mean)
        losses = []
        blocks = [(self.kernel.matrix(points[some], points[self.train]) @ vectors, self.task.target[some])
                  for some in (self.choose, self.test)]  # fmt: skip
        for ridge in RIDGES:
            weights = right / (np.maximum(values, 0.0) + ridge * len(self.train))
            losses.append([self.task.loss(block @ weights + mean, target) for block, target in blocks])
        return float(min(losses)[1])


def by_way(table: pd.DataFrame, quantity: str = "loss") -> pd.DataFrame:
    """Medians over the splits: a row for each n, a column for each way."""
    some = table[table["way"] != "exact"]
    wide = some.groupby(["n", "way"])[quantity].median().unstack("way")
    return wide[list(WAYS)]


# -- designs -----------------------------------------------------------------------------------------------------


def square(points: Array) -> NDArray[np.bool_]:
    """All of [0, 1]²."""
    return np.ones(len(points), dtype=bool)


def bay(points: Array) -> NDArray[np.bool_]:
    """[0, 1]² without a disc at its right side."""
    inside: NDArray[np.bool_] = np.hypot(points[:, 0] - 1.0, points[:, 1] - 0.5) > 0.4
    return inside


REGIONS: Mapping[str, Callable[[Array], NDArray[np.bool_]]] = {"square": square, "bay": bay}


def evenly(region: str, N: int) -> Array:
    """N points spread evenly over a region: those of an unscrambled Sobol sequence that lie in it."""
    drawn = np.asarray(qmc.Sobol(2, scramble=False).random(4 * 2 ** int(np.ceil(np.log2(N)))), dtype=np.float64)
    return np.ascontiguousarray(drawn[REGIONS[region](drawn)][:N])


def design(way: str, region: str, n: int, kernel: nl.Kernel, data: Array, seed: int) -> Array:
    """n points of a region to measure at."""
    if way == "descent":
        with nl.threads(1):
            moved = nl.find_landmarks(kernel, data, n, seed=seed).sample
        nearest = ((moved[:, None] - data[None]) ** 2).sum(axis=-1).argmin(axis=1)
        return np.where(REGIONS[region](moved)[:, None] & _in_square(moved)[:, None], moved, data[nearest])
    if way == "uniform":
        return nl.uniform_sample(data, n, seed)
    # As many as it takes to have n inside: a hypercube is drawn anew, a sequence goes on.
    sobol = np.asarray(qmc.Sobol(2, rng=seed).random(4 * 2 ** int(np.ceil(np.log2(n)))))
    cube = qmc.LatinHypercube(2, rng=seed)
    for count in range(n, 4 * n):
        drawn = np.asarray(cube.random(count)) if way == "Latin hypercube" else sobol[:count]
        inside = drawn[REGIONS[region](drawn)]
        if len(inside) >= n:
            return np.ascontiguousarray(inside[:n])
    raise ValueError(f"{way} has no {n} points in the region {region}.")


def _in_square(points: Array) -> NDArray[np.bool_]:
    return np.asarray(((points >= 0.0) & (points <= 1.0)).all(axis=1))


DESIGNS = ("uniform", "Latin hypercube", "Sobol", "descent")


def mean_variance(kernel: nl.Kernel, data: Array, sample: Array, noise: float = 0.0) -> float:
    """The posterior variance of a Gaussian process measured at a sample, averaged over the data.

    Without noise it is tr(K − K̂(S))/N.
    """
    if noise == 0.0:
        return float(nl.NystromApproximation(kernel, sample).residuals(data).mean())
    factor = cho_factor(kernel.matrix(sample) + noise * np.eye(len(sample)), lower=True)
    block = kernel.matrix(sample, data)
    return float(np.mean(kernel.diagonal(data) - (block * cho_solve(factor, block)).sum(axis=0)))


def designs(kernel: nl.Kernel, ns: Sequence[int], N: int, seeds: int, noise: float) -> pd.DataFrame:
    """Mean posterior variance of every design: columns region, n, way, seed, variance, noisy."""
    rows = []
    for region in REGIONS:
        data = evenly(region, N)
        for n in ns:
            for way in DESIGNS:
                for seed in range(seeds):
                    sample = design(way, region, n, kernel, data, seed)
                    variances = (mean_variance(kernel, data, sample, each) for each in (0.0, noise))
                    rows.append((region, n, way, seed, *variances))
    return pd.DataFrame(rows, columns=["region", "n", "way", "seed", "variance", "noisy"])


# -- a picture -----------------------------------------------------------------------------------------------------


def principal(features: Array, components: int = 2) -> Array:
    """The first principal components of features."""
    centred = features - features.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    scores: Array = u[:, :components] * s[:components]
    return scores


def kernel_pca(kernel: nl.Kernel, data: Array) -> Array:
    """The first two components of the kernel itself."""
    matrix = kernel.matrix(data)
    matrix = matrix - matrix.mean(axis=0) - matrix.mean(axis=1)[:, None] + matrix.mean()
    values, vectors = eigh(matrix, subset_by_index=[len(data) - 2, len(data) - 1])
    scores: Array = vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0))
    return scores


def turned(scores: Array, onto: Array) -> tuple[Array, float]:
    """Scores, turned and mirrored to lie on others as well as they can, and the share that still differs."""
    rotation, _ = orthogonal_procrustes(scores, onto)
    laid: Array = scores @ rotation
    return laid, float(np.linalg.norm(laid - onto) / np.linalg.norm(onto))


# -- what one landmark is worth ------------------------------------------------------------------------------------


def worth(kernel: nl.Kernel, data: Array, n: int, error: float, seeds: int, seed: int) -> float:
    """How many uniform landmarks have this median trace error, over n; log-linear between the numbers tried."""
    ns, errors = [n], [_uniform_error(kernel, data, n, seeds, seed)]
    while errors[-1] > error and ns[-1] < min(8 * n, len(data) // 2):
        ns.append(min(int(1.3 * ns[-1]), len(data)))
        errors.append(_uniform_error(kernel, data, ns[-1], seeds, seed))
    return float(np.exp(np.interp(-np.log(error), -np.log(errors), np.log(ns)))) / n


def _uniform_error(kernel: nl.Kernel, data: Array, n: int, seeds: int, seed: int) -> float:
    samples = (nl.uniform_sample(data, n, np.random.SeedSequence(seed, spawn_key=(n, j))) for j in range(seeds))
    return float(np.median([nl.nystrom_errors(kernel, data, sample, "trace").trace for sample in samples]))
