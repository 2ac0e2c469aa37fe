"""The prediction error: against interval arithmetic, differences and scikit-learn, and where it is ill-conditioned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from flint import arb
from sklearn.kernel_ridge import KernelRidge

import nystrom_lib as nl
from nystrom_lib.landmarks.objectives import prediction_error
from tests import oracle
from tests.cases import Floats, cloud, pair

RADIAL = ("gaussian", "matern12", "matern32", "matern52", "rational_quadratic")


def exact(
    kernel: oracle.OracleKernel, X: Floats, Y: Floats, S: Floats, ridge: float, batch: Sequence[int] | None = None
) -> tuple[float, Floats]:
    """(‖Y‖² − tr gᵀB⁻¹g)/b with B = CCᵀ + λ(b/N)W and g = CY, eliminated in 300 bits with its derivatives."""
    with oracle.precision():
        chosen = range(len(X)) if batch is None else batch
        P, n, m = oracle.points(S), len(S), S.size
        share = arb(ridge) * len(chosen) / len(X)
        W = oracle._landmark_jets(kernel, P)
        C = [oracle._point_jets(kernel, P, x) for x in oracle.points(X[list(chosen)])]
        zero = oracle.Jet.constant(0, m)
        B = [[sum((c[i] * c[j] for c in C), W[i][j] * share) for j in range(n)] for i in range(n)]
        total = zero
        for column in Y[list(chosen)].T:
            values = [arb(float(y)) for y in column]
            g = [sum((c[i] * y for c, y in zip(C, values, strict=True)), zero) for i in range(n)]
            corner = oracle.Jet.constant(sum((y * y for y in values), arb(0)), m)
            total = total + oracle._left_over(B, g, corner)
        total = total * (1 / arb(len(chosen)))
        gradient = oracle._block(total.gradient, range(m), range(1)).reshape(S.shape)
        return oracle.certified(total.value, relative=1e-15), gradient


def problem(d: int, N: int, n: int, q: int = 2) -> tuple[Floats, Floats, Floats]:
    X, S = cloud(d, N, n)
    return X, S, np.random.default_rng(5).standard_normal((N, q))


@pytest.mark.parametrize("name", RADIAL)
def test_value_and_gradient_agree_with_the_oracle(name: str) -> None:
    """Catches a factor, a sign, or a term of the envelope theorem left out; from all points and from a batch."""
    kernel, reference = pair(name)
    X, S, Y = problem(3, 9, 3)
    objective = nl.PredictionError(kernel, X, Y, ridge=0.2)
    value, gradient = exact(reference, X, Y, S, 0.2)
    assert objective.value(S) == pytest.approx(value, rel=1e-12)
    assert objective.gradient(S) == pytest.approx(gradient, abs=1e-10 * np.abs(gradient).max())
    batch = [0, 4, 4, 8]
    value, gradient = exact(reference, X, Y, S, 0.2, batch)
    assert objective.prepare(3, 4)(S, np.array(batch))[0] == pytest.approx(value, rel=1e-12)
    assert objective.gradient(S, batch) == pytest.approx(gradient, abs=1e-10 * np.abs(gradient).max())


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", RADIAL)
def test_derivatives_are_those_of_the_value(name: str, intercept: bool) -> None:
    """Central differences, in the landmarks and in the logarithms of scales, with weights."""
    kernel, _ = pair(name)
    X, S, Y = problem(4, 40, 5)
    weights = np.random.default_rng(2).random(40)
    h, root = 1e-5, np.sqrt([0.5, 1.0, 2.0, 0.1])

    def fit(S: Floats, root: Floats) -> prediction_error.Fit:
        return prediction_error.fit(kernel, S * root, X * root, Y + 1.0, 0.3, weights, intercept=intercept)

    found = fit(S, root)
    for l in range(4):
        E = np.zeros_like(S)
        E[2, l] = h
        slope = (fit(S + E, root).value - fit(S - E, root).value) / (2 * h)
        assert found.gradient[2, l] * root[l] == pytest.approx(slope, rel=1e-6, abs=1e-8)
        factor = np.exp(0.5 * h * np.eye(4)[l])
        slope = (fit(S, root * factor).value - fit(S, root / factor).value) / (2 * h)
        assert found.scale_gradient[l] == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_blocks_are_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a block that is left out or counted twice when not all kernel values are in memory at once."""
    X, S, Y = problem(3, 50, 6)
    weights = np.random.default_rng(2).random(50)
    whole = prediction_error.fit(nl.Gaussian(0.7), S, X, Y, 0.3, weights, intercept=True)
    monkeypatch.setattr(prediction_error, "BLOCK", 6 * 7)
    parts = prediction_error.fit(nl.Gaussian(0.7), S, X, Y, 0.3, weights, intercept=True)
    for found, expected in zip(parts, whole, strict=True):
        assert found == pytest.approx(expected, rel=1e-10)


def test_weights_are_repetitions() -> None:
    X, S, Y = problem(3, 30, 4)
    weights = np.arange(30) % 3
    repeated = np.repeat(np.arange(30), weights)
    found = prediction_error.fit(nl.Gaussian(0.7), S, X, Y, 0.3, weights.astype(float))
    expected = prediction_error.fit(nl.Gaussian(0.7), S, X[repeated], Y[repeated], 0.3)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-9)


def test_with_all_points_it_is_kernel_ridge_regression() -> None:
    """Catches λ divided or multiplied by N, and coefficients that do not predict."""
    X, _, Y = problem(2, 25, 3)
    kernel = nl.Gaussian(0.7)
    objective = nl.PredictionError(kernel, X, Y[:, 0], ridge=0.5)
    theirs = KernelRidge(alpha=0.5, kernel="rbf", gamma=0.7).fit(X, Y[:, 0])
    assert kernel.matrix(X) @ objective.coefficients(X)[:, 0] == pytest.approx(theirs.predict(X), abs=1e-8)
    dual = 0.5 * float(Y[:, 0] @ np.linalg.solve(kernel.matrix(X) + 0.5 * np.eye(25), Y[:, 0])) / 25
    assert objective.value(X) == pytest.approx(dual, rel=1e-9)


def test_an_intercept_is_not_penalised() -> None:
    """Catches a constant that is: as a column of ones whose coefficient has no penalty."""
    X, S, Y = problem(2, 25, 3)
    kernel, weights = nl.Gaussian(0.7), np.random.default_rng(1).random(25)
    found = prediction_error.fit(kernel, S, X, Y + 3.0, 0.3, weights, intercept=True)
    A = np.column_stack([kernel.matrix(X, S), np.ones(25)])
    penalty = np.zeros((4, 4))
    penalty[:3, :3] = 0.3 * kernel.matrix(S)
    expected = np.linalg.solve(A.T @ (weights[:, None] * A) + penalty, A.T @ (weights[:, None] * (Y + 3.0)))
    assert np.vstack([found.coefficients, found.intercept]) == pytest.approx(expected, rel=1e-8)


def test_copies_of_landmarks_and_far_ones_stay_finite() -> None:
    """Catches a factorisation that fails where landmarks repeat, or kernel values that underflow."""
    X, S, Y = problem(2, 25, 3)
    objective = nl.PredictionError(nl.Gaussian(0.7), X, Y, ridge=1e-6)
    value = objective.value(S)
    assert objective.value(np.vstack([S, S, S + 1e3])) == pytest.approx(value, rel=1e-6)
    assert np.isfinite(objective.gradient(np.vstack([S, S, S + 1e3]))).all()


def test_far_from_the_origin_it_is_the_same() -> None:
    """Catches distances that lose their digits: squares of coordinates of a million against differences of 1."""
    X, S, Y = problem(2, 25, 3)
    near, far = (nl.PredictionError(nl.Gaussian(0.7), X + shift, Y, ridge=0.1) for shift in (0.0, 2.0**20))
    assert far.value(S + 2.0**20) == pytest.approx(near.value(S), rel=1e-8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"targets": np.zeros(9)}, r"targets has shape \(9,\); it must have a number or a row for each of 10 points."),
        ({"ridge": 0.0}, "ridge is 0.0; it must be a finite number greater than 0."),
        ({"kernel": nl.Polynomial()}, "it must be radial"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_sentence(arguments: dict[str, object], message: str) -> None:
    given = {"kernel": nl.Gaussian(), "data": np.zeros((10, 2)), "targets": np.zeros(10), "ridge": 1.0} | arguments
    with pytest.raises(ValueError, match=message):
        nl.PredictionError(**given)  # type: ignore[arg-type]
