r"""How many landmarks: about the smallest number whose relative trace error is at most a tolerance.

Pivots among some of the points give an error for every n at once. Moved landmarks reach the same error with about half
as many. A short descent estimates that ratio for the problem, and the ratio gives the number of landmarks. A longer
descent follows; then landmarks are added where the residual is large, or those removed that explain least, and each
further descent begins where the last one ended.
"""

from __future__ import annotations

import copy
import math
import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._local import EXACT
from .._validation import Array
from ..kernels import Kernel
from .bounds import CERTIFIED, error_and_bound, largest_diagonal, mean_below
from .exchange import CANDIDATES, best_additions, removal_costs
from .search import Landmarks, Search
from .starts import Drawn, PartialCholesky

RATIO = 0.5  #: moved landmarks for each pivot of the same error, as long as no descent was made
SUBSET = 2_048  #: points among which pivots are looked for, four times as many where these do not suffice
LARGEST_SUBSET = 8_192
QUICK = 0.15  #: of the usual steps, for a first guess
AGAIN = 0.3  #: of the usual steps, for a descent that begins where another ended
FAR = 0.25  #: change of n that calls for another quick descent
SLACK = 0.03  #: share of the landmarks that is worth another descent
COMPARED = 1_024  #: points that tell which landmarks to remove, or are added
ATTEMPTS = 6  #: longer descents, at most, once one has kept the tolerance


class PivotCurve:
    """The mean residual that the first n pivots of a randomly pivoted Cholesky decomposition leave, for every n.

    Computed until it is at most ``target``, over the points that are no pivots.
    """

    def __init__(self, kernel: Kernel, data: NDArray[Any], target: float, rng: np.random.Generator) -> None:
        for size in (SUBSET, LARGEST_SUBSET):
            size = min(size, len(data))
            most = size if size == len(data) else size // 3
            cholesky = PartialCholesky(kernel, data[rng.choice(len(data), size, replace=False)], most)
            self.numbers, self.errors = [0.0], [float(cholesky.residual.mean())]
            while self.numbers[-1] < most and self.errors[-1] > target:
                cholesky.add_random(max(4, len(cholesky.pivots) // 8), rng)
                if (n := len(cholesky.pivots)) > self.numbers[-1]:
                    self.numbers.append(float(n))
                    self.errors.append(float(cholesky.residual.sum()) / max(size - n, 1))
            if self.errors[-1] <= target or size == len(data):
                break

    def number(self, error: float) -> float:
        """How many pivots leave this error, by interpolation of log error; beyond the last, by its last slope."""
        logs = -np.log(np.maximum(self.errors, 1e-300))
        wanted = -math.log(max(error, 1e-300))
        if wanted <= logs[-1] or len(logs) < 3:
            return float(np.interp(wanted, logs, self.numbers))
        back = len(logs) * 3 // 4 - 1
        slope = math.log(self.numbers[-1] / max(self.numbers[back], 1.0)) / max(logs[-1] - logs[back], 1e-12)
        return float(self.numbers[-1] * math.exp(min(slope * (wanted - logs[-1]), 50.0)))


def resized(kernel: Kernel, sample: Array, n: int, points: Array, rng: np.random.Generator) -> Array:
    """The sample with n landmarks: points that explain most are added, or landmarks that explain least removed."""
    found = removal_costs(kernel, sample, points) if len(sample) <= EXACT else None
    if n <= len(sample):
        order = np.argsort(-found[0], kind="stable") if found is not None else rng.permutation(len(sample))
        return np.ascontiguousarray(sample[np.sort(order[:n])])
    missing = n - len(sample)
    added = np.empty(0, dtype=np.int64)
    if found is not None:
        added = best_additions(kernel, points, found[1], missing, rng, candidates=max(CANDIDATES, 2 * missing))
    rest = np.setdiff1d(np.arange(len(points)), added)
    others = rng.choice(rest, missing - len(added), replace=False)
    return np.concatenate([sample, points[added], points[others]])


class ToleranceSearch:
    """Searches for several numbers of landmarks, which share the generators of one search."""

    def __init__(self, search: Search, tolerance: float, method: str) -> None:
        self.search, self.tolerance, self.method = search, tolerance, method
        self.risk = 1.0 - search.level
        self.limit = tolerance * search.mean_diagonal  #: what the bound of the error must not exceed
        self.target = target_error(self.limit, search, 0.5 * self.risk)
        self.curve = PivotCurve(search.kernel, search.data, 0.5 * self.target, search.for_start)
        self.tried: list[Landmarks] = []  #: each with its certified error bound

    def run(self) -> Landmarks:
        """Quick descents until the number changes little, then longer ones until it is the smallest found."""
        number = self._within(RATIO * self.curve.number(self.target))
        for _ in range(3):
            guess = self._descend(number, "auto", QUICK)
            number = self._predicted(guess)
            if abs(number - len(guess.sample)) <= FAR * len(guess.sample) or self._over():
                break
        sample, share, better = self._resized(guess.sample, number), 1.0, None
        while better is not None or not self.tried:
            last = self._certified(self._descend(len(sample), Drawn(sample, None), share))
            self.tried.append(last)
            better = None if self._over() else self._next()
            if better is not None:
                change = abs(better / len(last.sample) - 1.0)
                sample, share = self._resized(last.sample, better), min(1.0, AGAIN + 3.0 * change)
        return self._best()

    def _best(self) -> Landmarks:
        """The fewest landmarks that keep the tolerance, or else those of the least error, with the reasons."""
        met = [each for each in self.tried if each.error_bound <= self.limit]
        if met:
            best = min(met, key=lambda each: len(each.sample))
            kept = f"a relative error of {best.relative_error:.4g}"
            if best.error_bound != best.error:
                bound = best.error_bound / best.mean_diagonal
                kept = f"a relative error of at most {bound:.4g} at level {1.0 - self.risk:g}"
            n = f"n = {len(best.sample):,}"
            why = f"{n}, the smallest number tried that keeps the tolerance {self.tolerance:g}, with {kept}."
        else:
            best = min(self.tried, key=lambda each: each.error_bound)
            leave = f"{len(best.sample):,} landmarks leave {best.relative_error:.4g}"
            why = f"The tolerance {self.tolerance:g} was not met: {leave}."
        tried = ", ".join(f"{len(each.sample):,}" for each in self.tried)
        reasons = (*self.search.reasons, why, f"Tried: {tried}.", *best.reasons)
        return _with_bound(best, best.error_bound, reasons=reasons)

    def _next(self) -> int | None:
        """The number to try next; None if fewer landmarks are not worth another descent, or more are not to be had."""
        last = self.tried[-1]
        number, step = self._predicted(last), max(1, round(SLACK * len(last.sample)))
        met = [len(each.sample) for each in self.tried if each.error_bound <= self.limit]
        failed = max((len(each.sample) for each in self.tried if each.error_bound > self.limit), default=0)
        if not met:  # ever longer steps, which end at N
            number = max(number, self._within(len(last.sample) + step * 2 ** (len(self.tried) - 1)))
            return number if number > failed else None
        number = max(number, failed + step)
        return number if len(self.tried) < ATTEMPTS and min(met) - number >= step else None

    def _predicted(self, tried: Landmarks) -> int:
        """How many landmarks would leave the target, if they stay worth as many pivots as those tried."""
        worth = len(tried.sample) / max(self.curve.number(tried.error), 1.0)
        return self._within(worth * self.curve.number(self.target))

    def _within(self, number: float) -> int:
        return min(max(math.ceil(number), 1), len(self.search.data))

    def _resized(self, sample: Array, n: int) -> Array:
        data = self.search.data
        if n == len(data):
            return np.array(data, dtype=np.float64)
        points = np.asarray(self.search.validation_points[:COMPARED], dtype=np.float64)
        if n > len(sample) + len(points):
            points = np.asarray(data, dtype=np.float64)
        return resized(self.search.kernel, sample, n, points, self.search.for_start)

    def _descend(self, n: int, start: str | Drawn, share: float) -> Landmarks:
        """A descent of a share of the usual length, with its error on the points that compare samples."""
        search = copy.copy(self.search)
        search.n, search.reasons, search.share, search.began = n, [], share, time.perf_counter()
        if search.seconds is not None:
            search.seconds = share / 2.0 * max(self._seconds_left(), 1e-6)
        if search.iterations is not None:
            search.iterations = math.ceil(share * search.iterations)
        found = search.run(self.method, start)
        self.search.stopped = search.stopped
        return found

    def _certified(self, tried: Landmarks) -> Landmarks:
        """The same with its error from all the data, or with an upper confidence bound."""
        look = len(self.tried) + 1
        risk = self.risk / (look * (look + 1))  # which add up to the risk, however many there are
        search = self.search
        error, bound = error_and_bound(search.kernel, search.source, tried.sample, risk, search.for_validation)
        return _with_bound(tried, bound, error=error)

    def _seconds_left(self) -> float:
        search = self.search
        return math.inf if search.seconds is None else search.seconds - (time.perf_counter() - search.began)

    def _over(self) -> bool:
        """Whether the caller has ended the search, or its time is over."""
        return self.search.stopped or self._seconds_left() <= 0.0


def _with_bound(found: Landmarks, bound: float, **changes: Any) -> Landmarks:
    """Changed landmarks with a bound of their error that is known already."""
    changed = replace(found, **changes)
    changed.__dict__["error_bound"] = bound
    return changed


def target_error(limit: float, search: Search, risk: float) -> float:
    """The error whose upper confidence bound is about the limit."""
    N, m = len(search.source), CERTIFIED
    if N <= m:
        return limit
    largest = largest_diagonal(search.kernel, search.source)
    excess = largest * mean_below(limit / largest * m, m, N, risk) - limit
    return max(limit - excess, 0.1 * limit)
