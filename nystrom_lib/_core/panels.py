r"""Dense linear algebra on matrices stored in panels: updates, triangular solves and a Cholesky factor.

A matrix is stored in panels of at most C columns, one after the other in a flat array; a panel has a row of C numbers
for each row of the matrix. Rows, and the columns of a panel, are padded to multiples of eight. Almost all work is done
by one loop, which subtracts from four rows a combination of eight others.

LLVM vectorises a loop along the columns if one test at run time can show that the numbers read and those written do not
overlap. Therefore the rows read and the rows written are in different arrays (eight solved rows are copied to a
buffer), the distance between two rows is the constant C, and all loads come before the stores.
"""

from __future__ import annotations

import math

import numpy as np

from .compile import SUMS, inner
from .tiles import U

C = 128  #: numbers in a row of a panel: eight such rows, 8 KB, stay in the first-level cache


def _update(along, across):
    """Make the loop for coefficients K[i, j] that are ``along`` (over j) and ``across`` (over i) apart."""

    @inner
    def update(K, p, B, b, T, o, columns):
        """T[i, k] −= Σ_j K[i, j] B[j, k] for four rows i, eight rows j and the first ``columns`` columns k.

        Four rows times eight: 12 loads and 4 stores for 32 products, and the four sums stay in registers.
        """
        p, b, o = U(p), U(b), U(o)
        for k in range(U(columns)):
            w, x, y, z = T[o + k], T[o + U(C) + k], T[o + U(2 * C) + k], T[o + U(3 * C) + k]
            for j in range(U(8)):
                v, at = B[b + j * U(C) + k], p + j * U(along)
                w -= K[at] * v
                x -= K[at + U(across)] * v
                y -= K[at + U(2 * across)] * v
                z -= K[at + U(3 * across)] * v
            T[o + k], T[o + U(C) + k], T[o + U(2 * C) + k], T[o + U(3 * C) + k] = w, x, y, z

    return update


update = _update(1, C)  #: with the coefficients of a matrix in a panel
update_transposed = _update(C, 1)  #: with those of its transpose


def _substitution(r0, r1, r2, r3, r4, r5, r6, r7):
    """Make the loop that solves eight equations, whose rows in T are at these distances from the first."""

    @inner
    def substitute(K, p, T, o, B, b, columns):
        """Solve L X = T with a lower triangle L of eight rows at K[p], the reciprocals of its diagonal in their place.

        X overwrites T, and is copied to B. No matrix is inverted: the error is that of a substitution.
        """
        p, o, b = U(p), U(o), U(b)
        for k in range(U(columns)):
            q, s = o + k, b + k
            x0 = T[q + U(r0)] * K[p]
            x1 = (T[q + U(r1)] - K[p + U(8)] * x0) * K[p + U(9)]
            x2 = (T[q + U(r2)] - K[p + U(16)] * x0 - K[p + U(17)] * x1) * K[p + U(18)]
            x3 = T[q + U(r3)] - K[p + U(24)] * x0 - K[p + U(25)] * x1 - K[p + U(26)] * x2
            x3 = x3 * K[p + U(27)]
            x4 = T[q + U(r4)] - K[p + U(32)] * x0 - K[p + U(33)] * x1 - K[p + U(34)] * x2 - K[p + U(35)] * x3
            x4 = x4 * K[p + U(36)]
            x5 = T[q + U(r5)] - K[p + U(40)] * x0 - K[p + U(41)] * x1 - K[p + U(42)] * x2 - K[p + U(43)] * x3
            x5 = (x5 - K[p + U(44)] * x4) * K[p + U(45)]
            x6 = T[q + U(r6)] - K[p + U(48)] * x0 - K[p + U(49)] * x1 - K[p + U(50)] * x2 - K[p + U(51)] * x3
            x6 = (x6 - K[p + U(52)] * x4 - K[p + U(53)] * x5) * K[p + U(54)]
            x7 = T[q + U(r7)] - K[p + U(56)] * x0 - K[p + U(57)] * x1 - K[p + U(58)] * x2 - K[p + U(59)] * x3
            x7 = (x7 - K[p + U(60)] * x4 - K[p + U(61)] * x5 - K[p + U(62)] * x6) * K[p + U(63)]
            T[q + U(r0)], T[q + U(r1)], T[q + U(r2)], T[q + U(r3)] = x0, x1, x2, x3
            T[q + U(r4)], T[q + U(r5)], T[q + U(r6)], T[q + U(r7)] = x4, x5, x6, x7
            B[s + U(r0)], B[s + U(r1)], B[s + U(r2)], B[s + U(r3)] = x0, x1, x2, x3
            B[s + U(r4)], B[s + U(r5)], B[s + U(r6)], B[s + U(r7)] = x4, x5, x6, x7

    return substitute


_rows = [i * C for i in range(8)]
substitute = _substitution(*_rows)  #: downwards, from the first row
substitute_back = _substitution(*_rows[::-1])  #: upwards, from the last


@inner
def factor_block(F, o, K, p):
    """The 8 × 8 block UᵀU at F[o] becomes U, and K[p] and K[p + 64] the triangles of the two substitutions.

    Returns the smallest pivot, or −1 if one is not positive.
    """
    least = np.inf
    for i in range(8):
        row = o + i * C
        for q in range(o, row, C):
            for j in range(i, 8):
                F[row + j] -= F[q + i] * F[q + j]
        least = min(least, F[row + i])
        if not least > 0.0:
            return -1.0
        inverse = 1.0 / math.sqrt(F[row + i])
        for j in range(i, 8):
            F[row + j] *= inverse
            K[p + 8 * j + i] = F[row + j]
            K[p + 64 + 8 * (7 - i) + 7 - j] = F[row + j]
        K[p + 9 * i] = K[p + 64 + 9 * (7 - i)] = inverse
    return least


@inner
def copy_rows(A, a, B, b, columns):
    """Copy eight rows of a panel."""
    for i in range(8):
        p, q = U(a + i * C), U(b + i * C)
        for k in range(U(columns)):
            B[q + k] = A[p + k]


@inner
def factor_rows(F, K, n, size, I, B, b):
    """The rows of W with their diagonal in the panel I become those of U in this panel; the rows before them are.

    Returns the smallest pivot, or −1 if one is not positive.
    """
    start, stop = I * size, min((I + 1) * size, n)
    o, columns, least = I * n * C, stop - start, np.inf
    for r in range(0, stop, 8):
        row, done = o + r * C, max(r + 8 - start, 0)  # columns up to the diagonal
        if r < start:
            copy_rows(F, row, B, b, columns)
        else:
            least = min(least, factor_block(F, row + r - start, K, 16 * r))
            if least < 0.0:
                return least
            substitute(K, 16 * r, F, row + done, B, b + done, columns - done)
        for q in range(max(start, r + 8), stop, 4):
            left = (q - start) // 8 * 8  # below the diagonal nothing is needed
            update_transposed(F, row + q - start, B, b + left, F, o + q * C + left, columns - left)
    return least


@inner
def forward(F, K, n, size, T, o, columns, start, stop, B, b):
    """Solve Uᵀ X = T for the rows ``start`` to ``stop`` of the panel at T[o]; those before them are solved for."""
    for r in range(0, stop, 8):
        row = o + r * C
        if r < start:
            copy_rows(T, row, B, b, columns)
        else:
            substitute(K, 16 * r, T, row, B, b, columns)
        across = (start // size * n + r) * C - start
        for q in range(max(start, r + 8), stop, 4):
            update_transposed(F, across + q, B, b, T, o + q * C, columns)


@inner
def backward(F, K, n, size, T, o, columns, start, stop, B, b):
    """Solve U X = T for the rows ``start`` to ``stop`` of the panel at T[o]; those after them are solved for."""
    for r in range(n - 8, start - 1, -8):
        row = o + r * C
        if r >= stop:
            copy_rows(T, row, B, b, columns)
        else:
            substitute_back(K, 16 * r + 64, T, row, B, b, columns)
        down = r // size * n * C + r % size
        for q in range(start, min(r, stop), 4):
            update(F, down + q * C, B, b, T, o + q * C, columns)


@inner(flags=SUMS)
def dots(A, a, B, b, columns, out, o, stride):
    """out[o + i·stride + j] += Σ_k A[a + iC + k] B[b + jC + k] for four i and four j: 8 loads for 16 products."""
    s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = 0.0
    a, b = U(a), U(b)
    for k in range(U(columns)):
        w, x, y, z = B[b + k], B[b + U(C) + k], B[b + U(2 * C) + k], B[b + U(3 * C) + k]
        p, q, r, s = A[a + k], A[a + U(C) + k], A[a + U(2 * C) + k], A[a + U(3 * C) + k]
        s00, s01, s02, s03 = s00 + p * w, s01 + p * x, s02 + p * y, s03 + p * z
        s10, s11, s12, s13 = s10 + q * w, s11 + q * x, s12 + q * y, s13 + q * z
        s20, s21, s22, s23 = s20 + r * w, s21 + r * x, s22 + r * y, s23 + r * z
        s30, s31, s32, s33 = s30 + s * w, s31 + s * x, s32 + s * y, s33 + s * z
    rows = (s00, s01, s02, s03), (s10, s11, s12, s13), (s20, s21, s22, s23), (s30, s31, s32, s33)
    for i in range(4):
        for j in range(4):
            out[U(o + i * stride + j)] += rows[i][j]
