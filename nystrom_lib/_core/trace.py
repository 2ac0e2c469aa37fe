r"""The trace error of a sample, its gradient, from all points or from a batch of them, and the descent by Adam.

With :math:`\mathbf W = \mathbf K_S` and, for a set of points, :math:`\mathbf C = K(S, \cdot)`, the sum of
:math:`\hat K(x, x)` over the points is :math:`\operatorname{tr}(\mathbf C^T\mathbf W^{-1}\mathbf C)`. With
:math:`\mathbf A = \mathbf W^{-1}\mathbf C` its differential is
:math:`2\operatorname{tr}(\mathbf A^T d\mathbf C) - \operatorname{tr}(\mathbf A\mathbf A^T d\mathbf W)`, and since
:math:`K = \kappa(t)` for a pair scalar t, all of it is made of

.. math:: \mathbf P = \mathbf A\circ\kappa'(\mathbf t_C), \qquad
          \mathbf Q = \mathbf A\mathbf A^T\circ\kappa'(\mathbf t_W), \qquad
          \mathbf P(\mathbf X, \mathbf 1) - \mathbf Q(\mathbf S, \mathbf 1).

Matrices are stored in panels (:mod:`.panels`), points and landmarks in tiles (:mod:`.tiles`), as wide as the panels. A
gradient is a sequence of phases, each of a number of independent items, which threads may share.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .compile import entry, inner
from .panels import C, backward, dots, factor_rows, forward
from .tiles import ALL, EQUAL, U, aligned, cut, tile_loops, up

POINTS = 1024  #: points whose panels are kept at a time
ROWS = 16  #: rows of A Aᵀ in an item: few enough that threads end at the same time

LEAST_PIVOT = 1e-9  #: relative to the diagonal: below it, the gradient is not accurate in double precision
FIRST_RIDGE = 1e-10  #: then added to the diagonal, relative to it, and ten times more until the pivots suffice

LOAD, KERNEL, DIAGONAL, FACTOR, CHECK, SOLVE, MULTIPLY, FINISH, MOVE = range(9)  #: the phases
RIDGE, EXPLAINED, STEPS, NEXT = range(4)  #: the entries of the state

load, scalars = tile_loops(C)


class Task(NamedTuple):
    """The sizes of a problem."""

    radial: bool
    m: int  #: landmarks
    n: int  #: the same, rounded up to a multiple of eight
    size: int  #: columns of a panel of landmarks
    points: int  #: in a batch
    width: int  #: columns of a panel of points
    d: int  #: coordinates, an even number
    V: int  #: rows of a tile: the coordinates, a row of ones, and zeros up to a multiple of four


class Work(NamedTuple):
    """The buffers of a gradient, all flat."""

    S: np.ndarray  #: landmarks in tiles
    F: np.ndarray  #: W, then its factor U
    K: np.ndarray  #: the diagonal blocks of U as two triangles, 128 numbers for each eight rows
    D: np.ndarray  #: κ'(t_W)
    M: np.ndarray  #: A Aᵀ, then −Q
    X: np.ndarray  #: points in tiles
    A: np.ndarray  #: A
    P: np.ndarray  #: P
    B: np.ndarray  #: eight rows for each panel
    G: np.ndarray  #: P(X, 1) − Q(S, 1)
    pivots: np.ndarray  #: the smallest pivot and the largest diagonal entry of each panel of landmarks
    explained: np.ndarray  #: the sum of K̂(x, x) over each panel of points
    state: np.ndarray  #: the ridge, the sum of K̂(x, x) over the points, the steps of Adam taken, and the next row


def prepare(radial: bool, n: int, points: int, d: int) -> tuple[Task, Work, np.ndarray]:
    """Sizes and buffers for n landmarks and batches of ``points``, and the schedule of a gradient and a step.

    A row of the schedule is (phase, first point or panel, number of items).
    """
    kept, even = min(points, POINTS), up(d, 2)
    size, width = cut(n, C), cut(kept, C)
    task = Task(radial, n, up(n, 8), size, points, width, even, up(even + 1, 4))
    tiles, panels, groups = -(-n // size), -(-kept // width), -(-n // ROWS)
    schedule = [(LOAD, 0, 1), (KERNEL, 0, tiles)]
    for tile in range(tiles):
        schedule += [(DIAGONAL, tile, 1), (FACTOR, tile, tiles - 1 - tile)]
    schedule += [(CHECK, 0, 1)]
    for start in range(0, points, panels * width):
        here = -(-min(points - start, panels * width) // width)
        schedule += [(SOLVE, start, here), (MULTIPLY, start, groups)]
    schedule += [(FINISH, 0, groups), (MOVE, 0, 1)]
    matrix, rows = tiles * task.n * C, panels * task.n * C
    shapes = (tiles * task.V * C, matrix, 16 * task.n, matrix, matrix, panels * task.V * C, rows, rows,
              max(tiles, panels) * 8 * C, task.n * task.V, 2 * tiles, panels, 4)  # fmt: skip
    return task, Work(*map(aligned, shapes)), np.array([row for row in schedule if row[2] > 0])


@inner
def kernel_panel(task, block, p, S, rows, start, X, x, columns, T, D, o):
    """T ← κ and D ← κ' of the first ``rows`` landmarks and ``columns`` points in the tile at X[x]; zeros beyond.

    Rows from ``start`` on need no entry before the one on the diagonal, which is in the first column in row ``start``.
    """
    c = up(columns, 8)
    for row in range(0, rows, 8):
        left = max(row - start, 0)
        at = o + row * C + left
        tile = row // task.size * task.V * C + row % task.size
        scalars(task.radial, S, tile, 8, X, x + left, c - left, task.d, T, at)
        block(T, D, at, 8, C, c - left, p)
        for j in range(row, row + 8):
            for k in range(U(o + j * C + (columns if j < task.m else left)), U(o + j * C + c)):
                T[k] = D[k] = 0.0


@inner
def clear(A, start, stop):
    """Zeros in a part of a flat array."""
    for i in range(U(start), U(stop)):
        A[i] = 0.0


@inner
def place_landmarks(task, work, sample, centre):
    """The landmarks in tiles."""
    for start in range(0, task.m, task.size):
        m, at = min(task.size, task.m - start), start // task.size * task.V * C
        load(sample, ALL, EQUAL, start, m, centre, task.d, work.S, at)


@inner
def landmark_panel(task, work, block, p, J):
    """A panel of W + ridge · diag W, from the diagonal on, and of κ'."""
    start, stop, o = J * task.size, min((J + 1) * task.size, task.n), J * task.n * C
    m = min(stop, task.m) - start
    kernel_panel(task, block, p, work.S, stop, start, work.S, J * task.V * C, m, work.F, work.D, o)
    largest = 0.0
    for k in range(start, stop):
        at = o + k * C + k - start
        work.F[at] = work.F[at] * (1.0 + work.state[RIDGE]) if k < task.m else np.inf
        largest = max(largest, work.F[at] if k < task.m else 0.0)
    work.pivots[2 * J + 1] = largest
    for k in range(task.m, stop):
        work.F[o + k * C + k - start] = largest


@inner
def point_panel(task, work, block, p, X, picks, centre, first, panel, value):
    """A panel of points, from coordinates to A and P = A ∘ κ'; Σ K̂(x, x) as well if ``value``."""
    n, size, o = task.n, task.size, panel * task.n * C
    F, K, A, P, B = work.F, work.K, work.A, work.P, work.B
    start = panel * task.width
    columns = min(task.width, task.points - first - start)
    c = load(X, picks, EQUAL, first + start, columns, centre, task.d, work.X, panel * task.V * C)
    kernel_panel(task, block, p, work.S, n, n, work.X, panel * task.V * C, columns, A, P, o)
    for s in range(0, n, size):
        forward(F, K, n, size, A, o, c, s, min(s + size, n), B, panel * 8 * C)
    if value:
        sums = panel * 8 * C
        clear(B, sums, sums + c)  # by columns: LLVM may choose to fuse a single long sum or not
        for j in range(n):
            for k in range(U(c)):
                B[U(sums) + k] += A[U(o + j * C) + k] * A[U(o + j * C) + k]
        if first == 0:
            work.explained[panel] = 0.0
        for k in range(c):
            work.explained[panel] += B[sums + k]
    for s in range((n - 1) // size * size, -1, -size):
        backward(F, K, n, size, A, o, c, s, min(s + size, n), B, panel * 8 * C)
    for j in range(n):
        at = U(o + j * C)
        for k in range(U(c)):
            P[at + k] *= A[at + k]


@inner
def add_products(task, work, start, group):
    """Some rows of A Aᵀ, from the diagonal on, and of P (X, 1): those of the points from ``start`` on."""
    n, size, V = task.n, task.size, task.V
    A, P, X, D, M, G = work.A, work.P, work.X, work.D, work.M, work.G
    first, last = group * ROWS, min((group + 1) * ROWS, n)
    if start == 0:
        clear(G, first * V, last * V)
        for J in range(first // size, -(-n // size)):
            for i in range(first, last):
                clear(M, (J * n + i) * C + max(i // 4 * 4 - J * size, 0), (J * n + i + 1) * C)
    for panel in range(min(work.explained.size, -(-(task.points - start) // task.width))):
        c = up(min(task.width, task.points - start - panel * task.width), 8)
        for i in range(first, last, 4):
            for l in range(0, V, 4):
                dots(P, (panel * n + i) * C, X, (panel * V + l) * C, c, G, i * V + l, V)
        for J in range(first // size, -(-n // size)):
            for k in range(max(first, J * size), min((J + 1) * size, n), 4):
                for i in range(first, min(last, k + 1), 4):
                    at = (J * n + i) * C + k - J * size
                    dots(A, (panel * n + i) * C, A, (panel * n + k) * C, c, M, at, C)
    if start + work.explained.size * task.width >= task.points:
        for i in range(first, last):
            mirrored = i // size * n * C + i % size
            for J in range(i // size, -(-n // size)):
                for k in range(U(max(i, J * size)), U(min((J + 1) * size, n))):
                    here = U((J * n + i) * C - J * size) + k
                    M[here] = M[U(mirrored) + k * U(C)] = -M[here] * D[here]


@inner
def finish(task, work, group):
    """Subtract Q (S, 1) from some rows of G."""
    n, V, M, S, G = task.n, task.V, work.M, work.S, work.G
    for i in range(group * ROWS, min((group + 1) * ROWS, n), 4):
        for J in range(-(-n // task.size)):
            c = min(task.size, n - J * task.size)
            for l in range(0, V, 4):
                dots(M, (J * n + i) * C, S, (J * V + l) * C, c, G, i * V + l, V)


@inner
def check(task, work, next):
    """Return the next row if the pivots suffice, else the first, with a larger ridge; −1 if no ridge is enough."""
    ridge, least, largest = work.state[RIDGE], np.inf, 0.0
    for tile in range(work.pivots.size // 2):
        least, largest = min(least, work.pivots[2 * tile]), max(largest, work.pivots[2 * tile + 1])
    if least > largest * (LEAST_PIVOT if ridge == 0.0 else 0.1 * ridge):
        return next
    work.state[RIDGE] = FIRST_RIDGE if ridge == 0.0 else 10.0 * ridge
    return 0 if work.state[RIDGE] < 1.0 else -1


@inner
def assemble(task, work, data_size, centre, sample, gradient):
    """The gradient, scaled to all points, and Σ K̂(x, x) over those of the batch; returns whether it is finite."""
    factor = (-4.0 if task.radial else 2.0) * (data_size / task.points)
    V, G, zero = task.V, work.G, 0.0
    for k in range(task.m):
        weight = G[k * V + task.d] if task.radial else 0.0
        for l in range(sample.shape[1]):
            gradient[k, l] = factor * (weight * (sample[k, l] - centre[l]) - G[k * V + l])
            zero += 0.0 * gradient[k, l]  # NaN for a NaN and for infinities
    work.state[EXPLAINED] = 0.0
    for panel in range(work.explained.size):
        work.state[EXPLAINED] += work.explained[panel]
    return zero == 0.0


@inner
def move(state, rates, first, second, sample, gradient):
    """A step of Adam with a second moment for each landmark, by rates = (length, its decrease a step, β₁, β₂)."""
    state[STEPS] += 1.0
    beta1, beta2 = rates[2], rates[3]
    along, across = rates[0] / (1.0 - beta1 ** state[STEPS]), 1.0 / (1.0 - beta2 ** state[STEPS])
    rates[0] -= rates[1]
    for k in range(sample.shape[0]):
        square = 0.0
        for l in range(sample.shape[1]):
            square += gradient[k, l] * gradient[k, l]
        second[k] = beta2 * second[k] + (1.0 - beta2) * square
        scale = along / math.sqrt(second[k] * across) if second[k] > 0.0 else 0.0
        for l in range(sample.shape[1]):
            first[k, l] = beta1 * first[k, l] + (1.0 - beta1) * gradient[k, l]
            sample[k, l] -= scale * first[k, l]


@entry
def run(first, count, step, rows, schedule, task, work, block, p, X, batches, centre, sample, gradient, adam):
    """The given rows of the schedule for every batch, of each row the items first, first + step, …

    The last row is a step of Adam if ``adam`` has moments and rates. work.state[NEXT] is the row that comes next: the
    first again if a larger ridge is needed, and −1 if no ridge is enough or the gradient is not finite.
    """
    rates, first_moment, second_moment = adam
    state, next = work.state, 0
    for picks in batches:
        next = rows[0]
        while 0 <= next < rows[1]:
            phase, at, items = schedule[next, 0], schedule[next, 1], schedule[next, 2]
            next += 1
            for item in range(first, items, step):
                if phase == LOAD:
                    place_landmarks(task, work, sample, centre)
                elif phase == KERNEL:
                    landmark_panel(task, work, block, p, item)
                elif phase == DIAGONAL:
                    work.pivots[2 * at] = factor_rows(work.F, work.K, task.n, task.size, at, work.B, 0)
                elif phase == FACTOR:
                    n, size, J = task.n, task.size, at + 1 + item
                    rest, stop = min(size, n - J * size), (at + 1) * size
                    forward(work.F, work.K, n, size, work.F, J * n * C, rest, at * size, stop, work.B, J * 8 * C)
                elif phase == CHECK:
                    next = check(task, work, next)
                elif phase == SOLVE:
                    point_panel(task, work, block, p, X, picks, centre, at, item, rates.size == 0)
                elif phase == MULTIPLY:
                    add_products(task, work, at, item)
                elif phase == FINISH:
                    finish(task, work, item)
                elif not assemble(task, work, X.shape[0], centre, sample, gradient):
                    next = -1
                elif rates.size > 0:
                    move(state, rates, first_moment, second_moment, sample, gradient)
        if next < 0:
            break
    state[NEXT] = next
