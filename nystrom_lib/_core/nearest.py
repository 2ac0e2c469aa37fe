"""The nearest landmark of each point, and the distance of all points from one that is added."""

import numpy as np

from .compile import entry
from .panels import C
from .residuals import load, scalars
from .tiles import ALL, EQUAL, U, up


@entry
def nearest(first, count, step, X, centre, n, size, S, labels):
    """Which of n landmarks is nearest to each point, the first of several.

    By panels of C points; the landmarks are in tiles of ``size``.
    """
    even = up(X.shape[1], 2)
    P, t, label, square = np.zeros((even + 1) * C), np.zeros(8 * C), np.zeros(C), np.zeros(C)
    for panel in range(first, count, step):
        start = panel * C
        m = min(C, X.shape[0] - start)
        c = load(X, ALL, EQUAL, start, m, centre, even, P, 0)
        for k in range(U(c)):
            label[k], square[k] = 0.0, np.inf
        for row in range(0, n, 8):
            scalars(True, S, row // size * (even + 1) * C + row % size, 8, P, 0, c, even, t, 0)
            for i in range(min(8, n - row)):
                for k in range(U(c)):
                    q = t[U(i * C) + k]
                    closer = q < square[k]
                    square[k] = q if closer else square[k]
                    label[k] = row + i if closer else label[k]
        for k in range(m):
            labels[start + k] = label[k]


@entry
def approach(columns, pick, squares):
    """squares[j] ← min(squares[j], ‖x_j − x_pick‖²) for points in columns."""
    d, N = columns.shape
    found = np.zeros(N)
    for l in range(d):
        for j in range(U(N)):
            gap = columns[l, j] - columns[l, pick]
            found[j] += gap * gap
    for j in range(U(N)):
        squares[j] = found[j] if found[j] < squares[j] else squares[j]
