r"""Weighted sums of K² over points, and of its left derivatives, for each landmark apart.

The loops of :mod:`.pairs` find :math:`\sum\varphi` of all landmarks together, which is all the radial SKD needs. Here,
with κ and κ' of a tile at once, :math:`\varphi = \kappa^2`, :math:`\varphi' = 2\kappa\kappa'` and weights :math:`w_x`,
each landmark has its own

.. math:: \sum_x w_x\,\varphi(t), \qquad \sum_x w_x\,\varphi'(t)\,x, \qquad \sum_x w_x\,\varphi'(t).
"""

from __future__ import annotations

import numpy as np
from numba import get_thread_id

from .compile import ORDERED, inner, wide
from .pairs import (
    BUFFER,
    PARTS,
    PIECES,
    aligned,
    augmented,
    by_norms,
    call,
    clear,
    gather,
    load_points,
    row_norms,
    scalars,
    tile_size,
)
from .stages import Stage, read
from .vectors import address


def make_work(slots: int, n: int, points: int, d: int) -> tuple[np.ndarray, ...]:
    """A tile for each thread, its points and their norms; and the sums of each piece of the points."""
    width, size = augmented(d), tile_size(n)
    tiles = (n + size - 1) // size
    pieces = max(1, min(PIECES, n * points // 40_000, points // 48, PARTS // (width * n)))
    like = np.empty(0)
    return (
        aligned(slots, 2 * BUFFER, like), aligned(slots, BUFFER // 8 * width, like), aligned(slots, BUFFER // 8, like),
        np.empty((pieces, tiles, size)), np.empty((pieces, tiles, width, size)),
    )  # fmt: skip


@inner(flags=ORDERED)
def squares_and_slopes(t, m, n, weights, start, sums):
    """κ' and κ, the two halves of t, become wφ' in the first; the sums of wφ are added to."""
    half = m * n
    for j in range(m):
        w = weights[start + j] if weights.size > 0 else 1.0
        slopes, row = t[j * n : (j + 1) * n], t[half + j * n : half + (j + 1) * n]
        for k in range(n):
            kappa = row[k]
            sums[k] += w * kappa * kappa
            slopes[k] *= 2.0 * w * kappa


@Stage
def weighted_sums(piece, _start, _count, note):
    """Fill the sums of a piece from its points of X, or of those that ``picks`` names.

    ``weights`` has one for each point, or is empty: then all are 1. ``loop`` is where the kernel's TANGENT loop lies.
    """
    wide()
    radial, loop, p, X, picks, weights, centre, n, ST, norms_s, work = read(note)
    tiles, d, size = ST.shape
    N = picks.size if picks.size > 0 else X.shape[0]
    width = augmented(d)
    block = BUFFER // max(size, 8)
    values, slopes = work[3], work[4]
    pieces = values.shape[0]
    slot = get_thread_id()
    t, norms = work[0][slot], work[2][slot]
    XA = work[1][slot][: block * width].reshape((block, width))
    clear(values[piece])
    clear(slopes[piece])
    stop = (piece + 1) * N // pieces
    for start in range(piece * N // pieces, stop, block):
        m = min(block, stop - start)
        load_points(X, picks, start, m, centre, XA)
        if by_norms(radial, d):
            row_norms(XA, m, d, norms)
        for J in range(tiles):
            columns = min(size, n - J * size)
            scalars(radial, t[m * columns :], XA, 0, norms, m, ST[J], norms_s, J * size, columns, d)
            call(loop, address(t), m * columns, address(p))
            squares_and_slopes(t, m, columns, weights, start, values[piece, J])
            gather(t, m, columns, XA, 0, slopes[piece, J])
