r"""Loops over pairs (point, landmark): everything the radial SKD and its descents are made of.

With :math:`K^2(s, x) = \varphi(t)`, where :math:`t = \|s-x\|^2` (``radial``) or :math:`t = \langle s, x\rangle`,
one pass over the pairs gives for each landmark :math:`s_k`

.. math:: \sum_x \varphi'(t)\,x\;(\in\mathbb R^d), \qquad \sum_x \varphi'(t)\;(\in\mathbb R),

and the total :math:`\sum\varphi(t)`. Every derivative in the paper is a combination of these.

Pairs are taken in tiles that fit the first-level cache, a point in each row, a landmark in each column. Points are
kept as rows :math:`(x, 1)`. Landmarks are kept tile by tile, an array of shape (tiles, d, size) whose last tile may
not be full, and the sums above likewise, with d + 1 rows. The work on a tile is done by the vectors of :mod:`.vectors`.

Coordinates are taken relative to ``centre``, without which sums of :math:`\varphi' x` would lose the digits of a
common offset. Sums are split into pieces fixed by the sizes and added in a fixed order, so that a result does not
depend on how many threads shared the work.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import get_thread_id, types
from numba.extending import intrinsic

from . import vectors
from .compile import ORDERED, fused, inner, jit, wide
from .stages import Stage, leave, read, share, sharing
from .vectors import address

BUFFER = 4096  #: pair scalars of a tile: they fit the first-level cache
COLUMNS = 64  #: landmarks of a tile at most: a tile of landmarks with landmarks is a square
PIECES = 32  #: into how many pieces the data are cut at most
GROUPS = 8  #: into how many groups the tiles of pairs of landmarks are cut at most
PARTS = 2**23  #: numbers that the sums of all pieces, or of all groups, may take
FILL_ROWS = 16  #: rows of a kernel matrix filled together
FILL_COLUMNS = 1024  #: columns of a kernel matrix filled together
EXACT = 16  #: up to this many coordinates, distances come from differences, beyond it from norms and products
CANCELLED = 1e-4  #: pairs closer than this, relative to their norms, are then computed again from differences

TOTALS, SLOPES = -1, -2  #: what :func:`run` can do besides a number of steps

U = np.uintp  # unsigned indices spare numba's test for negative ones, which stops LLVM from vectorising


@intrinsic
def call(typingctx, loop, t, m, p):
    """Call the block loop at the address ``loop`` on the ``m`` pair scalars at ``t`` with the parameters at ``p``."""
    signature = types.float64(types.intp, types.intp, types.intp, types.intp)

    def generate(context, builder, signature, arguments):
        word = ir.IntType(64)
        function = ir.FunctionType(ir.DoubleType(), [word, word, word])
        pointer = builder.inttoptr(arguments[0], function.as_pointer())
        return builder.call(pointer, arguments[1:])

    return signature, generate


@jit()
def apply(loop, t, p):
    """Run a block loop over a whole contiguous array."""
    return call(loop, address(t), t.size, address(p))


# --- one tile ---------------------------------------------------------------------------------------------------


def aligned(slots: int, size: int, like: np.ndarray) -> np.ndarray:
    """Buffers that begin where a cache line does: a vector that straddles two costs twice."""
    size = (size + 15) // 16 * 16
    raw = np.empty(slots * size + 16, like.dtype)
    skip = (-(raw.ctypes.data // raw.itemsize)) % 16
    return raw[skip : skip + slots * size].reshape((slots, size))


@jit()
def augmented(d):
    """Numbers in the row (x, 1) of a point, filled up with zeros."""
    return (d + vectors.COORDINATES) // vectors.COORDINATES * vectors.COORDINATES


def tile_size(n: int) -> int:
    """Landmarks of a tile: n cut into as few as can be, about equal, in whole vectors."""
    tiles = (n + COLUMNS - 1) // COLUMNS
    return min(n, ((n + tiles - 1) // tiles + 7) // 8 * 8)


@inner(flags=ORDERED)
def load_points(X, picks, start, m, centre, XA):
    """Rows (x, 1) of the points start … start+m of X, centred; ``picks`` says which they are, unless it is empty."""
    d = X.shape[1]
    for j in range(m):
        i = picks[U(start + j)] if picks.size > 0 else start + j
        for l in range(d):
            XA[U(j), U(l)] = X[U(i), U(l)] - centre[U(l)]
        XA[U(j), U(d)] = 1.0
        for l in range(d + 1, XA.shape[1]):
            XA[U(j), U(l)] = 0.0


@inner(flags=ORDERED)
def load_columns(X, start, m, centre, XT):
    """Points start … start+m of X, centred, a column of XT each."""
    for l in range(X.shape[1]):
        for j in range(m):
            XT[l, j] = X[start + j, l] - centre[l]


@jit(flags=ORDERED)
def transpose(A, m, n, B):
    """B[k, j] = A[j, k] for j < m, k < n, at the beginning of rows of whatever length."""
    if min(m, n) >= vectors.lanes(A):
        vectors.transpose(A, address(A), A.shape[1], m, n, address(B), B.shape[1])
        return
    for j in range(m):
        for k in range(n):
            B[k, j] = A[j, k]


@jit(flags=ORDERED)
def exact_scalars(radial, t, at, stride, A, first, m, XT, k0, n, d):
    """t[at + j·stride + k] = the pair scalar of row ``first`` + j of A and column k0 + k of XT, from differences."""
    if m >= vectors.ROWS and n >= vectors.lanes(t):
        place = address(t) + at * t.itemsize
        rows, columns = address(A) + first * A.shape[1] * A.itemsize, address(XT) + k0 * XT.itemsize
        if radial:
            vectors.squares(t, place, stride, rows, A.shape[1], m, columns, XT.shape[1], n, d)
        else:
            vectors.products(t, place, stride, rows, A.shape[1], m, columns, XT.shape[1], n, d)
        return
    for j in range(m):
        for k in range(n):
            scalar = t.dtype.type(0.0)
            for l in range(d):
                x, s = A[first + j, l], XT[l, k0 + k]
                scalar = fused(x - s, x - s, scalar) if radial else fused(x, s, scalar)
            t[at + j * stride + k] = scalar


@inner(flags=ORDERED)
def row_norms(A, m, d, norms):
    """norms[j] = Σ_l A[j, l]² for j < m, in four sums, none of which waits for another."""
    for j in range(m):
        a = b = c = e = A.dtype.type(0.0)
        for l in range(0, d - 3, 4):
            a = fused(A[j, l], A[j, l], a)
            b = fused(A[j, l + 1], A[j, l + 1], b)
            c = fused(A[j, l + 2], A[j, l + 2], c)
            e = fused(A[j, l + 3], A[j, l + 3], e)
        for l in range(d // 4 * 4, d):
            a = fused(A[j, l], A[j, l], a)
        norms[j] = (a + b) + (c + e)


@inner(flags=ORDERED)
def column_norms(XT, n, norms):
    """norms[k] = Σ_l XT[l, k]² for k < n."""
    for k in range(n):
        norms[k] = 0.0
    for l in range(XT.shape[0]):
        for k in range(n):
            norms[k] = fused(XT[l, k], XT[l, k], norms[k])


@inner()
def by_norms(radial, d):
    """Whether distances come from norms, which then have to be there."""
    return radial and d > EXACT


@inner(flags=ORDERED)
def scalars(radial, t, A, first, norms_a, m, XT, norms_t, at, n, d):
    """t[j·n + k] = the pair scalar of row ``first`` + j of A and column k of XT, distances in the quicker of two ways.

    Their norms are norms_a[first + j] and norms_t[at + k]; they are looked at only :func:`by_norms`.
    """
    if not by_norms(radial, d):
        exact_scalars(radial, t, 0, n, A, first, m, XT, 0, n, d)
        return
    exact_scalars(False, t, 0, n, A, first, m, XT, 0, n, d)
    for j in range(m):
        norm = norms_a[first + j]
        row, norms = t[j * n : (j + 1) * n], norms_t[at : at + n]
        cancelled = 0
        for l in range(n):
            k = U(l)
            scale = norm + norms[k]
            q = scale - 2.0 * row[k]
            cancelled += not q >= CANCELLED * scale  # nor is it where norms overflow: ∞ − ∞
            row[k] = q
        if cancelled > 0:
            for k in range(n):
                if not row[k] >= CANCELLED * (norm + norms[k]):
                    exact_scalars(True, t, j * n + k, n, A, first + j, 1, XT, k, 1, d)


@jit(flags=ORDERED)
def gather(t, m, n, XA, first, G):
    """G[l, k] += Σ_j t[j·n + k] XA[first + j, l]."""
    width = XA.shape[1]
    if n >= vectors.lanes(t):
        rows = address(XA) + first * width * XA.itemsize
        vectors.gather(t, address(t), n, rows, width, m, width, address(G), G.shape[1])
        return
    for j in range(m):
        for l in range(width):
            for k in range(n):
                G[l, k] += t[j * n + k] * XA[first + j, l]


@inner(flags=ORDERED)
def tile_sums(radial, slopes, loop, p, XA, first, norms_x, m, ST, norms_s, at, n, t, G):
    """m points, from the ``first`` on, against the n landmarks of a tile: returns Σφ and, with ``slopes``, adds to G.

    No part of an array is cut out on the way here, for each would be counted in and out.
    """
    scalars(radial, t, XA, first, norms_x, m, ST, norms_s, at, n, ST.shape[0])
    total = call(loop, address(t), m * n, address(p))
    if slopes:
        gather(t, m, n, XA, first, G)
    return total


# --- whole sums, on one thread or several ---------------------------------------------------------------------


@inner()
def upper_tile(item, tiles):
    """Row and column of the item-th tile of an upper triangle of tiles, row by row."""
    row = 0
    column = item
    while column >= tiles - row:
        column -= tiles - row
        row += 1
    return row, row + column


@inner()
def clear(G):
    flat = G.reshape(G.size)
    for i in range(flat.size):
        flat[i] = 0.0


@jit()
def copy(a, b):
    """b = a; numba's own assignment takes seconds to compile, for the text of an error we do not make."""
    for i in range(b.size):
        b[i] = a[i]


class Workspace(NamedTuple):
    """Every buffer that sums over landmarks and points need; the first four have a row for each thread."""

    tile: Any  #: the pair scalars of a tile, later its slopes
    turned: Any  #: the same transposed
    points: Any  #: rows (x, 1) of the points of a tile
    point_norms: Any  #: their ‖x‖²
    landmarks: Any  #: rows (s, 1) of all landmarks
    landmark_norms: Any  #: their ‖s‖²
    landmark_parts: Any  #: sums over landmarks, a part for each group of tiles; a single part is the sum itself
    landmark_totals: Any  #: Σφ of each group
    data_parts: Any  #: sums over data, a part for each piece of them; likewise
    data_totals: Any  #: Σφ of each piece


class Task(NamedTuple):
    """What all the steps of a descent, or one evaluation of the sums, are told."""

    radial: bool
    loop: int  #: the address of the kernel's SLOPE loop
    p: Any  #: its parameters
    n: int
    X: Any  #: the data
    picks: Any  #: which points, batch after batch; all of them, if it is empty
    centre: Any  #: where coordinates are taken from
    tiles: Any  #: landmarks as columns, tile by tile, twice: as they are, and as they were before the last step
    over_landmarks: Any  #: Σφ'x and Σφ' over the landmarks
    over_data: Any  #: the same over the data
    state: Any  #: (which of the two ``tiles`` is now, whether slopes are wanted), for the stages to read
    work: Workspace


class Stages(NamedTuple):
    """Where the stages are, and what shares their indices out."""

    sharing: int
    landmark_group: int
    data_piece: int
    add_tile: int


def stages(task: Task, parallel: bool) -> Stages:
    """Where the stages are for such a task."""
    return Stages(sharing(parallel), landmark_group.of(task), data_piece.of(task), add_tile.of(task))


def make_workspace(slots: int, n: int, N: int, over_landmarks: np.ndarray, over_data: np.ndarray) -> Workspace:
    """The workspace for n landmarks and N points, allocated once per run."""
    tiles, width, _ = over_landmarks.shape
    affordable = PARTS // (width * n)
    groups = max(1, min(GROUPS, tiles * (tiles + 1) // 16, affordable))
    pieces = max(1, min(PIECES, n * N // 40_000, N // 48, affordable))
    like = over_landmarks
    return Workspace(
        aligned(slots, BUFFER, like),
        aligned(slots, COLUMNS * COLUMNS, like),
        aligned(slots, BUFFER // 8 * width, like),
        aligned(slots, BUFFER // 8, like),
        np.zeros((n, width), like.dtype),
        np.zeros(n, like.dtype),
        _parts(groups, over_landmarks),
        np.zeros(groups),
        _parts(pieces, over_data),
        np.zeros(pieces),
    )


def _parts(count: int, out: np.ndarray) -> np.ndarray:
    return out[None] if count == 1 else np.empty((count, *out.shape), out.dtype)


@Stage
def landmark_group(group, _start, _count, note):
    """Pairs of landmarks, each unordered pair of tiles once; the group fills its part and its total."""
    wide()
    task = read(note)
    n, work, ST, slopes = task.n, task.work, task.tiles[task.state[0]], task.state[1] > 0
    tiles, _, size = ST.shape
    items = tiles * (tiles + 1) // 2
    SA, norms = work.landmarks, work.landmark_norms
    slot = get_thread_id()
    t, turned, G = work.tile[slot], work.turned[slot], work.landmark_parts[group]
    if slopes:
        clear(G)
    total = 0.0
    for item in range(group, items, work.landmark_totals.shape[0]):
        I, J = upper_tile(item, tiles)
        a0, a1, b0, b1 = I * size, min((I + 1) * size, n), J * size, min((J + 1) * size, n)
        rows, columns = a1 - a0, b1 - b0
        tile_total = tile_sums(
            task.radial, slopes, task.loop, task.p, SA, a0, norms, rows, ST[J], norms, b0, columns, t, G[J]
        )
        total += tile_total if I == J else 2.0 * tile_total
        if slopes and I != J:
            across = t[: rows * columns].reshape((rows, columns))
            transpose(across, rows, columns, turned[: rows * columns].reshape((columns, rows)))
            gather(turned, columns, rows, SA, b0, G[I])
    work.landmark_totals[group] = total


@Stage
def data_piece(piece, first, N, note):
    """A piece of N points, those of the data or of the picks from ``first`` on, against all landmarks."""
    wide()
    task = read(note)
    n, work, ST, slopes = task.n, task.work, task.tiles[task.state[0]], task.state[1] > 0
    tiles, d, size = ST.shape
    width = augmented(d)
    block = BUFFER // max(size, 8) // vectors.ROWS * vectors.ROWS
    pieces = work.data_totals.shape[0]
    slot = get_thread_id()
    t, norms, norms_s, G = work.tile[slot], work.point_norms[slot], work.landmark_norms, work.data_parts[piece]
    XA = work.points[slot][: block * width].reshape((block, width))
    if slopes:
        clear(G)
    total = 0.0
    stop = (piece + 1) * N // pieces
    for start in range(piece * N // pieces, stop, block):
        m = min(block, stop - start)
        load_points(task.X, task.picks, first + start, m, task.centre, XA)
        if by_norms(task.radial, d):
            row_norms(XA, m, d, norms)
        for J in range(tiles):
            b0, b1 = J * size, min((J + 1) * size, n)
            total += tile_sums(
                task.radial, slopes, task.loop, task.p, XA, 0, norms, m, ST[J], norms_s, b0, b1 - b0, t, G[J]
            )
    work.data_totals[piece] = total


@Stage
def add_tile(J, data, _count, note):
    """Add up, in order, the parts of the sums over the data, or over the landmarks, for a tile of landmarks."""
    task = read(note)
    parts = task.work.data_parts if data else task.work.landmark_parts
    out = (task.over_data if data else task.over_landmarks)[J]
    flat = out.reshape(out.size)
    copy(parts[0, J].reshape(flat.size), flat)
    for c in range(1, parts.shape[0]):
        part = parts[c, J].reshape(flat.size)
        for i in range(flat.size):
            flat[i] += part[i]


@inner(flags=ORDERED)
def added(stages, task, note, data, totals):
    """Add up the parts, if there are slopes in them and more than one, and return the sum of the totals."""
    if task.state[1] > 0 and totals.size > 1:
        share(stages.sharing, stages.add_tile, task.tiles.shape[1], data, 0, note)
    total = 0.0
    for c in range(totals.size):
        total += totals[c]
    return total


@inner(flags=ORDERED)
def among_landmarks(stages, task, note):
    """‖K_S‖_F² = Σφ over all pairs of landmarks; with slopes the sums of φ'x and φ' of each, too."""
    work, ST = task.work, task.tiles[task.state[0]]
    tiles, d, size = ST.shape
    for J in range(tiles):
        b0, b1 = J * size, min((J + 1) * size, task.n)
        transpose(ST[J], d, b1 - b0, work.landmarks[b0:b1])
        if by_norms(task.radial, d):
            column_norms(ST[J], b1 - b0, work.landmark_norms[b0:b1])
    for k in range(task.n):
        work.landmarks[k, d] = 1.0
    share(stages.sharing, stages.landmark_group, work.landmark_totals.size, 0, 0, note)
    return added(stages, task, note, 0, work.landmark_totals)


@inner(flags=ORDERED)
def against_data(stages, task, note, first, N):
    """T₁ = Σφ over N points × landmarks, and likewise the sums of slopes; comes after :func:`among_landmarks`."""
    share(stages.sharing, stages.data_piece, task.work.data_totals.size, first, N, note)
    return added(stages, task, note, 1, task.work.data_totals)


@jit(flags=ORDERED)
def left_derivatives(radial, ST, sums, out):
    """out[k] = Σ_x ∂[l]K²(s_k, x): 2(s_k Σφ' − Σφ'x) for a radial kernel, Σφ'x for a dot product."""
    _, d, size = ST.shape
    for k in range(out.shape[0]):
        J, i = divmod(k, size)
        for l in range(d):
            if radial:
                out[k, l] = 2.0 * (ST[J, l, i] * sums[J, d, i] - sums[J, l, i])
            else:
                out[k, l] = sums[J, l, i]


@jit(flags=ORDERED)
def move(radial, n, ST, over_landmarks, over_data, a, b, moved):
    """moved = S − a·Σ_j ∂[l]K²(s, s_j) + b·Σ_x ∂[l]K²(s, x); returns how many numbers of ``moved`` are not finite."""
    tiles, d, size = ST.shape
    lost = 0
    for J in range(tiles):
        for l in range(d):
            for k in range(min(size, n - J * size)):
                value = a * over_landmarks[J, l, k] - b * over_data[J, l, k]
                if radial:
                    weight = a * over_landmarks[J, d, k] - b * over_data[J, d, k]
                    value = 2.0 * (weight * ST[J, l, k] - value)
                value = ST[J, l, k] - value
                moved[J, l, k] = value
                lost += not abs(value) < np.inf
    return lost


@jit()
def run(stages, task, batch, first_part, iterations, step):
    """The one entry to all sums, so that they are compiled once.

    ``iterations`` is a number of steps of descent, taken until S would become non-finite; or TOTALS, to find only
    the two sums; or SLOPES, to fill the arrays of slopes, too. Returns (steps taken, ‖K_S‖_F², T₁). Each step writes
    the landmarks over those before the last one; which of the two are now stands in the task's state.

    With ``batch`` 0 the gradient is exact; otherwise so many picks are the batch of a step, of which the first
    ``first_part`` estimate the factor T₁ of Eq. (7) and the rest everything else (0: Eq. (6)).
    """
    note = leave(task)
    state = task.state
    slopes = 0 if iterations == TOTALS else 1
    N = task.X.shape[0]
    rest = batch - first_part if batch > 0 else N
    scale = N / rest
    norm = 0.0
    t1 = 0.0
    done = 0
    for i in range(max(iterations, 1 if iterations < 0 else 0)):
        state[1] = slopes
        norm = among_landmarks(stages, task, note)
        t1 = scale * against_data(stages, task, note, i * batch + first_part, rest)
        if iterations < 0:
            break
        if not (np.isfinite(norm) and np.isfinite(t1)):  # the step before this one has left the finite numbers
            state[0] = 1 - state[0]
            done = i - 1
            break
        other = t1
        if first_part > 0:
            state[1] = 0
            other = N / first_part * against_data(stages, task, note, i * batch, first_part)
        inverse = 1.0 / norm if norm > 0.0 else 0.0
        # ∂R = T₁T₁' Υ/‖K_S‖⁴ − 2 T₁'T₂/‖K_S‖² with Υ = 2 Σ_j ∂[l]K²(s_k, s_j), the term j = k being ∂[d]/2
        a = 2.0 * step * t1 * other * inverse * inverse
        c = 2.0 * step * other * inverse * scale
        now, then = task.tiles[state[0]], task.tiles[1 - state[0]]
        if move(task.radial, task.n, now, task.over_landmarks, task.over_data, a, c, then) > 0:
            break
        state[0] = 1 - state[0]
        done = i + 1
    return done, norm, t1


# --- matrices ---------------------------------------------------------------------------------------


@Stage
def fill_rows(item, _start, _count, note):
    """out[k, j] = the block loop's result at the pair scalar of a_k and b_j, from differences; ``centre`` is zero.

    Of FILL_ROWS rows.
    """
    wide()
    radial, loop, p, A, B, centre, scratch, out = read(note)
    n, d = A.shape
    N = B.shape[0]
    flat = out.reshape(out.size)
    k0 = item * FILL_ROWS
    k1 = min(k0 + FILL_ROWS, n)
    XT = scratch[get_thread_id()]
    for start in range(0, N, FILL_COLUMNS):
        m = min(FILL_COLUMNS, N - start)
        load_columns(B, start, m, centre, XT)
        exact_scalars(radial, flat, k0 * N + start, N, A, k0, k1 - k0, XT, 0, m, d)
    call(loop, address(out) + k0 * N * out.itemsize, (k1 - k0) * N, address(p))
