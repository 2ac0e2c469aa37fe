r"""Shared by all loops over pairs: exp, tiles of points, and the distances or inner products between them.

A tile holds at most C points in a flat array: a row of C numbers for each coordinate, zeros up to an even number d of
coordinates, then a row of weights. Padding: copies of the last point, with weight 0, fill a tile up to a multiple of
eight points, so that a kernel is only evaluated at pairs that occur.

LLVM vectorises along the columns of a tile. This needs inner loops of constant length over
coordinates and rows, which it unrolls; rows of constant length, so that one test shows that nothing overlaps; and
unsigned indices, for which numba does not test whether they are negative.
"""

import math
from functools import cache

import numpy as np

from .compile import inner

U = np.uintp
ALL, EQUAL = np.empty(0, np.int64), np.empty(0)  #: instead of picks and weights: all points, with weights of 1


@inner
def exp(x, rate):
    """e^(rate·x), at most e^709, in a form that LLVM can vectorise (numba's own calls libm).

    With rate·x·log₂e = k + f, |f| ≤ ½, it is 2^k·2^f. The polynomial is near-minimax for 2^f, with a relative error of
    4e-18. The relative error of the result is one unit in the last place, plus the effect of one in that of x.
    """
    y = x * (rate * 1.4426950408889634)
    t = y + 6755399441055744.0  # 1.5 · 2^52: rounds to an integer, which then is in the low bits
    k = t - 6755399441055744.0
    f = y - k
    p = 4.4558199665721414e-10
    for c in (7.0741981587913455e-09, 1.017805707615539e-07, 1.3215432514189648e-06, 1.5252733841579287e-05,
              0.00015403530463766596, 0.0013333558146406451, 0.009618129107587223, 0.055504108664821625,
              0.2402265069591016, 0.6931471805599453, 1.0):  # fmt: skip
        p = p * f + c
    scaled = np.int64(np.float64(p).view(np.int64) + (np.float64(t).view(np.int64) << 52)).view(np.float64)
    return 0.0 if k < -1021.0 else scaled  # a NaN compares false and is returned


@inner
def up(size, step):
    """The next multiple of ``step``."""
    return -(-size // step) * step


def cut(count: int, most: int) -> int:
    """The length of the fewest equal pieces of at most ``most``, rounded up to a multiple of eight."""
    return int(up(-(-count // -(-count // most)), 8))


def aligned(*shape: int) -> np.ndarray:
    """Zeros that begin on a cache line: loading a vector that straddles two lines takes twice as long."""
    line = 8  # numbers
    flat = np.zeros(math.prod(shape) + line)
    start = -(flat.ctypes.data // flat.itemsize) % line
    return flat[start : start + math.prod(shape)].reshape(shape)


def scalar_loop(together, C, radial):
    """A function that adds ``together`` coordinates to the pair scalars of four rows of A and c columns of B."""

    @inner
    def scalars(more, A, a, B, b, c, t, o):
        a, b, o = U(a), U(b), U(o)
        for k in range(U(c)):
            w = x = y = z = 0.0
            if more:
                w, x, y, z = t[o + k], t[o + U(C) + k], t[o + U(2 * C) + k], t[o + U(3 * C) + k]
            for i in range(U(together)):
                v, p = B[b + i * U(C) + k], a + i * U(C)
                if radial:
                    w += (v - A[p]) * (v - A[p])
                    x += (v - A[p + U(1)]) * (v - A[p + U(1)])
                    y += (v - A[p + U(2)]) * (v - A[p + U(2)])
                    z += (v - A[p + U(3)]) * (v - A[p + U(3)])
                else:
                    w += v * A[p]
                    x += v * A[p + U(1)]
                    y += v * A[p + U(2)]
                    z += v * A[p + U(3)]
            t[o + k], t[o + U(C) + k], t[o + U(2 * C) + k], t[o + U(3 * C) + k] = w, x, y, z

    return scalars


@cache  # so that numba compiles them once for all entries
def tile_loops(C):
    """The functions that fill tiles with rows of C numbers and find the pair scalars between them."""
    four, two = scalar_loop(4, C, True), scalar_loop(2, C, True)
    four_products, two_products = scalar_loop(4, C, False), scalar_loop(2, C, False)

    @inner
    def load(X, picks, weights, first, m, centre, d, T, o):
        """Fill the tile at T[o] with m points of X, from the ``first`` on, and return their number in eights.

        ``picks`` are indices of points, and ``weights`` their weights; empty arrays mean all points and weights of 1.
        """
        rows = (m + 7) // 8 * 8
        for j in range(rows):
            place = first + min(j, m - 1)
            i = U(picks[place] if picks.size > 0 else place)
            for l in range(U(X.shape[1])):
                T[U(o + j) + l * U(C)] = X[i, l] - centre[l]
            weight = weights[place] if weights.size > 0 else 1.0
            T[o + d * C + j] = weight if j < m else 0.0
        return rows

    @inner
    def scalars(radial, A, a, rows, B, b, c, d, t, o):
        """t[o + jC + k] = ‖A[a + j] − B[b + k]‖² or ⟨A[a + j], B[b + k]⟩: four coordinates at a time, then two."""
        for j in range(0, rows, 4):
            for l in range(0, d - 2, 4):
                if radial:
                    four(l > 0, A, a + j + l * C, B, b + l * C, c, t, o + j * C)
                else:
                    four_products(l > 0, A, a + j + l * C, B, b + l * C, c, t, o + j * C)
            if d % 4 == 2:
                if radial:
                    two(d > 2, A, a + j + (d - 2) * C, B, b + (d - 2) * C, c, t, o + j * C)
                else:
                    two_products(d > 2, A, a + j + (d - 2) * C, B, b + (d - 2) * C, c, t, o + j * C)

    return load, scalars
