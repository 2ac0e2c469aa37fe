r"""Kernels as scalar functions of one pair scalar, and the block loops made of them.

A radial kernel is :math:`K(s, x) = \kappa(\|s - x\|^2)`, a dot-product kernel :math:`K(s, x) = \kappa(\langle s,
x\rangle)`; either way :math:`K^2 = \varphi` with :math:`\varphi = \kappa^2`. A *profile* is the pair of jitted
functions ``value(t, p) -> κ`` and ``squared(t, p) -> (φ, φ', φ'')``, ``p`` being the kernel's parameters.

The pair loops never see a profile. They see the addresses of loops over a block of pair scalars, which
:func:`family_block` and :func:`custom_block` make: so one compiled pair loop serves every kernel, and a user's
kernel runs as fast as ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import carray, types
from numba.extending import overload

from .compile import ORDERED, SUMS, address_of, jit, wide

_LOG2E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer, which then sits in the low bits


@jit(flags=ORDERED)
def exp(x):
    """e^x for x ≤ 709 to one unit in the last place, in a form LLVM can vectorise (numba's own calls libm).

    x = k ln 2 + r, |r| ≤ ln 2 / 2; the polynomial is near-minimax for e^r, its relative error 4e-18.
    """
    t = x * _LOG2E + _ROUND
    k = t - _ROUND
    r = x - k * _LN2_HIGH
    r = r - k * _LN2_LOW
    p = 2.5110049204818658e-08
    p = p * r + 2.763265472252779e-07
    p = p * r + 2.755724088722987e-06
    p = p * r + 2.4801485441561313e-05
    p = p * r + 0.00019841269890076403
    p = p * r + 0.0013888888952352863
    p = p * r + 0.008333333333319589
    p = p * r + 0.04166666666648795
    p = p * r + 0.1666666666666668
    p = p * r + 0.5000000000000019
    p = p * r + 1.0
    p = p * r + 1.0
    power_of_two = np.int64((np.float64(t).view(np.int64) + 1023) << 52).view(np.float64)
    return 0.0 if x < -708.0 else p * power_of_two  # a NaN compares false and passes through


# --- the profiles: one small function per formula -----------------------------------------------------------


@jit(flags=ORDERED)
def gaussian_value(q, p):
    """κ(q) = e^(−ρq)."""
    return exp(-p[0] * q)


@jit(flags=ORDERED)
def gaussian_squared(q, p):
    """φ(q) = e^(−2ρq)."""
    c = -2.0 * p[0]
    phi = exp(c * q)
    return phi, c * phi, c * c * phi


@jit(flags=ORDERED)
def matern12_value(q, p):
    """κ(q) = e^(−√q/ℓ), p = (1/ℓ,)."""
    return exp(-p[0] * math.sqrt(q))


@jit(flags=ORDERED)
def matern12_squared(q, p):
    """φ(q) = e^(−2√q/ℓ); not differentiable at q = 0, where both derivatives are given as 0."""
    a = 2.0 * p[0]
    r = math.sqrt(q)
    phi = exp(-a * r)
    inverse = 1.0 / r if r > 0.0 else 0.0
    first = -0.5 * a * phi * inverse
    return phi, first, 0.25 * a * phi * inverse * inverse * (a + inverse)


@jit(flags=ORDERED)
def bounded(u):
    """u, but not so large that a polynomial of it times e^(−u) could be ∞ · 0."""
    return 1000.0 if u > 1000.0 else u


@jit(flags=ORDERED)
def matern32_value(q, p):
    """κ(q) = (1 + u) e^(−u), u = √(3q)/ℓ, p = (√3/ℓ,)."""
    u = bounded(p[0] * math.sqrt(q))
    return (1.0 + u) * exp(-u)


@jit(flags=ORDERED)
def matern32_squared(q, p):
    """φ = (1 + u)² e^(−2u); φ'' ~ 1/√q at 0, where it only ever stands beside a factor q and is given as 0."""
    b = p[0] * p[0]
    u = bounded(p[0] * math.sqrt(q))
    e = exp(-2.0 * u)
    second = 0.5 * b * b * e * (1.0 + 2.0 * u) / u if u > 0.0 else 0.0
    return (1.0 + u) * (1.0 + u) * e, -b * (1.0 + u) * e, second


@jit(flags=ORDERED)
def matern52_value(q, p):
    """κ(q) = (1 + u + u²/3) e^(−u), u = √(5q)/ℓ, p = (√5/ℓ,)."""
    u = bounded(p[0] * math.sqrt(q))
    return (1.0 + u + u * u / 3.0) * exp(-u)


@jit(flags=ORDERED)
def matern52_squared(q, p):
    """φ = (1 + u + u²/3)² e^(−2u)."""
    b = p[0] * p[0]
    u = bounded(p[0] * math.sqrt(q))
    e = exp(-2.0 * u)
    k = 1.0 + u + u * u / 3.0
    second = b * b * e * ((1.0 + u) * (1.0 + u) / 18.0 + k / 6.0)
    return k * k * e, -b / 3.0 * (1.0 + u) * k * e, second


@jit(flags=ORDERED)
def rational_quadratic_value(q, p):
    """κ(q) = (1 + c q)^(−α), c = 1/(2αℓ²), p = (α, c)."""
    return (1.0 + p[1] * q) ** (-p[0])


@jit(flags=ORDERED)
def rational_quadratic_squared(q, p):
    """φ(q) = (1 + c q)^(−2α)."""
    a = 2.0 * p[0]
    base = 1.0 + p[1] * q
    phi = base ** (-a)
    first = -a * p[1] * phi / base
    return phi, first, -(a + 1.0) * p[1] * first / base


@jit(flags=ORDERED)
def polynomial_value(t, p):
    """κ(t) = (a t + c)^D with t = ⟨s, x⟩, p = (a, c, D)."""
    return (p[0] * t + p[1]) ** int(p[2])


@jit(flags=ORDERED)
def polynomial_squared(t, p):
    """φ(t) = (a t + c)^(2D)."""
    power = 2 * int(p[2])
    base = p[0] * t + p[1]
    lowest = base ** (power - 2)
    return (
        lowest * base * base,
        power * p[0] * lowest * base,
        power * (power - 1) * p[0] * p[0] * lowest,
    )


# --- the loops over a block of pair scalars -------------------------------------------------------------------


#: The families in the order of their codes; a kernel's parameters travel as (code, p...).
GAUSSIAN, MATERN12, MATERN32, MATERN52, RATIONAL_QUADRATIC, POLYNOMIAL, CUSTOM = range(7)

_PROFILES = (
    (gaussian_value, gaussian_squared),
    (matern12_value, matern12_squared),
    (matern32_value, matern32_squared),
    (matern52_value, matern52_squared),
    (rational_quadratic_value, rational_quadratic_squared),
    (polynomial_value, polynomial_squared),
)

#: Length of every parameter array: the code and up to seven numbers.
PARAMETERS = 8

#: What a loop over a block does with the pair scalars t[j]:
#: VALUE: t[j] ← κ(t[j]), returns 0; SLOPE: t[j] ← φ'(t[j]), returns Σ φ(t[j]);
#: CURVE: t[j] ← φ''(t[j]), returns Σ φ'(t[j]).
VALUE, SLOPE, CURVE = range(3)


def _make_loop(action: int, value: Any, squared: Any) -> Callable[..., float]:
    """The loop over a block that does ``action`` with one profile."""
    if action == VALUE:

        def loop(action, code, t, p):
            wide()
            for j in range(t.shape[0]):
                t[j] = value(np.float64(t[j]), p)
            return 0.0

    elif action == SLOPE:

        def loop(action, code, t, p):
            wide()
            total = 0.0
            for j in range(t.shape[0]):
                phi, first, _ = squared(np.float64(t[j]), p)
                total += phi
                t[j] = first
            return total

    else:

        def loop(action, code, t, p):
            wide()
            total = 0.0
            for j in range(t.shape[0]):
                _, first, second = squared(np.float64(t[j]), p)
                total += first
                t[j] = second
            return total

    return loop


def _loop(action: int, code: int, t: Any, p: Any) -> float:  # pragma: no cover - replaced when compiled
    raise AssertionError("only compiled code calls this")


# Inlined, because a copy left outside would be linked from wherever the process has one: the process that compiles
# has another than those that load the cache, and the sums of the two differ in their last bits.
@overload(_loop, prefer_literal=True, jit_options={"fastmath": SUMS, "forceinline": True})
def _choose_loop(action, code, t, p):
    """Pick the loop while compiling: the choice costs nothing at run time and numba can cache the result."""
    return _make_loop(action.literal_value, *_PROFILES[code.literal_value])


def _make_block(action: int) -> Callable[..., float]:
    """A callback that branches once per block, not per pair, to its family's own vectorised loop."""

    def block(t, m, p):
        wide()
        t = carray(t, (m,))
        p = carray(p, (PARAMETERS,))
        code = int(p[0])
        p = p[1:]
        if code == GAUSSIAN:
            return _loop(action, GAUSSIAN, t, p)
        if code == MATERN12:
            return _loop(action, MATERN12, t, p)
        if code == MATERN32:
            return _loop(action, MATERN32, t, p)
        if code == MATERN52:
            return _loop(action, MATERN52, t, p)
        if code == RATIONAL_QUADRATIC:
            return _loop(action, RATIONAL_QUADRATIC, t, p)
        return _loop(action, POLYNOMIAL, t, p)

    return block


def _signature(kind: type) -> Any:
    stored = types.float32 if kind is np.float32 else types.float64
    return types.float64(types.CPointer(stored), types.intp, types.CPointer(types.float64))


@cache
def family_block(action: int, kind: type) -> int:
    """Address of the loop over a block for the families above, which is picked by the code in the parameters.

    Arithmetic is float64 whatever ``kind`` stores.
    """
    return address_of(_signature(kind), cache=True)(_make_block(action))


@cache
def custom_block(action: int, kind: type, value: Any, first: Any, second: Any) -> int:
    """The same for a user's κ, κ', κ'', compiled now and kept for this process."""

    @numba.njit
    def squared(t, p):
        k, k1, k2 = value(t, p), first(t, p), second(t, p)
        return k * k, 2.0 * k * k1, 2.0 * (k1 * k1 + k * k2)

    loop = numba.njit(fastmath=SUMS)(_make_loop(action, value, squared))

    def block(t, m, p):
        return loop(0, 0, carray(t, (m,)), carray(p, (PARAMETERS,))[1:])

    return address_of(_signature(kind), cache=False)(block)
