"""What scikit-learn asks of any estimator, and its own tests of its ``Nystroem``, shipped in its wheel, run on ours."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import sklearn.tests.test_kernel_approximation as theirs
from sklearn.kernel_approximation import Nystroem as Theirs
from sklearn.utils.estimator_checks import estimator_checks_generator

from nystrom_lib.estimators import Nystroem

# Some of the checks and tests have fewer samples than the default n_components.
pytestmark = pytest.mark.filterwarnings("ignore:n_components > n_samples")

#: Tests that a landmark which is no sample, or that has to be moved, cannot pass; all others run on both.
COLUMNS = {
    "test_nystroem_approximation": "goes through kernels without derivatives",
    "test_nystroem_default_parameters": "has the chi2 kernel",
    "test_nystroem_poly_kernel_params": "has a degree of 3.1, which is no kernel of ours",
    "test_nystroem_callable": "has a callable",
    "test_nystroem_precomputed_kernel": "has a kernel matrix",
    "test_nystroem_component_indices": "looks at which samples the landmarks are",
}
#: Without the one of the array API, which theirs supports and ours does not claim to.
SHIPPED = {
    name: value
    for name, value in vars(theirs).items()
    if name.startswith("test_nystroem") and not name.endswith("array_api")
}
# pytest finds them here as if they were written here.
globals().update(SHIPPED)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.originalname in SHIPPED:
        both = metafunc.definition.originalname not in COLUMNS
        metafunc.parametrize("in_their_place", ["uniform", *(["optimised"] if both else [])], indirect=True)


@pytest.fixture(autouse=True)
def in_their_place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the name they know, ours."""
    if hasattr(request, "param"):
        monkeypatch.setattr(theirs, "Nystroem", partial(Nystroem, landmarks=request.param))


def test_their_tests_are_all_known_and_some_run_on_optimised_landmarks() -> None:
    """Catches a list of exceptions that says more than it must, or a module that came without tests."""
    assert set(SHIPPED) >= set(COLUMNS)
    assert "test_nystroem_singular_kernel" in set(SHIPPED) - set(COLUMNS)


def test_their_test_of_feature_names() -> None:
    theirs.test_get_feature_names_out(Nystroem)


def name(check: Any) -> str:
    """What a check is called, with the arguments that tell it from others."""
    return f"{check.func.__name__} {check.keywords or ''}" if isinstance(check, partial) else str(check.__name__)


CHECKED = {
    "default": Nystroem(),
    "uniform": Nystroem(landmarks="uniform"),
}


#: By name, for scikit-learn 1.6 yields one of them twice.
CHECKS = {
    f"{label} {name(check)}": (estimator, check)
    for label, asked in CHECKED.items()
    for estimator, check in estimator_checks_generator(asked)
}


@pytest.mark.parametrize(("estimator", "check"), CHECKS.values(), ids=CHECKS)
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("estimator", [CHECKED["default"], CHECKED["uniform"]])
def test_no_check_is_missing(estimator: Any) -> None:
    """Catches a tag that spares us a check theirs goes through; we do not claim the array API."""
    ours, of_theirs = ({name(check) for _, check in estimator_checks_generator(e)} for e in (estimator, Theirs()))
    assert {missing for missing in of_theirs - ours if "array_api" not in missing} == set()
