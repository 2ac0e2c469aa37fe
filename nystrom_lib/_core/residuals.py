r"""Features of points, :math:`f(x) = \mathbf L^{-1}\mathbf k(x)` with :math:`\mathbf K_S = \mathbf L\mathbf L^T`, and
the residuals :math:`K(x, x) - \|f(x)\|^2` of a Nyström approximation.
"""

from __future__ import annotations

import numpy as np

from .compile import entry
from .panels import C, forward
from .tiles import ALL, EQUAL, U, aligned, cut, tile_loops, up

load, scalars = tile_loops(C)
POINTS: int = C  #: of a panel


def pack(L: np.ndarray) -> tuple[int, int, np.ndarray, np.ndarray]:
    """A lower factor as :func:`.panels.forward` reads it.

    Returns its rows in eights, the columns of a panel, Lᵀ in panels, and its diagonal blocks.
    """
    r, n, size = len(L), up(len(L), 8), cut(len(L), POINTS)
    upper = np.eye(n)
    upper[:r, :r] = L.T
    F = np.zeros((-(-n // size), n, POINTS))
    for J, panel in enumerate(F):
        columns = upper[:, J * size : (J + 1) * size]
        panel[:, : columns.shape[1]] = columns
    K = np.zeros((n // 8, 2, 8, 8))
    for i, (block, _) in enumerate(K):
        block[:] = upper[8 * i : 8 * i + 8, 8 * i : 8 * i + 8].T
        np.fill_diagonal(block, 1.0 / np.diag(block))
    return n, size, F.ravel(), K.ravel()


def tiles_of(points: np.ndarray) -> np.ndarray:
    """Landmarks in tiles, with even numbers of coordinates and rows of weights."""
    r, d = points.shape
    size, even = cut(r, POINTS), up(d, 2)
    T = aligned(-(-r // size), even + 1, POINTS)
    for J, tile in enumerate(T):
        tile[:d, :size] = points[np.minimum(np.arange(J * size, (J + 1) * size), r - 1)].T
    return T.ravel()


@entry
def features(first, count, step, radial, block, p, X, centre, r, n, size, S, F, K, diagonal, found, residual):
    """Residuals of all points, by panels of POINTS points; their features as well, if ``found`` has rows."""
    even = up(X.shape[1], 2)
    T, B, P = np.zeros(n * POINTS), np.zeros(8 * POINTS), np.zeros((even + 1) * POINTS)
    explained = np.zeros(POINTS)
    for panel in range(first, count, step):
        start = panel * POINTS
        m = min(POINTS, X.shape[0] - start)
        c = load(X, ALL, EQUAL, start, m, centre, even, P, 0)
        for row in range(0, n, 8):
            scalars(radial, S, row // size * (even + 1) * POINTS + row % size, 8, P, 0, c, even, T, row * POINTS)
        block(T, 0, n, POINTS, c, p)
        for i in range(U(r * POINTS), U(n * POINTS)):
            T[i] = 0.0
        for s in range(0, n, size):
            forward(F, K, n, size, T, 0, c, s, min(s + size, n), B, 0)
        for k in range(U(c)):
            explained[k] = 0.0
        for j in range(U(r)):
            for k in range(U(c)):
                explained[k] += T[j * U(POINTS) + k] * T[j * U(POINTS) + k]
        for k in range(m):
            residual[start + k] = max(diagonal[start + k] - explained[k], 0.0)
        if found.shape[0] > 0:
            for k in range(m):
                for j in range(r):
                    found[start + k, j] = T[j * POINTS + k]
