"""The authors' public notebook (energy-sampling, 2024): its printed table, digit for digit."""

from __future__ import annotations

import numpy as np
import pytest

import nystrom_lib as nl
from tests.cases import notebook_data, notebook_sample

KERNEL = nl.Gaussian(rho=16.0)
NORMS = ("trace", "frobenius", "spectral")


@pytest.fixture(scope="module")
def K() -> np.ndarray:
    return KERNEL.matrix(notebook_data())


def printed(errors: object) -> tuple[str, ...]:
    """Six significant digits, as the notebook prints them."""
    return tuple(f"{getattr(errors, norm):.6g}" for norm in NORMS)


def test_initial_row(K: np.ndarray) -> None:
    """Catches any slip in the kernel, the solve or the three norms."""
    errors = nl.nystrom_errors(KERNEL, notebook_data(), notebook_sample(), matrix=K)
    assert printed(errors) == ("560.243", "99.8438", "39.701")
    assert errors.rank == 50


def test_gradient_descent_row(K: np.ndarray) -> None:
    """Catches a wrong gradient, step or iteration count: 400 steps amplify any of them."""
    result = nl.gradient_descent(KERNEL, notebook_data(), notebook_sample(), step=1e-6, iterations=400)
    errors = nl.nystrom_errors(KERNEL, notebook_data(), result.sample, matrix=K)
    assert printed(errors) == ("302.91", "46.172", "17.0789")


def test_best_rank_row(K: np.ndarray) -> None:
    """Catches a tail that starts one eigenvalue early or late."""
    best = nl.best_rank_errors(KERNEL, notebook_data(), 50, matrix=K)
    assert (f"{best.trace:.7g}", f"{best.frobenius:.7g}", f"{best.spectral:.7g}") == (
        "194.4344",
        "28.24938",
        "8.194093",
    )


def test_stochastic_row_is_computable_with_supplied_batches() -> None:
    """Catches a descent that draws batches of its own although it was given the notebook's."""
    X, S = notebook_data(), notebook_sample()
    rng = np.random.default_rng(789)
    batches = np.array([rng.choice(len(X), 50, replace=True) for _ in range(1200)])
    result = nl.stochastic_gradient_descent(KERNEL, X, S, step=2e-7, iterations=1200, batches=batches)
    expected = S.copy()
    for batch in batches:
        expected -= 2e-7 * one_sample_by_numpy(X[batch], len(X), expected)
    assert result.sample == pytest.approx(expected, rel=1e-8, abs=1e-8)
    before, after = (nl.nystrom_errors(KERNEL, X, s, norms=("trace",)).trace for s in (S, result.sample))
    assert 302 < after < 0.65 * before


def one_sample_by_numpy(batch: np.ndarray, N: int, S: np.ndarray) -> np.ndarray:
    """Eq. (6) for the Gaussian kernel with ρ = 16, in the plainest numpy."""
    to_batch, to_sample = S[:, None] - batch[None], S[:, None] - S[None]
    k_batch = np.exp(-32 * np.sum(to_batch**2, axis=2))
    k_sample = np.exp(-32 * np.sum(to_sample**2, axis=2))
    T1 = N / len(batch) * k_batch.sum()
    T2 = N / len(batch) * np.sum(-64 * to_batch * k_batch[:, :, None], axis=1)
    upsilon = 2 * np.sum(-64 * to_sample * k_sample[:, :, None], axis=1)
    gradient: np.ndarray = T1**2 / k_sample.sum() ** 2 * upsilon - 2 * T1 / k_sample.sum() * T2
    return gradient
