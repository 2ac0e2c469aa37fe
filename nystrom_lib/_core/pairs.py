r"""Loops over pairs (landmark, point): everything the radial SKD and its descents are made of.

With :math:`K^2(s, x) = \varphi(t)`, where :math:`t = \|s-x\|^2` (``radial``) or :math:`t = \langle s, x\rangle`,
one pass over the pairs gives for each landmark :math:`s_k`

.. math:: \sum_x \varphi'(t)\;(\in\mathbb R), \qquad \sum_x \varphi'(t)\,x\;(\in\mathbb R^d),

and the total :math:`\sum\varphi(t)`. Every derivative in the paper is a combination of these.

Two ways through the pairs, chosen by size alone (:func:`uses_blas`) and never by the number of threads:

* *fused*: differences coordinate by coordinate, in blocks small enough for the first-level cache (:mod:`.vectors`);
* *BLAS*: :math:`\|s\|^2 + \|x\|^2 - 2\langle s, x\rangle` by matrix products, with the pairs that cancel redone.

All coordinates are taken relative to ``centre``, without which the second way, and the sums of :math:`\varphi' x`,
would lose the digits of a common offset. Sums are split into pieces fixed by the sizes and added in a fixed order,
so that a result does not depend on how many threads shared the work.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import get_thread_id, prange, types
from numba.extending import intrinsic

from . import vectors
from .compile import SUMS, both, jit, wide

BUFFER = 4096  #: pair scalars that the fused way evaluates at once: they fit the first-level cache
FUSED_ROWS = 96  #: landmarks per tile of the fused way
FUSED_POINTS = 256  #: points per tile of the fused way, at most
FILL_ROWS = 16  #: rows of a kernel matrix filled together
FILL_COLUMNS = 1024  #: columns of a kernel matrix filled together
TILE_ROWS = 128  #: landmarks per tile of the BLAS way
TILE_POINTS = 256  #: points per tile of the BLAS way
SYMMETRIC_FROM = 384  #: from this many landmarks the BLAS way uses the symmetry of K_S: fewer gain nothing,
SYMMETRIC_TO = 4096  #: and more than this many would need too much memory
CANCELLED = 1e-4  #: pairs closer than this, relative to their norms, are computed again from differences

NOWHERE = -(2**40)  #: no point of one set is a point of the other

TOTALS, SLOPES = -1, -2  #: what :func:`run` can do besides a number of steps

U = np.uintp  # unsigned indices spare numba's test for negative ones, which stops LLVM from vectorising


@intrinsic
def call(typingctx, address, t, m, p):
    """Call the block loop at ``address`` on the ``m`` pair scalars at ``t`` with the parameters at ``p``."""
    signature = types.float64(types.intp, types.uintp, types.intp, types.uintp)

    def generate(context, builder, signature, arguments):
        word = ir.IntType(64)
        function = ir.FunctionType(ir.DoubleType(), [word, word, word])
        pointer = builder.inttoptr(arguments[0], function.as_pointer())
        return builder.call(pointer, arguments[1:])

    return signature, generate


@jit()
def apply(address, t, p):
    """Run a block loop over a whole contiguous array."""
    return call(address, t.ctypes.data, t.size, p.ctypes.data)


@jit()
def uses_blas(n, m, d):
    """Whether matrix products are the quicker way for n landmarks and m points in ℝᵈ (measured)."""
    return d > 24 and n >= 16 and m >= 16


# --- the fused way --------------------------------------------------------------------------------------------


@jit()
def aligned(slots, size, like):
    """Buffers that begin where a cache line does: a vector that straddles two costs twice."""
    size = (size + 15) // 16 * 16
    raw = np.empty(slots * size + 16, like.dtype)
    skip = (-(raw.ctypes.data // raw.itemsize)) % 16
    return raw[skip : skip + slots * size].reshape((slots, size))


@jit(flags=SUMS)
def load_columns(X, start, m, centre, XT):
    """Points start … start+m of X, centred, a column of XT each."""
    for l in range(X.shape[1]):
        for j in range(m):
            XT[l, j] = X[start + j, l] - centre[l]


@jit(flags=SUMS)
def load_augmented(X, start, m, centre, XA):
    """Points start … start+m of X, centred, a row of XA each, followed by a one and zeros."""
    d = X.shape[1]
    for j in range(m):
        for l in range(d):
            XA[j, l] = X[start + j, l] - centre[l]
        XA[j, d] = 1.0
        for l in range(d + 1, XA.shape[1]):
            XA[j, l] = 0.0


@jit(flags=SUMS)
def scalars(radial, t, at, stride, A, first, m, XT, n, d):
    """t[at + j·stride + k] = the pair scalar of row ``first`` + j of A and column k of XT, from differences."""
    if m >= vectors.ROWS and n >= vectors.BYTES // t.itemsize:
        place, rows = t[at:].ctypes.data, A[first:].ctypes.data
        if radial:
            vectors.squares(t, place, stride, rows, A.shape[1], m, XT.ctypes.data, XT.shape[1], n, d)
        else:
            vectors.products(t, place, stride, rows, A.shape[1], m, XT.ctypes.data, XT.shape[1], n, d)
        return
    for j in range(m):
        for k in range(n):
            found = t.dtype.type(0.0)
            for l in range(d):
                x, s = A[first + j, l], XT[l, k]
                found += (x - s) * (x - s) if radial else x * s
            t[at + j * stride + k] = found


@jit(flags=SUMS)
def gather(t, n, XA, m, G):
    """G[l, k] += Σ_j t[j·n + k] XA[j, l]."""
    if n >= vectors.BYTES // t.itemsize:
        vectors.gather(
            t, t.ctypes.data, n, XA.ctypes.data, XA.shape[1], m, XA.shape[1], G.ctypes.data, G.shape[1]
        )
        return
    for j in range(m):
        for l in range(XA.shape[1]):
            for k in range(n):
                G[l, k] += t[j * n + k] * XA[j, l]


@jit()
def augmented(d):
    """Numbers in a row of augmented coordinates."""
    return (d + vectors.COORDINATES) // vectors.COORDINATES * vectors.COORDINATES


@jit(flags=SUMS)
def fused_rows(radial, slopes, address, p, S, k0, k1, X, i0, i1, centre, st, xa, t, g, out):
    """Landmarks k0 … k1 against points i0 … i1: returns Σφ and, with ``slopes``, fills their rows of ``out``."""
    n, d = k1 - k0, S.shape[1]
    width = augmented(d)
    block = min(FUSED_POINTS, max(vectors.ROWS, BUFFER // n // vectors.ROWS * vectors.ROWS))
    ST = st[: d * FUSED_ROWS].reshape((d, FUSED_ROWS))
    XA = xa[: block * width].reshape((block, width))
    G = g[: width * FUSED_ROWS].reshape((width, FUSED_ROWS))
    for l in range(d):
        for k in range(n):
            ST[l, k] = S[k0 + k, l]
    if slopes:
        for l in range(width):
            for k in range(n):
                G[l, k] = 0.0
    total = 0.0
    for start in range(i0, i1, block):
        m = min(block, i1 - start)
        load_augmented(X, start, m, centre, XA)
        scalars(radial, t, 0, n, XA, 0, m, ST, n, d)
        total += call(address, t.ctypes.data, m * n, p.ctypes.data)
        if slopes:
            gather(t, n, XA, m, G)
    if slopes:
        for k in range(n):
            for l in range(d + 1):
                out[k0 + k, l] = G[l, k]
    return total


# --- the BLAS way ---------------------------------------------------------------------------------------------


@jit(flags=SUMS)
def load_rows(X, start, m, centre, XB, norms):
    """Points start … start+m of X, centred, a row each, and their squared norms."""
    for j in range(m):
        norm = 0.0
        for l in range(X.shape[1]):
            value = X[start + j, l] - centre[l]
            XB[j, l] = value
            norm += value * value
        norms[j] = norm


@jit(flags=SUMS)
def squared_norms(S, norms):
    for k in range(S.shape[0]):
        norm = 0.0
        for l in range(S.shape[1]):
            norm += S[k, l] * S[k, l]
        norms[k] = norm


@jit(flags=SUMS)
def distances(Q, A, a0, norms_a, B, norms_b, same):
    """Turn Q[k, j] = ⟨a, b⟩ into ‖a − b‖², pairs that cancel computed again from their differences.

    Point k + ``same`` of B is point k of A itself; NOWHERE if the two have nothing in common.
    """
    for k in range(Q.shape[0]):
        norm = norms_a[a0 + k]
        cancelled = 0
        for j in range(Q.shape[1]):
            scale = norm + norms_b[j]
            q = scale - 2.0 * Q[k, j]
            cancelled += q < CANCELLED * scale
            Q[k, j] = q
        if 0 <= k + same < Q.shape[1]:
            Q[k, k + same] = 0.0
            cancelled -= 1
        if cancelled > 0:
            for j in range(Q.shape[1]):
                if Q[k, j] < CANCELLED * (norm + norms_b[j]) and j != k + same:
                    q = 0.0
                    for l in range(A.shape[1]):
                        difference = A[a0 + k, l] - B[j, l]
                        q += difference * difference
                    Q[k, j] = q


@jit(flags=SUMS)
def blas_rows(
    radial, slopes, address, p, S, norms, k0, k1, X, i0, i1, centre, own, xb, norms_x, q, g, out
):
    """The same as :func:`fused_rows`, for a tile of at most TILE_ROWS landmarks."""
    rows = k1 - k0
    d = S.shape[1]
    total = 0.0
    if slopes:
        out[k0:k1] = 0.0
    for start in range(i0, i1, TILE_POINTS):
        m = min(TILE_POINTS, i1 - start)
        points = xb[: m * d].reshape((m, d))
        load_rows(X, start, m, centre, points, norms_x)
        Q = q[: rows * m].reshape((rows, m))
        np.dot(S[k0:k1], points.T, Q)
        if radial:
            distances(Q, S, k0, norms, points, norms_x, k0 - start if own else NOWHERE)
        total += call(address, q.ctypes.data, rows * m, p.ctypes.data)
        if slopes:
            G = g[: rows * d].reshape((rows, d))
            np.dot(Q, points, G)
            for k in range(rows):
                weight = out.dtype.type(0.0)
                for j in range(m):
                    weight += Q[k, j]
                for l in range(d):
                    out[k0 + k, l] += G[k, l]
                out[k0 + k, d] += weight
    return total


@jit(flags=SUMS)
def add_product(Q, points, g, part):
    """part = (Q · points, row sums of Q)."""
    rows, d = Q.shape[0], points.shape[1]
    G = g[: rows * d].reshape((rows, d))
    np.dot(Q, points, G)
    for k in range(rows):
        weight = part.dtype.type(0.0)
        for j in range(Q.shape[1]):
            weight += Q[k, j]
        for l in range(d):
            part[k, l] = G[k, l]
        part[k, d] = weight


@jit(flags=SUMS)
def add_transposed_product(Q, points, g, part):
    """part = (Qᵀ · points, column sums of Q)."""
    columns, d = Q.shape[1], points.shape[1]
    G = g[: columns * d].reshape((columns, d))
    np.dot(Q.T, points, G)
    for j in range(columns):
        for l in range(d):
            part[j, l] = G[j, l]
        part[j, d] = 0.0
    for k in range(Q.shape[0]):
        for j in range(columns):
            part[j, d] += Q[k, j]


@jit(flags=SUMS)
def symmetric_tile(radial, slopes, address, p, S, norms, I, J, q, g, part):
    """Pairs of the landmarks of tiles I and J: returns their Σφ; part[0] is what they add to I, part[1] to J."""
    n = S.shape[0]
    a0, a1 = I * TILE_ROWS, min((I + 1) * TILE_ROWS, n)
    b0, b1 = J * TILE_ROWS, min((J + 1) * TILE_ROWS, n)
    Q = q[: (a1 - a0) * (b1 - b0)].reshape((a1 - a0, b1 - b0))
    np.dot(S[a0:a1], S[b0:b1].T, Q)
    if radial:
        distances(Q, S, a0, norms, S[b0:b1], norms[b0:b1], 0 if I == J else NOWHERE)
    total = call(address, q.ctypes.data, Q.size, p.ctypes.data)
    if slopes:
        add_product(Q, S[b0:b1], g, part[0])
        if I != J:
            add_transposed_product(Q, S[a0:a1], g, part[1])
    return total


# --- whole sums, on one thread or several ---------------------------------------------------------------------


@jit()
def tile_rows(n, blas):
    """Landmarks per tile; those of the fused way are about equal, in whole vectors."""
    if blas:
        return TILE_ROWS
    tiles = (n + FUSED_ROWS - 1) // FUSED_ROWS
    return ((n + tiles - 1) // tiles + 15) // 16 * 16


@both(flags=SUMS)
def data_sums(radial, slopes, address, p, S, norms, X, centre, own, blas, scratch, pieces, out, totals):
    """All landmarks against all points.

    Work is cut into tiles of landmarks × ``pieces`` of the data; piece c fills ``out[c]``, item i ``totals[i]``.
    """
    n = S.shape[0]
    N = X.shape[0]
    rows = tile_rows(n, blas)
    tiles = (n + rows - 1) // rows
    for item in prange(tiles * pieces):
        wide()
        tile, piece = divmod(np.int64(item), pieces)
        slot = get_thread_id()
        k0, k1 = tile * rows, min((tile + 1) * rows, n)
        i0, i1 = piece * N // pieces, (piece + 1) * N // pieces
        if blas:
            totals[item] = blas_rows(
                radial, slopes, address, p, S, norms, k0, k1, X, i0, i1, centre, own,
                scratch[0][slot], scratch[1][slot], scratch[2][slot], scratch[3][slot], out[piece],
            )  # fmt: skip
        else:
            totals[item] = fused_rows(
                radial, slopes, address, p, S, k0, k1, X, i0, i1, centre,
                scratch[0][slot], scratch[1][slot], scratch[2][slot], scratch[3][slot], out[piece],
            )  # fmt: skip


@jit()
def upper_tile(item, tiles):
    """Row and column of the item-th tile of an upper triangle of tiles, row by row."""
    row = 0
    column = np.int64(item)  # an index of prange is unsigned, and unsigned with signed makes a float
    while column >= tiles - row:
        column -= tiles - row
        row += 1
    return row, row + column


@both(flags=SUMS)
def landmark_sums(radial, slopes, address, p, S, norms, scratch, parts, totals, out):
    """All pairs of landmarks, each unordered pair of tiles once; what a tile adds is kept apart and added in order."""
    n, d = S.shape
    tiles = (n + TILE_ROWS - 1) // TILE_ROWS
    for item in prange(tiles * (tiles + 1) // 2):
        wide()
        I, J = upper_tile(item, tiles)
        slot = get_thread_id()
        total = symmetric_tile(
            radial, slopes, address, p, S, norms, I, J, scratch[2][slot], scratch[3][slot], parts[item]
        )
        totals[item] = total if I == J else 2.0 * total
    if slopes:
        for index in prange(tiles):
            tile = np.int64(index)
            start = tile * TILE_ROWS
            rows = min(TILE_ROWS, n - start)
            for k in range(rows):
                for l in range(d + 1):
                    out[start + k, l] = 0.0
            for other in range(tiles):
                I, J = min(tile, other), max(tile, other)
                item = I * tiles - I * (I - 1) // 2 + J - I
                side = 0 if tile <= other else 1
                for k in range(rows):
                    for l in range(d + 1):
                        out[start + k, l] += parts[item, side, k, l]


@jit()
def count_pieces(tiles, n, N):
    """Into how many pieces the data are cut: enough to share out few tiles of landmarks, by the sizes alone."""
    return max(1, min(32 // tiles, n * N // 40_000, N // 1024))


@jit()
def make_workspace(slots, n, N, d, like):
    """Every buffer that sums over n landmarks and N points need, allocated once per run."""
    kind = like.dtype
    blas = uses_blas(n, N, d)
    if blas:
        points = min(TILE_POINTS, max(N, n))
        scratch = (
            aligned(slots, points * d, like),
            aligned(slots, points, like),
            aligned(slots, TILE_ROWS * max(points, TILE_ROWS), like),
            aligned(slots, TILE_ROWS * d, like),
        )
    else:
        scratch = (
            aligned(slots, d * FUSED_ROWS, like),
            aligned(slots, FUSED_POINTS * augmented(d), like),
            aligned(slots, BUFFER, like),
            aligned(slots, augmented(d) * FUSED_ROWS, like),
        )
    rows = tile_rows(n, blas)
    items = (n + rows - 1) // rows
    pieces = count_pieces(items, n, N)
    symmetric = blas and SYMMETRIC_FROM <= n <= SYMMETRIC_TO
    tiles = items * (items + 1) // 2 if symmetric else 0
    pieces_s = 0 if symmetric else count_pieces(items, n, n)
    return (
        scratch,
        np.empty((tiles, 2, TILE_ROWS, d + 1), kind),
        np.zeros(max(tiles, items * pieces_s)),  # totals over landmarks
        np.empty((pieces_s, n, d + 1), kind),
        np.zeros(items * pieces),  # totals over data
        np.empty((pieces, n, d + 1), kind),
        np.zeros(n, kind),  # squared norms
        np.zeros(d, kind),  # the centre of what is centred already
        blas,
    )


@jit(flags=SUMS)
def reduce_pieces(parts, out):
    """out = Σ_c parts[c], in the order of c."""
    for k in range(out.shape[0]):
        for l in range(out.shape[1]):
            value = parts[0, k, l]
            for c in range(1, parts.shape[0]):
                value += parts[c, k, l]
            out[k, l] = value


@jit(flags=SUMS)
def ordered_sum(values):
    total = 0.0
    for i in range(values.shape[0]):
        total += values[i]
    return total


@both(flags=SUMS, loops=False)
def against_data(radial, slopes, address, p, S, X, centre, own, work, totals, parts, out):
    """Σφ over landmarks × points; with ``slopes`` the sums of φ'x and φ' of each landmark go to ``out``.

    ``own`` says that the points are the landmarks themselves.
    """
    pieces = parts.shape[0]
    found = out.reshape((1, *out.shape)) if pieces == 1 else parts
    data_sums(radial, slopes, address, p, S, work[6], X, centre, own, work[8], work[0], pieces, found, totals)
    if slopes and pieces > 1:
        reduce_pieces(parts, out)
    return ordered_sum(totals)


@both(flags=SUMS, loops=False)
def among_landmarks(radial, slopes, address, p, S, work, out):
    """‖K_S‖_F² = Σφ over all pairs of landmarks, and likewise the sums of slopes."""
    scratch, tiles, totals, parts, _, _, norms, zero, blas = work
    if blas:
        squared_norms(S, norms)
    if tiles.shape[0] > 0:
        landmark_sums(radial, slopes, address, p, S, norms, scratch, tiles, totals, out)
        return ordered_sum(totals)
    return against_data(radial, slopes, address, p, S, S, zero, True, work, totals, parts, out)


@jit(flags=SUMS)
def left_derivatives(radial, S, sums, out):
    """out[k] = Σ_x ∂[l]K²(s_k, x): 2(s_k Σφ' − Σφ'x) for a radial kernel, Σφ'x for a dot product."""
    d = out.shape[1]
    last = sums.shape[1] - 1
    for k in range(out.shape[0]):
        for l in range(d):
            if radial:
                out[k, l] = 2.0 * (S[k, l] * sums[k, last] - sums[k, l])
            else:
                out[k, l] = sums[k, l]


@jit(flags=SUMS)
def move(radial, S, over_landmarks, over_data, a, b, moved):
    """moved = S − a·Σ_j ∂[l]K²(s, s_j) + b·Σ_x ∂[l]K²(s, x); returns a number that is finite iff ``moved`` is."""
    last = over_data.shape[1] - 1
    check = 0.0
    for k in range(S.shape[0]):
        if radial:
            weight = 2.0 * (a * over_landmarks[k, last] - b * over_data[k, last])
            for l in range(S.shape[1]):
                value = S[k, l] - weight * S[k, l] + 2.0 * (a * over_landmarks[k, l] - b * over_data[k, l])
                moved[k, l] = value
                check += value * 0.0
        else:
            for l in range(S.shape[1]):
                value = S[k, l] - a * over_landmarks[k, l] + b * over_data[k, l]
                moved[k, l] = value
                check += value * 0.0
    return check


@jit()
def advance(previous, S, moved):
    """previous ← S ← moved."""
    a, b, c = previous.reshape(S.size), S.reshape(S.size), moved.reshape(S.size)
    for i in range(b.size):
        a[i] = b[i]
        b[i] = c[i]


@jit(flags=SUMS)
def pick(X, centre, picks, XB):
    """The points of a batch, centred."""
    for j in range(picks.shape[0]):
        for l in range(X.shape[1]):
            XB[j, l] = X[picks[j], l] - centre[l]


@both(loops=False)
def run(radial, address, p, S, X, centre, batches, first_part, iterations, step, work, buffers):
    """The one entry to all sums, so that they are compiled once. Returns (steps taken, ‖K_S‖_F², T₁).

    ``iterations`` is a number of steps of descent, taken in place until S would become non-finite; or TOTALS, to
    find only the two sums; or SLOPES, to fill the arrays of slopes in ``buffers`` too. ``address`` is the kernel's
    SLOPE loop.

    An empty ``batches`` means the exact gradient; otherwise row i holds the batch of step i, whose first
    ``first_part`` points estimate the factor T₁ of Eq. (7) and the rest everything else (0: Eq. (6)).
    """
    over_landmarks, over_data, moved, previous, XB = buffers
    N = X.shape[0]
    b = batches.shape[1]
    zero = work[7]
    slopes = iterations != TOTALS
    norm = 0.0
    t1 = 0.0
    for i in range(max(iterations, 1 if iterations < 0 else 0)):
        norm = among_landmarks(radial, slopes, address, p, S, work, over_landmarks)
        scale = 1.0
        if b > 0:
            pick(X, centre, batches[i], XB)
            rest = XB[first_part:]
            scale = N / rest.shape[0]
            t1 = scale * against_data(
                radial, slopes, address, p, S, rest, zero, False, work, work[4], work[5], over_data
            )
        else:
            t1 = against_data(radial, slopes, address, p, S, X, centre, False, work, work[4], work[5], over_data)
        if iterations < 0:
            break
        if not (np.isfinite(norm) and np.isfinite(t1)):  # the step before this one has left the finite numbers
            S[:, :] = previous
            return i - 1, norm, t1
        other = t1
        if first_part > 0:
            first = XB[:first_part]
            other = against_data(radial, False, address, p, S, first, zero, False, work, work[4], work[5], over_data)
            other *= N / first_part
        inverse = 1.0 / norm if norm > 0.0 else 0.0
        # ∂R = T₁T₁' Υ/‖K_S‖⁴ − 2 T₁'T₂/‖K_S‖² with Υ = 2 Σ_j ∂[l]K²(s_k, s_j), the term j = k being ∂[d]/2
        a = 2.0 * step * t1 * other * inverse * inverse
        c = 2.0 * step * other * inverse * scale
        if move(radial, S, over_landmarks, over_data, a, c, moved) != 0.0:
            return i, norm, t1
        advance(previous, S, moved)
    return iterations, norm, t1


# --- matrices ---------------------------------------------------------------------------------------


@both(flags=SUMS)
def fill_matrix(radial, address, p, A, B, centre, scratch, out):
    """out[k, j] = the block loop's result at the pair scalar of a_k and b_j, from differences; ``centre`` is zero."""
    n, d = A.shape
    N = B.shape[0]
    flat = out.reshape(out.size)
    for item in prange((n + FILL_ROWS - 1) // FILL_ROWS):
        wide()
        k0 = np.int64(item) * FILL_ROWS
        k1 = min(k0 + FILL_ROWS, n)
        XT = scratch[get_thread_id()]
        for start in range(0, N, FILL_COLUMNS):
            m = min(FILL_COLUMNS, N - start)
            load_columns(B, start, m, centre, XT)
            scalars(radial, flat, k0 * N + start, N, A, k0, k1 - k0, XT, m, d)
        call(address, out[k0:k1].ctypes.data, (k1 - k0) * N, p.ctypes.data)
