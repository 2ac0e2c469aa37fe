r"""The trace error when each point sees only its nearest landmarks, and the gradient of that.

For a radial kernel :math:`K=\kappa(\|\cdot-\cdot\|^2)` and a point x with neighbours :math:`z_1, …, z_k`, let
:math:`z_{k+1} = x` and :math:`\bar a = (a, -1)` with :math:`a = \mathbf W_x^{-1}\mathbf k_x`. Then

.. math:: K(x,x) - \mathbf k_x^T\mathbf W_x^{-1}\mathbf k_x = \sum_{i,j\le k+1}\bar a_i\bar a_j K(z_i, z_j), \qquad
          \partial_{z_i} = 4\,\bar a_i\sum_j \bar a_j\,\kappa'(\|z_i-z_j\|^2)\,(z_i-z_j),

for the form is stationary in a: the point is treated as one more neighbour, and the pivot that an elimination
:math:`\mathbf L\mathbf D\mathbf L^T` leaves it is the error.

The matrices are small, so a vector holds the same entry of the matrices of several points. Pairs i > j are numbered
row by row. What a point contributes does not depend on which others share its vectors, and contributions are added
in the order of the points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import get_thread_id, types
from numba.extending import intrinsic

from .compile import ORDERED, fused, inner, jit, wide
from .pairs import call, clear, column_norms, copy, load_columns, row_norms, scalars
from .stages import Stage, read
from .trace import FIRST_RIDGE, LEAST_PIVOT
from .vectors import BYTES, _Vectors, _word, address

LANES = BYTES // 8  #: points whose matrices are factored together
ROWS, COLUMNS = 16, 256  #: points and landmarks of a tile of the search
ROUNDING = 2.0**-44  #: pivots below it, relative to the diagonal, may be off by a hundredth


# --- vectors, one for each pair or neighbour: LLVM cannot know that those written and those read are not the same ----


@intrinsic
def _eliminate(typingctx, row, column, count, inverse, own, pivot):
    """Eliminate the first entry r of a row: it is kept as ``own`` and becomes the ratio r · ``inverse``.

    row[j] loses ratio · column[j] for 0 < j ≤ count, and the row's own pivot ratio · r.
    """
    signature = types.void(*(types.intp,) * 6)

    def generate(context, builder, signature, arguments):
        row, column, count, inverse, own, pivot = arguments
        v = _Vectors(context, builder, types.float64)
        stride, start = _word(v.lanes), _word(0)

        def less(place, j, a, b):
            product = builder.fmul(a, b, flags=("contract",))
            left = builder.fsub(v.load(place, j, stride, start), product, flags=("contract",))
            v.store(left, place, j, stride, start)

        left = v.load(row, start, stride, start)
        ratio = builder.fmul(left, v.load(inverse, start, stride, start))
        v.store(left, own, start, stride, start)
        v.store(ratio, row, start, stride, start)
        less(pivot, start, left, ratio)
        with v.steps(_word(1), v.plus(count, 1), 1) as (j, _):
            less(row, j, ratio, v.load(column, j, stride, start))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _pull(typingctx, weights, rows, own, out, total, count):
    """g = weights[j] · (own − rows[j]): out[j] −= g and total += g for j < count."""
    signature = types.void(*(types.intp,) * 6)

    def generate(context, builder, signature, arguments):
        weights, rows, own, out, total, count = arguments
        v = _Vectors(context, builder, types.float64)
        stride, start = _word(v.lanes), _word(0)
        here = v.load(own, start, stride, start)
        (pulls,) = v.sums(1)
        with v.steps(start, count, 1) as (j, _):
            gap = builder.fsub(here, v.load(rows, j, stride, start))
            pull = builder.fmul(v.load(weights, j, stride, start), gap)
            v.store(builder.fsub(v.load(out, j, stride, start), pull), out, j, stride, start)
            builder.store(builder.fadd(builder.load(pulls), pull), pulls)
        v.store(builder.fadd(v.load(total, start, stride, start), builder.load(pulls)), total, start, stride, start)
        return context.get_dummy_value()

    return signature, generate


@jit()
def at(array, i):
    """The address of the i-th vector of an array of them."""
    return address(array) + i * BYTES


# --- a group of points --------------------------------------------------------------------------------------------


class Scratch(NamedTuple):
    """The buffers of a thread, an entry for each of the points it has in hand."""

    Z: np.ndarray  #: coordinates of the neighbours and of the point
    F: np.ndarray  #: what the error changes by as they move
    kappa: np.ndarray  #: κ and κ' of the pairs
    L: np.ndarray  #: the factor below its unit diagonal
    pivots: np.ndarray  #: D; the last of them is the error
    column: np.ndarray  #: of the matrix that is eliminated
    a: np.ndarray  #: (a, −1)
    ridge: np.ndarray  #: what is added to the diagonal, relative to it


def make_scratch(slots: int, k: int, d: int) -> Scratch:
    """Buffers for k neighbours."""
    pairs = k * (k + 1) // 2
    return Scratch(
        np.zeros((slots, d, k + 1, LANES)), np.zeros((slots, d, k + 1, LANES)), np.zeros((slots, 2, pairs, LANES)),
        np.zeros((slots, pairs, LANES)), np.zeros((slots, k + 1, LANES)), np.zeros((slots, k + 1, LANES)),
        np.zeros((slots, k + 1, LANES)), np.zeros((slots, LANES)),
    )  # fmt: skip


@inner(flags=ORDERED)
def load_group(sample, points, near, first, Z):
    """Z[l, i, v] = coordinate l of neighbour i of point ``first`` + v, or of the point itself for the last i.

    The last point stands in where there are none left.
    """
    d, k = Z.shape[0], Z.shape[1] - 1
    for v in range(LANES):
        j = min(first + v, near.shape[0] - 1)
        for i in range(k):
            for l in range(d):
                Z[l, i, v] = sample[near[j, i], l]
        for l in range(d):
            Z[l, k, v] = points[j, l]


@inner(flags=ORDERED)
def squared_distances(Z, q):
    """q[pair] = ‖z_i − z_j‖², from differences."""
    clear(q)
    for l in range(Z.shape[0]):
        pair = 0
        for i in range(1, Z.shape[1]):
            for j in range(i):
                for v in range(LANES):
                    gap = Z[l, i, v] - Z[l, j, v]
                    q[pair, v] += gap * gap
                pair += 1


@inner(flags=ORDERED)
def eliminate(kappa, diagonal, ridge, L, pivots, column):
    """L D Lᵀ, the diagonal raised by each point's ridge except for the point itself."""
    size = pivots.shape[0]
    copy(kappa.reshape(kappa.size), L.reshape(L.size))
    for i in range(size):
        for v in range(LANES):
            pivots[i, v] = diagonal * (1.0 + ridge[v]) if i < size - 1 else diagonal
    for p in range(size - 1):
        for v in range(LANES):  # the p-th entry of the column is not needed: the inverse pivot has its place
            column[p, v] = 1.0 / pivots[p, v] if pivots[p, v] > 0.0 else 0.0
        for i in range(p + 1, size):
            row = i * (i - 1) // 2
            _eliminate(at(L, row + p), at(column, p), i - p - 1, at(column, p), at(column, i), at(pivots, i))


@inner(flags=ORDERED)
def factor(kappa, diagonal, L, pivots, column, ridge):
    """Eliminate with the least ridge, for each point its own, that double precision carries; NaN where none does."""
    k = pivots.shape[0] - 1
    clear(ridge)
    settled = False
    while not settled:
        eliminate(kappa, diagonal, ridge, L, pivots, column)
        settled = True
        for v in range(LANES):
            floor = diagonal * (LEAST_PIVOT if ridge[v] == 0.0 else 0.1 * ridge[v])
            carried = True
            for p in range(k):
                carried = carried and pivots[p, v] > floor
            if carried:
                continue
            if ridge[v] < 1.0:
                ridge[v] = FIRST_RIDGE if ridge[v] == 0.0 else 10.0 * ridge[v]
                settled = False
            else:
                pivots[k, v] = np.nan


@jit(flags=ORDERED)
def coefficients(L, a):
    """(a, −1) with a = L⁻ᵀ times the last row of the factor."""
    k = a.shape[0] - 1
    row = k * (k - 1) // 2
    for i in range(k):
        for v in range(LANES):
            a[i, v] = L[row + i, v]
    for i in range(k - 1, 0, -1):
        row = i * (i - 1) // 2
        for j in range(i):
            for v in range(LANES):
                a[j, v] -= L[row + j, v] * a[i, v]
    for v in range(LANES):
        a[k, v] = -1.0


@jit(flags=ORDERED)
def forces(Z, slopes, a, F):
    """F[l, i] = ∂ of the error with respect to coordinate l of z_i; overwrites the slopes."""
    pair = 0
    for i in range(1, Z.shape[1]):
        for j in range(i):
            for v in range(LANES):
                slopes[pair, v] *= 4.0 * a[i, v] * a[j, v]
            pair += 1
    clear(F)
    for l in range(Z.shape[0]):
        z, f = Z[l], F[l]
        for i in range(1, Z.shape[1]):
            _pull(at(slopes, i * (i - 1) // 2), at(z, 0), at(z, i), at(f, 0), at(f, i), i)


@Stage
def errors_and_forces(index, _start, _count, note):
    """The error of each point and what its neighbours, in the order of ``near``, contribute to the gradient.

    ``loop`` is where the kernel's TANGENT loop lies.
    """
    wide()
    loop, p, sample, points, near, diagonal, scratch, errors, contributions = read(note)
    m, k = near.shape
    first = index * LANES
    slot = get_thread_id()
    Z, F, kappa, L = scratch.Z[slot], scratch.F[slot], scratch.kappa[slot], scratch.L[slot]
    pivots, a = scratch.pivots[slot], scratch.a[slot]
    load_group(sample, points, near, first, Z)
    slopes, values = kappa[0], kappa[1]
    squared_distances(Z, values)
    call(loop, address(kappa), values.size, address(p))
    factor(values, diagonal, L, pivots, scratch.column[slot], scratch.ridge[slot])
    coefficients(L, a)
    forces(Z, slopes, a, F)
    for v in range(min(LANES, m - first)):
        errors[first + v] = pivots[k, v]
        for i in range(k):
            for l in range(Z.shape[0]):
                contributions[first + v, i, l] = F[l, i, v]


@inner(flags=ORDERED)
def pivoted_error(kappa, v, diagonal, W, c):
    """K(x, x) − k_xᵀ W⁺ k_x of the v-th point, largest pivots first and none below rounding; W, c are scratch."""
    k = c.size
    row = k * (k - 1) // 2
    for i in range(k):
        c[i] = kappa[row + i, v]
        W[i, i] = diagonal
        for j in range(i):
            W[i, j] = W[j, i] = kappa[i * (i - 1) // 2 + j, v]
    error = diagonal
    for _ in range(k):
        p = 0
        for i in range(1, k):
            if W[i, i] > W[p, p]:
                p = i
        pivot = W[p, p]
        if not pivot > ROUNDING * diagonal:
            break
        error = fused(-c[p], c[p] / pivot, error)
        W[p, p] = 0.0  # done with
        for i in range(k):
            if W[i, i] > 0.0:
                ratio = W[i, p] / pivot
                c[i] = fused(-ratio, c[p], c[i])
                for j in range(k):
                    W[i, j] = fused(-ratio, W[p, j], W[i, j])
    return max(error, 0.0)


@Stage
def errors_only(index, _start, _count, note):
    """The error of each point with nothing added to a diagonal; ``loop`` is where the kernel's VALUE loop lies."""
    wide()
    loop, p, sample, points, near, diagonal, scratch, errors = read(note)
    m, k = near.shape
    first = index * LANES
    slot = get_thread_id()
    Z, kappa = scratch.Z[slot], scratch.kappa[slot, 0]
    W = scratch.L[slot].reshape(scratch.L[slot].size)[: k * k].reshape((k, k))
    c = scratch.a[slot].reshape(scratch.a[slot].size)[:k]
    load_group(sample, points, near, first, Z)
    squared_distances(Z, kappa)
    call(loop, address(kappa), kappa.size, address(p))
    for v in range(min(LANES, m - first)):
        errors[first + v] = pivoted_error(kappa, v, diagonal, W, c)


@Stage
def errors_and_weights(index, _start, _count, note):
    """The error of each point and its coefficients a, in the order of ``near``; ``loop`` is the kernel's VALUE loop."""
    wide()
    loop, p, sample, points, near, diagonal, scratch, errors, weights = read(note)
    m, k = near.shape
    first = index * LANES
    slot = get_thread_id()
    Z, kappa, L = scratch.Z[slot], scratch.kappa[slot, 0], scratch.L[slot]
    pivots, a = scratch.pivots[slot], scratch.a[slot]
    load_group(sample, points, near, first, Z)
    squared_distances(Z, kappa)
    call(loop, address(kappa), kappa.size, address(p))
    factor(kappa, diagonal, L, pivots, scratch.column[slot], scratch.ridge[slot])
    coefficients(L, a)
    for v in range(min(LANES, m - first)):
        errors[first + v] = pivots[k, v]
        for i in range(k):
            weights[first + v, i] = a[i, v]


@jit(flags=ORDERED)
def scatter(near, contributions, out):
    """Add each point's contributions to the landmarks they belong to, point by point."""
    for j in range(near.shape[0]):
        for i in range(near.shape[1]):
            for l in range(out.shape[1]):
                out[near[j, i], l] += contributions[j, i, l]


# --- who is near whom ---------------------------------------------------------------------------------------------


def make_tiles(slots: int, n: int, k: int, d: int) -> tuple[np.ndarray, ...]:
    """Landmarks as columns and their norms; for each thread a tile of scalars, its points, their norms, the nearest."""
    tiles = (n + COLUMNS - 1) // COLUMNS
    return (
        np.zeros((tiles, d, COLUMNS)), np.zeros((tiles, COLUMNS)), np.zeros((slots, ROWS * COLUMNS)),
        np.zeros((slots, ROWS, d)), np.zeros((slots, ROWS)), np.zeros((slots, ROWS, k)),
    )  # fmt: skip


@inner(flags=ORDERED)
def insert(q, who, distances, names):
    """Put a landmark where its distance belongs; the last one drops out."""
    i = distances.size - 1
    while i > 0 and distances[i - 1] > q:
        distances[i] = distances[i - 1]
        names[i] = names[i - 1]
        i -= 1
    distances[i] = q
    names[i] = who


@jit(flags=ORDERED)
def place(sample, centre, ST, norms):
    """The landmarks as columns, tile by tile, and their norms."""
    for J in range(ST.shape[0]):
        load_columns(sample, J * COLUMNS, min(COLUMNS, sample.shape[0] - J * COLUMNS), centre, ST[J])
        column_norms(ST[J], COLUMNS, norms[J])


@Stage
def nearest(index, _start, _count, note):
    """The nearest landmarks of some points, the nearest first, by looking at all of them."""
    wide()
    n, points, centre, tiles, near = read(note)
    ST, norms_s = tiles[0], tiles[1]
    m, d = points.shape
    first = index * ROWS
    rows = min(ROWS, m - first)
    slot = get_thread_id()
    t, A, norms, distances = tiles[2][slot], tiles[3][slot], tiles[4][slot], tiles[5][slot]
    for j in range(rows):
        for l in range(d):
            A[j, l] = points[first + j, l] - centre[l]
        for i in range(distances.shape[1]):
            distances[j, i] = np.inf
            near[first + j, i] = i  # where even the nearest are infinitely far away
    row_norms(A, rows, d, norms)
    for J in range(ST.shape[0]):
        scalars(True, t, A, 0, norms, rows, ST[J], norms_s[J], 0, COLUMNS, d)
        for j in range(rows):
            best, names = distances[j], near[first + j]
            worst = best[best.size - 1]
            for c in range(min(COLUMNS, n - J * COLUMNS)):
                q = t[j * COLUMNS + c]
                if q < worst:
                    insert(q, J * COLUMNS + c, best, names)
                    worst = best[best.size - 1]
