"""What the machine itself can do: matrix products, exponentials, memory.

A ceiling is the time that a computation's unavoidable work would take by itself, at the best speed found
in the same run. Unavoidable means: every pair of landmarks once, one exponential for each pair, the
distances and the weighted sums of points as double-precision matrix products.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.extending import intrinsic
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.timing import best_of, side_by_side

Array = NDArray[np.float64]
Function = TypeVar("Function", bound=Callable[..., Any])

# The compiler may fuse a product and a sum, but not reorder: the range reduction needs its order.
compiled = cast(Callable[[Function], Function], numba.njit(nogil=True, fastmath={"contract"}, error_model="numpy"))

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Adding 1.5·2⁵² rounds to the nearest integer and leaves it in the low bits of the sum.
ROUNDING = 6755399441055744.0
# Near-minimax polynomial for exp on [−ln 2 / 2, ln 2 / 2], relative error 4e-18; the first two are 1.
C2, C3, C4, C5, C6 = (
    0.5000000000000019,
    0.1666666666666668,
    0.04166666666648795,
    0.008333333333319589,
    0.0013888888952352863,
)
C7, C8, C9, C10, C11 = (
    0.00019841269890076403,
    2.4801485441561313e-05,
    2.755724088722987e-06,
    2.763265472252779e-07,
    2.5110049204818658e-08,
)

VECTOR_BITS = (256, 512)
TILES = (125, 250, 500)
ROWS = (64, 128, 256, 512, 1024)


def vector_width(bits: int) -> Any:
    """A statement for compiled code: let LLVM use vectors of so many bits in the function it stands in."""

    def statement(typing_context: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            # Past the set's own check, which knows only the attributes without a value.
            set.add(builder.function.attributes, f'"prefer-vector-width"="{bits}"')
            return context.get_dummy_value()

        return numba.types.void(), generate

    return intrinsic(statement)


def make_exponentials(bits: int) -> Callable[[Array, Array, int], None]:
    """exp of every entry of x (at most 0), `times` times, in a loop that LLVM can vectorise."""
    width = vector_width(bits)

    @compiled
    def exponentials(x: Array, out: Array, times: int) -> None:
        width()
        for _ in range(times):
            for i in range(x.size):
                v = max(x[i], -708.0)
                shifted = v * LOG2_E + ROUNDING
                k = shifted - ROUNDING
                r = (v - k * LN2_HIGH) - k * LN2_LOW
                p = C11 * r + C10
                p = p * r + C9
                p = p * r + C8
                p = p * r + C7
                p = p * r + C6
                p = p * r + C5
                p = p * r + C4
                p = p * r + C3
                p = p * r + C2
                p = p * r + 1.0
                p = p * r + 1.0
                power = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
                out[i] = p * power

    return exponentials


@compiled
def triad(a: Array, b: Array, c: Array) -> None:
    """a = b + 3 c: two streams read, one written."""
    for i in range(a.size):
        a[i] = b[i] + 3.0 * c[i]


@dataclass
class Ceilings:
    """The ceilings of this machine, measured once and asked for by several rows.

    Parameters
    ----------
    quick
        Smaller sizes and fewer rounds.
    """

    quick: bool = False
    measured: dict[str, float] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        return 2 if self.quick else 5

    def _once(self, key: str, measure: Callable[[], float]) -> float:
        if key not in self.measured:
            with threadpool_limits(1):
                self.measured[key] = measure()
        return self.measured[key]

    def exponential(self, threads: int) -> float:
        """Seconds for one exponential when `threads` threads compute them, out of the first-level cache."""
        return self._once(f"seconds per exponential, threads={threads}", partial(self._exponential, threads))

    def _exponential(self, threads: int) -> float:
        size, times = 1000, 200 if self.quick else 2000
        x = -20.0 * np.random.default_rng(0).random(size)
        outs = [np.empty(size) for _ in range(threads)]

        def by_numpy(x: Array, out: Array, times: int) -> None:
            for _ in range(times):
                np.exp(x, out=out)

        ways = [by_numpy, *(make_exponentials(bits) for bits in VECTOR_BITS)]
        for way in ways:
            way(x, outs[0], 1)
        seconds = [side_by_side([partial(way, x, out, times) for out in outs], self.rounds) for way in ways]
        return min(seconds) / (times * size * threads)

    def bandwidth(self, threads: int) -> float:
        """Bytes moved to and from memory in a second by `threads` threads."""
        return self._once(f"bytes per second, threads={threads}", partial(self._bandwidth, threads))

    def _bandwidth(self, threads: int) -> float:
        size = 4_000_000 if self.quick else 16_000_000
        arrays = [tuple(np.full(size, float(k)) for k in range(3)) for _ in range(threads)]
        triad(*(np.empty(8) for _ in range(3)))
        seconds = side_by_side([partial(triad, *three) for three in arrays], self.rounds)
        return 24.0 * size * threads / seconds

    def large_product(self, threads: int) -> float:
        """Floating-point operations in a second of a large square product on `threads` BLAS threads."""
        return self._once(f"flops, large product, threads={threads}", partial(self._large_product, threads))

    def _large_product(self, threads: int) -> float:
        size = 600 if self.quick else 2000
        A, B = np.random.default_rng(0).random((2, size, size))
        out = np.empty((size, size))
        with threadpool_limits(threads):
            np.dot(A, B, out=out)
            seconds = best_of(partial(np.dot, A, B, out), self.rounds)
        return 2.0 * size**3 / seconds

    def tall_product(self, rows_total: int, n: int, d: int, threads: int) -> float:
        """Operations in a second of products (rows × d) · (d × n), at the best height of the blocks."""
        key = f"flops, product with d={d}, n={n}, threads={threads}"
        return self._once(key, partial(self._tall_product, min(rows_total, 4096), n, d, threads))

    def _tall_product(self, rows_total: int, n: int, d: int, threads: int) -> float:
        rng = np.random.default_rng(0)
        X, right = rng.random((rows_total, d)), np.ascontiguousarray(rng.random((n, d)).T)
        best = 0.0
        for rows in ROWS:
            if rows > rows_total:
                continue
            outs = [np.empty((rows, n)) for _ in range(threads)]

            def sweep(out: Array, rows: int = rows) -> None:
                for begin in range(0, rows_total - rows + 1, rows):
                    np.dot(X[begin : begin + rows], right, out=out)

            seconds = side_by_side([partial(sweep, out) for out in outs], self.rounds)
            done = (rows_total // rows) * rows * threads
            best = max(best, 2.0 * done * n * d / seconds)
        return best

    def step_products(self, n: int, b: int, d: int, threads: int) -> float:
        """Seconds for the matrix products of one descent step, the symmetry of K_S used.

        Distances between pairs of tiles of landmarks once for each pair, the weighted sums of landmarks
        for both sides of a pair, distances to the batch and weighted sums of it. The best of several tile
        sizes on separate threads, and of the whole matrices on BLAS's own threads.
        """
        key = f"seconds, products of a step n={n} b={b} d={d}, threads={threads}"
        return self._once(key, partial(self._step_products, n, b, d, threads))

    def _step_products(self, n: int, b: int, d: int, threads: int) -> float:
        rng = np.random.default_rng(0)
        S, X = rng.random((n, d)), rng.random((b, d))
        times = 3 if self.quick else 10
        best = _whole_products(S, X, threads, self.rounds)
        for tile in TILES:
            if tile >= n:
                continue
            works = _tiled_products(S, X, tile, threads, times)
            best = min(best, side_by_side(works, self.rounds) / times)
        return best


def _whole_products(S: Array, X: Array, threads: int, rounds: int) -> float:
    n, b = S.shape[0], X.shape[0]
    K, V, out = np.ones((n, n)), np.ones((n, b)), np.empty_like(S)

    def work() -> None:
        np.dot(S, S.T, out=K)
        np.dot(S, X.T, out=V)
        np.dot(K, S, out=out)
        np.dot(V, X, out=out)

    with threadpool_limits(threads):
        work()
        return best_of(work, rounds)


def _tiled_products(S: Array, X: Array, tile: int, threads: int, times: int) -> list[Callable[[], None]]:
    parts = [S[begin : begin + tile] for begin in range(0, S.shape[0], tile)]
    pairs = [(i, j) for i in range(len(parts)) for j in range(i + 1)]

    def work(mine: list[tuple[int, int]], own: list[int]) -> None:
        K, V = np.empty((tile, tile)), np.empty((tile, X.shape[0]))
        out = np.empty((tile, S.shape[1]))
        for _ in range(times):
            for i, j in mine:
                left, right = parts[i], parts[j]
                k = K[: len(left), : len(right)]
                np.dot(left, right.T, out=k)
                np.dot(k, right, out=out[: len(left)])
                if i != j:
                    np.dot(k.T, left, out=out[: len(right)])
            for i in own:
                v = V[: len(parts[i])]
                np.dot(parts[i], X.T, out=v)
                np.dot(v, X, out=out[: len(parts[i])])

    return [
        partial(work, pairs[thread::threads], list(range(len(parts)))[thread::threads]) for thread in range(threads)
    ]


def pairs_of_a_step(n: int, b: int) -> float:
    """The exponentials a step cannot avoid: each pair of landmarks once, each landmark with the batch."""
    return n * (n - 1) / 2 + n * b


def describe(ceilings: Ceilings, threads: int) -> dict[str, float]:
    """Measure the general ceilings on one thread and on `threads`, and return all that were measured."""
    for count in sorted({1, threads}):
        ceilings.exponential(count)
        ceilings.bandwidth(count)
        ceilings.large_product(count)
    return dict(sorted(ceilings.measured.items()))


if __name__ == "__main__":
    begin = time.perf_counter()
    for name, value in describe(Ceilings(), 2).items():
        print(f"{value:12.4g}  {name}")
    print(f"{time.perf_counter() - begin:12.1f}  seconds for all of them")
