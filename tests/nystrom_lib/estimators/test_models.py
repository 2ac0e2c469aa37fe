"""The regressor, the classifier and supervised landmarks: what scikit-learn asks, and what they promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1, make_gaussian_quantiles
from sklearn.kernel_approximation import Nystroem as Theirs
from sklearn.linear_model import Ridge, RidgeClassifierCV, RidgeCV
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import nystrom_lib as nl
from nystrom_lib.estimators import Nystroem, NystroemClassifier, NystroemRegressor

pytestmark = pytest.mark.filterwarnings("ignore:n_components > n_samples")
MODELS = (NystroemRegressor, NystroemClassifier)
rng = np.random.default_rng(0)
X = rng.random((120, 4))
smooth = np.sin(6.0 * X[:, 0]) + X[:, 1] ** 2
NAMES = np.array(["low", "middle", "high"])
names = NAMES[np.digitize(smooth, np.quantile(smooth, [0.3, 0.7]))]

RANDOM_SPLIT = "held-out samples are drawn by number, and a repeated sample is drawn twice"


def split_depends_on_rows(estimator: Any) -> dict[str, str]:
    """What a random split makes impossible."""
    if isinstance(estimator, Nystroem):
        return {}
    return {f"check_sample_weight_equivalence_on_{kind}_data": RANDOM_SPLIT for kind in ("dense", "sparse")}


@parametrize_with_checks(
    [
        NystroemRegressor(n_components=20, length_scales=3.0, ridge=0.01),
        NystroemClassifier(n_components=5, length_scales=1.0, ridge=0.01),
        Nystroem(landmarks="supervised", iterations=5),
    ],
    expected_failed_checks=split_depends_on_rows,
)
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def target(model: Any) -> Any:
    return smooth if model is NystroemRegressor else names


def pipeline(model: Any, n: int, d: int) -> Any:
    """scikit-learn's features of uniform landmarks, with a ridge chosen by leave-one-out."""
    ridge = (RidgeCV if model is NystroemRegressor else RidgeClassifierCV)(alphas=np.logspace(-3, 3, 13))
    return make_pipeline(Theirs(n_components=n, gamma=0.5 / d, random_state=0), ridge)


@pytest.mark.parametrize("problem", ["spheres", "friedman"])
def test_fifty_landmarks_predict_as_four_hundred_uniform_ones(problem: str) -> None:
    """Catches landmarks, scales or a ridge that are not fitted: each is worth far more than what it takes here."""
    if problem == "spheres":
        data, y = make_gaussian_quantiles(n_samples=700, n_features=6, n_classes=3, random_state=0)
        data = np.hstack([data, np.random.default_rng(1).standard_normal((700, 6))])
    else:
        data, y = make_friedman1(700, 10, noise=1.0, random_state=0)
    model = NystroemRegressor if problem == "friedman" else NystroemClassifier
    train, test, y_train, y_test = train_test_split(StandardScaler().fit_transform(data), y, random_state=0)
    ours = model(n_components=50, random_state=0).fit(train, y_train)
    theirs = pipeline(model, 400, train.shape[1]).fit(train, y_train)
    assert ours.score(test, y_test) >= theirs.score(test, y_test)


@pytest.mark.parametrize("model", MODELS)
def test_predictions_are_those_of_the_attributes(model: Any) -> None:
    """Catches attributes in other units than the features, or length scales that are not those of the kernel."""
    fitted = model(n_components=8, random_state=0).fit(X * [1.0, 100.0, 1e-3, 1.0] + 5.0, target(model))
    new = rng.random((9, 4)) * [1.0, 100.0, 1e-3, 1.0] + 5.0
    K = rbf_kernel(new / fitted.length_scales_, fitted.components_ / fitted.length_scales_, gamma=0.5)
    raw = K @ fitted.coef_ + fitted.intercept_
    if model is NystroemRegressor:
        assert fitted.predict(new) == pytest.approx(raw[:, 0], abs=1e-6)
    else:
        assert fitted.decision_function(new) == pytest.approx(2.0 * raw - 1.0, abs=1e-6)
        assert list(fitted.predict(new)) == list(fitted.classes_[raw.argmax(axis=1)])
    assert fitted.components_.shape == (8, 4) and fitted.length_scales_.shape == (4,)
    assert 1e-5 <= fitted.ridge_ <= 100.0 and len(fitted.reasons_) >= 2


@pytest.mark.parametrize("model", MODELS)
def test_units_of_features_do_not_matter(model: Any) -> None:
    one, other = (
        model(n_components=8, ridge=0.01, random_state=0).fit(X * unit, target(model))
        for unit in (1.0, [1, 64, 4, 0.5])
    )
    new = rng.random((9, 4))
    assert np.array_equal(one.predict(new), other.predict(new * [1, 64, 4, 0.5])) or one.predict(new) == pytest.approx(
        other.predict(new * [1, 64, 4, 0.5]), rel=1e-3
    )


def test_a_length_scale_for_each_feature_finds_what_matters() -> None:
    """Catches a gradient in the scales that is not used: two features of ten carry everything."""
    data = rng.random((600, 10))
    y = np.sin(6.0 * data[:, 0]) * np.cos(5.0 * data[:, 1])
    fitted = NystroemRegressor(n_components=30, random_state=0).fit(data, y)
    assert max(fitted.length_scales_[:2]) < 0.3 * min(fitted.length_scales_[2:])
    assert any("each feature" in reason for reason in fitted.reasons_)


def test_given_length_scales_and_ridge_stay() -> None:
    lengths = [0.5, 1.0, 2.0, 4.0]
    fitted = NystroemRegressor(n_components=8, length_scales=lengths, ridge=0.3, random_state=0).fit(X, smooth)
    assert fitted.length_scales_ == pytest.approx(lengths) and fitted.ridge_ == 0.3
    assert NystroemRegressor(n_components=8, length_scales=0.7).fit(X, smooth).length_scales_ == pytest.approx(
        [0.7] * 4
    )


@pytest.mark.parametrize("kernel", ["matern", "rational_quadratic", nl.Matern(2.5, 1.0)])
def test_other_kernels(kernel: Any) -> None:
    model = NystroemRegressor(n_components=20, kernel=kernel, length_scales=1.0, ridge=1e-3, random_state=0)
    assert model.fit(X, smooth).score(X, smooth) > 0.98


def test_no_leakage_all_is_chosen_within_fit() -> None:
    """Random labels: an honest score is that of guessing, however much is fitted inside."""
    noise = np.random.default_rng(3)
    data, labels = noise.standard_normal((400, 10)), noise.integers(0, 2, 400)
    fitted = NystroemClassifier(n_components=50, random_state=0).fit(data[:200], labels[:200])
    assert 0.35 < fitted.score(data[200:], labels[200:]) < 0.65


@pytest.mark.parametrize("model", MODELS)
def test_weights(model: Any) -> None:
    """Zero leaves out; equal weights are none; a heavy part is fitted better."""
    y, made = target(model), model(n_components=8, length_scales=1.0, ridge=0.01, random_state=0)
    weights = np.ones(120)
    plain = clone(made).fit(X, y)
    assert np.array_equal(clone(made).fit(X, y, 3.0 * weights).predict(X), plain.predict(X))
    weights[60:] = 0.0
    some = clone(made).fit(X[:60], y[:60])
    wrong = y.copy()
    wrong[60:] = wrong[0]
    assert np.array_equal(clone(made).fit(X, wrong, weights).predict(X), some.predict(X))


def test_frames_strings_and_several_outputs() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    fitted = NystroemClassifier(n_components=8, ridge=0.01, random_state=0).fit(frame, pd.Series(names))
    assert list(fitted.feature_names_in_) == list("abcd") and set(fitted.classes_) == set(NAMES)
    assert set(fitted.predict(frame)) <= set(NAMES) and fitted.decision_function(frame).shape == (120, 3)
    two = NystroemRegressor(n_components=5, length_scales=1.0, ridge=0.01, random_state=0)
    assert two.fit(X, np.c_[smooth, 100.0 * X[:, 2]]).predict(X).shape == (120, 2)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (smooth[:-1], "inconsistent numbers of samples"),
        (np.where(np.arange(120) == 3, np.nan, smooth), "Input y contains NaN"),
        (None, "requires y to be passed, but the target y is None"),
    ],
)
def test_bad_targets_in_their_words(model: Any, y: Any, message: str) -> None:
    for estimator in (model(n_components=5), Nystroem(n_components=5, landmarks="supervised")):
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, y)


def test_more_bad_input_in_their_words() -> None:
    with pytest.raises(ValueError, match="the data contains only one class: "):
        NystroemClassifier().fit(X, ["a"] * 120)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        NystroemClassifier().fit(X, smooth)
    with pytest.raises(ValueError, match="length_scales must be 'auto', or one positive number or 4"):
        NystroemRegressor(length_scales=[1.0, 2.0]).fit(X, smooth)
    for length in (1e-300, 1e300):
        with pytest.raises(ValueError, match="length_scales must be within 1e100 times the standard deviations"):
            NystroemRegressor(length_scales=length).fit(X, smooth)
    with pytest.raises(ValueError, match="it must be radial"):
        NystroemRegressor(kernel=nl.Polynomial()).fit(X, smooth)
    with pytest.raises(ValueError, match=r"Negative values in data passed to `?sample_weight"):
        NystroemRegressor().fit(X, smooth, -np.ones(120))


def test_constant_targets_are_predicted() -> None:
    assert NystroemRegressor(n_components=5).fit(X, np.full(120, 7.0)).predict(X) == pytest.approx(7.0)


# -- as a transformer ----------------------------------------------------------------------------------------------


def test_supervised_landmarks_predict_better() -> None:
    data = np.random.default_rng(0).standard_normal((600, 3))
    y = np.sin(3.0 * data[:, 0])
    scores = [
        make_pipeline(Nystroem(n_components=15, gamma=0.5, landmarks=landmarks, random_state=0), Ridge(1e-2))
        .fit(data[:400], y[:400])
        .score(data[400:], y[400:])
        for landmarks in ("supervised", "optimised")
    ]
    assert 1.0 - scores[0] < 0.5 * (1.0 - scores[1])


@pytest.mark.parametrize(
    "y", [smooth, names, names == "low", np.c_[smooth, X[:, 2]], np.c_[names == "low", X[:, 2] > 0.5]]
)
def test_targets_of_every_kind(y: Any) -> None:
    fitted = Nystroem(n_components=6, landmarks="supervised", random_state=0).fit(X, y)
    again = Nystroem(n_components=6, landmarks="supervised", random_state=0).fit(X, y)
    assert fitted.components_.shape == (6, 4) and np.array_equal(fitted.components_, again.components_)
    assert np.isfinite(fitted.transform(X)).all()
