"""Double-double arithmetic: about 32 digits from pairs of doubles, where 16 are not enough.

A smooth kernel makes matrices whose eigenvalues fall below the last digit of the largest one, and the errors and
optimal errors of the paper are sums of just those. Here the kernel's entries *and* a pivoted Cholesky recursion are
carried in double-double. A number is the unevaluated sum of two doubles, the second below half an ulp of the first.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numba import types
from numba.extending import intrinsic

from .compile import jit
from .profiles import GAUSSIAN, MATERN12, MATERN32, MATERN52, POLYNOMIAL

_LN2 = (0.6931471805599453, 2.3190468138462996e-17, 5.707708438416212e-34)
_INVERSES = [Fraction(1, math.factorial(i)) for i in range(13)]
_HIGH = tuple(float(f) for f in _INVERSES)
_LOW = tuple(float(f - Fraction(float(f))) for f in _INVERSES)

#: Residuals below this, relative to the largest diagonal entry, are rounding errors.
FLOOR = 1e-29


@intrinsic
def fma(typingctx, a, b, c):
    """a·b + c with one rounding."""
    signature = types.float64(types.float64, types.float64, types.float64)

    def generate(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return signature, generate


@jit()
def quick(a, b):
    """a + b for |a| ≥ |b|."""
    s = a + b
    return s, b - (s - a)


@jit()
def two_sum(a, b):
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@jit()
def add(a, a_, b, b_):
    s, e = two_sum(a, b)
    t, f = two_sum(a_, b_)
    s, e = quick(s, e + t)
    return quick(s, e + f)


@jit()
def multiply(a, a_, b, b_):
    p = a * b
    return quick(p, fma(a, b, -p) + (a * b_ + a_ * b))


@jit()
def divide(a, a_, b, b_):
    q = a / b
    p, p_ = multiply(b, b_, q, 0.0)
    r, r_ = add(a, a_, -p, -p_)
    return quick(q, (r + r_) / b)


@jit()
def root(a, a_):
    if a <= 0.0:
        return 0.0, 0.0
    s = math.sqrt(a)
    p = s * s
    r, r_ = add(a, a_, -p, -fma(s, s, -p))
    return quick(s, (r + r_) / (2.0 * s))


@jit()
def exponential(a, a_):
    """Reduce by ln 2 and by 64, sum the series of eˣ − 1, undo the 64 by squarings that keep the 1 apart."""
    if a < -700.0:
        return 0.0, 0.0
    k = np.rint(a / _LN2[0])
    p = k * _LN2[0]
    r, r_ = add(a, a_, -p, -fma(k, _LN2[0], -p))
    p = k * _LN2[1]
    r, r_ = add(r, r_, -p, -fma(k, _LN2[1], -p) - k * _LN2[2])
    r /= 64.0
    r_ /= 64.0
    s, s_ = _HIGH[12], _LOW[12]
    for i in range(11, 0, -1):
        s, s_ = multiply(s, s_, r, r_)
        s, s_ = add(s, s_, _HIGH[i], _LOW[i])
    s, s_ = multiply(s, s_, r, r_)
    for _ in range(6):
        t, t_ = multiply(s, s_, s, s_)
        s, s_ = add(2.0 * s, 2.0 * s_, t, t_)
    s, s_ = add(1.0, 0.0, s, s_)
    scale = 2.0**k
    return s * scale, s_ * scale


@jit()
def logarithm(a, a_):
    """One Newton step on eʸ = a from the double-precision logarithm."""
    y = math.log(a)
    e, e_ = exponential(-y, 0.0)
    p, p_ = multiply(a, a_, e, e_)
    p, p_ = add(p, p_, -1.0, 0.0)
    return add(y, 0.0, p, p_)


@jit()
def value(t, t_, p):
    """κ of the pair scalar; the families and their parameters are those of ``profiles``."""
    code = int(p[0])
    if code == GAUSSIAN:
        e, e_ = multiply(t, t_, -p[1], 0.0)
        return exponential(e, e_)
    if code == POLYNOMIAL:
        b, b_ = multiply(t, t_, p[1], 0.0)
        b, b_ = add(b, b_, p[2], 0.0)
        v, v_ = b, b_
        for _ in range(int(p[3]) - 1):
            v, v_ = multiply(v, v_, b, b_)
        return v, v_
    if code == MATERN12 or code == MATERN32 or code == MATERN52:
        u, u_ = root(t, t_)
        u, u_ = multiply(u, u_, p[1], 0.0)
        e, e_ = exponential(-u, -u_)
        if code == MATERN12:
            return e, e_
        f, f_ = add(1.0, 0.0, u, u_)
        if code == MATERN52:
            s, s_ = multiply(u, u_, u, u_)
            s, s_ = divide(s, s_, 3.0, 0.0)
            f, f_ = add(f, f_, s, s_)
        return multiply(f, f_, e, e_)
    b, b_ = multiply(t, t_, p[2], 0.0)
    b, b_ = add(1.0, 0.0, b, b_)
    g, g_ = logarithm(b, b_)
    g, g_ = multiply(g, g_, -p[1], 0.0)
    return exponential(g, g_)


@jit()
def entry(radial, points, i, j, p):
    """K(x_i, x_j)."""
    t, t_ = 0.0, 0.0
    for l in range(points.shape[1]):
        if radial:
            d, d_ = two_sum(points[i, l], -points[j, l])
            s, s_ = multiply(d, d_, d, d_)
        else:
            s = points[i, l] * points[j, l]
            s_ = fma(points[i, l], points[j, l], -s)
        t, t_ = add(t, t_, s, s_)
    return value(t, t_, p)


@jit()
def subtract_products(high, low, k, pivot, rest, rest_):
    """rest_i −= F[k, i] F[k, pivot] for all i."""
    a, a_ = high[k, pivot], low[k, pivot]
    row, row_ = high[k], low[k]
    for i in range(rest.shape[0]):
        p, p_ = multiply(row[i], row_[i], a, a_)
        rest[i], rest_[i] = add(rest[i], rest_[i], -p, -p_)


@jit()
def pivoted_cholesky(radial, points, p, candidates, most, settle, ratio):
    """Partial Cholesky factor F (a row per pivot) of the kernel matrix of ``points``: K ≈ FᵀF.

    Pivots are the candidates, the first so many points, with the largest residual; a residual at rounding level ends
    the recursion, and so does, beyond ``settle`` pivots, one whose sum is below ``ratio`` times that at ``settle``.
    Returns (F rounded to double, residual diagonal, number of pivots).
    """
    m = points.shape[0]
    high = np.empty((most, m))
    low = np.empty((most, m))
    left = np.empty(m)
    left_ = np.empty(m)
    for i in range(m):
        left[i], left_[i] = entry(radial, points, i, i, p)
    floor = FLOOR * left[:candidates].max()
    column = np.empty(m)
    column_ = np.empty(m)
    settled = np.inf
    rank = 0
    while rank < most:
        pivot = np.argmax(left[:candidates])
        if left[pivot] <= floor:
            break
        remaining = left.sum()
        if rank == settle:
            settled = remaining
        if rank > settle and remaining <= ratio * settled:
            break
        for i in range(m):
            column[i], column_[i] = entry(radial, points, i, pivot, p)
        for k in range(rank):
            subtract_products(high, low, k, pivot, column, column_)
        s, s_ = root(left[pivot], left_[pivot])
        for i in range(m):
            c, c_ = divide(column[i], column_[i], s, s_)
            high[rank, i], low[rank, i] = c, c_
            c, c_ = multiply(c, c_, c, c_)
            left[i], left_[i] = add(left[i], left_[i], -c, -c_)
        left[pivot], left_[pivot] = 0.0, 0.0
        rank += 1
    for i in range(m):
        left[i] = max(left[i], 0.0)
    return high[:rank], left, rank
