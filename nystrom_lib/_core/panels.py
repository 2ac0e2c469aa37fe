r"""Dense algebra on row-major panels, four rows at a time: products, triangular solves, Cholesky.

A *panel* is a block of a few vectors of columns. Four of its rows stay in registers while everything before them is
subtracted and the four are solved for, so that a solve is nothing but products: there are no leaves, no packing and no
calls between blocks, which is what BLAS loses its time with at a few hundred landmarks.

Rows come in fours and columns in whole vectors: who calls fills up with rows and columns of zeros, and with ones on
the diagonal of a triangle. Beside each vector kernel stands the plain loop that does the same.
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.extending import intrinsic

from .compile import ORDERED, SUMS, jit, wide
from .vectors import _Vectors, _word, address

_AVX512 = bool(get_host_cpu_features().get("avx512f"))

ROWS = 4  #: rows done together
LANES = 8 if _AVX512 else 4  #: columns of a vector of doubles, here as wide as the processor's registers
VECTORS = 4 if _AVX512 else 3  #: vectors of a block: times ROWS they are sums, and must leave some registers free
WIDTH = 32 if _AVX512 else 48  #: columns of a panel

MULTIPLY, FORWARD, BACKWARD = range(3)


def up(size, step):
    """The smallest multiple of ``step`` from ``size`` on."""
    return -(-size // step) * step


def _kernel(kind: int):
    """Four rows of a panel: products added (MULTIPLY), or subtracted and the four solved for (FORWARD, BACKWARD)."""

    def typed(typingctx, X, x_stride, count, T, t_stride, out, out_stride, columns):
        signature = types.void(*(types.intp,) * 8)

        def generate(context, builder, signature, arguments):
            X, x_stride, count, T, t_stride, out, out_stride, columns = arguments
            v = _Vectors(context, builder, types.float64, LANES * 8)
            rows = range(ROWS)
            row = [_word(l) for l in rows]
            # where the coefficients among the four rows begin: after the sum, or before it
            own = {MULTIPLY: None, FORWARD: count, BACKWARD: _word(0)}[kind]
            first = _word(ROWS if kind == BACKWARD else 0)
            last = builder.add(first, count)

            def scalar(l, column):
                return builder.load(v.at(X, row[l], x_stride, column, v.scalar))

            inverse = []
            if own is not None:
                one = v.scalar(1.0)
                inverse = [v.splat(builder.fdiv(one, scalar(l, v.plus(own, l))), v.type) for l in rows]

            def block(vectors, column):
                places = [v.plus(column, i * v.lanes) for i in range(vectors)]
                found = v.sums(ROWS * vectors)
                with v.steps(first, last, 1) as (j, _):
                    loaded = [v.load(T, j, t_stride, k) for k in places]
                    for l in rows:
                        x = v.splat(scalar(l, j), v.type)
                        for place, t in zip(found[l * vectors :], loaded, strict=False):
                            v.add_product(place, x, t)
                for i, k in enumerate(places):
                    before = [v.load(out, row[l], out_stride, k) for l in rows]
                    sums = [builder.load(found[l * vectors + i]) for l in rows]
                    combine = builder.fadd if kind == MULTIPLY else builder.fsub
                    left = [combine(a, b) for a, b in zip(before, sums, strict=True)]
                    order = rows if kind == FORWARD else rows[::-1]
                    for at, l in enumerate(order if own is not None else ()):
                        for m in order[:at]:
                            x = v.splat(scalar(l, v.plus(own, m)), v.type)
                            product = builder.fmul(x, left[m], flags=("contract",))
                            left[l] = builder.fsub(left[l], product, flags=("contract",))
                        left[l] = builder.fmul(left[l], inverse[l])
                    for l in rows:
                        v.store(left[l], out, row[l], out_stride, k)

            done = _word(0)
            for vectors in (VECTORS, 2, 1):
                stop = builder.add(done, v.whole(builder.sub(columns, done), vectors * v.lanes))
                with v.steps(done, stop, vectors * v.lanes) as (column, _):
                    block(vectors, column)
                done = stop
            return context.get_dummy_value()

        return signature, generate

    typed.__name__ = ("multiply", "forward", "backward")[kind]
    return intrinsic(typed)


_multiply, _forward, _backward = _kernel(MULTIPLY), _kernel(FORWARD), _kernel(BACKWARD)


@jit()
def place(A, i, j):
    """The address of A[i, j]."""
    return address(A) + (i * A.shape[1] + j) * A.itemsize


@jit(flags=ORDERED)
def add_product(A, r, count, B, m, first, columns, out):
    """out[r + l, first + c] += Σ_{p<count} A[r + l, p] B[m + p, first + c] for four rows l, ``columns`` columns c."""
    wide()
    _multiply(
        place(A, r, 0), A.shape[1], count, place(B, m, first), B.shape[1], place(out, r, first), out.shape[1], columns
    )


@jit(flags=ORDERED)
def solve_forward(L, T, columns):
    """T ← L⁻¹T in its first ``columns`` columns, L a lower triangle, nothing inverted."""
    wide()
    for r in range(0, T.shape[0], ROWS):
        _forward(place(L, r, 0), L.shape[1], r, address(T), T.shape[1], place(T, r, 0), T.shape[1], columns)


@jit(flags=ORDERED)
def solve_backward(U, T, columns):
    """T ← U⁻¹T in its first ``columns`` columns, U an upper triangle."""
    wide()
    for r in range(T.shape[0] - ROWS, -1, -ROWS):
        here = place(T, r, 0)
        _backward(place(U, r, r), U.shape[1], T.shape[0] - r - ROWS, here, T.shape[1], here, T.shape[1], columns)


@jit(flags=SUMS)
def dot(a, b, count):
    """Σ a[i] b[i] over the first ``count``."""
    total = 0.0
    for i in range(count):
        total += a[np.uintp(i)] * b[np.uintp(i)]
    return total


@jit(flags=ORDERED)
def cholesky(U, L, floor):
    """W = Uᵀ U = L Lᵀ: U holds the upper half of W and is overwritten; returns its smallest pivot, or −1.

    A pivot that is not above ``floor`` stops it, and what is in U and L then is of no use.
    """
    wide()
    n = U.shape[0]
    smallest = np.inf
    for r in range(0, n, ROWS):
        for a in range(r, r + ROWS):
            for b in range(r, a + 1):
                left = U[b, a] - dot(L[a], L[b], b)
                if b < a:
                    L[a, b] = left / L[b, b]
                else:
                    if not left > floor:
                        return -1.0
                    smallest = min(smallest, left)
                    L[a, a] = math.sqrt(left)
        start = (r + ROWS) // LANES * LANES
        _forward(
            place(L, r, 0), L.shape[1], r, place(U, 0, start), U.shape[1], place(U, r, start), U.shape[1],
            U.shape[1] - start,
        )  # fmt: skip
        for a in range(r, r + ROWS):
            for b in range(r, r + ROWS):
                U[a, b] = L[b, a] if b >= a else 0.0
        for c in range(r + ROWS, n):
            for a in range(r, r + ROWS):
                L[c, a] = U[a, c]
    return smallest
