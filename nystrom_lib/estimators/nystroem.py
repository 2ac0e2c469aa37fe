"""``Nystroem``, scikit-learn's transformer with landmarks that may be optimised."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import issparse
from sklearn import kernel_approximation
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _validation as check
from .._threads import threads
from ..approximation import NystromApproximation, check_factor_memory
from ..bandwidth import median_rho
from ..kernels import LARGEST_RHO, Gaussian, Kernel, Polynomial
from ..landmarks.find import find_landmarks
from ..landmarks.objectives import OBJECTIVES
from ..landmarks.starts import STARTS
from .models import at_most

FLOATS = (np.float64, np.float32)  #: the first is that of all other numbers


class Nystroem(kernel_approximation.Nystroem):  # type: ignore[misc]
    r"""Approximate a kernel map by the features of landmarks: ``sklearn.kernel_approximation.Nystroem``, with
    landmarks that may be optimised.

    Parameters and attributes are scikit-learn's, and some more. The inner products of the features are
    the Nyström approximation of Eq. (2), :math:`\langle f(x), f(y)\rangle = \hat K(x, y)`, as in scikit-learn. There
    they come from a symmetric root of :math:`\mathbf K_S`, here from a Cholesky factor with pivoting: the two differ by
    a rotation, which models that only look at inner products or norms (ridge, logistic regression, linear SVM, PCA,
    k-means) do not see. Landmarks that repeat others, up to rounding, add nothing: then the last features are 0.
    Sparse data, and kernels that this library does not have, are left to scikit-learn's class and its root.

    Optimised landmarks approximate the kernel matrix better; that helps models which need the kernel itself. They do
    not use ``y``: predictions need not improve, and may become worse (on Friedman's data R² fell from .94 to .92). To
    predict, use ``landmarks="supervised"``, :class:`NystroemRegressor` or :class:`NystroemClassifier`.

    Parameters
    ----------
    kernel
        ``"rbf"``, ``"poly"`` (or ``"polynomial"``) or ``"linear"``; a kernel of this library, such as
        :class:`nystrom_lib.Matern`. With ``landmarks="uniform"`` also any other kernel that scikit-learn takes.
    gamma, coef0, degree, kernel_params
        As in scikit-learn, with its defaults: ``gamma`` is 1/d for d features, ``degree`` 3, ``coef0`` 1.
        Besides, for the kernels above, ``gamma="scale"`` is 1/(d·var(X)), as in scikit-learn's support vector machines,
        and ``gamma="median"`` is 1 over the median squared distance of two samples.
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
    components_, n_components_
        The landmarks, a row each, and their number.
    component_indices_
        Which samples they are; only there if they are samples.
    normalization_
        The matrix M of shape (n_components, n_components) with :math:`f(x) = M\,\mathbf k(x)`,
        :math:`M^T M = \mathbf K_S^{-1}` where the inverse exists. ``transform`` solves with the factor instead, which
        is more exact.
    reasons_, error_
        A sentence for each choice, and the relative trace error estimated from at most 2,048 samples; not there if
        landmarks were given or uniform.
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
        **kernel_approximation.Nystroem._parameter_constraints,
        "kernel": [*kernel_approximation.Nystroem._parameter_constraints["kernel"], Kernel],
        "gamma": [Interval(Real, 0, None, closed="left"), StrOptions({"scale", "median"}), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "landmarks": [StrOptions({"optimised", "optimized", "supervised", *OBJECTIVES, *STARTS}), "array-like"],
        "seconds": [Interval(Real, 0, None, closed="neither"), None],
        "iterations": [Interval(Integral, 0, None, closed="left"), None],
        "tolerance": [Interval(Real, 0, 1, closed="neither")],
    }

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
        super().__init__(
            kernel, gamma=gamma, coef0=coef0, degree=degree, kernel_params=kernel_params, n_components=n_components,
            random_state=random_state, n_jobs=n_jobs,
        )  # fmt: skip
        self.landmarks = landmarks
        self.seconds = seconds
        self.iterations = iterations
        self.tolerance = tolerance

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the landmarks and factor their kernel matrix.

        The rows of ``X`` are the samples. ``y``, the targets, is used with ``landmarks="supervised"`` only.
        """
        self._validate_params()
        for name in ("component_indices_", "reasons_", "error_"):
            self.__dict__.pop(name, None)
        targets = None
        if not self._landmarks_are("supervised"):
            checked = self._checked(X)
        else:
            check.unmasked("y", y)
            checked, targets = self._checked(X, y=y, multi_output=True)
            if targets.dtype.kind != "f":
                targets = OneHotEncoder(sparse_output=False).fit_transform(targets.reshape(len(targets), -1))
        kernel = self._resolved(checked)
        if kernel is None:
            super().fit(X)
            self._approximation = None
        else:
            with self._threads():
                points, indices = self._chosen(kernel, checked, targets)
                self.components_ = points.astype(checked.dtype, copy=False) if indices is None else checked[indices]
                if indices is not None:
                    self.component_indices_ = indices
                self._approximation = NystromApproximation(kernel, self.components_)
            self.normalization_ = _normalization(self._approximation).astype(self.components_.dtype, copy=False)
        self._n_features_out = self.n_components_ = self.components_.shape[0]
        return self

    def transform(self, X: Any) -> Any:
        """The features of the rows of ``X``, shape (n_samples, n_components)."""
        check_is_fitted(self)
        checked = self._checked(X, reset=False)
        if self._approximation is None:
            return super().transform(X)
        with self._threads():
            features = self._approximation.features(checked.toarray() if issparse(checked) else checked)
        single = checked.dtype == self.components_.dtype == np.float32
        missing = self._n_features_out - features.shape[1]
        return np.pad(features, ((0, 0), (0, missing))).astype(np.float32 if single else np.float64, copy=False)

    # --- what is given

    def _landmarks_are(self, name: str) -> bool:
        return isinstance(self.landmarks, str) and self.landmarks == name

    @property
    def _takes_sparse(self) -> bool:
        return self._landmarks_are("uniform") and isinstance(self.kernel, str) and self.kernel != "precomputed"

    def _checked(self, X: Any, **options: Any) -> Any:
        check.unmasked("X", X)  # scikit-learn would drop the mask
        if issparse(X) and not self._takes_sparse:
            raise TypeError(
                "Sparse data was passed for X, but dense data is required; use X.toarray(), or landmarks='uniform' with"
                " a kernel given by name, which takes sparse data."
            )
        return validate_data(self, X, accept_sparse="csr" if self._takes_sparse else False, dtype=FLOATS, **options)

    def _resolved(self, X: Any) -> Kernel | None:
        """The kernel of this library; None if there is none, or X is sparse, and scikit-learn's class can do it."""
        named = {"gamma": self._gamma(X), "coef0": self.coef0, "degree": self.degree}
        given = {name: value for name, value in named.items() if value is not None}
        if issparse(X):
            kernel = None
        elif isinstance(self.kernel, str):
            defaults = {"gamma": 1.0 / X.shape[1], "coef0": 1.0, "degree": 3}
            kernel = _of_name(self.kernel, {**defaults, **(self.kernel_params or {}), **given})
        else:
            kernel = self.kernel if isinstance(self.kernel, Kernel) else None
            if given and kernel is not None:
                raise ValueError(f"gamma, coef0 and degree are for kernels given by name; kernel is {self.kernel!r}.")
        numbers = not isinstance(self.gamma, str) and self.n_components != "auto"
        if kernel is None and not (numbers and self._landmarks_are("uniform")):
            raise ValueError(
                f"kernel is {check.quoted(self.kernel)}, with parameters or data that are left to scikit-learn: "
                "landmarks must be 'uniform', n_components a number, and gamma a number or None."
            )
        return kernel

    def _gamma(self, X: Any) -> Any:
        """The number, by a rule if one was named."""
        if issparse(X) or not isinstance(self.gamma, str):
            return self.gamma
        if self.gamma == "median":
            return median_rho(X.astype(np.float64, copy=False), 0)
        variance = float(X.var())
        return 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0

    def _threads(self) -> AbstractContextManager[None]:
        if self.n_jobs is not None:
            return threads(effective_n_jobs(self.n_jobs))
        # One of several Python threads leaves the other cores to those beside it, as joblib's workers should.
        return nullcontext() if threading.current_thread() is threading.main_thread() else threads(1)

    # --- landmarks

    def _chosen(self, kernel: Kernel, X: NDArray[Any], targets: Any) -> tuple[Any, NDArray[np.int64] | None]:
        """The landmarks and, if they are samples, which ones."""
        if not isinstance(self.landmarks, str):
            if np.ndim(self.landmarks) == 1:
                return None, check.indices("landmarks", self.landmarks, len(X))
            return check.points("landmarks", self.landmarks, dimension=X.shape[1], like="X"), None
        if self.n_components == "auto" and targets is not None:
            raise ValueError("n_components is 'auto'; with landmarks='supervised' it must be a number.")
        rng = check_random_state(self.random_state)
        n = None if self.n_components == "auto" else at_most(int(self.n_components), len(X), stacklevel=4)
        if n is not None:
            check_factor_memory(n, f"n_components is {n:,}; it must be")
        if n is not None and self.landmarks == "uniform":
            return None, rng.permutation(len(X))[:n]  # scikit-learn's draw
        method = self.landmarks if self.landmarks in (*OBJECTIVES, *STARTS) else "auto"
        seed = int(rng.randint(np.iinfo(np.int32).max))
        found = find_landmarks(
            kernel, X, n, targets=targets, tolerance=self.tolerance if n is None else None, method=method, seed=seed,
            seconds=self.seconds, iterations=self.iterations,
        )  # fmt: skip
        self.reasons_, self.error_ = found.reasons, found.relative_error
        return found.sample, found.indices

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = False
        tags.input_tags.sparse = self._takes_sparse
        tags.target_tags.required = self._landmarks_are("supervised")
        return tags


def _of_name(name: str, parameters: dict[str, Any]) -> Kernel | None:
    """The library's kernel of a name of scikit-learn's, or None."""
    gamma, offset, degree = (check.real(key, parameters[key]) for key in ("gamma", "coef0", "degree"))
    if name == "rbf" and gamma > 0.0:
        return Gaussian(check.magnitude("gamma", gamma, LARGEST_RHO))
    if name == "linear":
        return Polynomial(degree=1, offset=0.0)
    if name in ("poly", "polynomial") and degree.is_integer() and offset >= 0.0 and gamma > 0.0:
        return Polynomial(degree=int(degree), offset=offset, scale=gamma)
    return None


def _normalization(approximation: NystromApproximation) -> NDArray[np.float64]:
    """M with f(x) = M k(x): L⁻¹ in the columns of the pivots, and zeros."""
    n, rank = len(approximation.sample), approximation.rank
    M = np.zeros((n, n))
    if rank:
        M[:rank] = solve_triangular(approximation._factor, np.eye(n)[approximation._pivots], lower=True)
    return M
