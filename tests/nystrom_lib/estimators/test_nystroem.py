"""``Nystroem``: equal to scikit-learn's at equal landmarks, right where that is not, and better ones by default."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import joblib
import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gp
from sklearn.kernel_approximation import Nystroem as Theirs
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import kernel_metrics, rbf_kernel, sigmoid_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nystrom_lib as nl
from nystrom_lib.estimators import Nystroem
from nystrom_lib.landmarks.objectives import OBJECTIVES
from nystrom_lib.landmarks.starts import STARTS
from tests import oracle
from tests.cases import notebook_data

X = np.random.default_rng(0).random((60, 4))
y = np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2

#: Kernels for every landmark method, each with the entries it must have.
OURS: dict[str, tuple[dict[str, Any], nl.Kernel]] = {
    "rbf": ({"kernel": "rbf"}, nl.Gaussian(0.25)),
    "rbf, γ": ({"kernel": "rbf", "gamma": 2.0}, nl.Gaussian(2.0)),
    "γ as a kernel parameter": ({"kernel_params": {"gamma": 2.0}}, nl.Gaussian(2.0)),
    "poly": ({"kernel": "poly"}, nl.Polynomial(3, 1.0, 0.25)),
    "polynomial": (
        {"kernel": "polynomial", "degree": 2.0, "coef0": 0.5, "gamma": 1.5}, nl.Polynomial(2, 0.5, 1.5)
    ),
    "linear": ({"kernel": "linear"}, nl.Polynomial(1, 0.0)),
    "of the library": ({"kernel": nl.Matern(0.5, 2.0)}, nl.Matern(0.5, 2.0)),
}  # fmt: skip


def inner_products(estimator: Any, data: Any = X) -> Any:
    features = estimator.transform(data)
    return features @ features.T


# -- beside scikit-learn's ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [*kernel_metrics(), gp.RBF([1.0, 2.0, 3.0, 4.0]) * 2.0, gp.DotProduct(), np.vdot])
def test_the_same_landmarks_and_approximation_as_theirs(kernel: Any) -> None:
    """Catches a wrong default, another draw, and indefinite kernels treated as positive ones."""
    ours, theirs = (
        make(kernel, n_components=4, random_state=3, **more).fit(X)
        for make, more in ((Nystroem, {"landmarks": "uniform"}), (Theirs, {}))
    )
    assert list(ours.component_indices_) == list(theirs.component_indices_)
    assert np.array_equal(ours.components_, theirs.components_)
    scale = np.abs(inner_products(theirs)).max()
    assert inner_products(ours) == pytest.approx(inner_products(theirs), abs=1e-9 * scale)
    assert ours.normalization_.shape == theirs.normalization_.shape
    gram = ours.normalization_.T @ ours.normalization_
    wanted = theirs.normalization_.T @ theirs.normalization_
    assert gram == pytest.approx(wanted, abs=1e-8 * np.abs(wanted).max())


def test_features_of_an_indefinite_kernel_are_theirs_sign_by_sign() -> None:
    """Catches |K_S|^(-1/2) in place of theirs, which has the signs of the eigenvalues: equal in inner products only."""
    ours, theirs = (
        make("sigmoid", n_components=4, random_state=3, **more).fit(X)
        for make, more in ((Nystroem, {"landmarks": "uniform"}), (Theirs, {}))
    )
    assert np.linalg.eigvalsh(sigmoid_kernel(ours.components_)).min() < -1e-4
    assert ours.transform(X) == pytest.approx(theirs.transform(X), abs=1e-9 * np.abs(theirs.transform(X)).max())


@pytest.mark.parametrize("landmarks", ["uniform", "points"])
def test_right_where_theirs_is_not(landmarks: str) -> None:
    """At cond 2e16 the trace error left by the features, against 300 bits: theirs is clipped, ours is not."""
    data = notebook_data()[:300]
    theirs = Theirs(gamma=1.0, n_components=80, random_state=0).fit(data)
    given = theirs.components_ if landmarks == "points" else landmarks
    ours = Nystroem(gamma=1.0, n_components=80, random_state=0, landmarks=given).fit(data)
    exact = oracle.trace_error(oracle.gaussian(1.0), data, ours.components_)
    assert oracle.condition_number(oracle.gaussian(1.0), ours.components_) > 1e16
    left, left_by_theirs = (len(data) - np.square(e.transform(data)).sum() for e in (ours, theirs))
    assert left == pytest.approx(exact, rel=0.02)
    assert abs(left_by_theirs / exact - 1.0) > 0.25


# -- kernels -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OURS)
def test_full_rank_gives_the_kernel_and_normalization_the_features(name: str) -> None:
    """Catches a parameter taken for another, and a γ that is not the Gaussian's."""
    parameters, kernel = OURS[name]
    estimator = Nystroem(**parameters, n_components=60, landmarks=X).fit(X)
    K = kernel.matrix(X)
    assert estimator._approximation.kernel == kernel
    assert inner_products(estimator) == pytest.approx(K, abs=1e-9 * K.max())
    few = Nystroem(**parameters, landmarks=np.arange(4)).fit(X)
    assert kernel.matrix(X, X[:4]) @ few.normalization_.T == pytest.approx(few.transform(X), abs=1e-9 * K.max())


@pytest.mark.parametrize("kernel", [gp.Matern(0.6, nu=0.7), gp.RBF(1.0) + gp.RBF(0.1), gp.RBF([1, 2, 3, 4])], ids=repr)
def test_kernels_of_gaussian_processes_are_left_to_theirs(kernel: Any) -> None:
    estimator = Nystroem(kernel, landmarks="uniform", n_components=60, random_state=0).fit(X)
    assert inner_products(estimator) == pytest.approx(kernel(X), abs=1e-8)
    with pytest.raises(ValueError, match="left to scikit-learn: landmarks must be 'uniform'"):
        Nystroem(kernel, n_components=5).fit(X)


# -- landmarks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("landmarks", "kernel"),
    [*((name, "rbf") for name in ("optimised", *OBJECTIVES, *STARTS)), ("optimised", "poly"), ("local-trace", "poly")],
)
def test_every_way_to_choose_them(landmarks: str, kernel: str) -> None:
    """Catches a name that leads nowhere, indices of other points, and a seed that is not used."""
    if (landmarks, kernel) == ("local-trace", "poly"):
        with pytest.raises(ValueError, match="it must be radial"):
            Nystroem(kernel, n_components=6, landmarks=landmarks).fit(X)
        return
    made = [Nystroem(kernel, n_components=6, random_state=s, landmarks=landmarks).fit(X) for s in (0, 0, 1)]
    assert all(estimator.components_.shape == (6, 4) for estimator in made)
    assert np.array_equal(made[0].components_, made[1].components_)
    assert np.array_equal(made[0].components_, made[2].components_) == (landmarks in ("greedy", "herding"))
    subset = landmarks in STARTS and landmarks != "kmeans"
    assert hasattr(made[0], "component_indices_") == subset
    if subset:
        assert np.array_equal(X[made[0].component_indices_], made[0].components_)


def test_landmarks_that_are_given() -> None:
    points = X[:7] + 0.01
    estimator = Nystroem(landmarks=points, n_components=3).fit(X)
    assert np.array_equal(estimator.components_, points) and estimator.transform(X).shape == (60, 7)
    assert not hasattr(estimator, "component_indices_")
    again = estimator.set_params(landmarks=[3, 1]).fit(X)
    assert np.array_equal(again.components_, X[[3, 1]]) and list(again.component_indices_) == [3, 1]
    assert not hasattr(again.set_params(landmarks=points).fit(X), "component_indices_")


# -- as scikit-learn's users use it ------------------------------------------------------------------------------


@pytest.mark.parametrize("landmarks", ["optimised", "uniform", "kmeans"])
def test_single_precision_is_kept_where_theirs_is(landmarks: str) -> None:
    single = X.astype(np.float32)
    estimator = Nystroem(n_components=5, random_state=0, landmarks=landmarks).fit(single)
    assert estimator.components_.dtype == estimator.normalization_.dtype == np.float32
    assert estimator.transform(single).dtype == np.float32
    assert estimator.transform(X).dtype == np.float64
    assert Nystroem(n_components=5, landmarks=landmarks).fit(X).transform(single).dtype == np.float64
    S = estimator.components_.astype(np.float64)
    C = rbf_kernel(X, S)
    assert inner_products(estimator) == pytest.approx(C @ np.linalg.solve(rbf_kernel(S), C.T), abs=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
def test_sparse_goes_where_it_went(kernel: str) -> None:
    """Dense or sparse, in fit or in transform: the same inner products."""
    sparse = csr_matrix(np.where(X > 0.6, X, 0.0))
    dense = sparse.toarray()
    fitted = [Nystroem(kernel, n_components=3, random_state=0, landmarks="uniform").fit(Z) for Z in (sparse, dense)]
    found = [inner_products(estimator, Z) for estimator in fitted for Z in (sparse, dense)]
    for other in found[1:]:
        assert other == pytest.approx(found[0], abs=1e-10)


def test_their_parameters_are_ours() -> None:
    ours, theirs = Nystroem().get_params(), Theirs().get_params()
    assert {name: ours[name] for name in theirs} == theirs
    assert set(ours) - set(theirs) == {"landmarks", "seconds", "iterations", "tolerance"}


def test_grid_search_in_a_pipeline_on_threads() -> None:
    """Catches threads that meet in the library, and parameters that do not reach it."""
    model = make_pipeline(StandardScaler(), Nystroem(n_components=10, random_state=0), Ridge(0.1))
    grid = {"nystroem__gamma": [1e-6, 0.1], "nystroem__landmarks": ["optimised", "uniform"]}
    with joblib.parallel_config("threading"):
        search = GridSearchCV(model, grid, cv=3, n_jobs=2).fit(X, y)
    assert search.best_params_["nystroem__gamma"] == 0.1


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_results_do_not_depend_on_jobs(n_jobs: int) -> None:
    for kernel, landmarks in (("rbf", "optimised"), ("poly", "rpcholesky")):
        wanted = Nystroem(kernel, n_components=5, random_state=0, landmarks=landmarks).fit_transform(X)
        found = Nystroem(kernel, n_components=5, random_state=0, landmarks=landmarks, n_jobs=n_jobs).fit_transform(X)
        assert np.array_equal(found, wanted)


# -- scikit-learn is an extra ------------------------------------------------------------------------------------


def test_without_scikit_learn_one_sentence_says_what_to_install() -> None:
    """The library does not need it, and the estimators name it."""
    code = (
        "import sys, nystrom_lib; assert not {'sklearn', 'joblib'} & set(sys.modules); "
        "sys.modules['sklearn'] = None; from nystrom_lib.estimators import Nystroem"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = run.stderr.splitlines()[-1]
    assert last == "ImportError: nystrom_lib.estimators needs scikit-learn: pip install scikit-learn joblib."


def test_effort_reasons_and_error() -> None:
    """Catches an effort that is not passed on, and an error of another kernel or other landmarks."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = Nystroem(gamma=0.7, n_components=10, landmarks="optimized", iterations=3, random_state=0).fit(X)
    assert any(reason.startswith("3 steps") for reason in model.reasons_)
    features = model.transform(X)
    assert model.error_ == pytest.approx(1.0 - np.square(features).sum() / len(X), rel=1e-9)
    same = clone(model).set_params(landmarks="optimised").fit(X)
    assert np.array_equal(same.components_, model.components_)
    model.set_params(landmarks="uniform").fit(X)
    assert not hasattr(model, "error_") and not hasattr(model, "reasons_")
    found = Nystroem(n_components=10, seconds=1e-6, random_state=0).fit(X)
    assert any(" steps by " in reason and int(reason.split()[0].replace(",", "")) <= 3 for reason in found.reasons_)


@pytest.mark.parametrize("landmarks", ["uniform", "optimised"])
def test_a_kernel_that_is_zero_on_the_data(landmarks: str) -> None:
    """Catches a division by a trace of 0, and a factor of rank 0."""
    model = Nystroem("linear", n_components=3, landmarks=landmarks).fit(np.zeros((20, 2)))
    assert np.array_equal(model.transform(np.ones((4, 2))), np.zeros((4, 3))) and not model.normalization_.any()
