"""Data and kernels that several test modules share; each library kernel comes with its oracle."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

import nystrom_lib as nl
from tests import oracle

Floats = NDArray[np.float64]
DIMENSIONS = (1, 2, 8, 50)


@functools.cache
def notebook_data(N: int = 2000) -> Floats:
    """The bi-Gaussian data of the authors' public notebook (energy-sampling), draw for draw."""
    rng = np.random.default_rng(123)
    modes = {"A": (-0.8, 0.8), "B": (0.8, -0.8)}
    kept: list[Floats] = []
    while len(kept) < N:
        point = rng.multivariate_normal(modes[str(rng.choice(["A", "B"]))], 0.5 * np.eye(2))
        if np.max(np.abs(point)) <= 1:
            kept.append(point)
    data = np.array(kept)
    data.setflags(write=False)
    return data


def notebook_sample(n: int = 50, seed: int = 456) -> Floats:
    """n of the notebook's points without replacement; the defaults give its own initial sample."""
    X = notebook_data()
    return X[np.random.default_rng(seed).choice(len(X), n, replace=False)]


def cloud(d: int, N: int, n: int, seed: int = 0) -> tuple[Floats, Floats]:
    """N data points and n landmarks in R^d at mutual distances near 1, whatever d is."""
    rng = np.random.default_rng([seed, d, N, n])
    return rng.normal(size=(N, d)) / np.sqrt(2 * d), rng.normal(size=(n, d)) / np.sqrt(2 * d)


def close(found: Floats, expected: Floats, relative: float) -> bool:
    """Whether all entries agree to within `relative` of the largest: one that cancels has no digits of its own."""
    assert found.shape == expected.shape and found.dtype == np.float64
    return bool(np.max(np.abs(found - expected)) <= relative * np.max(np.abs(expected)))


_X = np.random.default_rng(0).normal(size=(60, 2)) / 2
#: Data that are hard to choose landmarks from, and how many to choose.
DEGENERATE: dict[str, tuple[NDArray[Any], int]] = {
    "one point": (_X[:1], 1),
    "one of many": (_X, 1),
    "all of them": (_X, 60),
    "all but one": (_X, 59),
    "all copies of one": (np.tile(_X[:1], (50, 1)), 7),
    "all copies of one, all taken": (np.tile(_X[:1], (20, 1)), 20),
    "all copies of zero": (np.zeros((30, 2)), 4),
    "copies of two": (np.repeat(_X[:2], 20, axis=0), 7),
    "a constant column": (np.hstack([_X, np.full((60, 1), 3.7)]), 6),
    "nothing but constant columns": (np.full((20, 3), 2.0), 3),
    "on a line": (_X[:, :1], 20),
    "far from the origin": (_X + 1e8, 5),
    "large": (_X * 1e20, 5),
    "tiny": (_X * 1e-150, 5),
    "whole numbers": (np.random.default_rng(0).integers(0, 4, (200, 2)), 20),
    "float32": (_X.astype(np.float32), 12),
    "more than a tile": (np.random.default_rng(1).normal(size=(700, 20)) / 6, 130),
}


def degenerate(case: str) -> tuple[NDArray[Any], int]:
    """One of these cases, its data read-only."""
    data, n = DEGENERATE[case]
    data = data.copy()
    data.setflags(write=False)
    return data, n


def paired(*lists: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Tuples with an entry of each list, in which every entry occurs: instead of all combinations."""
    columns = [list(each) for each in lists]
    return [tuple(column[i % len(column)] for column in columns) for i in range(max(map(len, columns)))]


# The one place where a kernel is entered: the library's constructor and arguments, and the oracle's with the same ones.
_SPECIFICATIONS: dict[str, tuple[str, dict[str, Any], Callable[..., oracle.OracleKernel]]] = {
    "gaussian": ("Gaussian", {"rho": 0.7}, oracle.gaussian),
    "matern12": ("Matern", {"nu": 0.5, "lengthscale": 0.8}, oracle.matern),
    "matern32": ("Matern", {"nu": 1.5, "lengthscale": 0.6}, oracle.matern),
    "matern52": ("Matern", {"nu": 2.5, "lengthscale": 1.3}, oracle.matern),
    "rational_quadratic": (
        "RationalQuadratic",
        {"alpha": 1.7, "lengthscale": 0.9},
        oracle.rational_quadratic,
    ),
    "polynomial": ("Polynomial", {"degree": 3, "offset": 0.4, "scale": 1.2}, oracle.polynomial),
    "linear": ("Polynomial", {"degree": 1, "offset": 0.0, "scale": 1.0}, oracle.polynomial),
}
BUILT_IN = tuple(_SPECIFICATIONS)
USER_RADIAL, USER_DOT = "user_radial", "user_dot"
EVERY = (*BUILT_IN, USER_RADIAL, USER_DOT)
CONSTRUCTORS = {constructor for constructor, _, _ in _SPECIFICATIONS.values()}


def _two_gaussians(a: float, b: float) -> oracle.OracleKernel:
    """K = (e^(-a r²) + e^(-b r²))/2, positive definite, and no kernel of the library."""
    with_a, with_b = oracle.gaussian(a), oracle.gaussian(b)
    return oracle.OracleKernel(
        USER_RADIAL,
        True,
        lambda q: (with_a.formula(q) + with_b.formula(q)) * 0.5,
        lambda: -(arb(a) + arb(b)) / 2,
    )


def _exponential(scale: float) -> oracle.OracleKernel:
    """K = e^(scale ⟨s, x⟩), positive definite, its diagonal derivative not zero."""
    return oracle.OracleKernel(USER_DOT, False, lambda t: (t * arb(scale)).exp())


def _library_two_gaussians(a: float, b: float) -> Any:
    return nl.radial_kernel(
        lambda q, p: 0.5 * (math.exp(-p[0] * q) + math.exp(-p[1] * q)),
        lambda q, p: -0.5 * (p[0] * math.exp(-p[0] * q) + p[1] * math.exp(-p[1] * q)),
        lambda q, p: 0.5 * (p[0] ** 2 * math.exp(-p[0] * q) + p[1] ** 2 * math.exp(-p[1] * q)),
        parameters=(a, b),
        name="two Gaussians",
    )


def _library_exponential(scale: float) -> Any:
    return nl.dot_product_kernel(
        lambda t, p: math.exp(p[0] * t),
        lambda t, p: p[0] * math.exp(p[0] * t),
        lambda t, p: p[0] ** 2 * math.exp(p[0] * t),
        parameters=(scale,),
        name="exponential",
    )


@functools.cache
def pair(name: str) -> tuple[Any, oracle.OracleKernel]:
    """A library kernel and its oracle."""
    if name == USER_RADIAL:
        return _library_two_gaussians(0.3, 1.9), _two_gaussians(0.3, 1.9)
    if name == USER_DOT:
        return _library_exponential(0.6), _exponential(0.6)
    constructor, arguments, reference = _SPECIFICATIONS[name]
    return getattr(nl, constructor)(**arguments), reference(**arguments)


RADIAL = tuple(name for name in BUILT_IN if pair(name)[1].radial)
SMOOTH = tuple(name for name in RADIAL if pair(name)[1].slope_at_zero is not None)  # also where points coincide
