"""Seven ways to the trace error, §1.2: what becomes of the digits where K_S is nearly singular.

All but the last two are what one writes without thinking: an inverse, a cut-off, a shift. They are here to be compared
and nowhere used.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

import nystrom_lib as nl

from ..experiments.outcome import Array

Way = Callable[[Array, Array], Array]


def _pseudo_inverse(K_S: Array, k: Array) -> Array:
    """The diagonal of k(x)ᵀ K_S† k(x) with the default pseudo-inverse of NumPy, cut off at 1e-15."""
    inverse = np.linalg.pinv(K_S, rcond=1e-15)
    diagonal: Array = np.einsum("ij,ij->j", k, inverse @ k)
    return diagonal


def _cut_off(K_S: Array, k: Array) -> Array:
    """Eigenvalues below 1e-12 of the largest are left out."""
    values, vectors = np.linalg.eigh(K_S)
    kept = values > 1e-12 * values[-1]
    diagonal: Array = np.square(vectors[:, kept].T @ k / np.sqrt(values[kept])[:, None]).sum(axis=0)
    return diagonal


def _shifted(shift: float) -> Way:
    def way(K_S: Array, k: Array) -> Array:
        return _cholesky(K_S + shift * np.eye(len(K_S)), k)

    return way


def _cholesky(K_S: Array, k: Array) -> Array:
    """A plain Cholesky factor, without pivoting; it may not exist."""
    from scipy.linalg import solve_triangular

    factor = np.linalg.cholesky(K_S)
    diagonal: Array = np.square(solve_triangular(factor, k, lower=True)).sum(axis=0)
    return diagonal


def _rounding_shift(K_S: Array, k: Array) -> Array:
    return _shifted(float(np.finfo(float).eps * np.trace(K_S)))(K_S, k)


#: By the name the table gives them; each takes K_S and the n × N matrix of K(s_j, x_i), and gives K̂(x_i, x_i).
WAYS: dict[str, Way] = {
    "pseudo-inverse (`pinv`, cut-off 1e-15)": _pseudo_inverse,
    "eigenvalues below 1e-12 λ₁ left out": _cut_off,
    "1e-8 added to the diagonal (“jitter”)": _shifted(1e-8),
    "ε tr(K_S) added to the diagonal": _rounding_shift,
    "Cholesky without pivoting": _cholesky,
}
OURS = "Cholesky with pivoting, in double precision"
AUTO = "the library's default"


def trace_errors(kernel: nl.Kernel, data: Array, sample: Array) -> pd.Series:
    """‖K − K̂(S)‖_* by each way; NaN where a way breaks down. Under ``"exact"``, the library's 32-digit value."""
    K_S, k = kernel.matrix(sample), kernel.matrix(sample, data)
    diagonal = kernel.diagonal(data)
    traces = {name: _attempt(way, K_S, k, diagonal) for name, way in WAYS.items()}
    traces[OURS] = nl.nystrom_errors(kernel, data, sample, "trace", precision="double").trace
    traces[AUTO] = nl.nystrom_errors(kernel, data, sample, "trace").trace
    traces["exact"] = nl.nystrom_errors(kernel, data, sample, "trace", precision="extended").trace
    return pd.Series(traces)


def _attempt(way: Way, K_S: Array, k: Array, diagonal: Array) -> float:
    try:
        return float((diagonal - way(K_S, k)).sum())
    except np.linalg.LinAlgError:
        return float("nan")


def comparison(kernel: nl.Kernel, data: Array, samples: dict[int, Array]) -> pd.DataFrame:
    """A row for each way, and for each n the relative error of the trace error that it gives, signed."""
    columns = {n: trace_errors(kernel, data, sample) for n, sample in samples.items()}
    table = pd.DataFrame(columns)
    return table.drop("exact") / table.loc["exact"] - 1.0


def conditions(kernel: nl.Kernel, samples: dict[int, Array]) -> dict[int, float]:
    """The condition number of K_S for each n, as far as double precision can tell."""
    return {n: float(np.linalg.cond(kernel.matrix(sample))) for n, sample in samples.items()}
