"""Double-double arithmetic: about 32 digits from pairs of doubles, where 16 are not enough.

A smooth kernel makes matrices whose eigenvalues fall below the last digit of the largest one, and the errors and
optimal errors of the paper are sums of just those. Here the kernel's entries *and* a pivoted Cholesky recursion are
carried in double-double. A number is the unevaluated sum of two doubles, the second below half an ulp of the first.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from . import compile as _compile
from .compile import entry
from .profiles import GAUSSIAN, MATERN12, MATERN32, MATERN52, POLYNOMIAL, RATIONAL_QUADRATIC

_LN2 = (0.6931471805599453, 2.3190468138462996e-17, 5.707708438416212e-34)
_INVERSES = [Fraction(1, math.factorial(i)) for i in range(13)]
_HIGH = tuple(float(f) for f in _INVERSES)
_LOW = tuple(float(f - Fraction(float(f))) for f in _INVERSES)

BLOCK = 256  #: numbers to which a kernel is applied together

#: Residuals below this, relative to the largest diagonal entry, are rounding errors.
FLOOR = 1e-29


#: Nothing here may be reordered or fused: the second double is a rounding error, computed exactly.
inner = _compile.inner(flags=set())

SPLIT = 134217729.0  #: 2²⁷ + 1: a times it, less what that exceeds a, has the upper 26 bits of a (Veltkamp)


@inner
def two_product(a, b):
    """a·b as a double and its rounding error, by Dekker's products of halves."""
    p = a * b
    t, u = SPLIT * a, SPLIT * b
    a1, b1 = t - (t - a), u - (u - b)
    a2, b2 = a - a1, b - b1
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


@inner
def quick(a, b):
    """a + b for |a| ≥ |b|."""
    s = a + b
    return s, b - (s - a)


@inner
def two_sum(a, b):
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@inner
def add(a, a_, b, b_):
    s, e = two_sum(a, b)
    t, f = two_sum(a_, b_)
    s, e = quick(s, e + t)
    return quick(s, e + f)


@inner
def multiply(a, a_, b, b_):
    p, e = two_product(a, b)
    return quick(p, e + (a * b_ + a_ * b))


@inner
def divide(a, a_, b, b_):
    q = a / b
    p, p_ = multiply(b, b_, q, 0.0)
    r, r_ = add(a, a_, -p, -p_)
    return quick(q, (r + r_) / b)


@inner
def root(a, a_):
    if a <= 0.0:
        return 0.0, 0.0
    s = math.sqrt(a)
    p, e = two_product(s, s)
    r, r_ = add(a, a_, -p, -e)
    return quick(s, (r + r_) / (2.0 * s))


@entry
def exponentials(a, a_, work, less=0.0):
    """e^a, a ≤ 0, of every number of a block, in place; term by term, so that LLVM can vectorise the loops.

    Where a > −(ln 2)/2, which leaves 0 in ``work[2]``, it is e^a − less.

    Reduce by ln 2 and by 64, sum the series of eˣ − 1, undo the 64 by squarings that keep the 1 apart.
    """
    r, r_, k = work[0], work[1], work[2]
    for i in range(a.size):
        k[i] = np.rint(max(a[i], -700.0) / _LN2[0])
        p, e = two_product(k[i], _LN2[0])
        h, h_ = add(a[i], a_[i], -p, -e)
        p, e = two_product(k[i], _LN2[1])
        h, h_ = add(h, h_, -p, -e - k[i] * _LN2[2])
        lost = a[i] < -700.0  # too small: becomes 0 at the end, and its series must not overflow before
        k[i] = 2.0 if lost else k[i]
        r[i], r_[i] = 0.0 if lost else h / 64.0, 0.0 if lost else h_ / 64.0
        a[i], a_[i] = _HIGH[12], _LOW[12]
    for term in range(11, -1, -1):
        high, low = (_HIGH[term], _LOW[term]) if term > 0 else (0.0, 0.0)
        for i in range(a.size):
            s, s_ = multiply(a[i], a_[i], r[i], r_[i])
            a[i], a_[i] = add(s, s_, high, low)
    for _ in range(6):
        for i in range(a.size):
            s, s_ = multiply(a[i], a_[i], a[i], a_[i])
            a[i], a_[i] = add(2.0 * a[i], 2.0 * a_[i], s, s_)
    for i in range(a.size):
        scale = np.int64((np.int64(k[i]) + 1023) << 52).view(np.float64) if k[i] < 1.5 else 0.0
        a[i], a_[i] = add(scale - (less if k[i] == 0.0 else 0.0), 0.0, a[i] * scale, a_[i] * scale)


@inner
def exponentials_of_minus(u, u_, e, e_, work):
    """e = e^(−u) of every number of a block."""
    for i in range(u.size):
        e[i], e_[i] = -u[i], -u_[i]
    exponentials(e, e_, work)


@inner
def values(t, t_, p, work):
    """κ of every pair scalar of a block, in place; the families and their parameters are those of ``profiles``."""
    code = int(p[0])
    e, e_ = work[3], work[4]
    if code == POLYNOMIAL:
        for i in range(t.size):
            b, b_ = multiply(t[i], t_[i], p[1], 0.0)
            b, b_ = add(b, b_, p[2], 0.0)
            v, v_ = b, b_
            for _ in range(int(p[3]) - 1):
                v, v_ = multiply(v, v_, b, b_)
            t[i], t_[i] = v, v_
        return
    if code == GAUSSIAN:
        for i in range(t.size):
            t[i], t_[i] = multiply(t[i], t_[i], p[1], 0.0)
        exponentials_of_minus(t, t_, t, t_, work)
        return
    if code == MATERN12 or code == MATERN32 or code == MATERN52:
        for i in range(t.size):
            u, u_ = root(t[i], t_[i])
            t[i], t_[i] = multiply(u, u_, p[1], 0.0)
        exponentials_of_minus(t, t_, e, e_, work)
        for i in range(t.size):
            f, f_ = 1.0, 0.0
            if code != MATERN12:
                f, f_ = add(1.0, 0.0, t[i], t_[i])
            if code == MATERN52:
                s, s_ = multiply(t[i], t_[i], t[i], t_[i])
                s, s_ = divide(s, s_, 3.0, 0.0)
                f, f_ = add(f, f_, s, s_)
            t[i], t_[i] = multiply(f, f_, e[i], e_[i])
        return
    if code != RATIONAL_QUADRATIC:
        raise ValueError("this kernel has no values in double-double arithmetic")
    # log(1 + b) by one Newton step from y, its double: y + (1 + b) e^(−y) − 1, near b = 0 without the ones
    y, reduced = work[5], work[2]
    for i in range(t.size):
        t[i], t_[i] = multiply(t[i], t_[i], p[2], 0.0)
        y[i] = math.log1p(t[i])
        e[i], e_[i] = -y[i], 0.0
    exponentials(e, e_, work, 1.0)
    for i in range(t.size):
        g, g_ = multiply(t[i], t_[i], e[i], e_[i])
        g, g_ = add(g, g_, e[i], e_[i])
        last = t[i] if reduced[i] == 0.0 else -1.0
        g, g_ = add(g, g_, last, t_[i] if reduced[i] == 0.0 else 0.0)
        g, g_ = add(y[i], 0.0, g, g_)
        t[i], t_[i] = multiply(g, g_, -p[1], 0.0)
    exponentials(t, t_, work)


@inner
def pair_scalar(radial, points, i, j):
    t, t_ = 0.0, 0.0
    for l in range(points.shape[1]):
        if radial:
            d, d_ = two_sum(points[i, l], -points[j, l])
            s, s_ = multiply(d, d_, d, d_)
        else:
            s, s_ = two_product(points[i, l], points[j, l])
        t, t_ = add(t, t_, s, s_)
    return t, t_


@entry
def column_of(radial, points, pivot, p, column, column_, work):
    """K(x_i, x_pivot) for all i, or K(x_i, x_i) if the pivot is negative."""
    m = points.shape[0]
    for i in range(m):
        column[i], column_[i] = pair_scalar(radial, points, i, pivot if pivot >= 0 else i)
    for start in range(0, m, BLOCK):
        stop = min(start + BLOCK, m)
        values(column[start:stop], column_[start:stop], p, work)


@inner
def subtract_products(high, low, k, pivot, rest, rest_):
    """rest_i −= F[k, i] F[k, pivot] for all i."""
    a, a_ = high[k, pivot], low[k, pivot]
    row, row_ = high[k], low[k]
    for i in range(rest.shape[0]):
        p, p_ = multiply(row[i], row_[i], a, a_)
        rest[i], rest_[i] = add(rest[i], rest_[i], -p, -p_)


@entry
def pivoted_cholesky(radial, points, p, candidates, most, settle, ratio):
    """Partial Cholesky factor F (a row per pivot) of the kernel matrix of ``points``: K ≈ FᵀF.

    Each pivot is the one of the first ``candidates`` points with the largest residual. The recursion ends at a residual
    at rounding level and, beyond ``settle`` pivots, when their sum is below ``ratio`` times that at ``settle``.
    Returns (F rounded to double, residual diagonal, number of pivots).
    """
    m = points.shape[0]
    high = np.empty((most, m))
    low = np.empty((most, m))
    left = np.empty(m)
    left_ = np.empty(m)
    work = np.empty((6, BLOCK))
    column_of(radial, points, -1, p, left, left_, work)
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
        column_of(radial, points, pivot, p, column, column_, work)
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
