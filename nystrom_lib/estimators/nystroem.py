"""``Nystroem``, scikit-learn's transformer with landmarks that may be optimised."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.gaussian_process.kernels import Kernel as GaussianProcessKernel
from sklearn.metrics.pairwise import KERNEL_PARAMS
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _validation as check
from .._threads import threads
from ..approximation import check_factor_memory
from ..bandwidth import median_rho
from ..kernels import Kernel
from ..landmarks.find import find_landmarks
from ..landmarks.objectives import OBJECTIVES
from ..landmarks.starts import STARTS, initial_indices, initial_sample
from .features import ColumnFeatures, KernelFeatures
from .kernels import Columns, Precomputed, resolve_kernel
from .models import at_most, targets_of

OPTIMISED = ("optimised", "optimized", "supervised", *OBJECTIVES)  #: these move points, by the kernel's derivatives


class Nystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Approximate a kernel map by the features of landmarks: ``sklearn.kernel_approximation.Nystroem``, with
    landmarks that may be optimised.

    Parameters and attributes are scikit-learn's, and some more. The inner products of the features are
    the Nyström approximation of Eq. (2), :math:`\langle f(x), f(y)\rangle = \hat K(x, y)`, as in scikit-learn. There
    they come from a symmetric root of :math:`\mathbf K_S`, here from a Cholesky factor with pivoting: the two differ by
    a rotation, which models that only look at inner products or norms (ridge, logistic regression, linear SVM, PCA,
    k-means) do not see. Landmarks that repeat others, up to rounding, add nothing: then the last features are 0.

    Optimised landmarks approximate the kernel matrix better; that helps models which need the kernel itself. They do
    not use ``y``: predictions need not improve, and may become worse (on Friedman's data R² fell from .94 to .92). To
    predict, use ``landmarks="supervised"``, :class:`NystroemRegressor` or :class:`NystroemClassifier`.

    Parameters
    ----------
    kernel
        ``"rbf"``, ``"poly"`` (or ``"polynomial"``) or ``"linear"``; a kernel of this library, such as
        :class:`nystrom_lib.Matern`; or ``RBF``, ``Matern`` or ``RationalQuadratic`` of
        ``sklearn.gaussian_process.kernels`` with one length scale. With landmarks that are not moved also any other
        name scikit-learn knows, a callable, any of its Gaussian process kernels, or ``"precomputed"``.
    gamma, coef0, degree
        As in scikit-learn, with its defaults: ``gamma`` is 1/d for d features, ``degree`` 3, ``coef0`` 1.
        Besides, ``gamma="scale"`` is 1/(d·var(X)), as in scikit-learn's support vector machines, and
        ``gamma="median"`` is 1 over the median squared distance of two samples.
    kernel_params
        Further parameters of a callable.
    n_components
        How many landmarks, at most as many as there are samples; not used if ``landmarks`` holds them. ``"auto"`` takes
        about as few as keep ``tolerance``, whatever they predict.
    tolerance
        With ``n_components="auto"``: the relative trace error allowed, as in :func:`nystrom_lib.find_landmarks`.
    random_state
        Decides every draw.
    n_jobs
        How many threads; None leaves it to the library (:func:`nystrom_lib.threads`). Results do not depend on it.
    landmarks
        ``"optimised"`` or ``"optimized"``: moved to where the trace error is small, by
        :func:`nystrom_lib.find_landmarks`; ``"trace"``, ``"local-trace"``, ``"radial-skd"`` or ``"weighted-skd"``
        name what to descend on.
        ``"supervised"``: moved to where ridge regression on the features predicts ``y`` of ``fit`` well; floats are
        regressed on, all else names classes, and several columns are allowed.
        ``"uniform"``: samples, each as likely as any other, and with the same ``random_state`` the same that
        scikit-learn draws. ``"kmeans"``, ``"kmeans++"``, ``"rpcholesky"``, ``"greedy"``, ``"herding"``,
        ``"leverage"``: as in :func:`nystrom_lib.initial_sample`.
        An array with a row for each point has the landmarks themselves, and one of whole numbers, in one dimension,
        which samples they are.
    seconds, iterations
        The effort for landmarks that are moved: seconds of wall clock, steps, or both, whichever ends first; None
        leaves it to :func:`nystrom_lib.find_landmarks`.

    Attributes
    ----------
    components_
        The landmarks, a row each; with ``kernel="precomputed"`` their rows of the matrix.
    n_components_
        How many landmarks there are.
    component_indices_
        Which samples they are; only there if they are samples.
    normalization_
        The matrix M of shape (n_components, n_components) with :math:`f(x) = M\,\mathbf k(x)`,
        :math:`M^T M = \mathbf K_S^{-1}` where the inverse exists. ``transform`` solves with the factor instead, which
        is more exact.
    reasons_
        A sentence for each choice that was made; only there if landmarks were moved.
    error_
        The relative trace error, estimated from at most 2,048 samples; only there if landmarks were moved.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from nystrom_lib.estimators import Nystroem
    >>> X = np.linspace(0.0, 6.0, 200)[:, None]
    >>> model = make_pipeline(Nystroem(gamma=1.0, n_components=10, random_state=0), Ridge(1e-3))
    >>> round(model.fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])), 2)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [StrOptions({*KERNEL_PARAMS, "precomputed"}), callable, Kernel],
        "gamma": [Interval(Real, 0, None, closed="left"), StrOptions({"scale", "median"}), None],
        "coef0": [Interval(Real, None, None, closed="neither"), None],
        "degree": [Interval(Real, 1, None, closed="left"), None],
        "kernel_params": [dict, None],
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "landmarks": [StrOptions({*OPTIMISED, *STARTS}), "array-like"],
        "seconds": [Interval(Real, 0, None, closed="neither"), None],
        "iterations": [Interval(Integral, 0, None, closed="left"), None],
        "tolerance": [Interval(Real, 0, 1, closed="neither")],
    }

    components_: Any
    component_indices_: NDArray[np.int64]
    normalization_: NDArray[Any]
    reasons_: tuple[str, ...]
    error_: float

    def __init__(
        self,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        *,
        gamma: float | str | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int | str = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        landmarks: Any = "optimised",
        seconds: float | None = None,
        iterations: int | None = None,
        tolerance: float = 0.05,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.landmarks = landmarks
        self.seconds = seconds
        self.iterations = iterations
        self.tolerance = tolerance

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the landmarks and factor their kernel matrix.

        The rows of ``X`` are the samples; with ``kernel="precomputed"`` it is their kernel matrix. ``y``, the targets,
        is used with ``landmarks="supervised"`` only.
        """
        self._validate_params()
        X = self._checked(X, reset=True)
        for name in ("component_indices_", "reasons_", "error_"):
            self.__dict__.pop(name, None)
        targets = targets_of(self, X, y) if self._supervised else None
        parameters = {"gamma": self._gamma(X), "coef0": self.coef0, "degree": self.degree}
        kernel = resolve_kernel(self.kernel, parameters, self.kernel_params, X, self.n_jobs)
        with self._threads():
            self.components_, indices = self._chosen(kernel, X, targets)
            self._features = self._factored(kernel, indices)
        self.normalization_ = self._features.normalization().astype(self.components_.dtype, copy=False)
        self._n_features_out = self.n_components_ = self.components_.shape[0]
        if indices is not None:
            self.component_indices_ = indices
        return self

    def transform(self, X: Any) -> Any:
        """The features of the rows of ``X``, shape (n_samples, n_components).

        With ``kernel="precomputed"`` X holds the kernel's values between new samples and those of ``fit``; the columns
        of the landmarks are used.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        with self._threads():
            features = self._features(X)
        single = X.dtype == self.components_.dtype == np.float32
        missing = self._n_features_out - features.shape[1]
        if missing:
            features = np.pad(features, ((0, 0), (0, missing)))
        return features.astype(np.float32 if single else np.float64, copy=False)

    # --- parameters

    def _gamma(self, X: Any) -> float | None:
        """The number, by a rule if one was named."""
        if not isinstance(self.gamma, str):
            return self.gamma
        if self._precomputed or issparse(X):
            raise ValueError(f"gamma is {self.gamma!r}; for these data it must be a number or None.")
        if self.gamma == "median":
            return median_rho(X.astype(np.float64, copy=False), 0)
        variance = float(X.var())
        return 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _supervised(self) -> bool:
        return isinstance(self.landmarks, str) and self.landmarks == "supervised"

    @property
    def _kernel_takes_sparse(self) -> bool:
        """Whether scikit-learn computes the kernel's columns of sparse data."""
        plain = callable(self.kernel) and not isinstance(self.kernel, GaussianProcessKernel)
        return plain or (isinstance(self.kernel, str) and not self._precomputed)

    @property
    def _takes_sparse(self) -> bool:
        chosen = not isinstance(self.landmarks, str) or self.landmarks == "uniform"
        return self._kernel_takes_sparse and chosen

    def _checked(self, X: Any, *, reset: bool) -> Any:
        check.unmasked("X", X)  # scikit-learn would drop the mask
        if issparse(X) and not self._takes_sparse:
            hint = ", or landmarks='uniform', which takes sparse data" if self._kernel_takes_sparse else ""
            raise TypeError(f"Sparse data was passed for X, but dense data is required; use X.toarray(){hint}.")
        X = validate_data(self, X, accept_sparse="csr" if self._takes_sparse else False, reset=reset)
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if reset and self._precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(f"X has shape {X.shape}; a precomputed kernel matrix must be square.")
        return X

    def _threads(self) -> AbstractContextManager[None]:
        if self.n_jobs is not None:
            return threads(effective_n_jobs(self.n_jobs))
        # One of several Python threads leaves the other cores to those beside it, as joblib's workers should.
        return nullcontext() if threading.current_thread() is threading.main_thread() else threads(1)

    # --- landmarks

    def _chosen(self, kernel: Kernel, X: Any, targets: Any) -> tuple[Any, NDArray[np.int64] | None]:
        """The landmarks, and which samples they are."""
        points, indices = self._given(X) if not isinstance(self.landmarks, str) else self._selected(kernel, X, targets)
        return (points.astype(X.dtype, copy=False), None) if indices is None else (X[indices], indices)

    def _given(self, X: Any) -> tuple[Any, NDArray[np.int64] | None]:
        if np.ndim(self.landmarks) == 1:
            return None, check.indices("landmarks", self.landmarks, X.shape[0])
        if self._precomputed:
            raise ValueError("landmarks holds points; with a precomputed kernel it must hold indices of samples.")
        return check.points("landmarks", self.landmarks, dimension=X.shape[1], like="X"), None

    def _selected(self, kernel: Kernel, X: Any, targets: Any) -> tuple[Any, NDArray[np.int64] | None]:
        rng, n = check_random_state(self.random_state), None
        if self.n_components == "auto":
            if self._supervised or isinstance(kernel, Columns | Precomputed):
                raise ValueError(
                    "n_components is 'auto', which is for landmarks that are chosen by the trace error, under a kernel "
                    "of this library; it must be a number."
                )
        else:
            n = at_most(int(self.n_components), X.shape[0], stacklevel=5)
            check_factor_memory(n, f"n_components is {n:,}; it must be", "LocalApproximation")
            if self.landmarks == "uniform":
                return None, rng.permutation(X.shape[0])[:n].astype(np.int64)  # scikit-learn's draw
        self._refuse_impossible(kernel)
        data = np.arange(len(X), dtype=np.float64)[:, None] if self._precomputed else X
        seed = int(rng.randint(np.iinfo(np.int32).max))
        if n is None or self.landmarks in OPTIMISED:
            landmarks = find_landmarks(
                kernel, data, n, targets=targets, tolerance=self.tolerance if n is None else None,
                method="auto" if self.landmarks in OPTIMISED[:3] else self.landmarks, seed=seed, seconds=self.seconds,
                iterations=self.iterations,
            )  # fmt: skip
            self.reasons_, self.error_ = landmarks.reasons, landmarks.relative_error
            return landmarks.sample, landmarks.indices
        if STARTS[self.landmarks].subset:
            return None, initial_indices(kernel, data, n, self.landmarks, seed=seed)
        return initial_sample(kernel, data, n, self.landmarks, seed=seed), None

    def _refuse_impossible(self, kernel: Kernel) -> None:
        if isinstance(kernel, Columns | Precomputed) and self.landmarks in OPTIMISED:
            possible = [name for name, start in STARTS.items() if not (self._precomputed and start.by_distance)]
            raise ValueError(
                f"landmarks is {self.landmarks!r}, which needs derivatives, and kernel is {kernel.described}; for it"
                f" landmarks must be {', '.join(map(repr, possible))} or an array."
            )
        if self._precomputed and STARTS[self.landmarks].by_distance:
            raise ValueError(f"landmarks is {self.landmarks!r}, which needs points, and kernel is 'precomputed'.")

    # --- features

    def _factored(self, kernel: Kernel, indices: NDArray[np.int64] | None) -> KernelFeatures | ColumnFeatures:
        if isinstance(kernel, Columns):
            return ColumnFeatures(kernel.matrix(self.components_), partial(kernel.matrix, b=self.components_))
        if isinstance(kernel, Precomputed):
            assert indices is not None
            precision = float(np.finfo(kernel.entries.dtype).eps)
            columns = operator.itemgetter((slice(None), indices))
            return ColumnFeatures(kernel.matrix(indices[:, None]), columns, precision)
        return KernelFeatures(kernel, self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.pairwise = self._precomputed
        tags.target_tags.required = self._supervised
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
