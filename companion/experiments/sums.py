"""Sums over the data, block by block, so that the data may be a memory map larger than memory.

Blocks have a fixed size, and their sums are added exactly rounded and in order: the result depends neither on the
number of threads nor on who added up which block. Data of one block, as in most of the paper, are not cut at all.
"""

from __future__ import annotations

import math

import nystrom_lib as nl

from .outcome import Array

Rows = tuple[int, int]

#: Rows of a block. Do not change it: stored results depend on it.
BLOCK_ROWS = 2**15


def blocks(rows: int) -> list[Rows]:
    """First and last row of each block.

    Examples
    --------
    >>> blocks(100_000)
    [(0, 32768), (32768, 65536), (65536, 98304), (98304, 100000)]
    """
    return [(start, min(start + BLOCK_ROWS, rows)) for start in range(0, rows, BLOCK_ROWS)]


def squared_norm(kernel: nl.Kernel, data: Array) -> float:
    """‖K‖_F²: each block with itself and, twice, with all that follow it."""
    return math.fsum(_squares(kernel, data, rows) for rows in blocks(len(data)))


def _squares(kernel: nl.Kernel, data: Array, rows: Rows) -> float:
    block, rest = data[slice(*rows)], data[rows[1] :]
    squares = float(nl.squared_frobenius_norm(kernel, block))
    # c_S, Eq. (9), with the block as the sample is the sum over the pairs divided by that.
    return squares * (1.0 + 2.0 * float(nl.skd_coefficient(kernel, rest, block))) if len(rest) else squares


def radial_skd(kernel: nl.Kernel, data: Array, sample: Array, squared_norm: float | None) -> float:
    """R(S), Eq. (3), without ‖K‖_F² if that is None. With c_S, Eq. (9), R = ‖K‖_F² − c_S² ‖K_S‖_F²."""
    parts = blocks(len(data))
    if len(parts) == 1:
        return float(nl.radial_skd(kernel, data, sample, constant=False if squared_norm is None else squared_norm))
    coefficient = math.fsum(float(nl.skd_coefficient(kernel, data[slice(*rows)], sample)) for rows in parts)
    return (squared_norm or 0.0) - coefficient**2 * float(nl.squared_frobenius_norm(kernel, sample))


def nystrom_errors(
    kernel: nl.Kernel, data: Array, sample: Array, norms: tuple[str, ...], matrix: Array | None
) -> dict[str, float]:
    """The norms of K − K̂(S) and the rank of K̂(S). The trace norm is a sum over the data, the others are not."""
    if len(data) <= BLOCK_ROWS or norms != ("trace",):
        errors = nl.nystrom_errors(kernel, data, sample, norms=norms, matrix=matrix)
        return {name: float(getattr(errors, name)) for name in (*norms, "rank")}
    errors = nl.nystrom_errors(kernel, nl.open_data(data), sample, "trace")
    return {"trace": errors.trace, "rank": float(errors.rank)}
