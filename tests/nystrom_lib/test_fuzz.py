"""A seeded slice of odd inputs: each is either taken, with finite numbers, or refused in one sentence of ours.

The library's public functions get one odd value in the place of one argument at a time. Red on an exception that is
none of the documented ones or has a message of many lines, and on a NaN or an infinity that is not announced.
"""

from __future__ import annotations

import dataclasses
import math
import os
import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nystrom_lib as nl
from nystrom_lib._validation import quoted
from tests.cases import cloud

#: Another slice, or a thicker one: NYSTROM_FUZZ_SEED=1 NYSTROM_FUZZ_EACH=20.
SEED = int(os.environ.get("NYSTROM_FUZZ_SEED", "20"))
#: How many odd values each argument of each function meets, of all there are.
OF_EACH = int(os.environ.get("NYSTROM_FUZZ_EACH", "6"))

X, S = cloud(2, 30, 4)
GOOD: dict[str, Any] = {
    "kernel": nl.Gaussian(rho=2.0), "data": X, "sample": S, "n": 4, "seed": 0, "step": 1e-3, "iterations": 3,
    "batch": [0, 1], "batch_x": [0, 1], "batch_y": [2], "batch_size": 2, "vector": np.ones((4, 2)), "norms": "trace",
    "record_every": 1, "keep_path": True, "constant": 1.0, "neighbours": 3, "method": "trace", "start": "uniform",
    "estimator": "one-sample", "matrix": np.eye(4), "indices": [0, 1], "rho": 1.0, "nu": 1.5, "lengthscale": 1.0,
    "alpha": 1.0, "degree": 2, "offset": 1.0, "scale": 1.0, "beta": 0.5, "beta1": 0.5, "beta2": 0.5, "memory": 3,
    "way": "kmeans", "a": X, "b": S, "N": 20, "count": 2, "progress": None,
    "points": 5, "confidence": 0.9, "columns": None, "without": (), "standardise": True, "missing": "refuse",
    "seconds": None, "best": None, "precision": "auto", "parameters": (1.0,), "constants": (1.0, 1.0, 1.0),
}  # fmt: skip


class Strange:
    """An object that cannot even say what it is."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


def value(q: float, p: np.ndarray) -> float:
    return math.exp(-p[0] * q)


def slope(q: float, p: np.ndarray) -> float:
    return -p[0] * math.exp(-p[0] * q)


def curvature(q: float, p: np.ndarray) -> float:
    return p[0] ** 2 * math.exp(-p[0] * q)


def odd_values() -> list[Any]:
    """What people, other libraries and mistakes hand over."""
    big = np.full((4, 2), 1e200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matrix = np.matrix(S)
    return [
        None, True, False, 0, -1, 1, 3.0, 1.5, -0.0, 1e-320, 1e308, -1e308, 10**400, 10**5000, math.nan, math.inf, 1j,
        "", "x", "trace", "auto", "\ud800", b"x", [], (), {}, set(), [[]], [None], [[1.0, 2.0], [3.0]], [[1, "a"]],
        np.float32(2), np.int64(3), np.bool_(True), np.array(2.0), np.zeros(4), np.zeros((0, 2)), np.zeros((4, 0)),
        np.zeros((4, 2)), np.zeros((4, 3)), np.zeros((2, 2, 2)), S.astype(np.float16), S > 0,
        S.astype(complex), S.astype(object), np.full((4, 2), np.nan), np.full((4, 2), -1), np.full((4, 2), 10**9),
        big, -big, np.vstack([big, -big]), np.array([[1e308] * 2, [-1e308] * 2] * 2), np.array([["a", "b"]] * 4),
        np.ma.masked_less(S, 0.0), matrix, np.array([[np.datetime64("2020-01-01")] * 2] * 4), range(3), iter([1]),
        lambda: None, len, object(), Strange(), nl.Gaussian(), nl.Polynomial(degree=40), Path("x"),
    ]  # fmt: skip


def used(make: Callable[..., nl.Kernel]) -> Callable[..., Any]:
    def every(*settings: Any) -> Any:
        kernel = make(*settings)
        return kernel.matrix(X, S), kernel.squared_left(S, X), kernel.squared_left_left(S, S), kernel.constants or 0.0

    return every


def rule(make: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **settings: nl.descend(nl.RadialSKD(nl.Gaussian(rho=2.0), X), S, make(**settings), iterations=2)


def objective(make: Callable[..., Any]) -> Callable[..., Any]:
    def both(kernel: Any, data: Any, sample: Any, batch: Any, **settings: Any) -> Any:
        found = make(kernel, data, **settings)
        return found.value(sample), found.gradient(sample), found.gradient(sample, batch)

    return both


def opened(data: Any, columns: Any, without: Any, standardise: Any, missing: Any, progress: Any) -> Any:
    how = {"columns": columns, "without": without, "standardise": standardise, "missing": missing}
    return nl.open_data(data, progress=progress, **how).check().all()


def rows_of(indices: Any, points: Any) -> Any:
    source = nl.open_data(X, standardise=True)
    return source.rows(indices), source.in_original_units(points)


def threads(count: Any) -> None:
    with nl.threads(count):
        pass


#: The functions, and which of the good arguments they take, in order or by name (after "*").
CALLS: dict[str, tuple[Callable[..., Any], str]] = {
    "Gaussian": (used(nl.Gaussian), "rho"),
    "Matern": (used(nl.Matern), "nu lengthscale"),
    "RationalQuadratic": (used(nl.RationalQuadratic), "alpha lengthscale"),
    "Polynomial": (used(nl.Polynomial), "degree offset scale"),
    "radial_kernel": (
        lambda parameters, constants: nl.radial_kernel(
            value, slope, curvature, parameters, constants=constants
        ).matrix(X),
        "parameters constants",
    ),
    "matrix": (lambda kernel, a, b: kernel.matrix(a, b) if isinstance(kernel, nl.Kernel) else 0, "kernel a b"),
    "radial_skd": (nl.radial_skd, "kernel data sample constant"),
    "skd_coefficient": (nl.skd_coefficient, "kernel data sample"),
    "skd_coefficient_gradient": (nl.skd_coefficient_gradient, "kernel data sample"),
    "squared_frobenius_norm": (nl.squared_frobenius_norm, "kernel data"),
    "radial_skd_gradient": (nl.radial_skd_gradient, "kernel data sample"),
    "radial_skd_hessian": (nl.radial_skd_hessian, "kernel data sample"),
    "hessian_vector_product": (nl.derivatives.hessian_vector_product, "kernel data sample vector"),
    "estimates": (nl.stochastic.estimates, "kernel data sample batch"),
    "one_sample_gradient": (nl.one_sample_gradient, "kernel data sample batch"),
    "two_sample_gradient": (nl.two_sample_gradient, "kernel data sample batch_x batch_y"),
    "lipschitz_bound": (lambda kernel, data, n: nl.lipschitz_bound(kernel, data, n).L, "kernel data n"),
    "gradient_descent": (
        nl.gradient_descent, "kernel data sample * step iterations record_every keep_path progress",
    ),
    "stochastic_gradient_descent": (
        nl.stochastic_gradient_descent, "kernel data sample * step iterations batch_size seed record_every estimator",
    ),
    "nystrom_errors": (nl.nystrom_errors, "kernel data sample norms * precision"),
    "nystrom_errors from some points": (nl.nystrom_errors, "kernel data sample norms * points seed confidence"),
    "nystrom_errors by neighbours": (nl.nystrom_errors, "kernel data sample norms * points neighbours"),
    "open_data": (opened, "data columns without standardise missing progress"),
    "Source": (rows_of, "indices a"),
    "best_rank_errors": (nl.best_rank_errors, "kernel data n norms"),
    "approximation_factors": (nl.approximation_factors, "kernel data sample norms * best"),
    "nystrom_from_columns": (nl.nystrom_from_columns, "matrix indices"),
    "uniform_sample": (nl.uniform_sample, "data n seed"),
    "initial_sample": (lambda kernel, data, n, way, seed: nl.initial_sample(kernel, data, n, way, seed=seed),
                       "kernel data n way seed"),
    "find_landmarks": (nl.find_landmarks, "kernel data n * method iterations seconds seed start progress"),
    "descend": (
        lambda sample, **rest: nl.descend(nl.TraceError(nl.Gaussian(rho=2.0), X), sample, nl.Adam(), **rest),
        "sample * iterations seconds batch_size seed record_every keep_path progress",
    ),
    "RadialSKD": (objective(nl.RadialSKD), "* kernel data sample batch"),
    "WeightedSKD": (objective(nl.WeightedSKD), "* kernel data sample batch"),
    "TraceError": (objective(nl.TraceError), "* kernel data sample batch"),
    "LocalTraceError": (objective(nl.LocalTraceError), "* kernel data sample batch neighbours"),
    "FixedStep": (rule(nl.FixedStep), "* step"),
    "Momentum": (rule(nl.Momentum), "* step beta"),
    "Adam": (rule(nl.Adam), "* step beta1 beta2"),
    "LBFGS": (rule(nl.LBFGS), "* memory"),
    "threads": (threads, "count"),
}  # fmt: skip
ALLOWED = (ValueError, TypeError, FileNotFoundError, nl.DescentError)


def numbers(result: Any) -> Iterator[np.ndarray]:
    """Every array of numbers in a result."""
    if isinstance(result, str | bytes | None.__class__ | nl.Kernel):
        return
    if dataclasses.is_dataclass(result):
        # what was not asked for is NaN, and bounds may have no end; their docstrings say so
        fields = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
        result = [entry for name, entry in fields.items() if name not in ("frobenius", "spectral", "bounds")]
    if isinstance(result, tuple | list):
        for entry in result:
            yield from numbers(entry)
    else:
        array = np.asarray(result)
        if array.dtype.kind in "fiub":
            yield array


def complaint(function: Callable[..., Any], arguments: list[Any], named: dict[str, Any]) -> str | None:
    """What is wrong with how a call ended, if anything is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = function(*arguments, **named)
    except ALLOWED as error:
        told = str(error)
        ours = told and "\n" not in told and len(told) < 400 and told.rstrip()[-1] in ".…" and told.isprintable()
        return None if ours else f"{type(error).__name__} in words that are not ours: {told[:200]!r}"
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    # a factor is infinite, and says so, where the best rank-n approximation is exact
    wrong = np.isnan if isinstance(result, nl.criteria.Factors) else lambda array: ~np.isfinite(array)
    bad = [array for array in numbers(result) if wrong(array).any()]
    return f"silently: {bad[0].ravel()[:4]}" if bad else None


@pytest.mark.parametrize("name", CALLS)
def test_odd_arguments_are_taken_or_refused_in_one_sentence(name: str) -> None:
    """Catches whatever a check in front of a public function forgot."""
    function, signature = CALLS[name]
    before, _, after = signature.partition("*")
    order, by_name = before.split(), after.split()
    draw, odd = random.Random(f"{SEED} {name}"), odd_values()
    wrong = []
    for argument in (*order, *by_name):
        for strange in draw.sample(odd, OF_EACH):
            if argument == "progress" and callable(strange):
                continue  # what the caller's own function raises is the caller's
            good = GOOD | {argument: strange}
            found = complaint(function, [good[each] for each in order], {each: good[each] for each in by_name})
            if found:
                wrong.append(f"{argument} = {quoted(strange)}: {found}")
    assert not wrong, "\n".join(wrong)
