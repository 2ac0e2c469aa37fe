"""``n_components="auto"`` and the rules for ``gamma``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib.estimators import Nystroem

X = nl.datasets.bigaussian(N=400, seed=2).X


@pytest.mark.parametrize("landmarks", ["optimised", "kmeans"])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_the_tolerance_is_kept(landmarks: str, kernel: str) -> None:
    """Catches a number of components that does not keep the tolerance, and one that is not reported."""
    model = Nystroem(kernel, gamma=4.0, n_components="auto", tolerance=0.1, landmarks=landmarks, random_state=0)
    features = model.fit_transform(X)
    squares = (X * X).sum(axis=1)
    K = len(X) if kernel == "rbf" else ((4.0 * squares + 1.0) ** 3).sum()  # the trace
    assert 0.9 * K <= (features * features).sum() <= K * (1 + 1e-9)
    assert model.n_components_ == len(model.components_) == features.shape[1] < 100
    assert model.error_ <= 0.1 and "keeps the tolerance 0.1" in " ".join(model.reasons_)


def test_a_number_stays_a_number() -> None:
    """Catches an attribute that is only there with "auto"."""
    assert Nystroem(n_components=7, landmarks="uniform", random_state=0).fit(X).n_components_ == 7


@pytest.mark.parametrize(("gamma", "value"), [("scale", 1.0 / (2 * X.var())), ("median", nl.median_rho(X, 0))])
def test_gamma_by_a_rule(gamma: str, value: float) -> None:
    """Catches another rule than the one that is named."""
    ours, same = (Nystroem(gamma=g, n_components=20, landmarks="uniform", random_state=0) for g in (gamma, value))
    assert np.allclose(ours.fit_transform(X), same.fit_transform(X), atol=1e-9)


@pytest.mark.parametrize(
    "settings",
    [{"landmarks": "supervised"}, {"kernel": "sigmoid", "landmarks": "uniform"}, {"n_components": "many"}],
    ids=str,
)
def test_bad_input(settings: dict[str, Any]) -> None:
    """Catches a foreign exception."""
    with pytest.raises(ValueError, match="n_components"):
        Nystroem(**{"n_components": "auto", **settings}).fit(X, X[:, 0])
