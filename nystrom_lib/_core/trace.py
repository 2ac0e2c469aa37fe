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

import math
from typing import NamedTuple

import numpy as np
from numba import get_thread_id

from .compile import ORDERED, fused, inner, jit, wide
from .moves import adam, finite
from .pairs import by_norms, call, clear, column_norms, load_points, row_norms, scalars, transpose
from .panels import (
    LANES,
    ROWS,
    Factor,
    add_gram,
    add_product,
    add_symmetric_product,
    cholesky,
    panel_rows,
    solve_backward,
    solve_forward,
    unsigned,
    up,
)  # fmt: skip
from .stages import Stage, leave, read, share, sharing
from .vectors import address

BLOCK = 1024  #: points whose panels are kept at a time
POINTS = 72  #: of them in a panel at most, or as many more as a panel of few landmarks has room for
ROOM = 8192  #: numbers in such a panel
LANDMARKS = 48  #: in a tile of A Aᵀ at most
STRETCH = 96  #: points that a tile is summed over at a time, so that they stay near
LINE = 8  #: doubles in a line of the cache

LEAST_PIVOT = 1e-9  #: relative to the diagonal: below it, double precision no longer carries the gradient
FIRST_RIDGE = 1e-10  #: what is then added to the diagonal, relative to it; ten times more as long as that does not do


class Work(NamedTuple):
    """Every buffer a gradient needs; n and d are filled up to whole rows, vectors and panels."""

    S: np.ndarray  #: landmarks as rows (s, 1, 0, …), centred
    norms: np.ndarray  #: of the landmarks
    ST: np.ndarray  #: landmarks as columns, panel by panel
    norms_t: np.ndarray  #: of a panel's columns, for each thread
    scratch: np.ndarray  #: κ' and κ of a panel, for points then L⁻¹C, then A, for each thread
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


class Task(NamedTuple):
    """What all the steps of a descent, or one gradient, are told."""

    radial: bool
    loop: int  #: the address of κ and κ'
    p: np.ndarray  #: their parameters
    n: int
    X: np.ndarray  #: the data
    picks: np.ndarray  #: which points, batch after batch; all of them, if it is empty
    centre: np.ndarray  #: where coordinates are taken from
    work: Work


class Stages(NamedTuple):
    """Where the stages are, and what shares their indices out."""

    sharing: int
    landmark_panel: int
    panel_rows: int
    point_panel: int
    add_panels: int
    finish: int


def cut(count: int, most: int) -> tuple[int, int]:
    """Into how many panels of how many columns at most: an even number, if it can be, which two threads can share."""
    pieces = -(-count // most)
    if pieces > 1:
        pieces += pieces % 2
    width = filled(-(-count // pieces), LANES)
    return -(-count // width), width


def filled(size: int, step: int) -> int:
    """The smallest multiple of ``step`` from ``size`` on."""
    return -(-size // step) * step


def zeros(*shape: int) -> np.ndarray:
    """An array that begins with a line of the cache, as long vectors must, or each of them is read in two halves."""
    size = math.prod(shape)
    flat = np.zeros(size + LINE)
    start = -(flat.ctypes.data // flat.itemsize) % LINE
    return flat[start : start + size].reshape(shape)


def make_work(slots: int, n: int, points: int, d: int) -> Work:
    """Buffers for n landmarks and up to ``points`` points at a time."""
    rows, columns, width = filled(n, ROWS), filled(n, LANES), filled(d + 1, LANES)
    tiles, tile = cut(n, LANDMARKS)
    panels, panel = cut(points, max(POINTS, ROOM // rows))
    return Work(
        zeros(columns, width), zeros(columns), zeros(tiles, d, tile), zeros(slots, tile),
        zeros(slots, 2 * rows * max(tile, panel)), zeros(rows, columns), zeros(rows, columns),
        zeros(rows, columns), zeros(rows, columns), zeros(panels, panel, width),
        zeros(panels, d, panel), zeros(panels, rows, panel), zeros(tiles, panels * panel, tile),
        zeros(panels, panel), zeros(rows, width),
    )  # fmt: skip


@inner()
def folded(index, tiles):
    """The tiles, a long row and a short one in turn: threads that share them out in order then have equal work."""
    return index // 2 if index % 2 == 0 else tiles - 1 - index // 2


@inner(flags=ORDERED)
def place_landmarks(radial, sample, centre, work):
    """The landmarks as rows and as columns, and their norms, if they are asked for."""
    n, d = sample.shape
    S, ST, tile = work.S, work.ST, work.ST.shape[2]
    for k in range(n):
        for l in range(d):
            S[unsigned(k), unsigned(l)] = sample[unsigned(k), unsigned(l)] - centre[unsigned(l)]
        S[unsigned(k), unsigned(d)] = 1.0
    for J in range(ST.shape[0]):
        transpose(S[J * tile :], min(tile, n - J * tile), d, ST[J])
    if by_norms(radial, d):
        row_norms(S, n, d, work.norms)


@inner(flags=ORDERED)
def tangent_panel(radial, loop, p, S, norms, n, XT, width, norms_t, t):
    """κ' and after it κ of the first n landmarks and the columns of XT, in rows of ``width`` numbers of t."""
    pairs, d = n * width, XT.shape[0]
    if by_norms(radial, d):
        column_norms(XT, width, norms_t)
    scalars(radial, t[pairs:], S, 0, norms, n, XT, norms_t, 0, width, d)
    call(loop, address(t), pairs, address(p))


@inner(flags=ORDERED)
def clear_beyond(t, n, m, width):
    """Zeros beyond the first m numbers of n rows, and in the rows after them."""
    for k in range(n if m < width else 0):
        for c in range(m, width):
            t[unsigned(k * width + c)] = 0.0
    for i in range(n * width, t.size):
        t[unsigned(i)] = 0.0


@inner(flags=ORDERED)
def lay_out(t, first, rows, width, M, start, stop):
    """M[k, start + c] = t[first + k·width + c] for the first rows of M and its columns from ``start`` to ``stop``."""
    for k in range(rows):
        for c in range(stop - start):
            M[unsigned(k), unsigned(start + c)] = t[unsigned(first + k * width + c)]


@Stage
def landmark_panel(index, start, count, note):
    """A panel of W in the upper half of U, and of κ' in that of D."""
    wide()
    task = read(note)
    n, work = task.n, task.work
    U, ST, tile = work.U, work.ST, work.ST.shape[2]
    J = folded(index, ST.shape[0])
    slot = get_thread_id()
    first, stop = J * tile, min((J + 1) * tile, U.shape[1])
    rows, width = min((J + 1) * tile, U.shape[0]), stop - first
    k, m = min(rows, n), min(tile, n - first)
    t = work.scratch[slot][: (k + rows) * width]
    tangent_panel(task.radial, task.loop, task.p, work.S, work.norms, k, ST[J], width, work.norms_t[slot], t)
    clear_beyond(t[k * width :], k, m, width)
    lay_out(t, k * width, rows, width, U, first, stop)
    lay_out(t, 0, k, width, work.D, first, stop)


@inner(flags=ORDERED)
def factor(stages, note, n, ridge, work):
    """Factor W with the least ridge, from ``ridge`` on, that double precision carries; returns it, or −1."""
    U = work.U
    while ridge < 1.0:
        share(stages.sharing, stages.landmark_panel, work.ST.shape[0], 0, 0, note)
        largest = 0.0
        for k in range(U.shape[0]):
            U[k, k] = U[k, k] * (1.0 + ridge) if k < n else 1.0
            if k < n:
                largest = max(largest, U[k, k])
        floor = largest * (LEAST_PIVOT if ridge == 0.0 else 0.1 * ridge)
        if cholesky(stages.sharing, stages.panel_rows, U, work.L, floor) > 0.0:
            return ridge
        ridge = FIRST_RIDGE if ridge == 0.0 else 10.0 * ridge
    return -1.0


@inner(flags=ORDERED)
def column_squares(A, n, sums):
    """sums[j] = Σ_k A[k, j]² over the first n rows."""
    clear(sums)
    for k in range(n):
        for j in range(sums.size):
            a = A[unsigned(k), unsigned(j)]
            sums[unsigned(j)] = fused(a, a, sums[unsigned(j)])


@inner(flags=ORDERED)
def multiply(A, B, out):
    """out = A ∘ B in the rows of B; beyond, out stays as it is."""
    for k in range(B.shape[0]):
        for j in range(B.shape[1]):
            out[unsigned(k), unsigned(j)] = A[unsigned(k), unsigned(j)] * B[unsigned(k), unsigned(j)]


@inner(flags=ORDERED)
def multiply_negated(M, D, first, last):
    """M ← −M ∘ D in the rows from ``first`` to ``last`` and the columns from ``first`` on."""
    for k in range(first, last):
        for c in range(first, M.shape[1]):
            M[unsigned(k), unsigned(c)] *= -D[unsigned(k), unsigned(c)]


@Stage
def point_panel(index, start, count, note):
    """One panel of the ``count`` points from ``start`` on, brought from kernel values to P, Aᵀ and K̂(x, x)."""
    wide()
    task = read(note)
    work = task.work
    AT, rows, n = work.AT, work.U.shape[0], task.n
    width = work.XT.shape[2]
    first = index * width
    m = min(width, count - first)
    some = up(m, LANES)
    points, columns, sums = work.XA[index], work.XT[index], work.explained[index]
    t = work.scratch[get_thread_id()][: (n + rows) * width]
    slopes, A = t[: n * width].reshape(n, width), t[n * width :].reshape(rows, width)
    load_points(task.X, task.picks, start + first, m, task.centre, points)
    transpose(points, width, columns.shape[0], columns)
    tangent_panel(task.radial, task.loop, task.p, work.S, work.norms, n, columns, width, sums, t)
    clear(A[n:])
    solve_forward(work.L, A, some)
    column_squares(A, n, sums)
    solve_backward(work.U, n, A, some)
    multiply(A, slopes, work.P[index])
    tile = AT.shape[2]
    for J in range(AT.shape[0]):
        landmarks = A[J * tile : min((J + 1) * tile, rows)]
        transpose(landmarks, landmarks.shape[0], width, AT[J, first : first + width])


@Stage
def add_panels(index, count, last, note):
    """M += A Aᵀ, some rows of its upper half, and G += P (X, 1), over the points in order; at last M becomes −Q."""
    wide()
    work = read(note).work
    P, AT, XA, M, G = work.P, work.AT, work.XA, work.M, work.G
    rows, columns = M.shape
    tiles, tile, depth = AT.shape[0], AT.shape[2], XA.shape[1]
    I = folded(index, tiles)
    left = AT[I]
    first, stop = I * tile, min((I + 1) * tile, rows)
    for J in range(I, tiles):
        right, width = AT[J], min(tile, columns - J * tile)
        for top in range(0, count, STRETCH):
            some = min(STRETCH, count - top)
            for r in range(first, stop, ROWS):
                left_of = (r - first) // LANES * LANES if J == I else 0  # below the diagonal nothing is needed
                add_gram(left[top:], r - first, some, right[top:], left_of, width - left_of, M, r, J * tile)
    for panel in range((count + depth - 1) // depth):
        slopes, points, some = P[panel], XA[panel], min(depth, count - panel * depth)
        for r in range(first, stop, ROWS):
            add_product(slopes, r, some, points, 0, 0, G.shape[1], G)
    if last:
        multiply_negated(M, work.D, first, stop)


@Stage
def finish(index, start, count, note):
    """A few rows of G lose theirs of Q (S, 1)."""
    wide()
    task = read(note)
    work = task.work
    add_symmetric_product(work.M, task.n, index * ROWS, work.S, work.G)


def stages(task: Task, parallel: bool) -> Stages:
    """Where the stages are for such a task."""
    return Stages(
        sharing(parallel), landmark_panel.of(task), panel_rows.of(Factor(task.work.U, task.work.L)),
        point_panel.of(task), add_panels.of(task), finish.of(task),
    )  # fmt: skip


@inner(flags=ORDERED)
def gradient(stages, task, sample, first, points, ridge, out):
    """The gradient of the trace error, estimated from so many points, the picks from ``first`` on.

    Returns the sum of K̂(x, x) over those points and the ridge that was needed, which is −1 where none sufficed.
    """
    work, radial = task.work, task.radial
    note = leave(task)
    n, d = sample.shape
    place_landmarks(radial, sample, task.centre, work)
    ridge = factor(stages, note, n, ridge, work)
    if ridge < 0.0:
        return 0.0, ridge
    clear(work.M)
    clear(work.G)
    panels, width = work.explained.shape
    explained = 0.0
    for start in range(0, points, panels * width):
        count = min(panels * width, points - start)
        needed = (count + width - 1) // width
        share(stages.sharing, stages.point_panel, needed, first + start, count, note)
        share(stages.sharing, stages.add_panels, work.AT.shape[0], count, 1 if start + count == points else 0, note)
        for panel in range(needed):
            for j in range(min(width, count - panel * width)):
                explained += work.explained[panel, j]
    share(stages.sharing, stages.finish, work.M.shape[0] // ROWS, 0, 0, note)
    scale = (4.0 if radial else 2.0) * (task.X.shape[0] / points)
    for k in range(n):
        for l in range(d):
            along = work.G[k, l]
            out[k, l] = scale * (along - work.G[k, d] * work.S[k, l]) if radial else -scale * along
    return explained, ridge


@jit()
def gradient_alone(stages, task, sample, points, ridge, out):
    """One gradient, for those who are not in a descent."""
    return gradient(stages, task, sample, 0, points, ridge, out)


@jit()
def descend(stages, task, sample, points, batches, ridge, moments, steps, length, decay, betas, slope):
    """So many steps of Adam, the first of ``length``, every other shorter by ``decay``, each from the next batch.

    ``sample`` and the ``moments`` (first, second) change in place; ``steps`` were taken before. Returns how many were
    taken until the gradient was not finite, and the ridge that was needed, with which the next ones begin.
    """
    first, second = moments
    for i in range(batches):
        start = i * points if task.picks.size > 0 else 0
        _, needed = gradient(stages, task, sample, start, points, ridge, slope)
        if needed < 0.0 or not finite(slope):
            return i, ridge
        ridge = needed
        adam(sample, slope, first, second, steps + i + 1, length - i * decay, betas[0], betas[1])
    return batches, ridge
