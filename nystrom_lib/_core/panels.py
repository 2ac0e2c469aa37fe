r"""Dense algebra on row-major panels, a few rows at a time: products, triangular solves, Cholesky.

A *panel* is a block of a few vectors of columns. A few of its rows stay in registers while everything before them
is subtracted and they are solved for, so that a solve is nothing but products: there are no leaves, no packing and no
calls between blocks, which is what BLAS loses its time with at a few hundred landmarks.

Rows come in groups and columns in whole vectors: who calls fills up with rows and columns of zeros, and with ones on
the diagonal of a triangle. Beside each vector kernel stands the plain loop that does the same.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from .compile import ORDERED, PLAIN, inner, wide
from .stages import Stage, leave, read, share
from .vectors import REGISTER, _Vectors, _word, address, lanes, transpose

unsigned = np.uintp  # indices that spare numba's test for negative ones, which stops LLVM from vectorising

LANES = REGISTER // 8  #: columns of a vector of doubles, here as wide as the processor's registers
ROWS = LANES  #: rows done together
VECTORS = 3  #: vectors of a block: times ROWS they are sums, and must leave some registers free
WIDTH = 48  #: columns of a panel of landmarks
DEPTH = 2 * WIDTH  #: rows that a factorisation takes at a time

MULTIPLY, GRAM, LESS_GRAM, FORWARD, BACKWARD = range(5)


@inner()
def up(size, step):
    """The smallest multiple of ``step`` from ``size`` on."""
    return (size + step - 1) // step * step


def _kernel(kind: int):
    """A few rows of a panel: products added (MULTIPLY, or GRAM where the coefficients of a row stand in a column) or
    subtracted (LESS_GRAM), or subtracted and the few solved for (FORWARD, BACKWARD).
    """

    def typed(typingctx, X, x_stride, count, T, t_stride, out, out_stride, columns):
        signature = types.void(*(types.intp,) * 8)

        def generate(context, builder, signature, arguments):
            X, x_stride, count, T, t_stride, out, out_stride, columns = arguments
            v = _Vectors(context, builder, types.float64, REGISTER)
            rows = range(ROWS)
            row = [_word(l) for l in rows]
            # where the coefficients among these rows begin: after the sum, or before it
            own = {FORWARD: count, BACKWARD: _word(0)}.get(kind)
            first = _word(ROWS if kind == BACKWARD else 0)
            last = builder.add(first, count)

            def scalar(l, column):
                place = (column, x_stride, row[l]) if kind in (GRAM, LESS_GRAM) else (row[l], x_stride, column)
                return builder.load(v.at(X, *place, v.scalar))

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
                combine = builder.fadd if kind in (MULTIPLY, GRAM) else builder.fsub
                before = [v.load(out, row[l], out_stride, k) for l in rows for k in places]
                left = [combine(a, builder.load(b)) for a, b in zip(before, found, strict=True)]
                if own is not None:
                    solve(left, vectors)
                for i, value in enumerate(left):
                    v.store(value, out, row[i // vectors], out_stride, places[i % vectors])

            def solve(left, vectors):
                # all vectors of a row before the next row: while one waits for a product, the others go on
                order = rows if kind == FORWARD else rows[::-1]
                for at, l in enumerate(order):
                    for m in order[:at]:
                        x = v.splat(scalar(l, v.plus(own, m)), v.type)
                        for i in range(vectors):
                            product = builder.fmul(x, left[m * vectors + i], flags=("contract",))
                            a = left[l * vectors + i]
                            left[l * vectors + i] = builder.fsub(a, product, flags=("contract",))
                    for i in range(l * vectors, (l + 1) * vectors):
                        left[i] = builder.fmul(left[i], inverse[l])

            done = _word(0)
            for vectors in (VECTORS, 2, 1):
                stop = builder.add(done, v.whole(builder.sub(columns, done), vectors * v.lanes))
                with v.steps(done, stop, vectors * v.lanes) as (column, _):
                    block(vectors, column)
                done = stop
            return context.get_dummy_value()

        return signature, generate

    typed.__name__ = ("multiply", "gram", "less_gram", "forward", "backward")[kind]
    return intrinsic(typed)


_multiply, _gram, _less_gram, _forward, _backward = map(_kernel, (MULTIPLY, GRAM, LESS_GRAM, FORWARD, BACKWARD))


@inner()
def place(A, i, j):
    """The address of A[i, j]."""
    return address(A) + (i * A.shape[1] + j) * A.itemsize


@inner(flags=ORDERED)
def add_product(A, r, count, B, m, first, columns, out):
    """out[r + l, first + c] += Σ_{p<count} A[r + l, p] B[m + p, first + c] for a few rows l, ``columns`` columns c."""
    wide()
    if PLAIN:
        for l in range(r, r + ROWS):
            for c in range(first, first + columns):
                total = 0.0
                for p in range(count):
                    total += A[l, p] * B[m + p, c]
                out[l, c] += total
        return
    _multiply(
        place(A, r, 0), A.shape[1], count, place(B, m, first), B.shape[1], place(out, r, first), out.shape[1], columns
    )


@inner(flags=ORDERED)
def add_gram(A, r, count, B, first, columns, out, i, j):
    """out[i + l, j + c] += Σ_{p<count} A[p, r + l] B[p, c] for a few rows l and ``columns`` columns c, ``first`` on."""
    wide()
    if PLAIN:
        for l in range(ROWS):
            for c in range(first, first + columns):
                total = 0.0
                for p in range(count):
                    total += A[p, r + l] * B[p, c]
                out[i + l, j + c] += total
        return
    there = place(out, i, j + first)
    _gram(place(A, 0, r), A.shape[1], count, place(B, 0, first), B.shape[1], there, out.shape[1], columns)


@inner(flags=ORDERED)
def add_symmetric_product(A, n, r, B, out):
    """out[r + l] += Σ_{p<n} A[r + l, p] B[p] for a few rows l of a symmetric A, whose upper half is there."""
    wide()
    columns = B.shape[1]
    if PLAIN:
        for l in range(r, r + ROWS):
            for c in range(columns):
                total = 0.0
                for p in range(n):
                    total += (A[p, l] if p < r else A[l, p]) * B[p, c]
                out[l, c] += total
        return
    there = place(out, r, 0)
    _gram(place(A, 0, r), A.shape[1], r, address(B), columns, there, out.shape[1], columns)
    _multiply(place(A, r, r), A.shape[1], n - r, place(B, r, 0), columns, there, out.shape[1], columns)


@inner(flags=ORDERED)
def forward(L, r, T, first, columns):
    """A few rows of T from r on, in ``columns`` columns from ``first`` on, solved for; those above them are."""
    wide()
    if PLAIN:
        for l in range(r, r + ROWS):
            for c in range(first, first + columns):
                for p in range(l):
                    T[l, c] -= L[l, p] * T[p, c]
                T[l, c] /= L[l, l]
        return
    _forward(place(L, r, 0), L.shape[1], r, place(T, 0, first), T.shape[1], place(T, r, first), T.shape[1], columns)


@inner(flags=ORDERED)
def backward(U, n, r, T, columns):
    """A few rows of T from r on, in the first columns, solved for; those below them are, and 0 from n on."""
    wide()
    if PLAIN:
        for l in range(r + ROWS - 1, r - 1, -1):
            for c in range(columns):
                for p in range(l + 1, max(n, r + ROWS)):
                    T[l, c] -= U[l, p] * T[p, c]
                T[l, c] /= U[l, l]
        return
    here = place(T, r, 0)
    _backward(place(U, r, r), U.shape[1], max(0, n - r - ROWS), here, T.shape[1], here, T.shape[1], columns)


@inner(flags=ORDERED)
def solve_forward(L, T, columns):
    """T ← L⁻¹T in its first ``columns`` columns, L a lower triangle, nothing inverted."""
    for r in range(0, T.shape[0], ROWS):
        forward(L, r, T, 0, columns)


@inner(flags=ORDERED)
def solve_backward(U, n, T, columns):
    """T ← U⁻¹T in its first ``columns`` columns, U an upper triangle; rows from n on, which fill up T, are 0."""
    for r in range(T.shape[0] - ROWS, -1, -ROWS):
        backward(U, n, r, T, columns)


@inner(flags=ORDERED)
def less_own_square(U, r):
    """U[r + l, r + c] −= Σ_{p<r} U[p, r + l] U[p, r + c] for as many rows l and columns c as are done together."""
    wide()
    if PLAIN:
        for l in range(r, r + ROWS):
            for c in range(r, r + LANES):
                for p in range(r):
                    U[l, c] -= U[p, l] * U[p, c]
        return
    here, above = place(U, r, r), place(U, 0, r)
    _less_gram(above, U.shape[1], r, above, U.shape[1], here, U.shape[1], LANES)


@inner(flags=ORDERED)
def diagonal_block(U, L, s, e, floor):
    """Rows and columns from s to e of the factor, those before s being there; the smallest pivot, or −1."""
    wide()
    smallest = np.inf
    for r in range(s, e, ROWS):
        less_own_square(U, r)
        for a in range(unsigned(r), unsigned(r + ROWS)):
            for b in range(unsigned(r), a):
                left = U[b, a]
                for p in range(unsigned(r), b):
                    left -= L[a, p] * L[b, p]
                L[a, b] = left / L[b, b]
            left = U[a, a]
            for p in range(unsigned(r), a):
                left -= L[a, p] * L[a, p]
            if not left > floor:
                return -1.0
            smallest = min(smallest, left)
            L[a, a] = math.sqrt(left)
        start = (r + ROWS) // LANES * LANES
        forward(L, r, U, start, min(up(e, LANES), U.shape[1]) - start)
        for a in range(unsigned(r), unsigned(r + ROWS)):
            for b in range(unsigned(r), unsigned(r + ROWS)):
                U[a, b] = L[b, a] if b >= a else 0.0
        reflect(U, L, r, r + ROWS, e)
    return smallest


@inner(flags=ORDERED)
def reflect(U, L, r, first, last):
    """L[c, a] = U[a, c] for the few rows a from r on and the columns c from ``first`` to ``last``."""
    if min(ROWS, last - first) >= lanes(U):
        there = place(L, first, r)
        transpose(U, place(U, r, first), U.shape[1], ROWS, last - first, there, L.shape[1])
        return
    for c in range(first, last):
        for a in range(r, r + ROWS):
            L[unsigned(c), unsigned(a)] = U[unsigned(a), unsigned(c)]


class Factor(NamedTuple):
    """What a factorisation works on."""

    U: np.ndarray
    L: np.ndarray


@Stage
def panel_rows(index, s, e, note):
    """Rows from s to e of the factor, in one panel of the columns beyond them."""
    wide()
    factor = read(note)
    U, L = factor.U, factor.L
    first = e + index * WIDTH
    width = min(WIDTH, U.shape[1] - first)
    for r in range(s, e, ROWS):
        forward(L, r, U, first, width)
        reflect(U, L, r, first, min(first + width, U.shape[0]))


@inner(flags=ORDERED)
def cholesky(sharing, rows_of_panel, U, L, floor):
    """W = Uᵀ U = L Lᵀ: U holds the upper half of W and is overwritten; returns its smallest pivot, or −1.

    A pivot that is not above ``floor`` stops it, and what is in U and L then is of no use. A block of rows goes
    through the columns beyond it panel by panel, so that what stands above it in a panel is read from memory once.
    """
    note = leave(Factor(U, L))
    n, columns = U.shape
    smallest = np.inf
    for s in range(0, n, DEPTH):
        e = min(s + DEPTH, n)
        pivot = diagonal_block(U, L, s, e, floor)
        if not pivot > 0.0:
            return -1.0
        smallest = min(smallest, pivot)
        share(sharing, rows_of_panel, (columns - e + WIDTH - 1) // WIDTH, s, e, note)
    return smallest
