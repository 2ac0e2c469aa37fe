"""Points and the landmarks nearest to them; sums over those nearest to each; landmarks far from each other."""

from __future__ import annotations

import numpy as np
from numba import get_thread_id

from .compile import ORDERED, SUMS, jit, wide
from .pairs import BUFFER, U, by_norms, column_norms, load_columns, scalars
from .stages import Stage, read

POINTS = 64  #: points of a tile, a column each
LANDMARKS = BUFFER // POINTS  #: landmarks of a tile, a row each
STRIP = 1024  #: points whose distances to a new landmark are found together


@Stage
def nearest(item, _start, _count, note):
    """labels[i] = which landmark (row of S, centred) is nearest to point i, the first of several; squares[i] = ‖·‖².

    Of a tile of POINTS points.
    """
    wide()
    X, centre, S, norms, scratch, labels, squares = read(note)
    N, d = X.shape
    n = S.shape[0]
    slot = get_thread_id()
    start = item * POINTS
    m = min(POINTS, N - start)
    XT, norms_x, t = scratch[0][slot], scratch[1][slot], scratch[2][slot]
    load_columns(X, start, m, centre, XT)
    if by_norms(True, d):
        column_norms(XT, m, norms_x)
    label, square = labels[start : start + m], squares[start : start + m]
    for j in range(m):
        label[j] = 0
        square[j] = np.inf
    for first in range(0, n, LANDMARKS):
        rows = min(LANDMARKS, n - first)
        scalars(True, t, S, first, norms, rows, XT, norms_x, 0, m, d)
        for k in range(rows):
            row = t[k * m : (k + 1) * m]
            for l in range(m):
                j = U(l)
                closer = row[j] < square[j]
                square[j] = row[j] if closer else square[j]
                label[j] = first + k if closer else label[j]


def make_scratch(slots: int, d: int) -> tuple[np.ndarray, ...]:
    """For each thread a tile of points as columns, their norms, and pair scalars."""
    return np.zeros((slots, d, POINTS)), np.empty((slots, POINTS)), np.empty((slots, BUFFER))


@jit(flags=ORDERED)
def cell_sums(X, centre, labels, sums, counts):
    """sums[k] += x − centre and counts[k] += 1 for each point x labelled k."""
    for i in range(X.shape[0]):
        k = labels[i]
        counts[k] += 1
        for l in range(X.shape[1]):
            sums[k, l] += X[i, l] - centre[l]


@jit(flags=SUMS)
def spread(XT, draws, picks):
    """Picks with probability proportional to the squared distance to those before, starting from picks[0].

    ``XT`` has a point in each column, ``draws`` a uniform number for each further pick. Returns how many were picked:
    fewer than asked for only when all points are copies of them.
    """
    wide()
    d, N = XT.shape
    squares = np.full(N, np.inf)
    strips = np.empty((N + STRIP - 1) // STRIP)
    t = np.empty(STRIP)
    for k in range(1, picks.size):
        last = picks[k - 1]
        total = 0.0
        for strip in range(strips.size):
            start = strip * STRIP
            m = min(STRIP, N - start)
            square = squares[start : start + m]
            for j in range(m):
                t[j] = 0.0
            for l in range(d):
                row, s = XT[l, start : start + m], XT[l, last]
                for i in range(m):
                    j = U(i)
                    t[j] += (row[j] - s) * (row[j] - s)
            strip_total = 0.0
            for i in range(m):
                j = U(i)
                closest = t[j] if t[j] < square[j] else square[j]
                square[j] = closest
                strip_total += closest
            strips[strip] = strip_total
            total += strip_total
        picks[k] = pick(squares, strips, draws[k - 1] * total)
        if picks[k] < 0:
            return k
    return picks.size


@jit(flags=ORDERED)
def pick(weights, strips, threshold):
    """Where the running sum of the weights passes the threshold, −1 if none is positive."""
    before = 0.0
    chosen = -1
    for strip in range(strips.size):
        if strips[strip] > 0.0:
            inside = before
            for i in range(strip * STRIP, min((strip + 1) * STRIP, weights.size)):
                if weights[i] > 0.0:
                    chosen = i
                    inside += weights[i]
                    if inside > threshold:
                        return i
        before += strips[strip]
    return chosen
