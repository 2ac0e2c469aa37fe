"""What landmarks are for besides models: designs, a picture of the data, and what one landmark is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh, orthogonal_procrustes
from scipy.stats import qmc

import nystrom_lib as nl

from ..experiments.outcome import Array

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
