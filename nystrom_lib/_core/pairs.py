r"""Sums over pairs (point, landmark): everything that the radial SKD and its descents are made of.

With :math:`K^2(s, x) = \varphi(t)`, where :math:`t = \|s-x\|^2` (``radial``) or :math:`t = \langle s, x\rangle`,
one pass over the pairs gives for each landmark :math:`s_k`

.. math:: \sum_x w_x\varphi'(t)\,x\;(\in\mathbb R^d), \qquad \sum_x w_x\varphi'(t), \qquad \sum_x w_x\varphi(t).

Every derivative in the paper is a combination of these. Landmarks are in tiles of at most C (see :mod:`.tiles`), with
a row of zeros after the weights; so are their sums, d rows for Σφ'x, one for Σφ' and one for Σφ. Coordinates are taken
relative to ``centre``, without which sums of φ'x would lose the digits of a common offset.

Results are deterministic: pairs of tiles are divided into parts, whose number depends on the sizes alone and whose sums
are added in order, so that the number of threads does not matter.
"""

import numpy as np

from .compile import SUMS, entry, inner
from .profiles import LENGTH
from .tiles import ALL, EQUAL, U, tile_loops, up

C = LENGTH  #: points of a tile: C × C pair scalars, 32 KiB in float64, fit the first-level cache
PARTS = 8  #: parts at most
PAIRS = 40_000  #: pairs in a part, at least: waking a thread for fewer takes longer
NUMBERS = 2**19  #: numbers in the sums of all parts, so that they fit the second-level cache
load, scalars = tile_loops(C)
#: Columns and rows of a tile of a matrix: 32 KiB, and as long as a panel, so that numba compiles these loops only once.
LONG, ROWS = 128, 32
load_long, scalars_long = tile_loops(LONG)
TOTALS, SLOPES, ADD, MOVE = 1, 2, 4, 8  #: what :func:`run` does: sums of φ; of φ' as well; add the parts up; a step


@inner
def gather(t, A, a, rows, d, G, g, c):
    """G[l, k] += Σ_j t[j, k] A[l, j], two coordinates and eight rows at a time."""
    for l in range(0, d, 2):
        for j in range(0, rows, 8):
            p, q, o = U(a + l * C + j), U(j * C), U(g + l * C)
            for k in range(U(c)):
                x, y = G[o + k], G[o + U(C) + k]
                for i in range(U(8)):
                    v = t[q + i * U(C) + k]
                    x += v * A[p + i]
                    y += v * A[p + i + U(C)]
                G[o + k], G[o + U(C) + k] = x, y


@inner(flags=SUMS)
def gather_back(t, B, b, rows, d, G, g, c):
    """G[l, j] += Σ_k t[j, k] B[l, k]: the other side of a pair of tiles, two coordinates and four rows at a time."""
    for l in range(0, d + 1, 2):
        for j in range(0, rows, 4):
            q, s, o = U(j * C), U(b + l * C), U(g + l * C + j)
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
            for k in range(U(c)):
                x, y = B[s + k], B[s + U(C) + k]
                u, v, w, z = t[q + k], t[q + U(C) + k], t[q + U(2 * C) + k], t[q + U(3 * C) + k]
                a0, a1, a2, a3 = a0 + u * x, a1 + v * x, a2 + w * x, a3 + z * x
                b0, b1, b2, b3 = b0 + u * y, b1 + v * y, b2 + w * y, b3 + z * y
            for i, sums in enumerate(((a0, a1, a2, a3), (b0, b1, b2, b3))):
                for r in range(4):
                    G[o + U(i * C + r)] += sums[r]


@inner
def pair(radial, block, p, slopes, A, a, rows, B, b, c, d, times, t, G, g):
    """Add a tile of points A to the sums of a tile of landmarks B, which begin at G[g]; those of φ count ``times``."""
    scalars(radial, A, a, rows, B, b, c, d, t, 0)
    block(t, A, a + d * C, times, rows, G, g + d * C, c, p)
    if slopes:
        gather(t, A, a, rows, d, G, g, c)


@inner
def part_sums(part, parts, radial, block, p, slopes, among, X, picks, weights, first, last, estimated, centre, n, size,
              rows_at_once, d, S, t, P, G):  # fmt: skip
    """Every parts-th pair of tiles: of landmarks, if ``among``, and of points ``first`` to ``last`` and landmarks.

    The sums over landmarks come first in G, then those over points. For the points before ``estimated`` only φ and φ'
    are summed, in the last two rows of each tile.
    """
    n8, tile, tiles, job = up(n, 8), (d + 2) * C, -(-n // size), 0
    for i in range(G.size):
        G[i] = 0.0
    if among:
        for I in range(tiles):
            rows = min(size, n8 - I * size)
            for J in range(I, tiles):
                job += 1
                if job % parts == part:
                    times, c = 2.0 if I < J else 1.0, min(size, n8 - J * size)
                    pair(radial, block, p, slopes, S, I * tile, rows, S, J * tile, c, d, times, t, G, J * tile)
                    if I < J and slopes:
                        gather_back(t, S, J * tile, rows, d, G, I * tile, min(size, n - J * size))
    while first < last:
        stop = min(first + rows_at_once, last if first >= estimated else estimated)
        job += 1
        if job % parts == part:
            rows = load(X, picks, weights, first, stop - first, centre, d, P, 0)
            for J in range(tiles):
                whole, c = first >= estimated, min(size, n8 - J * size)
                g = (tiles + J) * tile if whole else 2 * tiles * tile + 2 * J * C - d * C
                pair(radial, block, p, slopes and whole, P, 0, rows, S, J * tile, c, d, 1.0, t, G, g)
        first = stop


@inner
def total(n, size, G, g, stride):
    """Σ of a row of sums of φ."""
    result = 0.0
    for k in range(n):
        result += G[g + k // size * stride + k % size]
    return result


@inner
def move(radial, n, size, d, S, a, b, G, moved):
    """moved = S − a·Σ_j ∂[l]K²(s, s_j) + b·Σ_x ∂[l]K²(s, x); returns whether every number is finite."""
    lost, after = 0.0, -(-n // size) * (d + 2) * C
    for J in range(-(-n // size)):
        for l in range(d):
            x, w, o = U(J * (d + 2) * C + l * C), U((J * (d + 2) + d) * C), U(after)
            for k in range(U(min(size, up(n, 8) - J * size))):
                value = a * G[x + k] - b * G[x + o + k]
                if radial:
                    weight = a * G[w + k] - b * G[w + o + k]
                    value = 2.0 * (weight * S[x + k] - value)
                value = S[x + k] - value
                moved[x + k] = value
                lost += 0.0 * value  # NaN for a NaN and for infinities
    return lost == 0.0


@entry
def run(first_part, parts, every, iteration, iterations, todo, radial, block, p, among, X, picks, weights, batch,
        estimating, centre, n, size, rows_at_once, d, step, landmarks, now, t, P, G):  # fmt: skip
    """The sums of the parts range(first_part, parts, every); with ADD and MOVE the steps of a descent.

    ``landmarks`` holds the present ones, at index ``now[0]``, and those before the last step. A step is estimated from
    ``batch`` picks (0: all points), of which the first ``estimating`` estimate the factor T₁ of Eq. (7) and the rest
    everything else (0: Eq. (6)). Returns the number of steps taken before the sample became
    non-finite, ‖K_S‖_F² and T₁.
    """
    N, tile, tiles = X.shape[0], (d + 2) * C, -(-n // size)
    points = batch if batch > 0 else N
    scale, norm, t1 = N / (points - estimating), 0.0, 0.0
    for done in range(iterations):
        start = (iteration + done) * batch
        for part in range(first_part, parts, every):
            part_sums(
                part, parts, radial, block, p, todo & SLOPES > 0, among, X, picks, weights, start, start + points,
                start + estimating, centre, n, size, rows_at_once, d, landmarks[now[0]], t[part], P[part], G[part],
            )  # fmt: skip
        if todo & ADD == 0:
            continue
        sums = G[0]
        for part in range(1, parts):
            for i in range(U(sums.size)):
                sums[i] += G[part, i]
        norm = total(n, size, sums, (d + 1) * C, tile)
        t1 = scale * total(n, size, sums, (tiles * (d + 2) + d + 1) * C, tile)
        if todo & MOVE == 0:
            continue
        if not (np.isfinite(norm) and np.isfinite(t1)):  # the step before this one has diverged
            now[0] = 1 - now[0]
            return done - 1, norm, t1
        other = t1
        if estimating > 0:
            other = N / estimating * total(n, size, sums, 2 * tiles * tile + C, 2 * C)
        inverse = 1.0 / norm if norm > 0.0 else 0.0
        # ∂R = T₁T₁' Υ/‖K_S‖⁴ − 2 T₁'T₂/‖K_S‖² with Υ = 2 Σ_j ∂[l]K²(s_k, s_j), the term j = k being ∂[d]/2
        a, b = 2.0 * step * t1 * other * inverse * inverse, 2.0 * step * other * inverse * scale
        if not move(radial, n, size, d, landmarks[now[0]], a, b, sums, landmarks[1 - now[0]]):
            return done, norm, t1
        now[0] = 1 - now[0]
    return iterations, norm, t1


@entry
def fill(first, count, every, radial, block, p, A, B, out):
    """Strips of ROWS rows of out[k, j] = block(pair scalar of a_k and b_j), from the ``first`` on."""
    d = up(A.shape[1], 2)
    t, S, P = np.zeros(ROWS * LONG), np.zeros((d + 1) * LONG), np.zeros((d + 1) * LONG)
    centre = np.zeros(A.shape[1])
    for strip in range(first, count, every):
        start = strip * ROWS
        rows = load_long(A, ALL, EQUAL, start, min(ROWS, A.shape[0] - start), centre, d, S, 0)
        for k in range(0, B.shape[0], LONG):
            c = load_long(B, ALL, EQUAL, k, min(LONG, B.shape[0] - k), centre, d, P, 0)
            scalars_long(radial, S, 0, rows, P, 0, c, d, t, 0)
            block(t, 0, rows, LONG, c, p)
            for i in range(min(ROWS, A.shape[0] - start)):
                for j in range(min(LONG, B.shape[0] - k)):
                    out[start + i, k + j] = t[i * LONG + j]


@entry
def apply(block, t, p):
    """Run a block over a whole array."""
    block(t, 0, 1, 0, t.size, p)


def parts_for(n: int, points: int, sums: int) -> int:
    """The number of parts for n landmarks and some points, each with ``sums`` numbers."""
    affordable = max(1, NUMBERS // sums, min(n // 256, 16 * NUMBERS // sums))
    return max(1, min(PARTS, n * (n // 2 + points) // PAIRS, affordable))
