r"""The trace error when each point sees only its nearest landmarks, and the gradient of that.

For a radial kernel :math:`K=\kappa(\|\cdot-\cdot\|^2)` and a point x with neighbours :math:`z_1, …, z_k`, let
:math:`z_{k+1} = x` and :math:`\bar a = (a, -1)` with :math:`a = \mathbf W_x^{-1}\mathbf k_x`. Then

.. math:: K(x,x) - \mathbf k_x^T\mathbf W_x^{-1}\mathbf k_x = \sum_{i,j\le k+1}\bar a_i\bar a_j K(z_i, z_j), \qquad
          \partial_{z_i} = 4\,\bar a_i\sum_j \bar a_j\,\kappa'(\|z_i-z_j\|^2)\,(z_i-z_j),

for the form is stationary in a: the point is treated as one more neighbour, and the pivot that an elimination
:math:`\mathbf L\mathbf D\mathbf L^T` leaves it is the error.

The matrices are small, so the points are processed in groups of W, and arrays hold the same entry of the matrices of
all points of a group side by side. Pairs i > j are numbered row by row. A point's contribution does not depend on the
other points of its group.
"""

from __future__ import annotations

import numpy as np

from .compile import entry, inner
from .tiles import ALL, EQUAL, U, tile_loops, up
from .trace import FIRST_RIDGE, LEAST_PIVOT

W = 32  #: points of a group: with 20 neighbours the matrices, 54 KB, fit the second-level cache
C = 64  #: landmarks of a tile of the search
ROWS = 32  #: points of a tile of the search
ROUNDING = 2.0**-44  #: pivots below it, relative to the diagonal, may be off by a hundredth

load, scalars = tile_loops(C)


@inner
def load_group(sample, points, near, first, Z):
    """Coordinate l of neighbour i of point ``first`` + v, or of the point itself for the last i, in Z[l, i, v].

    The last group is padded with copies of the last point.
    """
    d, k = Z.shape[0], Z.shape[1] - 1
    for v in range(W):
        j = min(first + v, near.shape[0] - 1)
        for l in range(d):
            for i in range(k):
                Z[l, i, v] = sample[near[j, i], l]
            Z[l, k, v] = points[j, l]


@inner
def squared_distances(Z, q):
    """q[pair] = ‖z_i − z_j‖², from differences."""
    for l in range(Z.shape[0]):
        pair = 0
        for i in range(1, Z.shape[1]):
            for j in range(i):
                at = pair * W
                for v in range(U(W)):
                    gap = Z[l, i, v] - Z[l, j, v]
                    q[at + v] = gap * gap + (q[at + v] if l > 0 else 0.0)
                pair += 1


@inner
def eliminate(kappa, diagonal, floor, ridge, L, pivots, column, work):
    """L D Lᵀ, the diagonal raised by each point's ridge except for the point itself.

    A neighbour whose pivot is not above the floor is left out: its column is 0.
    """
    size = pivots.shape[0]
    for i in range(size):
        for v in range(U(W)):
            pivots[i, v] = diagonal * (1.0 + ridge[v]) if i < size - 1 else diagonal
    for i in range(U(L.size)):
        L[i] = kappa[i]
    for p in range(size - 1):
        for v in range(U(W)):
            work[v] = 1.0 / pivots[p, v] if pivots[p, v] > floor else 0.0
        for i in range(p + 1, size):
            row = i * (i - 1) // 2
            at = (row + p) * W
            for v in range(U(W)):  # the entry itself is kept in the column, and the ratio in the factor
                column[i, v] = L[at + v]
                L[at + v] *= work[v]
                pivots[i, v] -= column[i, v] * L[at + v]
            for j in range(p + 1, i):
                there = (row + j) * W
                for v in range(U(W)):
                    L[there + v] -= L[at + v] * column[j, v]


@inner
def factor(kappa, diagonal, L, pivots, column, ridge, work):
    """Eliminate with the least ridge, for each point its own, that leaves large enough pivots; NaN where none does."""
    k = pivots.shape[0] - 1
    for v in range(W):
        ridge[v] = 0.0
    settled = False
    while not settled:
        eliminate(kappa, diagonal, 0.0, ridge, L, pivots, column, work)
        settled = True
        for v in range(W):
            least = np.inf
            for p in range(k):
                least = pivots[p, v] if not pivots[p, v] > least else least
            if least > diagonal * (LEAST_PIVOT if ridge[v] == 0.0 else 0.1 * ridge[v]):
                continue
            if ridge[v] < 1.0:
                ridge[v] = FIRST_RIDGE if ridge[v] == 0.0 else 10.0 * ridge[v]
                settled = False
            else:
                pivots[k, v] = np.nan


@inner
def coefficients(L, a):
    """(a, −1) with a = L⁻ᵀ times the last row of the factor."""
    k = a.shape[0] - 1
    for i in range(k + 1):
        for v in range(U(W)):
            a[i, v] = L[(k * (k - 1) // 2 + i) * W + v] if i < k else -1.0
    for i in range(k - 1, 0, -1):
        for j in range(i):
            at = (i * (i - 1) // 2 + j) * W
            for v in range(U(W)):
                a[j, v] -= L[at + v] * a[i, v]


@inner
def forces(Z, slopes, a, F):
    """F[l, i] = ∂ of the error with respect to coordinate l of z_i."""
    for l in range(Z.shape[0]):
        for i in range(Z.shape[1]):
            for v in range(U(W)):
                F[l, i, v] = 0.0
        for i in range(1, Z.shape[1]):
            for j in range(i):
                at = (i * (i - 1) // 2 + j) * W
                for v in range(U(W)):
                    pull = 4.0 * a[i, v] * a[j, v] * slopes[at + v] * (Z[l, i, v] - Z[l, j, v])
                    here, there = F[l, i, v] + pull, F[l, j, v] - pull
                    F[l, i, v], F[l, j, v] = here, there


@entry
def run(first, count, step, gradient, block, p, sample, points, near, diagonal, errors, out):
    """The errors of groups of W points; without a ``gradient``, with no ridge.

    With it, out[point, i, l] is the contribution to the gradient for the neighbour near[point, i].
    """
    m, k = near.shape
    d, pairs = points.shape[1], k * (k + 1) // 2
    Z, F = np.zeros((d, k + 1, W)), np.zeros((d, k + 1, W))
    kappa, slopes, L = np.zeros(pairs * W), np.zeros(pairs * W), np.zeros(pairs * W)
    pivots, column, a = np.zeros((k + 1, W)), np.zeros((k + 1, W)), np.zeros((k + 1, W))
    ridge, work = np.zeros(W), np.zeros(W)
    for group in range(first, count, step):
        start = group * W
        load_group(sample, points, near, start, Z)
        squared_distances(Z, kappa)
        block(kappa, slopes, 0, pairs, W, W, p)
        if gradient:
            factor(kappa, diagonal, L, pivots, column, ridge, work)
            coefficients(L, a)
            forces(Z, slopes, a, F)
        else:
            eliminate(kappa, diagonal, ROUNDING * diagonal, ridge, L, pivots, column, work)
        for v in range(min(W, m - start)):
            errors[start + v] = pivots[k, v] if gradient else max(pivots[k, v], 0.0)
            for i in range(k if gradient else 0):
                for l in range(d):
                    out[start + v, i, l] = F[l, i, v]


@entry
def search(first, count, step, sample, points, centre, near):
    """The nearest landmarks of tiles of ROWS points, the nearest first, by comparing all of them."""
    n, (m, d), k = sample.shape[0], points.shape, near.shape[1]
    even = up(d, 2)
    S, X, t = np.zeros((even + 1) * C), np.zeros((even + 1) * C), np.zeros(ROWS * C)
    distances = np.empty((ROWS, k))
    for tile in range(first, count, step):
        start = tile * ROWS
        some = min(ROWS, m - start)
        rows = load(points, ALL, EQUAL, start, some, centre, even, X, 0)
        for j in range(some):
            for i in range(k):
                distances[j, i] = np.inf
                near[start + j, i] = i  # where even the nearest are infinitely far away
        for before in range(0, n, C):
            c = load(sample, ALL, EQUAL, before, min(C, n - before), centre, even, S, 0)
            scalars(True, X, 0, rows, S, 0, c, even, t, 0)
            for j in range(some):
                best, names = distances[j], near[start + j]
                for l in range(min(C, n - before)):
                    q, i = t[j * C + l], k - 1
                    if q < best[i]:  # the last one drops out
                        while i > 0 and best[i - 1] > q:
                            best[i], names[i] = best[i - 1], names[i - 1]
                            i -= 1
                        best[i], names[i] = q, before + l
