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


# --- the trace error and its like, dense --------------------------------------------------------------------------


def profile(kernel: Any, t: Floats) -> tuple[Floats, Floats]:
    """κ = K and κ' as functions of the pair scalar."""
    if isinstance(kernel, nl.Gaussian):
        kappa = np.exp(-kernel.rho * t)
        return kappa, -kernel.rho * kappa
    if isinstance(kernel, nl.Matern):
        b = 3 / kernel.lengthscale**2
        u = np.minimum(np.sqrt(b * t), 1000)
        return (1 + u) * np.exp(-u), -b / 2 * np.exp(-u)
    base = kernel.scale * t + kernel.offset
    return base**kernel.degree, kernel.degree * kernel.scale * base ** (kernel.degree - 1)


def profiles(kernel: Any, A: Floats, B: Floats) -> tuple[Floats, Floats]:
    """κ and κ' of every pair."""
    found = [profile(kernel, scalar(kernel, a, B)) for a in A]
    return np.array([kappa for kappa, _ in found]), np.array([slope for _, slope in found])


def pull(kernel: Any, weights: Floats, S: Floats, X: Floats) -> Floats:
    """Σ_x weights[k, x] κ' ∂t/∂s_k, with the weights times κ' given; the diagonal of ⟨s, s⟩ counts once a side."""
    if kernel.radial:
        return 2 * (weights.sum(axis=1)[:, None] * S - weights @ X)
    return weights @ X


def trace_terms(kernel: Any, X: Floats, S: Floats, batch: Any = None) -> tuple[float, tuple[Floats, Floats]]:
    """tr(K − K̂) and the two terms of its gradient: 2 tr(AAᵀ dW)/2 from landmarks, 2 tr(Aᵀ dC) from points."""
    chosen = X if batch is None else X[np.asarray(batch)]
    W, dW = profiles(kernel, S, S)
    C, dC = profiles(kernel, S, chosen)
    A = np.linalg.solve(W, C)
    own = [profile(kernel, scalar(kernel, x, x[None]))[0][0] for x in chosen]
    scale = len(X) / len(chosen)
    value = scale * (np.sum(own) - np.sum(A * C))
    return value, (2 * scale * pull(kernel, A @ A.T * dW, S, S), 2 * scale * pull(kernel, A * dC, S, chosen))


def weighted_terms(kernel: Any, X: Floats, S: Floats, batch: Any = None) -> tuple[float, tuple[Floats, Floats]]:
    """−gᵀB⁻¹g and the two terms of its gradient."""
    chosen = X if batch is None else X[np.asarray(batch)]
    scale = len(X) / len(chosen)
    W, dW = profiles(kernel, S, S)
    C, dC = profiles(kernel, S, chosen)
    g = scale * np.square(C).sum(axis=1)
    a = np.linalg.solve(np.square(W), g)
    from_points = 2 * scale * pull(kernel, 2 * a[:, None] * C * dC, S, chosen)
    return -float(g @ a), (2 * pull(kernel, 2 * np.outer(a, a) * W * dW, S, S), from_points)
