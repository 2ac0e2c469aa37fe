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
from .panels import LANES, ROWS, WIDTH, add_product, cholesky, solve_backward, solve_forward
from .vectors import address

BLOCK = 1024  #: points whose panels are kept at a time
CHUNK = 16  #: rows of the products that a thread takes at a time

LEAST_PIVOT = 1e-9  #: relative to the diagonal: below it, double precision no longer carries the gradient
FIRST_RIDGE = 1e-10  #: what is then added to the diagonal, relative to it; ten times more as long as that does not do


class Work(NamedTuple):
    """Every buffer a gradient needs; n and d are filled up to whole rows, vectors and panels."""

    S: np.ndarray  #: landmarks as rows (s, 1, 0, …), centred
    norms: np.ndarray  #: of the landmarks
    ST: np.ndarray  #: landmarks as columns, panel by panel
    norms_t: np.ndarray  #: of a panel's columns, for each thread
    scratch: np.ndarray  #: κ and κ' of a panel of landmarks with landmarks, for each thread
    U: np.ndarray  #: upper factor of W
    L: np.ndarray  #: its transpose
    D: np.ndarray  #: κ' of landmarks with landmarks, the upper half
    M: np.ndarray  #: A Aᵀ, the upper half, and at last −Q
    XA: np.ndarray  #: points as rows (x, 1, 0, …), panel by panel
    XT: np.ndarray  #: points as columns, panel by panel
    C: np.ndarray  #: κ, then L⁻¹C, then A; and κ', then P; panel by panel
    AT: np.ndarray  #: Aᵀ
    explained: np.ndarray  #: K̂(x, x) of each point
    G: np.ndarray  #: P(X, 1) − Q(S, 1)


@jit()
def up(size, step):
    """The smallest multiple of ``step`` from ``size`` on."""
    return (size + step - 1) // step * step


@jit()
def make_work(slots, n, points, d):
    """Buffers for n landmarks and up to ``points`` points at a time."""
    rows, columns, width = up(n, ROWS), up(n, LANES), up(d + 1, LANES)
    tiles, panels = up(n, WIDTH) // WIDTH, up(points, WIDTH) // WIDTH
    return Work(
        np.zeros((columns, width)), np.zeros(columns), np.zeros((tiles, d, WIDTH)), np.zeros((slots, WIDTH)),
        np.zeros((slots, 2 * rows * WIDTH)), np.zeros((rows, columns)), np.zeros((rows, columns)),
        np.zeros((rows, columns)), np.zeros((rows, columns)), np.zeros((panels, WIDTH, width)),
        np.zeros((panels, d, WIDTH)), np.zeros((panels, 2, rows, WIDTH)), np.zeros((panels * WIDTH, columns)),
        np.zeros((panels, WIDTH)), np.zeros((rows, width)),
    )  # fmt: skip


@jit(flags=ORDERED)
def place_landmarks(sample, centre, work):
    """The landmarks as rows and as columns."""
    n, d = sample.shape
    for k in range(n):
        for l in range(d):
            work.S[k, l] = sample[k, l] - centre[l]
            work.ST[k // WIDTH, l, k % WIDTH] = work.S[k, l]
        work.S[k, d] = 1.0
    row_norms(work.S, n, d, work.norms)


@jit(flags=ORDERED)
def tangent_panel(radial, loop, p, S, norms, n, m, XT, norms_t, t):
    """κ and κ' of the first n landmarks and of m points, the columns of XT, in the two halves of t; 0 beyond."""
    half = t.size // 2
    if by_norms(radial, XT.shape[0]):
        column_norms(XT, WIDTH, norms_t)
    scalars(radial, t, S, 0, norms, n, XT, norms_t, 0, WIDTH, XT.shape[0])
    call(loop, address(t), half, address(p))
    for first in (0, half):
        for k in range(n if m < WIDTH else 0):
            clear(t[first + k * WIDTH + m : first + (k + 1) * WIDTH])
        clear(t[first + n * WIDTH : first + half])


@both(flags=ORDERED)
def landmark_panels(radial, loop, p, n, d, ridge, work):
    """W, its diagonal raised by the ridge, in the upper half of U, and κ' in that of D."""
    S, norms, ST, norms_t, scratch, U, D = work.S, work.norms, work.ST, work.norms_t, work.scratch, work.U, work.D
    tiles = ST.shape[0]
    for index in prange(tiles):
        wide()
        J = tiles - 1 - np.int64(index)  # the largest first
        slot = get_thread_id()
        start, stop = J * WIDTH, min((J + 1) * WIDTH, U.shape[1])
        rows = min((J + 1) * WIDTH, U.shape[0])
        t = scratch[slot][: 2 * rows * WIDTH]
        tangent_panel(radial, loop, p, S, norms, min(rows, n), min(WIDTH, n - start), ST[J], norms_t[slot], t)
        for k in range(rows):
            for c in range(start, stop):
                U[k, c] = t[k * WIDTH + c - start]
                D[k, c] = t[(rows + k) * WIDTH + c - start]
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


@both(flags=ORDERED)
def point_panels(radial, loop, p, n, X, picks, start, count, centre, work):
    """Panels of ``count`` points from ``start`` on, brought from kernel values to A, P, Aᵀ and K̂(x, x)."""
    S, norms, U, L, XA, XT = work.S, work.norms, work.U, work.L, work.XA, work.XT
    C, AT, explained = work.C, work.AT, work.explained
    for index in prange((count + WIDTH - 1) // WIDTH):
        wide()
        panel = np.int64(index)
        first = panel * WIDTH
        m = min(WIDTH, count - first)
        A, P, points, columns, sums = C[panel, 0], C[panel, 1], XA[panel], XT[panel], explained[panel]
        load_points(X, picks, start + first, m, centre, points)
        clear(points[m:])  # where an earlier, fuller panel may have left some
        transpose(points, WIDTH, columns.shape[0], columns)
        tangent_panel(radial, loop, p, S, norms, n, m, columns, sums, C[panel].reshape(C[panel].size))
        solve_forward(L, A, WIDTH)
        clear(sums)
        for k in range(n):
            for j in range(WIDTH):
                sums[j] += A[k, j] * A[k, j]
        solve_backward(U, A, WIDTH)
        for k in range(n):
            for j in range(WIDTH):
                P[k, j] *= A[k, j]
        transpose(A, A.shape[0], WIDTH, AT[first : first + WIDTH])


@both(flags=ORDERED)
def add_panels(panels, work):
    """M += A Aᵀ, its upper half, and G += P (X, 1), over the panels in order."""
    C, AT, XA, M, G = work.C, work.AT, work.XA, work.M, work.G
    rows, columns = M.shape
    for index in prange((rows + CHUNK - 1) // CHUNK):
        wide()
        chunk = np.int64(index) * CHUNK
        for panel in range(panels):
            A, P, points = C[panel, 0], C[panel, 1], XA[panel]
            for r in range(chunk, min(chunk + CHUNK, rows), ROWS):
                c = r // LANES * LANES
                add_product(A, r, WIDTH, AT, panel * WIDTH, c, columns - c, M)
                add_product(P, r, WIDTH, points, 0, 0, G.shape[1], G)


@both(flags=ORDERED)
def finish(work):
    """M becomes −Q, both halves of it, and G loses Q (S, 1)."""
    S, D, M, G = work.S, work.D, work.M, work.G
    rows, columns = M.shape
    chunks = (rows + CHUNK - 1) // CHUNK
    for index in prange(chunks):
        wide()
        chunk = np.int64(index) * CHUNK
        for r in range(chunk, min(chunk + CHUNK, rows), ROWS):
            for k in range(r, r + ROWS):
                for c in range(r, columns):
                    M[k, c] *= -D[k, c]
            for c in range(r + 1, rows):
                for k in range(r, min(r + ROWS, c)):
                    M[c, k] = M[k, c]
    for index in prange(chunks):
        wide()
        chunk = np.int64(index) * CHUNK
        for r in range(chunk, min(chunk + CHUNK, rows), ROWS):
            add_product(M, r, rows, S, 0, 0, G.shape[1], G)


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
    most = work.C.shape[0] * WIDTH
    explained = 0.0
    for start in range(0, b, most):
        count = min(most, b - start)
        point_panels(radial, loop, p, n, X, picks, start, count, centre, work)
        add_panels((count + WIDTH - 1) // WIDTH, work)
        for j in range(count):
            explained += work.explained[j // WIDTH, j % WIDTH]
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
