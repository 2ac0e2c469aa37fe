"""Bad input: scikit-learn's words where it has some, else one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_approximation import Nystroem as Theirs

import nystrom_lib as nl
from nystrom_lib.estimators import Nystroem, NystroemRegressor

X = np.random.default_rng(0).random((20, 3))


def with_nan() -> Any:
    bad = X.copy()
    bad[3, 1] = np.nan
    return bad


def complaint(estimator: Any, data: Any) -> tuple[type, str]:
    with pytest.raises(Exception, match=r".") as caught:
        estimator.fit(data)
    return type(caught.value), str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(with_nan(), id="NaN"),
        pytest.param(X[0], id="one dimension"),
        pytest.param(X * 1j, id="complex"),
        pytest.param(np.array([["a", {}], ["b", 1]], dtype=object), id="objects"),
        pytest.param(X[:0], id="no rows"),
        pytest.param([[1.0], [1.0, 2.0]], id="ragged"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_data_in_their_words(data: Any) -> None:
    theirs = complaint(Theirs(), data)
    assert complaint(Nystroem(), data) == complaint(Nystroem(landmarks="uniform"), data) == theirs


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "gaussian"}, "The 'kernel' parameter of Nystroem must be a str among {"),
        ({"landmarks": "best"}, "The 'landmarks' parameter of Nystroem must be a str among {"),
        ({"landmarks": X[:, :2]}, "landmarks has points of 2 coordinates; those of X have 3."),
        ({"landmarks": with_nan()}, "landmarks holds nan at row 3, column 1; every value must be finite."),
        ({"landmarks": [0, 20]}, "landmarks holds 20; indices into the data go from 0 to 19."),
        (
            {"kernel": "chi2"},
            "kernel is 'chi2', with parameters or data that are left to scikit-learn: landmarks must be",
        ),
        ({"kernel": "poly", "degree": 2.5}, "kernel is 'poly', with parameters or data that are left to scikit-learn"),
        ({"gamma": 0.0, "landmarks": [1, 2]}, "kernel is 'rbf', with parameters or data that are left to scikit-learn"),
        ({"kernel": "sigmoid", "landmarks": "rpcholesky"}, "landmarks must be 'uniform', n_components a number, and"),
        ({"kernel": "precomputed"}, "kernel is 'precomputed', with parameters or data that are left to scikit-learn"),
        ({"kernel": "laplacian", "landmarks": "uniform", "gamma": "median"}, "and gamma a number or None."),
        ({"kernel": nl.Gaussian(), "coef0": 1.0}, "gamma, coef0 and degree are for kernels given by name; kernel is G"),
        ({"kernel_params": {"gamma": "wide"}}, "gamma is 'wide'; it must be a number."),
        ({"kernel": "poly", "landmarks": "local-trace"}, "it must be radial"),
    ],
)
def test_what_cannot_be_is_one_sentence(parameters: dict[str, Any], message: str) -> None:
    kind, text = complaint(Nystroem(**({"n_components": 5} | parameters)), X)
    assert issubclass(kind, ValueError | TypeError) and message in text and "\n" not in text


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"landmarks": "kmeans"},
        {"landmarks": "uniform", "kernel": nl.Matern(1.5)},
        {"landmarks": "uniform", "kernel": RBF()},
        {"landmarks": "uniform", "kernel": "precomputed"},
    ],
    ids=repr,
)
def test_sparse_data_where_points_are_needed(parameters: dict[str, Any]) -> None:
    kind, text = complaint(Nystroem(**parameters), csr_matrix(X @ X.T))
    assert kind is TypeError and text.startswith("Sparse data was passed for X, but dense data is required; ")
    assert "landmarks='uniform' with a kernel given by name, which takes sparse data." in text


@pytest.mark.parametrize("landmarks", ["optimised", "uniform", "kmeans"])
def test_more_components_than_samples(landmarks: str) -> None:
    with pytest.warns(UserWarning, match="n_components > n_samples") as ours:
        estimator = Nystroem(n_components=50, landmarks=landmarks).fit(X)
    with pytest.warns(UserWarning, match="n_components > n_samples") as theirs:
        Theirs(n_components=50).fit(X)
    assert str(ours[0].message) == str(theirs[0].message) and ours[0].filename == __file__
    assert estimator.transform(X).shape == (20, 20)


@pytest.mark.parametrize("do", ["fit", "transform"])
def test_masked_values_are_refused(do: str) -> None:
    """Catches scikit-learn's check, which drops the mask: what was masked would be taken for data."""
    masked = np.ma.masked_less(X, 0.5)
    with pytest.raises(ValueError, match=r"^X is a masked array with values masked; "):
        getattr(Nystroem(n_components=3).fit(X), do)(masked)
    Nystroem(n_components=3).fit(np.ma.masked_less(X, -1.0))


@pytest.mark.parametrize("estimator", [NystroemRegressor(3), Nystroem(n_components=3, landmarks="supervised")])
def test_masked_targets_are_refused(estimator: Any) -> None:
    with pytest.raises(ValueError, match=r"^y is a masked array with values masked; "):
        estimator.fit(X, np.ma.masked_less(X[:, 0], 0.5))


@pytest.mark.parametrize(("X", "y"), [(X * 1e160, X[:, 0]), (X, X[:, 0] * 1e300)])
def test_squares_that_overflow_are_refused(X: Any, y: Any) -> None:
    """Catches predictions that are not finite."""
    with pytest.raises(
        ValueError, match=r"^X or y holds a value above 1e\+150 in magnitude; its square must be finite\.$"
    ):
        NystroemRegressor(3).fit(X, y)
