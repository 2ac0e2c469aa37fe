"""The oracle itself, against numpy, against other definitions and against published digits."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb

from tests import oracle
from tests.cases import cloud, notebook_data, notebook_sample

KERNELS = [
    oracle.gaussian(0.7),
    oracle.matern(0.5, 0.8),
    oracle.matern(1.5, 0.6),
    oracle.matern(2.5, 1.3),
    oracle.rational_quadratic(1.7, 0.9),
    oracle.polynomial(3, 0.4, 1.2),
]


def numpy_kernel(kernel: oracle.OracleKernel, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """K by numpy in double precision, with the parameters of `KERNELS`."""
    r = np.linalg.norm(A[:, None] - B[None], axis=2)
    with np.errstate(all="ignore"):
        values: dict[str, np.ndarray] = {
            "gaussian": np.exp(-0.7 * r**2),
            "matern12": np.exp(-r / 0.8),
            "matern32": (1 + np.sqrt(3) * r / 0.6) * np.exp(-np.sqrt(3) * r / 0.6),
            "matern52": (1 + np.sqrt(5) * r / 1.3 + 5 * r**2 / (3 * 1.3**2)) * np.exp(-np.sqrt(5) * r / 1.3),
            "rational_quadratic": (1 + r**2 / (2 * 1.7 * 0.9**2)) ** -1.7,
            "polynomial": (1.2 * A @ B.T + 0.4) ** 3,
        }
    return values[kernel.name]


def numpy_skd(kernel: oracle.OracleKernel, X: np.ndarray, S: np.ndarray) -> float:
    """Eq. (3) by numpy."""
    K, C, W = (numpy_kernel(kernel, *pair) for pair in ((X, X), (S, X), (S, S)))
    return float(np.sum(K**2) - np.sum(C**2) ** 2 / np.sum(W**2))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_values_agree_with_numpy(kernel: oracle.OracleKernel) -> None:
    """Catches a wrong constant or sign in an oracle kernel or in its Eq. (3)."""
    X, S = cloud(2, 7, 3)
    result = oracle.radial_skd(kernel, X, S)
    assert oracle.squared_kernel(kernel, S, X).value == pytest.approx(numpy_kernel(kernel, S, X) ** 2, rel=1e-13)
    assert result.value == pytest.approx(numpy_skd(kernel, X, S), rel=1e-12)
    assert oracle.radial_skd_value(kernel, X, S) == pytest.approx(result.value, rel=1e-14)
    assert result.norm2 - result.c * result.T1 == pytest.approx(result.value, rel=1e-12)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_matern_agrees_with_its_bessel_definition(nu: float) -> None:
    """Catches a Matérn closed form that is not the Matérn kernel of its ν."""
    with oracle.precision():
        for r in (1e-3, 0.4, 3.0):
            closed = oracle.matern(nu, 0.7)([arb(r)], [arb(0)])
            assert closed.overlaps(oracle.matern_by_bessel(nu, 0.7, r))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_automatic_derivatives_agree_with_differences_of_numpy(kernel: oracle.OracleKernel) -> None:
    """Catches a wrong product or chain rule in the oracle's jets."""
    X, S = cloud(2, 5, 3)
    result, h = oracle.radial_skd(kernel, X, S), 1e-5
    steps = np.eye(6).reshape(6, 3, 2) * h
    gradient = [(numpy_skd(kernel, X, S + e) - numpy_skd(kernel, X, S - e)) / (2 * h) for e in steps]
    assert result.gradient.ravel() == pytest.approx(np.array(gradient), rel=1e-7, abs=1e-8)
    up_down = [(oracle.radial_skd(kernel, X, S + e), oracle.radial_skd(kernel, X, S - e)) for e in steps]
    hessian = np.array([(up.gradient - down.gradient).ravel() / (2 * h) for up, down in up_down])
    c_gradient = np.array([(up.c - down.c) / (2 * h) for up, down in up_down])
    assert result.hessian == pytest.approx(hessian, rel=1e-7, abs=1e-7)
    assert result.c_gradient.ravel() == pytest.approx(c_gradient, rel=1e-7, abs=1e-8)


def test_errors_agree_with_numpy_where_numpy_can() -> None:
    """Catches a wrong solve, a wrong norm or a wrong tail in the oracle."""
    X, S = cloud(2, 40, 6)
    kernel = KERNELS[0]
    K, C, W = (numpy_kernel(kernel, *pair) for pair in ((X, X), (S, X), (S, S)))
    E = K - C.T @ np.linalg.solve(W, C)
    errors = oracle.nystrom_errors(kernel, X, S)
    assert errors.trace == pytest.approx(np.trace(E), rel=1e-9)
    assert errors.trace == pytest.approx(oracle.trace_error(kernel, X, S), rel=1e-12)
    assert errors.frobenius == pytest.approx(np.linalg.norm(E), rel=1e-9)
    assert errors.spectral == pytest.approx(np.linalg.norm(E, 2), rel=1e-9)
    tail = np.linalg.eigvalsh(K)[::-1][6:]
    best = oracle.best_rank_errors(kernel, X, 6)
    expected = (np.sum(tail), np.linalg.norm(tail), tail[0])
    assert (best.trace, best.frobenius, best.spectral) == pytest.approx(expected, rel=1e-9)
    assert oracle.condition_number(kernel, S) == pytest.approx(np.linalg.cond(W, "fro"), rel=1e-8)


def test_trace_error_agrees_with_the_notebook() -> None:
    """Catches a data protocol or a kernel parameter that differs from the published 560.243."""
    trace = oracle.trace_error(oracle.gaussian(16.0), notebook_data(), notebook_sample())
    assert f"{trace:.6g}" == "560.243"


def test_repeated_landmarks_change_nothing() -> None:
    """Catches an oracle that inverts an exactly singular matrix."""
    X, S = cloud(2, 20, 4)
    twice = oracle.trace_error(KERNELS[0], X, np.vstack([S, S[:2]]))
    assert twice == oracle.trace_error(KERNELS[0], X, S)


def test_coinciding_points_are_the_limit_of_near_ones() -> None:
    """Catches a wrong limit at r = 0, where the oracle may not differentiate a square root."""
    for kernel in (KERNELS[0], KERNELS[2], KERNELS[3], KERNELS[4]):
        at, near = (oracle.squared_kernel(kernel, [[0.0, 0.0]], [[r, 0.0]]) for r in (0.0, 1e-9))
        assert at.left_left == pytest.approx(near.left_left, rel=1e-7, abs=1e-7)
        assert at.left_right == pytest.approx(near.left_right, rel=1e-7, abs=1e-7)
        assert not at.left.any() and not at.right.any()
    with pytest.raises(ZeroDivisionError, match="no derivative"):
        oracle.squared_kernel(KERNELS[1], [[0.0, 0.0]], [[0.0, 0.0]])


def test_one_sample_bias_closed_form_is_the_enumerated_one() -> None:
    """Catches a wrong closed form: all N^b batches are enumerated in exact arithmetic."""
    X, S = cloud(2, 5, 2)
    estimators = oracle.Estimators(KERNELS[5], X, S)
    gradient = oracle.radial_skd(KERNELS[5], X, S).gradient
    for b in (1, 2, 3):
        mean = estimators.mean_over_batches("one", (b,))
        assert mean - gradient == pytest.approx(estimators.one_sample_bias(b), rel=1e-12)
    assert estimators.mean_over_batches("two", (2, 1)) == pytest.approx(gradient, rel=1e-14)


def test_uncertain_balls_are_refused() -> None:
    """Catches a `certified` that lets an unproven digit through."""
    with oracle.precision():
        assert oracle.certified(arb(2).sqrt()) == 2**0.5
        with pytest.raises(ArithmeticError, match="lost its digits"):
            oracle.certified(arb(1, 1e-10))
