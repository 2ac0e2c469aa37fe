r"""Kernels as scalar functions of one pair scalar, and the loops over a block of pair scalars made of them.

A radial kernel is :math:`K(s, x) = \kappa(\|s - x\|^2)`, a dot-product kernel :math:`K(s, x) = \kappa(\langle s,
x\rangle)`; either way :math:`K^2 = \varphi` with :math:`\varphi = \kappa^2`. A *profile* is two functions,
``tangent(t, p) -> (κ, κ')`` and ``squared(t, p) -> (φ, φ', φ'')``, with the kernel's parameters ``p``; LLVM removes the
results that a loop does not use.

The other modules call a profile through a *block*, a loop over a tile of pair scalars. A block is a callback, passed as
an argument (numba's first-class functions): so the other loops are compiled once for all kernels, and a user's kernel
runs as fast as ours.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import types

from .compile import EXACT, cached, inner
from .tiles import U, exp

_PROFILES: list[tuple[Any, Any]] = []


def _family(tangent: Any, squared: Any) -> int:
    """Register a profile; its index is the family's code, which precedes a kernel's parameters: (code, p...)."""
    _PROFILES.append((tangent, squared))
    return len(_PROFILES) - 1


@inner
def gaussian_tangent(q, p):
    """κ(q) = e^(−ρq), κ' = −ρκ, with p = (ρ,)."""
    kappa = exp(q, -p[0])
    return kappa, -p[0] * kappa


@inner
def gaussian_squared(q, p):
    """φ(q) = e^(−2ρq)."""
    c = -2.0 * p[0]
    phi = exp(q, c)
    return phi, c * phi, c * c * phi


GAUSSIAN = _family(gaussian_tangent, gaussian_squared)


@inner
def matern12_tangent(q, p):
    """κ(q) = e^(−√q/ℓ), κ' = −κ/(2ℓ√q), with p = (1/ℓ,); not differentiable at q = 0, where κ' is given as 0."""
    r = math.sqrt(q)
    kappa = exp(r, -p[0])
    return kappa, -0.5 * p[0] * kappa / r if r > 0.0 else 0.0


@inner
def matern12_squared(q, p):
    """φ(q) = e^(−2√q/ℓ); not differentiable at q = 0, where both derivatives are given as 0."""
    a = 2.0 * p[0]
    r = math.sqrt(q)
    phi = exp(r, -a)
    inverse = 1.0 / r if r > 0.0 else 0.0
    first = -0.5 * a * phi * inverse
    return phi, first, 0.25 * a * phi * inverse * inverse * (a + inverse)


MATERN12 = _family(matern12_tangent, matern12_squared)


@inner
def bounded(u):
    """min(u, 1000), so that a polynomial of u times e^(−u) is not ∞ · 0."""
    return 1000.0 if u > 1000.0 else u


@inner
def matern32_tangent(q, p):
    """κ(q) = (1 + u) e^(−u), κ' = −3/(2ℓ²) e^(−u), with u = √(3q)/ℓ, p = (√3/ℓ,)."""
    u = bounded(p[0] * math.sqrt(q))
    e = exp(u, -1.0)
    return (1.0 + u) * e, -0.5 * p[0] * p[0] * e


@inner
def matern32_squared(q, p):
    """φ = (1 + u)² e^(−2u); φ'' ~ 1/√q at 0, where it only ever stands beside a factor q and is given as 0."""
    b = p[0] * p[0]
    u = bounded(p[0] * math.sqrt(q))
    e = exp(u, -2.0)
    second = 0.5 * b * b * e * (1.0 + 2.0 * u) / u if u > 0.0 else 0.0
    return (1.0 + u) * (1.0 + u) * e, -b * (1.0 + u) * e, second


MATERN32 = _family(matern32_tangent, matern32_squared)


@inner
def matern52_tangent(q, p):
    """κ(q) = (1 + u + u²/3) e^(−u), κ' = −5/(6ℓ²) (1 + u) e^(−u), with u = √(5q)/ℓ, p = (√5/ℓ,)."""
    u = bounded(p[0] * math.sqrt(q))
    e = exp(u, -1.0)
    return (1.0 + u + u * u / 3.0) * e, -p[0] * p[0] / 6.0 * (1.0 + u) * e


@inner
def matern52_squared(q, p):
    """φ = (1 + u + u²/3)² e^(−2u)."""
    b = p[0] * p[0]
    u = bounded(p[0] * math.sqrt(q))
    e = exp(u, -2.0)
    k = 1.0 + u + u * u / 3.0
    second = b * b * e * ((1.0 + u) * (1.0 + u) / 18.0 + k / 6.0)
    return k * k * e, -b / 3.0 * (1.0 + u) * k * e, second


MATERN52 = _family(matern52_tangent, matern52_squared)


@inner
def rational_quadratic_tangent(q, p):
    """κ(q) = (1 + c q)^(−α), κ' = −αcκ/(1 + c q), with c = 1/(2αℓ²), p = (α, c).

    A power of the rounded base would lose α units in the last place; log1p does not round the base.
    """
    kappa = exp(math.log1p(p[1] * q), -p[0])
    return kappa, -p[0] * p[1] * kappa / (1.0 + p[1] * q)


@inner
def rational_quadratic_squared(q, p):
    """φ(q) = (1 + c q)^(−2α)."""
    a = 2.0 * p[0]
    base = 1.0 + p[1] * q
    phi = exp(math.log1p(p[1] * q), -a)
    first = -a * p[1] * phi / base
    return phi, first, -(a + 1.0) * p[1] * first / base


RATIONAL_QUADRATIC = _family(rational_quadratic_tangent, rational_quadratic_squared)


@inner
def polynomial_tangent(t, p):
    """κ(t) = (a t + c)^D, κ' = D a (a t + c)^(D−1), with t = ⟨s, x⟩, p = (a, c, D)."""
    base = p[0] * t + p[1]
    return base ** int(p[2]), p[2] * p[0] * base ** (int(p[2]) - 1)


@inner
def polynomial_squared(t, p):
    """φ(t) = (a t + c)^(2D)."""
    power = 2 * int(p[2])
    base = p[0] * t + p[1]
    lowest = base ** (power - 2)
    return lowest * base * base, power * p[0] * lowest * base, power * (power - 1) * p[0] * p[0] * lowest


POLYNOMIAL = _family(polynomial_tangent, polynomial_squared)

CUSTOM = -1  #: the code of a kernel made of a user's functions
FAILED = -2  #: replaces it once one of these has raised an error or returned a number that is not finite
PARAMETERS = 8  #: length of every parameter array: the code and up to seven numbers
LENGTH = 64  #: numbers in a row of the tiles that SLOPE is applied to

#: What a block computes from the pair scalars t of a tile. VALUE, FIRST, SECOND: t ← κ(t), φ'(t), φ''(t).
#: TANGENT: t ← κ(t), slopes ← κ'(t). SLOPE: t ← wφ'(t) for the weight w of each row, with sums by columns.
VALUE, FIRST, SECOND, TANGENT, SLOPE = range(5)


def _signature(action: int) -> Any:
    """The types of the arguments of a block."""
    array, count = types.float64[::1], types.intp
    if action == SLOPE:
        return types.void(array, array, count, types.float64, count, array, count, count, array)
    return types.void(*(array,) * (2 if action == TANGENT else 1), *(count,) * 4, array)


@inner
def finite(t, start, rows, stride, c):
    """Whether all numbers of a block are finite."""
    total = 0.0
    for j in range(rows):
        for k in range(c):
            total += 0.0 * t[U(start + j * stride + k)]  # NaN for a NaN and for infinities
    return total == 0.0


@inner
def numbers(p):
    """The parameters of a family, as scalars: LLVM would read an array again after each store to t."""
    return p[1], p[2], p[3]


@inner
def vector(p):
    """The parameters as a user's functions receive them."""
    return p[1:]


def _make_block(action: int, tangent: Any, squared: Any, parameters: Any, watched: bool) -> Any:
    """The block that does ``action`` with one profile.

    With ``watched`` it sets p[0] to FAILED where a result is not finite although the pair scalars are (those of a
    descent that has diverged are not).
    """
    if action == SLOPE:

        def block(t, A, weights, times, rows, G, g, c, p):
            """t ← wφ'(t); adds Σ_j wφ' to G[g + k] and times·Σ_j wφ to the row after it, four rows j at a time."""
            numbers, sound = parameters(p), watched and finite(t, 0, rows, LENGTH, c)
            for j in range(0, rows, 4):
                w, q, o = U(weights + j), U(j * LENGTH), U(g)
                for k in range(U(c)):
                    x, y = G[o + k], G[o + U(LENGTH) + k]
                    for i in range(U(4)):
                        phi, first, _ = squared(t[q + i * U(LENGTH) + k], numbers)
                        first *= A[w + i]
                        t[q + i * U(LENGTH) + k] = first
                        x += first
                        y += times * A[w + i] * phi
                    G[o + k], G[o + U(LENGTH) + k] = x, y
            if sound and not (finite(t, 0, rows, LENGTH, c) and finite(G, g, 2, LENGTH, c)):
                p[0] = FAILED

    elif action == TANGENT:

        def block(t, slopes, start, rows, stride, c, p):
            numbers, sound = parameters(p), watched and finite(t, start, rows, stride, c)
            for j in range(rows):
                o = U(start + j * stride)
                for k in range(U(c)):
                    kappa, slope = tangent(t[o + k], numbers)
                    t[o + k] = kappa
                    slopes[o + k] = slope
            if sound and not (finite(t, start, rows, stride, c) and finite(slopes, start, rows, stride, c)):
                p[0] = FAILED

    else:
        profile, index = (tangent, 0) if action == VALUE else (squared, action)

        def block(t, start, rows, stride, c, p):
            numbers, sound = parameters(p), watched and finite(t, start, rows, stride, c)
            for j in range(rows):
                o = U(start + j * stride)
                for k in range(U(c)):
                    t[o + k] = profile(t[o + k], numbers)[index]
            if sound and not finite(t, start, rows, stride, c):
                p[0] = FAILED

    return block


@cache
def family_block(action: int, code: int) -> Any:
    """The block of a family, under a name of its own in the cache: numba may confuse equal names saved at once."""
    block = _make_block(action, *_PROFILES[code], numbers, False)
    block.__qualname__ = f"block-{_PROFILES[code][0].__name__}-{action}"
    return cached(lambda cache: numba.cfunc(_signature(action), cache=cache, fastmath=EXACT), block)


@cache
def custom_block(action: int, *functions: Any) -> Any:
    """The block of a user's κ, κ', κ'', kept for this process; functions that raise an error give NaN."""
    kappa, first, second = (_quiet(function) for function in functions)

    @inner
    def tangent(t, p):
        return kappa(t, p), first(t, p)

    @inner
    def squared(t, p):
        k, k1, k2 = kappa(t, p), first(t, p), second(t, p)
        return k * k, 2.0 * k * k1, 2.0 * (k1 * k1 + k * k2)

    block = _make_block(action, tangent, squared, vector, True)
    return numba.cfunc(_signature(action), fastmath=EXACT)(block)


def _quiet(function: Any) -> Any:
    @numba.njit(error_model="numpy")
    def quiet(t, p):
        try:
            return np.float64(function(t, p))
        except Exception:
            return np.nan

    return quiet
