"""The speed of the machine itself: matrix products and exponentials.

A ceiling is the time that the unavoidable work of a computation would take at the best speed measured in the same run:
every pair of landmarks once, one exponential for each pair, and all other operations at the speed of a large product.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numba
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.timing import best_of, side_by_side

Array = NDArray[np.float64]

LOG2_E = 1.4426950408889634
ROUNDING = 6755399441055744.0  #: 1.5·2⁵²: adding it rounds to an integer, which then is in the low bits of the sum
#: Near-minimax polynomial for 2^f on [−½, ½], the highest power first.
POWERS = (
    4.4558199665721414e-10, 7.0741981587913455e-09, 1.017805707615539e-07, 1.3215432514189648e-06,
    1.5252733841579287e-05, 0.00015403530463766596, 0.0013333558146406451, 0.009618129107587223,
    0.055504108664821625, 0.2402265069591016, 0.6931471805599453, 1.0,
)  # fmt: skip


@numba.njit(nogil=True, fastmath={"contract"}, error_model="numpy")
def exponentials(x: Array, out: Array, times: int) -> None:
    """exp of every entry of x, from −708 to 0, ``times`` times, in a loop that LLVM can vectorise."""
    for _ in range(times):
        for i in range(x.size):
            y = x[i] * LOG2_E
            shifted = y + ROUNDING
            f = y - (shifted - ROUNDING)
            p = 0.0
            for c in POWERS:
                p = p * f + c
            out[i] = p * np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)


class Ceilings:
    """The ceilings of this machine, measured when first asked for.

    Parameters
    ----------
    quick
        Smaller sizes and fewer rounds.
    """

    def __init__(self, quick: bool = False) -> None:
        self.quick, self.rounds = quick, 2 if quick else 5
        self.measured: dict[str, float] = {}

    def _once(self, key: str, measure: Callable[[], float]) -> float:
        if key not in self.measured:
            with threadpool_limits(1):
                self.measured[key] = measure()
        return self.measured[key]

    def exponential(self, threads: int) -> float:
        """Seconds for one exponential when ``threads`` threads compute them, out of the first-level cache."""

        def measure() -> float:
            size, times = 1000, 200 if self.quick else 2000
            x = -20.0 * np.random.default_rng(0).random(size)
            outs = [np.empty(size) for _ in range(threads)]
            exponentials(x, outs[0], 1)
            seconds = side_by_side([partial(exponentials, x, out, times) for out in outs], self.rounds)
            return seconds / (times * size * threads)

        return self._once(f"seconds for an exponential, threads={threads}", measure)

    def flops(self, threads: int) -> float:
        """Operations in a second of a large square product on ``threads`` BLAS threads."""

        def measure() -> float:
            size = 600 if self.quick else 2000
            A, B = np.random.default_rng(0).random((2, size, size))
            out = np.empty((size, size))
            with threadpool_limits(threads):
                np.dot(A, B, out=out)
                return 2.0 * size**3 / best_of(partial(np.dot, A, B, out), self.rounds)

        return self._once(f"operations in a second, threads={threads}", measure)

    def seconds(self, flops: float, pairs: float, threads: int) -> float:
        """The time of so many operations and exponentials."""
        return flops / self.flops(threads) + pairs * self.exponential(threads)


def pairs_of_a_step(n: int, b: int) -> float:
    """The exponentials that a step cannot avoid: each pair of landmarks once, each landmark with the batch."""
    return n * (n - 1) / 2 + n * b
