"""Tiles of the error of a Nyström approximation: features, residuals, K − K̂, and products with it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import get_thread_id

from .compile import ORDERED, SUMS, fused, inner, jit, wide
from .pairs import U, by_norms, call, column_norms, load_columns, row_norms, scalars, upper_tile
from .stages import Stage, read, stage
from .vectors import address

LEAF = 16  #: rows that a triangular solve takes one after the other; all else of it is matrix products


@jit()
def pack(L):
    """The blocks of a lower factor in the order :func:`solve` multiplies by them, each row by row."""
    r = L.shape[0]
    packed = np.empty(r * r // 2)
    at = 0
    leaf = 1
    while leaf * LEAF < r:
        width = leaf & -leaf
        for k in range(leaf * LEAF, min((leaf + width) * LEAF, r)):
            for i in range((leaf - width) * LEAF, leaf * LEAF):
                packed[at] = L[k, i]
                at += 1
        leaf += 1
    return packed[:at]


@jit(flags=ORDERED)
def solve(packed, L, Q, product):
    """Q ← L⁻¹Q, nothing inverted; quicker than BLAS's own solver, the more so the fewer the rows.

    The recursion "first half, subtract the square below it, second half" without the calls: when so many leaves are
    done, the largest power of two in their number is the width of the square that is due.
    """
    r, m = Q.shape
    solve_leaf(L, Q, 0, min(LEAF, r))
    at = 0
    leaf = 1
    while leaf * LEAF < r:
        width = leaf & -leaf
        first, start, stop = (leaf - width) * LEAF, leaf * LEAF, min((leaf + width) * LEAF, r)
        size = (stop - start) * (start - first)
        P = product[: (stop - start) * m].reshape((stop - start, m))
        np.dot(packed[at : at + size].reshape((stop - start, start - first)), Q[first:start], P)
        at += size
        for k in range(stop - start):
            for j in range(m):
                Q[start + k, j] -= P[k, j]
        solve_leaf(L, Q, start, min(start + LEAF, r))
        leaf += 1


@inner(flags=ORDERED)
def solve_leaf(L, Q, start, stop):
    """Rows start … stop of the solution, once those before are subtracted; four at a time share a pass over a row."""
    for k in range(start, stop):
        row = Q[k]
        i = start
        while i + 4 <= k:
            a, b, c, d = L[k, i], L[k, i + 1], L[k, i + 2], L[k, i + 3]
            A, B, C, D = Q[i], Q[i + 1], Q[i + 2], Q[i + 3]
            for l in range(row.shape[0]):
                j = U(l)
                row[j] -= fused(d, D[j], fused(c, C[j], fused(a, A[j], b * B[j])))
            i += 4
        while i < k:
            a, A = L[k, i], Q[i]
            for l in range(row.shape[0]):
                j = U(l)
                row[j] -= a * A[j]
            i += 1
        for j in range(row.shape[0]):
            row[j] /= L[k, k]


@inner(flags=ORDERED)
def kernel_tile(radial, loop, p, S, norms_s, X, start, m, centre, XT, norms, Q):
    """Q[k, j] = K(s_k, x_{start+j}) for centred s_k."""
    load_columns(X, start, m, centre, XT)
    if by_norms(radial, X.shape[1]):
        column_norms(XT, m, norms)
    scalars(radial, Q.reshape(Q.size), S, 0, norms_s, S.shape[0], XT, norms, 0, m, X.shape[1])
    call(loop, address(Q), Q.size, address(p))


class Scratch(NamedTuple):
    """Buffers for a tile of rows × points, a row of each for every thread."""

    columns: Any  #: the points, a column each
    column_norms: Any  #: their ‖x‖²
    kernel: Any  #: K of rows and points
    product: Any  #: another of that size
    rows: Any  #: the rows, centred
    row_norms: Any  #: their ‖x‖²


def make_scratch(slots: int, rows: int, points: int, d: int) -> Scratch:
    size = rows * points
    return Scratch(
        np.zeros((slots, d, points)), np.empty((slots, points)), np.empty((slots, size)), np.empty((slots, size)),
        np.empty((slots, rows, d)), np.empty((slots, rows)),
    )  # fmt: skip


@Stage
def feature_tile(item, _start, _count, note):
    """Features f(x) = L⁻¹k(x) of a tile of points, so that K̂(x, y) = ⟨f(x), f(y)⟩, and residuals K(x, x) − ‖f(x)‖².

    ``features`` may have no rows: then only the residuals are kept.
    """
    wide()
    radial, loop, p, X, centre, S, norms, L, packed, diagonal, tile, scratch, features, residual = read(note)
    r = S.shape[0]
    keep = features.shape[0] > 0
    slot = get_thread_id()
    start = item * tile
    m = min(tile, X.shape[0] - start)
    XT, explained = scratch.columns[slot], scratch.column_norms[slot]
    Q = scratch.kernel[slot][: r * m].reshape((r, m))
    kernel_tile(radial, loop, p, S, norms, X, start, m, centre, XT, explained, Q)
    solve(packed, L, Q, scratch.product[slot])
    for j in range(m):
        explained[j] = 0.0
    for k in range(r):
        for j in range(m):
            explained[j] += Q[k, j] * Q[k, j]
    for j in range(m):
        residual[start + j] = max(diagonal[start + j] - explained[j], 0.0)
    if keep:
        for j in range(m):
            for k in range(r):
                features[start + j, k] = Q[k, j]


@stage(flags=SUMS)
def residual_tile(item, _start, _count, note):
    """Σ (K_ij − ⟨f_i, f_j⟩)² of a tile of the upper half, twice off the diagonal.

    K may have no rows: then the tile is computed. The entries go to the upper half of E if it has rows.
    """
    wide()
    radial, loop, p, X, centre, F, K, side, scratch, totals, E = read(note)
    N, d = X.shape
    I, J = upper_tile(item, (N + side - 1) // side)
    slot = get_thread_id()
    a0, a1 = I * side, min((I + 1) * side, N)
    b0, b1 = J * side, min((J + 1) * side, N)
    size = (a1 - a0) * (b1 - b0)
    G = scratch.product[slot][:size].reshape((a1 - a0, b1 - b0))
    np.dot(F[a0:a1], F[b0:b1].T, G)
    if K.shape[0] > 0:
        for i in range(a1 - a0):
            for j in range(b1 - b0):
                G[i, j] = K[a0 + i, b0 + j] - G[i, j]
    else:
        Q = scratch.kernel[slot][:size].reshape((a1 - a0, b1 - b0))
        rows, norms = scratch.rows[slot][: a1 - a0], scratch.row_norms[slot]
        for i in range(a1 - a0):
            for l in range(d):
                rows[i, l] = X[a0 + i, l] - centre[l]
        row_norms(rows, a1 - a0, d, norms)
        XT, norms_t = scratch.columns[slot], scratch.column_norms[slot]
        kernel_tile(radial, loop, p, rows, norms, X, b0, b1 - b0, centre, XT, norms_t, Q)
        for i in range(a1 - a0):
            for j in range(b1 - b0):
                G[i, j] = Q[i, j] - G[i, j]
    total = 0.0
    for i in range(a1 - a0):
        for j in range(b1 - b0):
            total += G[i, j] * G[i, j]
    totals[item] = total if I == J else 2.0 * total
    if E.shape[0] > 0:
        for i in range(a1 - a0):
            for j in range(b1 - b0):
                E[a0 + i, b0 + j] = G[i, j]


@stage(flags=SUMS)
def symmetric_strip(strip, _start, _count, note):
    """A strip's part of A v for a symmetric A of which only the upper half is read: memory takes the time.

    The rows are cut into as many strips of about equal area as ``parts`` has rows, whatever the number of threads.
    """
    wide()
    A, v, parts = read(note)
    N = A.shape[0]
    strips = parts.shape[0]
    start = np.int64(N * (1.0 - np.sqrt(1.0 - strip / strips)))
    stop = np.int64(N * (1.0 - np.sqrt(1.0 - (strip + 1) / strips)))
    part = parts[strip]
    part[:] = 0.0
    for i in range(start, stop - 1, 2):  # two rows at a time share what is read of v and written to part
        e, f = v[i], v[i + 1]
        one, two = A[i, i + 2 :], A[i + 1, i + 2 :]
        tail, below = v[i + 2 :], part[i + 2 :]
        s = A[i, i] * e + A[i, i + 1] * f
        t = A[i, i + 1] * e + A[i + 1, i + 1] * f
        for k in range(tail.shape[0]):
            j = U(k)
            s += one[j] * tail[j]
            t += two[j] * tail[j]
            below[j] += e * one[j] + f * two[j]
        part[i] += s
        part[i + 1] += t
    if (stop - start) % 2 == 1:
        i = stop - 1
        part[i] += A[i, i] * v[i]
        for j in range(i + 1, N):
            part[i] += A[i, j] * v[j]
            part[j] += A[i, j] * v[i]
