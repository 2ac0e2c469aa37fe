"""What one optimised landmark is worth."""

from __future__ import annotations

import numpy as np

import nystrom_lib as nl

from ..experiments.outcome import Array


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
