"""How things are timed: the best of several rounds, with the contestants taking turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

REST = 0.02  #: seconds in which the threads of the contestant before go to sleep

Timed = Callable[[], float]
"""Does its work once and returns the seconds it took."""


def stopwatch(work: Callable[[], object]) -> Timed:
    """A timer around `work`."""

    def timed() -> float:
        begin = time.perf_counter()
        work()
        return time.perf_counter() - begin

    return timed


def take_turns(contestants: Mapping[str, Timed], rounds: int) -> dict[str, float]:
    """The best time of each contestant over `rounds` rounds.

    Every round runs each contestant once, so that a busy spell of the machine hits all of them and not
    only the one that happened to run at that moment. The best time is the one least disturbed.
    """
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(rounds):
        for name, timed in contestants.items():
            time.sleep(REST)
            best[name] = min(best[name], timed())
    return best


def best_of(work: Callable[[], object], rounds: int) -> float:
    """The best time of `work` alone."""
    return take_turns({"it": stopwatch(work)}, rounds)["it"]


def side_by_side(works: Sequence[Callable[[], object]], rounds: int) -> float:
    """The best time for all of `works` to finish, each on a thread of its own."""
    with ThreadPoolExecutor(len(works)) as pool:
        return best_of(lambda: list(pool.map(lambda work: work(), works)), rounds)
