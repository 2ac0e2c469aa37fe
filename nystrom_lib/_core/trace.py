r"""The trace error of a sample and its gradient, from all points or from a batch of them.

With :math:`\mathbf W = \mathbf K_S` and, for a set of points, :math:`\mathbf C = K(S, \cdot)`, the sum of
:math:`\hat K(x, x)` over the points is :math:`\operatorname{tr}(\mathbf C^T\mathbf W^{-1}\mathbf C)`. With
:math:`\mathbf A = \mathbf W^{-1}\mathbf C` its differential is
:math:`2\operatorname{tr}(\mathbf A^T d\mathbf C) - \operatorname{tr}(\mathbf A\mathbf A^T d\mathbf W)`, and since
:math:`K = \kappa(t)` for a pair scalar t, all of it is made of

.. math:: \mathbf P = \mathbf A\circ\kappa'(\mathbf t_C), \qquad
          \mathbf Q = \mathbf A\mathbf A^T\circ\kappa'(\mathbf t_W), \qquad
          \mathbf P(\mathbf X, \mathbf 1) - \mathbf Q(\mathbf S, \mathbf 1).

Points go through in panels, a column each, which one thread takes from kernel to :math:`\mathbf A`; then the rows of
the products are shared out. Every number is computed by one thread in one order, however many there are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import get_thread_id, prange

from .compile import ORDERED, both, jit, wide
from .moves import adam, finite
from .pairs import by_norms, call, clear, column_norms, load_points, row_norms, scalars, transpose
from .panels import (
    LANES,
    ROWS,
    add_gram,
    add_product,
    add_symmetric_product,
    cholesky,
    solve_backward,
    solve_forward,
    unsigned,
    up,
)  # fmt: skip
from .vectors import address

BLOCK = 1024  #: points whose panels are kept at a time
POINTS = 72  #: of them in a panel at most, or as many more as a panel of few landmarks has room for
ROOM = 8192  #: numbers in such a panel
LANDMARKS = 48  #: in a tile of A Aᵀ at most
DEPTH = 96  #: points that a tile is summed over at a time, so that they stay near
LINE = 8  #: doubles in a line of the cache

LEAST_PIVOT = 1e-9  #: relative to the diagonal: below it, double precision no longer carries the gradient
FIRST_RIDGE = 1e-10  #: what is then added to the diagonal, relative to it; ten times more as long as that does not do


class Work(NamedTuple):
    """Every buffer a gradient needs; n and d are filled up to whole rows, vectors and panels."""

    S: np.ndarray  #: landmarks as rows (s, 1, 0, …), centred
    norms: np.ndarray  #: of the landmarks
    ST: np.ndarray  #: landmarks as columns, panel by panel
    norms_t: np.ndarray  #: of a panel's columns, for each thread
    scratch: np.ndarray  #: κ, for points then L⁻¹C, then A, and κ' of a panel, for each thread
    U: np.ndarray  #: upper factor of W
    L: np.ndarray  #: its transpose
    D: np.ndarray  #: κ' of landmarks with landmarks, the upper half
    M: np.ndarray  #: A Aᵀ, the upper half, and at last −Q
    XA: np.ndarray  #: points as rows (x, 1, 0, …), panel by panel
    XT: np.ndarray  #: points as columns, panel by panel
    P: np.ndarray  #: panel by panel
    AT: np.ndarray  #: Aᵀ, a panel of landmarks after the other
    explained: np.ndarray  #: K̂(x, x) of each point
    G: np.ndarray  #: P(X, 1) − Q(S, 1)


@jit()
def cut(count, most):
    """Into how many panels of how many columns at most: an even number, if it can be, which two threads can share."""
    pieces = up(count, most) // most
    if pieces > 1:
        pieces = up(pieces, 2)
    width = up(up(count, pieces) // pieces, LANES)
    return up(count, width) // width, width


@jit()
def zeros(shape):
    """An array that begins with a line of the cache, as long vectors must, or each of them is read in two halves."""
    size = 1
    for length in shape:
        size *= length
    flat = np.zeros(size + LINE)
    start = -(address(flat) // flat.itemsize) % LINE
    return flat[start : start + size].reshape(shape)


@jit()
def make_work(slots, n, points, d):
    """Buffers for n landmarks and up to ``points`` points at a time."""
    rows, columns, width = up(n, ROWS), up(n, LANES), up(d + 1, LANES)
    tiles, tile = cut(n, LANDMARKS)
    panels, panel = cut(points, max(POINTS, ROOM // rows))
    return Work(
        zeros((columns, width)), zeros((columns,)), zeros((tiles, d, tile)), zeros((slots, tile)),
        zeros((slots, 2 * rows * max(tile, panel))), zeros((rows, columns)), zeros((rows, columns)),
        zeros((rows, columns)), zeros((rows, columns)), zeros((panels, panel, width)),
        zeros((panels, d, panel)), zeros((panels, rows, panel)), zeros((tiles, panels * panel, tile)),
        zeros((panels, panel)), zeros((rows, width)),
    )  # fmt: skip


@jit()
def folded(index, tiles):
    """The tiles, a long row and a short one in turn: threads that share them out in order then have equal work."""
    return index // 2 if index % 2 == 0 else tiles - 1 - index // 2


@jit(flags=ORDERED)
def place_landmarks(sample, centre, work):
    """The landmarks as rows and as columns."""
    n, d = sample.shape
    S, ST, tile = work.S, work.ST, work.ST.shape[2]
    for k in range(n):
        J, c = k // tile, k % tile
        for l in range(d):
            s = sample[unsigned(k), unsigned(l)] - centre[unsigned(l)]
            S[unsigned(k), unsigned(l)] = s
            ST[unsigned(J), unsigned(l), unsigned(c)] = s
        S[k, d] = 1.0
    row_norms(S, n, d, work.norms)


@jit(flags=ORDERED)
def tangent_panel(radial, loop, p, S, norms, n, m, XT, norms_t, t):
    """κ and κ' of the first n landmarks and of m points, the columns of XT, in the two halves of t; 0 beyond."""
    half = t.size // 2
    d, width = XT.shape
    if by_norms(radial, d):
        column_norms(XT, width, norms_t)
    scalars(radial, t, S, 0, norms, n, XT, norms_t, 0, width, d)
    call(loop, address(t), half, address(p))
    clear_beyond(t[:half], n, m, width)
    clear_beyond(t[half:], n, m, width)


@jit(flags=ORDERED)
def clear_beyond(t, n, m, width):
    """Zeros beyond the first m columns of n rows, and in the rows after them."""
    for k in range(n if m < width else 0):
        for c in range(m, width):
            t[unsigned(k * width + c)] = 0.0
    for i in range(n * width, t.size):
        t[unsigned(i)] = 0.0


@jit(flags=ORDERED)
def lay_out(t, first, rows, width, M, start, stop):
    """M[k, start + c] = t[first + k·width + c] for the first rows of M and its columns from ``start`` to ``stop``."""
    for k in range(rows):
        for c in range(stop - start):
            M[unsigned(k), unsigned(start + c)] = t[unsigned(first + k * width + c)]


@both(flags=ORDERED)
def landmark_panels(radial, loop, p, n, d, ridge, work):
    """W, its diagonal raised by the ridge, in the upper half of U, and κ' in that of D."""
    S, norms, ST, norms_t, scratch, U, D = work.S, work.norms, work.ST, work.norms_t, work.scratch, work.U, work.D
    tiles, width = ST.shape[0], ST.shape[2]
    for index in prange(tiles):
        wide()
        J = folded(np.int64(index), tiles)
        slot = get_thread_id()
        start, stop = J * width, min((J + 1) * width, U.shape[1])
        rows = min((J + 1) * width, U.shape[0])
        t = scratch[slot][: 2 * rows * width]
        tangent_panel(radial, loop, p, S, norms, min(rows, n), min(width, n - start), ST[J], norms_t[slot], t)
        lay_out(t, 0, rows, width, U, start, stop)
        lay_out(t, rows * width, rows, width, D, start, stop)
        for k in range(start, rows):
            U[k, k] = U[k, k] * (1.0 + ridge) if k < n else 1.0


@both(flags=ORDERED, loops=False)
def factor(radial, loop, p, n, d, ridge, work):
    """Factor W with the least ridge, from ``ridge`` on, that double precision carries; returns it, or −1."""
    while ridge < 1.0:
        landmark_panels(radial, loop, p, n, d, ridge, work)
        largest = 0.0
        for k in range(n):
            largest = max(largest, work.U[k, k])
        floor = largest * (LEAST_PIVOT if ridge == 0.0 else 0.1 * ridge)
        if cholesky(work.U, work.L, floor) > 0.0:
            return ridge
        ridge = FIRST_RIDGE if ridge == 0.0 else 10.0 * ridge
    return -1.0


@jit(flags=ORDERED)
def column_squares(A, n, sums):
    """sums[j] = Σ_k A[k, j]² over the first n rows."""
    clear(sums)
    for k in range(n):
        for j in range(sums.size):
            sums[unsigned(j)] += A[unsigned(k), unsigned(j)] * A[unsigned(k), unsigned(j)]


@jit(flags=ORDERED)
def multiply(A, B, out):
    """out = A ∘ B."""
    for k in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[unsigned(k), unsigned(j)] = A[unsigned(k), unsigned(j)] * B[unsigned(k), unsigned(j)]


@jit(flags=ORDERED)
def multiply_negated(M, D, first, last):
    """M ← −M ∘ D in the rows from ``first`` to ``last`` and the columns from ``first`` on."""
    for k in range(first, last):
        for c in range(first, M.shape[1]):
            M[unsigned(k), unsigned(c)] *= -D[unsigned(k), unsigned(c)]


@both(flags=ORDERED)
def point_panels(radial, loop, p, n, X, picks, start, count, centre, work):
    """Panels of ``count`` points from ``start`` on, brought from kernel values to P, Aᵀ and K̂(x, x)."""
    S, norms, U, L, XA, XT = work.S, work.norms, work.U, work.L, work.XA, work.XT
    AT, explained, rows = work.AT, work.explained, work.U.shape[0]
    width = XT.shape[2]
    for index in prange((count + width - 1) // width):
        wide()
        panel = np.int64(index)
        first = panel * width
        m = min(width, count - first)
        some = up(m, LANES)
        points, columns, sums, P = XA[panel], XT[panel], explained[panel], work.P[panel]
        t = work.scratch[get_thread_id()][: 2 * rows * width]
        A, slopes = t[: rows * width].reshape(rows, width), t[rows * width :].reshape(rows, width)
        load_points(X, picks, start + first, m, centre, points)
        clear(points[m:])  # where an earlier, fuller panel may have left some
        transpose(points, width, columns.shape[0], columns)
        tangent_panel(radial, loop, p, S, norms, n, m, columns, sums, t)
        solve_forward(L, A, some)
        column_squares(A, n, sums)
        solve_backward(U, A, some)
        multiply(A, slopes, P)
        tile = AT.shape[2]
        for J in range(AT.shape[0]):
            landmarks = A[J * tile : min((J + 1) * tile, rows)]
            transpose(landmarks, landmarks.shape[0], width, AT[J, first : first + width])


@both(flags=ORDERED)
def add_panels(panels, last, work):
    """M += A Aᵀ, its upper half, and G += P (X, 1), over the panels in order; after the last of them M becomes −Q."""
    P, AT, XA, M, G = work.P, work.AT, work.XA, work.M, work.G
    rows, columns = M.shape
    tiles, tile, depth = AT.shape[0], AT.shape[2], XA.shape[1]
    for index in prange(tiles):
        wide()
        I = folded(np.int64(index), tiles)
        left = AT[I]
        first, stop = I * tile, min((I + 1) * tile, rows)
        for J in range(I, tiles):
            right, width = AT[J], min(tile, columns - J * tile)
            for top in range(0, panels * depth, DEPTH):
                count = min(DEPTH, panels * depth - top)
                for r in range(first, stop, ROWS):
                    left_of = (r - first) // LANES * LANES if J == I else 0  # below the diagonal nothing is needed
                    add_gram(left[top:], r - first, count, right[top:], left_of, width - left_of, M, r, J * tile)
        for panel in range(panels):
            slopes, points = P[panel], XA[panel]
            for r in range(first, stop, ROWS):
                add_product(slopes, r, depth, points, 0, 0, G.shape[1], G)
        if last:
            multiply_negated(M, work.D, first, stop)


@both(flags=ORDERED)
def finish(work):
    """G loses Q (S, 1)."""
    S, M, G = work.S, work.M, work.G
    for index in prange(M.shape[0] // ROWS):
        wide()
        add_symmetric_product(M, np.int64(index) * ROWS, S, G)


@both(flags=ORDERED, loops=False)
def gradient(radial, loop, p, sample, X, picks, centre, ridge, work, out):
    """The gradient of the trace error, estimated from the points that ``picks`` names (all, if it is empty).

    Returns the sum of K̂(x, x) over those points and the ridge that was needed, which is −1 where none sufficed.
    """
    n, d = sample.shape
    N = X.shape[0]
    b = picks.size if picks.size > 0 else N
    place_landmarks(sample, centre, work)
    ridge = factor(radial, loop, p, n, d, ridge, work)
    if ridge < 0.0:
        return 0.0, ridge
    clear(work.M)
    clear(work.G)
    panels, width = work.explained.shape
    explained = 0.0
    for start in range(0, b, panels * width):
        count = min(panels * width, b - start)
        point_panels(radial, loop, p, n, X, picks, start, count, centre, work)
        add_panels((count + width - 1) // width, start + count == b, work)
        for j in range(count):
            explained += work.explained[j // width, j % width]
    finish(work)
    scale = (4.0 if radial else 2.0) * (N / b)
    for k in range(n):
        for l in range(d):
            along = work.G[k, l]
            out[k, l] = scale * (along - work.G[k, d] * work.S[k, l]) if radial else -scale * along
    return explained, ridge


@both(loops=False)
def descend(radial, loop, p, sample, X, batches, centre, ridge, moments, steps, length, decay, betas, work, slope):
    """Steps of Adam, a row of ``batches`` each, the first of ``length``, every other shorter by ``decay``.

    ``sample`` and the ``moments`` (first, second) change in place; ``steps`` were taken before. Returns how many were
    taken until the gradient was not finite, and the ridge that was needed, with which the next ones begin.
    """
    first, second = moments
    for i in range(batches.shape[0]):
        _, needed = gradient(radial, loop, p, sample, X, batches[i], centre, ridge, work, slope)
        if needed < 0.0 or not finite(slope):
            return i, ridge
        ridge = needed
        adam(sample, slope, first, second, steps + i + 1, length - i * decay, betas[0], betas[1])
    return batches.shape[0], ridge
