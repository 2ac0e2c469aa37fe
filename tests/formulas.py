"""The sums over pairs once more, in straightforward numpy, a landmark at a time in float64.

The oracle of ``tests/oracle.py`` is exact but slow, and its cases are too small to leave the first tile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import nystrom_lib as nl
from tests.cases import Floats

KERNELS: dict[str, Any] = {
    "gaussian": nl.Gaussian(rho=0.7),
    "matern32": nl.Matern(1.5, lengthscale=0.6),
    "polynomial": nl.Polynomial(degree=2, offset=0.4, scale=1.2),
}
#: Narrow enough that K_S is far from singular: else the digits lost would be the matrix's, not the code's.
NARROW: dict[str, Callable[[int], Any]] = {
    "gaussian": lambda d: nl.Gaussian(rho=(2000.0 if d < 3 else 8.0)),
    "matern32": lambda d: nl.Matern(1.5, lengthscale=(0.005 if d < 3 else 0.3)),
    "polynomial": lambda d: nl.Polynomial(degree=2, offset=0.4, scale=1.2),
}


def scalar(kernel: Any, s: Floats, X: Floats) -> Floats:
    """‖s − x‖², or ⟨s, x⟩, for every row x of X."""
    found: Floats = np.sum((s - X) ** 2, axis=1) if kernel.radial else X @ s
    return found


def squared(kernel: Any, t: Floats) -> tuple[Floats, Floats]:
    """φ = K² and φ' as functions of the pair scalar."""
    if isinstance(kernel, nl.Gaussian):
        phi = np.exp(-2 * kernel.rho * t)
        return phi, -2 * kernel.rho * phi
    if isinstance(kernel, nl.Matern):
        b = 3 / kernel.lengthscale**2
        u = np.minimum(np.sqrt(b * t), 1000)  # where K² is 0 already; ∞ would make it ∞ · 0
        return (1 + u) ** 2 * np.exp(-2 * u), -b * (1 + u) * np.exp(-2 * u)
    base, power = kernel.scale * t + kernel.offset, 2 * kernel.degree
    return base**power, power * kernel.scale * base ** (power - 1)


def matrix(kernel: Any, A: Floats, B: Floats) -> Floats:
    """K(a, b); every φ here is a square of something positive, or of degree two."""
    found: Floats = np.sqrt([squared(kernel, scalar(kernel, a, B))[0] for a in A])
    return found


def sums(kernel: Any, S: Floats, X: Floats) -> tuple[float, Floats]:
    """ΣK²(s, x) and Σ_x ∂[l]K²(s_k, x)."""
    total, left = 0.0, np.empty_like(S)
    for k, s in enumerate(S):
        phi, first = squared(kernel, scalar(kernel, s, X))
        total += phi.sum()
        left[k] = first @ (2 * (s - X) if kernel.radial else X)
    return total, left


def terms(kernel: Any, X: Floats, S: Floats, x: Any = None, y: Any = None) -> tuple[Floats, Floats]:
    """The two terms of Eq. (5), or of Eq. (7) with the batches x and y; Eq. (6) is x = y."""
    x, y = (np.arange(len(X)) if batch is None else np.asarray(batch) for batch in (x, y))
    norm, among = sums(kernel, S, S)
    T1 = len(X) / len(x) * sums(kernel, S, X[x])[0]
    other, left = sums(kernel, S, X[y])
    other, T2 = len(X) / len(y) * other, len(X) / len(y) * left
    return 2 * (T1 / norm) * (other / norm) * among, 2 * (T1 / norm) * T2


def off(found: Floats, expected: tuple[Floats, Floats]) -> float:
    """How far a gradient is from the difference of two terms, relative to the larger: they may cancel."""
    first, second = expected
    assert found.shape == first.shape
    return float(np.max(np.abs(found - (first - second))) / max(np.max(np.abs(first)), np.max(np.abs(second))))


# A sum of a thousand terms in another order, distances from norms beyond 16 coordinates: a few hundred units in the
# last place. One pair that is left out of 257 × 1300 would still be 3e-6.
ROUNDING = 1e-13


def descend(kernel: Any, X: Floats, S: Floats, step: float, batches: list[Any]) -> Floats:
    """Steps along Eq. (7) with pairs of batches; a pair of None stands for the exact gradient."""
    for x, y in batches:
        first, second = terms(kernel, X, S, x, y)
        S = S - step * (first - second)
    return S


def sensible_step(kernel: Any, X: Floats, S: Floats) -> float:
    """Moves some landmark by 0.02, so that a step left out, or one too many, is far from rounding."""
    first, second = terms(kernel, X, S)
    return float(0.02 / max(np.max(np.abs(first - second)), 1e-3 * np.max(np.abs(first))))
