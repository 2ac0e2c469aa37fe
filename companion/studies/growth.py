"""How the error falls as landmarks are added, §1.2, and how fast it could fall."""

from __future__ import annotations

import numpy as np
import pandas as pd

import nystrom_lib as nl

from ..experiments.config import NORMS
from ..experiments.outcome import Array


def optimal_errors(kernel: nl.Kernel, data: Array, ns: tuple[int, ...], matrix: Array | None = None) -> pd.DataFrame:
    """The norms of K − K_n for several n from one spectrum: columns n, trace, frobenius, spectral.

    Where the eigenvalues beyond the n-th drown in the rounding of the first, the library finds them another way.
    """
    K = kernel.matrix(data) if matrix is None else matrix
    values = np.linalg.eigvalsh(K)[::-1]
    noise = 10.0 * len(data) * np.finfo(float).eps * values[0]
    rows = []
    for n in ns:
        tail = np.maximum(values[n:], 0.0)
        if len(tail) and tail[0] < noise:
            best = nl.best_rank_errors(kernel, data, n, matrix=K)
            rows.append((n, best.trace, best.frobenius, best.spectral))
        else:
            rows.append((n, tail.sum(), np.sqrt(np.square(tail).sum()), tail[0] if len(tail) else 0.0))
    return pd.DataFrame(rows, columns=["n", *NORMS])


@nl.threads(1)
def random_errors(
    kernel: nl.Kernel, data: Array, ns: tuple[int, ...], m: int, seed: int, matrix: Array | None = None
) -> pd.DataFrame:
    """The same norms of K − K̂(S) for m uniform samples of each size: columns n, repetition and the norms."""
    K = kernel.matrix(data) if matrix is None else matrix
    rows = []
    for n in ns:
        for j in range(m):
            errors = nl.nystrom_errors(
                kernel, data, nl.uniform_sample(data, n, np.random.default_rng([seed, n, j])), matrix=K
            )
            rows.append((n, j, errors.trace, errors.frobenius, errors.spectral))
    return pd.DataFrame(rows, columns=["n", "repetition", *NORMS])
