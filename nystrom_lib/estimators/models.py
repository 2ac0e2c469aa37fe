"""Regression and classification from a few landmarks that are fitted to the targets."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin, is_regressor
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from .. import _validation as check
from .._threads import limit_blas_threads
from .._validation import Array
from ..kernels import Gaussian, Kernel, Matern, RationalQuadratic, require_radial
from ..landmarks.objectives.prediction_error import fit, predictions
from ..landmarks.starts import kmeans
from ..landmarks.supervised import CANDIDATE_STEPS, MAX_EXACT, RIDGES, START, STEPS, Fitting, Model, Points, squared

LARGEST = 1e150  #: of the magnitudes of samples and targets, so that their squares are finite

#: At unit length scale.
KERNELS: dict[str, Kernel] = {
    "rbf": Gaussian(0.5),
    "matern": Matern(1.5, 1.0),
    "rational_quadratic": RationalQuadratic(1.0, 1.0),
}


def at_most(n_components: int, samples: int, stacklevel: int) -> int:
    """The number of landmarks; a warning if there are fewer samples."""
    if n_components > samples:
        warnings.warn(
            "n_components > n_samples. This is not possible.\n"
            "n_components was set to n_samples, which results"
            " in inefficient evaluation of the full kernel.",
            stacklevel=stacklevel,
        )  # scikit-learn's own words
    return min(n_components, samples)


class _Predictor(BaseEstimator):  # type: ignore[misc]
    """What regression and classification share; ``_numbers`` of each makes numbers of the targets, a row for each."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "kernel": [StrOptions(set(KERNELS)), Kernel],
        "length_scales": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither"), "array-like"],
        "ridge": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 100,
        *,
        kernel: str | Kernel = "rbf",
        length_scales: Any = "auto",
        ridge: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.length_scales = length_scales
        self.ridge = ridge
        self.random_state = random_state

    # --- fitting

    @limit_blas_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the rows of ``X`` and their targets: a number, a row of numbers or a class for each.

        ``sample_weight`` multiplies the squared errors.
        """
        self._validate_params()
        check.unmasked("X", X)
        check.unmasked("y", y)
        numeric = is_regressor(self)
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=numeric, y_numeric=numeric)
        Y = self._numbers(y)
        if not max(np.abs(X).max(), np.abs(Y).max()) <= LARGEST:
            raise ValueError(f"X or y holds a value above {LARGEST:g} in magnitude; its square must be finite.")
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
            rows = np.flatnonzero(weights)
            X, Y, weights = X[rows], Y[rows], weights[rows] / weights[rows].mean()
        self._kernel = require_radial(KERNELS[self.kernel] if isinstance(self.kernel, str) else self.kernel)
        middle = np.average(X, axis=0, weights=weights)
        spread = np.sqrt(np.average(np.square(X - middle), axis=0, weights=weights))
        spread[~(spread > 1e-12 * np.abs(middle))] = 1.0
        self._means = np.average(Y, axis=0, weights=weights)
        unit = np.where(Y.std(axis=0) > 0.0, Y.std(axis=0), 1.0) if numeric else 1.0  # in which errors are compared
        points = Points((X - middle) / spread, (Y - self._means) / unit, weights)
        model = self._chosen(points, spread)
        root = np.sqrt(model.scales)
        self.components_ = model.sample * spread + middle
        self.length_scales_ = spread / root
        self.ridge_ = model.ridge
        S, X = model.sample * root, points.X * root
        found = fit(self._kernel, S, X, points.Y, model.ridge, weights, intercept=True, gradient=False)
        self.coef_ = unit * found.coefficients
        self.intercept_ = self._means + unit * found.intercept
        return self

    def _chosen(self, points: Points, spread: Array) -> Model:
        """Landmarks, scales and ridge, in coordinates of unit variance."""
        N, d = points.X.shape
        n = at_most(self.n_components, N, stacklevel=5)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

        def start(X: Array, n: int) -> Array:
            return kmeans(self._kernel, X, n, rng).points.astype(np.float64)

        scales = np.full(d, 1.0 / d)
        moves: tuple[str, ...] = ("fixed", "common", "feature") if d > 1 else ("fixed", "common")
        if not (isinstance(self.length_scales, str) and self.length_scales == "auto"):
            lengths = np.asarray(self.length_scales, dtype=np.float64)
            if lengths.shape not in ((), (1,), (d,)) or not (np.isfinite(lengths) & (lengths > 0.0)).all():
                raise ValueError(f"length_scales must be 'auto', or one positive number or {d}, one for each feature.")
            ratios = np.log10(lengths) - np.log10(spread)
            if np.abs(ratios).max() > 100.0:
                raise ValueError("length_scales must be within 1e100 times the standard deviations of the features.")
            scales, moves = np.square(spread / lengths) * np.ones(d), ("fixed",)
        ridges = RIDGES if self.ridge == "auto" else (float(self.ridge),)
        search = Fitting(self._kernel, n, rng, start, scales, moves, ridges, loss=self._loss)
        model = Model(start(points.X[:MAX_EXACT], n), scales, ridges[len(ridges) // 2], START)
        if N > 1 and np.ptp(points.Y, axis=0).any():
            found = search.run(points)
            model = replace(found.start, sample=model.sample, ridge=found.model.ridge)
            if found.model.moved != START and N > MAX_EXACT:
                model = found.model
            elif found.model.moved != START:
                steps = STEPS if found.model.steps > CANDIDATE_STEPS else CANDIDATE_STEPS
                search.reasons.append(f"Fitted again to all samples, from k-means centres, in at most {steps} steps.")
                model = search.moved(replace(model, moved=found.model.moved), points, steps)
        self.reasons_ = tuple(search.reasons)
        return model

    def _loss(self, predicted: Array, targets: Array) -> Array:
        """The losses by which candidates are compared on held-out samples."""
        return squared(predicted, targets)

    # --- prediction

    @limit_blas_threads
    def _predicted(self, X: Any) -> Array:
        """A row for each sample, a column for each target."""
        check_is_fitted(self)
        check.unmasked("X", X)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        S = self.components_ / self.length_scales_
        return predictions(self._kernel, S, X / self.length_scales_, self.coef_) + self.intercept_


class NystroemRegressor(MultiOutputMixin, RegressorMixin, _Predictor):  # type: ignore[misc]
    r"""Kernel ridge regression in the span of a few landmarks, which are fitted to the targets.

    Landmarks and length scales descend together on the penalised squared error
    (:class:`nystrom_lib.PredictionError`), from k-means centres. The ridge, and whether one length scale is fitted or
    one for each feature, are chosen on held-out samples, in folds where there are few; then everything is fitted again
    to all samples. Features are standardised inside, so that their units do not matter.

    Parameters
    ----------
    n_components
        How many landmarks, at most as many as there are samples.
    kernel
        ``"rbf"``, ``"matern"`` (of order 3/2), ``"rational_quadratic"``, or a radial kernel of the library, which is
        then taken at distances divided by the length scales.
    length_scales
        ``"auto"``: fitted, one factor common to all features in units of their standard deviations, or one length
        scale for each. A number, or one for each feature: as it is.
    ridge
        λ, or ``"auto"``.
    random_state
        Decides every draw.

    Attributes
    ----------
    components_
        The landmarks, a row each.
    length_scales_
        ℓ, for each feature: the kernel is taken at :math:`\sum_l (x_l-s_l)^2/\ell_l^2`; ``"rbf"`` is
        :math:`e^{-\frac12\sum_l (x_l-s_l)^2/\ell_l^2}`.
    ridge_
        λ as it was chosen.
    coef_, intercept_
        Predictions are ``K(x, components_) @ coef_ + intercept_``.
    reasons_
        A sentence for each choice.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from nystrom_lib.estimators import NystroemRegressor
    >>> X = np.random.default_rng(0).random((300, 5))
    >>> y = np.sin(6.0 * X[:, 0]) + X[:, 1]
    >>> model = NystroemRegressor(n_components=10, random_state=0).fit(X[:200], y[:200])
    >>> model.score(X[200:], y[200:]) > 0.99
    True
    """

    def _numbers(self, y: Any) -> Array:
        self._single = y.ndim == 1
        numbers: Array = y.astype(np.float64, copy=False).reshape(len(y), -1)
        return numbers

    def predict(self, X: Any) -> Array:
        """Predict the targets of the rows of ``X``."""
        found = self._predicted(X)
        return found[:, 0] if self._single else found


class NystroemClassifier(ClassifierMixin, _Predictor):  # type: ignore[misc]
    r"""Classification by kernel ridge regression on the classes, from a few landmarks that are fitted to them.

    Each class is a target that is 1 for its samples and 0 for all others; the class of the largest prediction wins.
    Everything else is as in :class:`NystroemRegressor`.

    Parameters
    ----------
    n_components, kernel, length_scales, ridge, random_state
        As in :class:`NystroemRegressor`.

    Attributes
    ----------
    classes_
        The classes, sorted; the others are those of :class:`NystroemRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nystrom_lib.estimators import NystroemClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NystroemClassifier(n_components=10, random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    """

    def _numbers(self, y: Any) -> Array:
        check_classification_targets(y)
        self._binarizer = LabelBinarizer()
        numbers: Array = self._binarizer.fit_transform(y).astype(np.float64)
        self.classes_ = self._binarizer.classes_
        if len(self.classes_) < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data contains only one"
                f" class: {self.classes_[0]!r}"
            )  # scikit-learn's own words
        return numbers

    def _loss(self, predicted: Array, targets: Array) -> Array:
        """1 for a wrong class, plus the squared error, which is less noisy."""
        found, right = (self._binarizer.inverse_transform(each + self._means) for each in (predicted, targets))
        losses: Array = (found != right) + squared(predicted, targets) / targets.shape[1]
        return losses

    def decision_function(self, X: Any) -> Array:
        """The predicted targets of the rows of ``X``: from -1 to 1 for two classes, else a column for each class."""
        found = 2.0 * self._predicted(X) - 1.0
        return found[:, 0] if len(self.classes_) == 2 else found

    def predict(self, X: Any) -> Any:
        """Predict the classes of the rows of ``X``."""
        found = self._predicted(X)
        return self._binarizer.inverse_transform(found)
