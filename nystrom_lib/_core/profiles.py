r"""Kernels as scalar functions of one pair scalar, and the block loops made of them.

A radial kernel is :math:`K(s, x) = \kappa(\|s - x\|^2)`, a dot-product kernel :math:`K(s, x) = \kappa(\langle s,
x\rangle)`; either way :math:`K^2 = \varphi` with :math:`\varphi = \kappa^2`. A *profile* is three jitted functions,
``value(t, p) -> κ``, ``tangent(t, p) -> (κ, κ')`` and ``squared(t, p) -> (φ, φ', φ'')``, ``p`` being the kernel's
parameters.

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

from .compile import ORDERED, SUMS, address_of, inner, jit, wide

_LOG2E = 1.4426950408889634
_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer, which then sits in the low bits


@jit(flags=ORDERED)
def exp(x, rate=1.0):
    """e^(rate·x), at most e^709, in a form LLVM can vectorise (numba's own calls libm).

    With rate·x·log₂e = k + f, |f| ≤ ½, it is 2^k·2^f; the polynomial is near-minimax for 2^f, its relative error
    4e-18. The relative error of the result is one unit in the last place, and what a unit in that of x makes: no
    distance is known any better.
    """
    y = x * (rate * _LOG2E)
    t = y + _ROUND
    k = t - _ROUND
    f = y - k
    p = 4.4558199665721414e-10
    p = p * f + 7.0741981587913455e-09
    p = p * f + 1.017805707615539e-07
    p = p * f + 1.3215432514189648e-06
    p = p * f + 1.5252733841579287e-05
    p = p * f + 0.00015403530463766596
    p = p * f + 0.0013333558146406451
    p = p * f + 0.009618129107587223
    p = p * f + 0.055504108664821625
    p = p * f + 0.2402265069591016
    p = p * f + 0.6931471805599453
    p = p * f + 1.0
    scaled = np.int64(np.float64(p).view(np.int64) + (np.float64(t).view(np.int64) << 52)).view(np.float64)
    return 0.0 if k < -1021.0 else scaled  # a NaN compares false and passes through


# --- the profiles: one small function per formula -----------------------------------------------------------

_PROFILES: list[tuple[Any, Any, Any]] = []


def _family(value: Any, tangent: Any, squared: Any) -> int:
    """Enter a profile; its place is the code that travels with a kernel's parameters, as (code, p...)."""
    _PROFILES.append((value, tangent, squared))
    return len(_PROFILES) - 1


@inner(flags=ORDERED)
def gaussian_value(q, p):
    """κ(q) = e^(−ρq)."""
    return exp(q, -p[0])


@inner(flags=ORDERED)
def gaussian_tangent(q, p):
    """κ' = −ρκ."""
    kappa = exp(q, -p[0])
    return kappa, -p[0] * kappa


@inner(flags=ORDERED)
def gaussian_squared(q, p):
    """φ(q) = e^(−2ρq)."""
    c = -2.0 * p[0]
    phi = exp(q, c)
    return phi, c * phi, c * c * phi


GAUSSIAN = _family(gaussian_value, gaussian_tangent, gaussian_squared)


@inner(flags=ORDERED)
def matern12_value(q, p):
    """κ(q) = e^(−√q/ℓ), p = (1/ℓ,)."""
    return exp(math.sqrt(q), -p[0])


@inner(flags=ORDERED)
def matern12_tangent(q, p):
    """κ' = −κ/(2ℓ√q); not differentiable at q = 0, where it is given as 0."""
    r = math.sqrt(q)
    kappa = exp(r, -p[0])
    return kappa, -0.5 * p[0] * kappa / r if r > 0.0 else 0.0


@inner(flags=ORDERED)
def matern12_squared(q, p):
    """φ(q) = e^(−2√q/ℓ); not differentiable at q = 0, where both derivatives are given as 0."""
    a = 2.0 * p[0]
    r = math.sqrt(q)
    phi = exp(r, -a)
    inverse = 1.0 / r if r > 0.0 else 0.0
    first = -0.5 * a * phi * inverse
    return phi, first, 0.25 * a * phi * inverse * inverse * (a + inverse)


MATERN12 = _family(matern12_value, matern12_tangent, matern12_squared)


@inner(flags=ORDERED)
def bounded(u):
    """u, but not so large that a polynomial of it times e^(−u) could be ∞ · 0."""
    return 1000.0 if u > 1000.0 else u


@inner(flags=ORDERED)
def matern32_value(q, p):
    """κ(q) = (1 + u) e^(−u), u = √(3q)/ℓ, p = (√3/ℓ,)."""
    u = bounded(p[0] * math.sqrt(q))
    return (1.0 + u) * exp(u, -1.0)


@inner(flags=ORDERED)
def matern32_tangent(q, p):
    """κ' = −3/(2ℓ²) e^(−u)."""
    u = bounded(p[0] * math.sqrt(q))
    e = exp(u, -1.0)
    return (1.0 + u) * e, -0.5 * p[0] * p[0] * e


@inner(flags=ORDERED)
def matern32_squared(q, p):
    """φ = (1 + u)² e^(−2u); φ'' ~ 1/√q at 0, where it only ever stands beside a factor q and is given as 0."""
    b = p[0] * p[0]
    u = bounded(p[0] * math.sqrt(q))
    e = exp(u, -2.0)
    second = 0.5 * b * b * e * (1.0 + 2.0 * u) / u if u > 0.0 else 0.0
    return (1.0 + u) * (1.0 + u) * e, -b * (1.0 + u) * e, second


MATERN32 = _family(matern32_value, matern32_tangent, matern32_squared)


@inner(flags=ORDERED)
def matern52_value(q, p):
    """κ(q) = (1 + u + u²/3) e^(−u), u = √(5q)/ℓ, p = (√5/ℓ,)."""
    u = bounded(p[0] * math.sqrt(q))
    return (1.0 + u + u * u / 3.0) * exp(u, -1.0)


@inner(flags=ORDERED)
def matern52_tangent(q, p):
    """κ' = −5/(6ℓ²) (1 + u) e^(−u)."""
    u = bounded(p[0] * math.sqrt(q))
    e = exp(u, -1.0)
    return (1.0 + u + u * u / 3.0) * e, -p[0] * p[0] / 6.0 * (1.0 + u) * e


@inner(flags=ORDERED)
def matern52_squared(q, p):
    """φ = (1 + u + u²/3)² e^(−2u)."""
    b = p[0] * p[0]
    u = bounded(p[0] * math.sqrt(q))
    e = exp(u, -2.0)
    k = 1.0 + u + u * u / 3.0
    second = b * b * e * ((1.0 + u) * (1.0 + u) / 18.0 + k / 6.0)
    return k * k * e, -b / 3.0 * (1.0 + u) * k * e, second


MATERN52 = _family(matern52_value, matern52_tangent, matern52_squared)


@inner(flags=ORDERED)
def rational_quadratic_value(q, p):
    """κ(q) = (1 + c q)^(−α), c = 1/(2αℓ²), p = (α, c); a power of the rounded base would lose α units."""
    return exp(math.log1p(p[1] * q), -p[0])


@inner(flags=ORDERED)
def rational_quadratic_tangent(q, p):
    """κ' = −αc (1 + c q)^(−α−1)."""
    kappa = rational_quadratic_value(q, p)
    return kappa, -p[0] * p[1] * kappa / (1.0 + p[1] * q)


@inner(flags=ORDERED)
def rational_quadratic_squared(q, p):
    """φ(q) = (1 + c q)^(−2α)."""
    a = 2.0 * p[0]
    base = 1.0 + p[1] * q
    phi = exp(math.log1p(p[1] * q), -a)
    first = -a * p[1] * phi / base
    return phi, first, -(a + 1.0) * p[1] * first / base


RATIONAL_QUADRATIC = _family(rational_quadratic_value, rational_quadratic_tangent, rational_quadratic_squared)


@inner(flags=ORDERED)
def polynomial_value(t, p):
    """κ(t) = (a t + c)^D with t = ⟨s, x⟩, p = (a, c, D)."""
    return (p[0] * t + p[1]) ** int(p[2])


@inner(flags=ORDERED)
def polynomial_tangent(t, p):
    """κ' = D a (a t + c)^(D−1)."""
    base = p[0] * t + p[1]
    lower = base ** (int(p[2]) - 1)
    return lower * base, p[2] * p[0] * lower


@inner(flags=ORDERED)
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


POLYNOMIAL = _family(polynomial_value, polynomial_tangent, polynomial_squared)

#: The code of a kernel made of a user's functions, which is no family.
CUSTOM = -1


# --- the loops over a block of pair scalars -------------------------------------------------------------------


#: Length of every parameter array: the code and up to seven numbers.
PARAMETERS = 8

#: What a loop over a block does with the pair scalars t[j]:
#: VALUE: t[j] ← κ(t[j]), returns 0; SLOPE: t[j] ← φ'(t[j]), returns Σ φ(t[j]);
#: CURVE: t[j] ← φ''(t[j]), returns Σ φ'(t[j]); TANGENT, of the second half of 2m numbers: t[m + j] ← κ(t[m + j]),
#: t[j] ← κ'(t[m + j]), returns 0.
VALUE, SLOPE, CURVE, TANGENT = range(4)


def _make_loop(action: int, value: Any, tangent: Any, squared: Any) -> Callable[..., float]:
    """The loop over a block that does ``action`` with one profile."""
    if action == VALUE:

        def loop(action, code, t, p):
            wide()
            for j in range(t.shape[0]):
                t[j] = value(np.float64(t[j]), p)
            return 0.0

    elif action == TANGENT:

        def loop(action, code, t, p):
            wide()
            slopes, values = t[: t.shape[0] // 2], t[t.shape[0] // 2 :]
            for i in range(values.shape[0]):
                j = np.uintp(i)
                kappa, first = tangent(np.float64(values[j]), p)
                values[j] = kappa
                slopes[j] = first
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


def _make_block(action: int, code: int) -> Callable[..., float]:
    """The callback that does ``action`` with one family's profile."""

    def block(t, m, p):
        wide()
        return _loop(action, code, carray(t, (2 * m if action == TANGENT else m,)), carray(p, (PARAMETERS,))[1:])

    return block


def _signature(kind: type) -> Any:
    stored = types.float32 if kind is np.float32 else types.float64
    return types.float64(types.CPointer(stored), types.intp, types.CPointer(types.float64))


@cache
def family_block(action: int, kind: type, code: int) -> int:
    """Address of the loop over a block for one of those families; arithmetic is float64 whatever ``kind`` stores."""
    return address_of(_signature(kind), cache=True)(_make_block(action, code))


#: What stands in the place of the code once a user's function has raised an error or given what is not finite.
REFUSED = -2


@inner()
def _finite(t):
    strange = 0
    for j in range(t.shape[0]):
        strange += not abs(t[j]) < np.inf
    return strange == 0


@cache
def custom_block(action: int, kind: type, value: Any, first: Any, second: Any) -> int:
    """The same for a user's κ, κ', κ'', compiled now and kept for this process.

    An error cannot leave a callback, and numba would print it and go on: it is marked in the place of the code. So is
    what is not finite, unless the pair scalars were not finite either: those of a descent that has left the numbers.
    """

    @numba.njit
    def squared(t, p):
        k, k1, k2 = value(t, p), first(t, p), second(t, p)
        return k * k, 2.0 * k * k1, 2.0 * (k1 * k1 + k * k2)

    @numba.njit
    def tangent(t, p):
        return value(t, p), first(t, p)

    loop = numba.njit(fastmath=SUMS, error_model="numpy")(_make_loop(action, value, tangent, squared))

    def block(t, m, p):
        results = carray(t, (2 * m if action == TANGENT else m,))
        scalars = results[results.shape[0] - m :]
        parameters = carray(p, (PARAMETERS,))
        sound, total = _finite(scalars), np.nan
        try:
            total = loop(0, 0, results, parameters[1:])
        except Exception:
            results[:] = np.nan
        if sound and not (abs(total) < np.inf and _finite(results)):
            parameters[0] = REFUSED
        return total

    return address_of(_signature(kind), cache=False)(block)
