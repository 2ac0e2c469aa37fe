"""Bad input gets one clear sentence; odd but honest arrays are converted; nothing passed in is modified."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nystrom_lib as nl
from tests.cases import cloud, paired

KERNEL = nl.Gaussian(rho=2.0)
X, S = cloud(2, 30, 4)
Call = Callable[[Any, Any], Any]

# Every public function of data and sample.
FUNCTIONS: dict[str, Call] = {
    "radial_skd": lambda X, S: nl.radial_skd(KERNEL, X, S),
    "radial_skd_without": lambda X, S: nl.radial_skd(KERNEL, X, S, constant=False),
    "skd_coefficient": lambda X, S: nl.skd_coefficient(KERNEL, X, S),
    "skd_coefficient_gradient": lambda X, S: nl.skd_coefficient_gradient(KERNEL, X, S),
    "radial_skd_gradient": lambda X, S: nl.radial_skd_gradient(KERNEL, X, S),
    "radial_skd_hessian": lambda X, S: nl.radial_skd_hessian(KERNEL, X, S),
    "hessian_vector_product": lambda X, S: nl.derivatives.hessian_vector_product(KERNEL, X, S, np.ones((4, 2))),
    "largest_hessian_eigenvalue": lambda X, S: nl.largest_hessian_eigenvalue(KERNEL, X, S),
    "T1": lambda X, S: nl.stochastic.estimates(KERNEL, X, S, [0, 1])[0],
    "T2": lambda X, S: nl.stochastic.estimates(KERNEL, X, S, [0, 1])[1],
    "one_sample_gradient": lambda X, S: nl.one_sample_gradient(KERNEL, X, S, [0, 1]),
    "two_sample_gradient": lambda X, S: nl.two_sample_gradient(KERNEL, X, S, [0, 1], [2]),
    "four_sample_gradient": lambda X, S: nl.stochastic.four_sample_gradient(KERNEL, X, S, [0], [1], [2], [3]),
    "gradient_descent": lambda X, S: nl.gradient_descent(KERNEL, X, S, step=1e-3, iterations=3).sample,
    "stochastic_gradient_descent": lambda X, S: (
        nl.stochastic_gradient_descent(
            KERNEL, X, S, step=1e-3, iterations=3, batch_size=2, seed=0, record_every=1
        ).sample
    ),
    "nystrom_errors": lambda X, S: list(vars_of(nl.nystrom_errors(KERNEL, X, S))),
    "approximation_factors": lambda X, S: list(vars_of(nl.approximation_factors(KERNEL, X, S))),
}
DATA_ONLY: dict[str, Callable[[Any], Any]] = {
    "squared_frobenius_norm": lambda X: nl.squared_frobenius_norm(KERNEL, X),
    "lipschitz_bound": lambda X: nl.lipschitz_bound(KERNEL, X, 3).L,
    "best_rank_errors": lambda X: nl.best_rank_errors(KERNEL, X, 3).trace,
    "uniform_sample": lambda X: nl.uniform_sample(X, 3, 0),
}
BAD_ARRAYS: dict[str, Any] = {
    "nan": np.array([[0.0, np.nan], [1.0, 2.0], [0.0, 0.0], [1.0, 1.0]]),
    "inf": np.array([[0.0, 1.0], [np.inf, 2.0], [0.0, 0.0], [1.0, 1.0]]),
    "one axis": np.zeros(4),
    "no rows": np.zeros((0, 2)),
    "no columns": np.zeros((4, 0)),
    "complex": np.zeros((4, 2), dtype=complex),
    "none": None,
    "masked": np.ma.masked_greater(np.arange(8.0).reshape(4, 2), 6.0),
    "far apart": np.array([[1e308, 0.0], [-1e308, 0.0], [0.0, 0.0], [1.0, 1.0]]),
}
REFUSED = (ValueError, TypeError)


def vars_of(errors: Any) -> tuple[float, float, float]:
    return errors.trace, errors.frobenius, errors.spectral


def one_sentence(error: BaseException) -> bool:
    message = str(error)
    return len(message) < 300 and "\n" not in message


@pytest.mark.parametrize("name, bad", paired(FUNCTIONS, BAD_ARRAYS))
def test_bad_data_or_sample_is_named(name: str, bad: str) -> None:
    """Catches an array that is not checked, or an error that blames the wrong argument."""
    with pytest.raises(REFUSED, match=r"\bdata\b") as caught:
        FUNCTIONS[name](BAD_ARRAYS[bad], S)
    assert one_sentence(caught.value)
    with pytest.raises(REFUSED, match=r"\bsample\b") as caught:
        FUNCTIONS[name](X, BAD_ARRAYS[bad])
    assert one_sentence(caught.value)


@pytest.mark.parametrize("name, bad", paired(DATA_ONLY, BAD_ARRAYS))
def test_bad_data_is_named(name: str, bad: str) -> None:
    """Catches the same in functions of the data alone."""
    with pytest.raises(REFUSED, match=r"\bdata\b"):
        DATA_ONLY[name](BAD_ARRAYS[bad])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_dimensions_must_agree(name: str) -> None:
    """Catches numpy broadcasting a one-column sample over two-column data."""
    for wrong in (S[:, :1], np.hstack([S, S])):
        with pytest.raises(REFUSED, match=r"\bsample\b") as caught:
            FUNCTIONS[name](X, wrong)
        assert str(wrong.shape[1]) in str(caught.value) and "2" in str(caught.value)


def variants(A: np.ndarray) -> dict[str, Any]:
    """The same numbers in every form a caller may have them in."""
    spread = np.zeros((2 * A.shape[0], 3 * A.shape[1]))
    spread[::2, ::3] = A
    read_only = A.copy()
    read_only.setflags(write=False)
    backwards = A[::-1].copy()[::-1]
    swapped = A.astype(A.dtype.newbyteorder())
    return {
        "fortran": np.asfortranarray(A),
        "strided": spread[::2, ::3],
        "read-only": read_only,
        "reversed": backwards,
        "list": A.tolist(),
        "byte-swapped": swapped,
        "matrix": A.view(np.matrix),
        "masked nowhere": np.ma.array(A, mask=False),
        "misaligned": np.frombuffer(b"\0" + A.tobytes(), np.uint8)[1:].view(np.float64).reshape(A.shape),
    }


@pytest.mark.parametrize("name, form", paired(FUNCTIONS, variants(S)))
def test_odd_arrays_are_converted(name: str, form: str) -> None:
    """Catches a kernel that reads the wrong memory, or is refused, for an unusual layout."""
    before = X.copy(), S.copy()
    expected = np.asarray(FUNCTIONS[name](X, S))
    assert np.array_equal(X, before[0]) and np.array_equal(S, before[1])  # a sample that is moved in place, say
    assert np.array_equal(np.asarray(FUNCTIONS[name](variants(X)[form], variants(S)[form])), expected)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_single_precision_is_accepted(name: str) -> None:
    """Catches float32 input that is refused, or whose answer is wrong by more than single precision."""
    A, B = X.astype(np.float32), S.astype(np.float32)
    expected = np.asarray(FUNCTIONS[name](A.astype(np.float64), B.astype(np.float64)))
    size = np.max(np.abs(expected))
    assert np.asarray(FUNCTIONS[name](A, B)) == pytest.approx(expected, rel=1e-3, abs=3e-4 * size)


def test_other_arguments_are_never_modified() -> None:
    """Catches batches or K that are modified."""
    batches, K = np.array([[0, 1], [2, 3], [4, 5]]), KERNEL.matrix(X)
    before = batches.copy(), K.copy()
    nl.stochastic_gradient_descent(KERNEL, X, S, step=1e-3, iterations=3, batches=batches)
    nl.nystrom_errors(KERNEL, X, S, matrix=K)
    nl.best_rank_errors(KERNEL, X, 3, matrix=K)
    nl.nystrom_from_columns(K, [1, 2])
    vector = np.ones((4, 2))
    nl.derivatives.hessian_vector_product(KERNEL, X, S, vector)
    assert np.array_equal(batches, before[0]) and np.array_equal(K, before[1]) and np.all(vector == 1)


def gd(**options: Any) -> Any:
    return nl.gradient_descent(KERNEL, X, S, **{"step": 1e-3, "iterations": 3, **options})


def sgd(**options: Any) -> Any:
    return nl.stochastic_gradient_descent(KERNEL, X, S, **{"step": 1e-3, "iterations": 3, **options})


BAD_OPTIONS: dict[str, tuple[str, Callable[[], Any]]] = {
    "rho=0": ("rho", lambda: nl.Gaussian(rho=0.0)),
    "nu=1": ("nu", lambda: nl.Matern(1.0)),
    "lengthscale=1e200": ("lengthscale", lambda: nl.RationalQuadratic(lengthscale=1e200)),
    "alpha<0": ("alpha", lambda: nl.RationalQuadratic(alpha=-1.0)),
    "degree=1.5": ("degree", lambda: nl.Polynomial(degree=1.5)),  # type: ignore[arg-type]
    "offset<0": ("offset", lambda: nl.Polynomial(offset=-1.0)),
    "step=0": ("step", lambda: gd(step=0.0)),
    "iterations<0": ("iterations", lambda: gd(iterations=-1)),
    "neither": ("batch_size", lambda: sgd()),
    "both": ("batches", lambda: sgd(batch_size=2, seed=0, batches=np.zeros((3, 2), dtype=int))),
    "seed<0": ("seed", lambda: sgd(batch_size=2, seed=-1)),
    "batches range": ("batches", lambda: sgd(batches=np.full((3, 2), 30))),
    "batch empty": ("batch", lambda: nl.one_sample_gradient(KERNEL, X, S, [])),
    "batch_x": ("batch_x", lambda: nl.two_sample_gradient(KERNEL, X, S, [99], [0])),
    "n>N": ("n", lambda: nl.uniform_sample(X, 31, 1)),
    "norms unknown": ("norms", lambda: nl.nystrom_errors(KERNEL, X, S, norms=("nuclear",))),
    "vector shape": ("vector", lambda: nl.derivatives.hessian_vector_product(KERNEL, X, S, np.ones(5))),
    "columns matrix": ("matrix", lambda: nl.nystrom_from_columns(np.ones((4, 3)), [0])),
    "start": ("start", lambda: nl.find_landmarks(KERNEL, X, 3, start="unifrom")),
    "matrix b": ("b", lambda: KERNEL.matrix(X, S[:, :1])),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_bad_options_are_named(case: str) -> None:
    """Catches an option that is ignored, wrapped around, or answered by a traceback from inside."""
    argument, call = BAD_OPTIONS[case]
    with pytest.raises(REFUSED, match=rf"\b{argument}\b") as caught:
        call()
    assert one_sentence(caught.value)


WRONG_TYPES = {
    "n": lambda: nl.uniform_sample(X, 1.5, 1),  # type: ignore[arg-type]
    "rho": lambda: nl.Gaussian(rho="1"),  # type: ignore[arg-type]
    "seed": lambda: nl.uniform_sample(X, 3, "1"),
    "kernel": lambda: nl.radial_skd("gaussian", X, S),  # type: ignore[arg-type]
    "method": lambda: nl.find_landmarks(KERNEL, X, 3, method=None),  # type: ignore[arg-type]
    "norms": lambda: nl.nystrom_errors(KERNEL, X, S, norms=3),  # type: ignore[arg-type]
    "progress": lambda: gd(progress=5),
}


@pytest.mark.parametrize("argument", WRONG_TYPES)
def test_wrong_types_raise_type_errors(argument: str) -> None:
    """Catches a ValueError for a value of a wrong type."""
    with pytest.raises(TypeError, match=f"^{argument} "):
        WRONG_TYPES[argument]()


def test_without_a_seed_draws_differ() -> None:
    """Catches a fixed seed in the place of None (ten equal draws of 15 out of 30 points are impossible)."""
    assert len({nl.uniform_sample(X, 15).tobytes() for _ in range(10)}) > 1
    assert len({nl.initial_sample(KERNEL, X, 15).tobytes() for _ in range(10)}) > 1
    assert len({nl.datasets.bigaussian(N=5, seed=None).sha256 for _ in range(10)}) > 1
    assert nl.median_rho(X, seed=None) == nl.median_rho(X)  # all points
    assert nl.find_landmarks(KERNEL, X, 3, method="uniform", seed=None).sample.shape == (3, 2)
