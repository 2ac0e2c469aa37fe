r"""How many landmarks: about the smallest number whose relative trace error is at most a tolerance.

Pivots among some of the points give an error for every n at once. Moved landmarks reach the same error with about half
as many. A short descent estimates that ratio for the problem, and the ratio gives the number of landmarks. A longer
descent follows; then landmarks are added where the residual is large, or those removed that explain least, and each
further descent begins where the last one ended.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._local import EXACT
from .._validation import Array
from ..kernels import Kernel
from .bounds import CERTIFIED, error_and_bound, mean_below
from .cholesky import PartialCholesky
from .exchange import CANDIDATES, best_additions, removal_costs
from .starts import STARTS, Drawn

if TYPE_CHECKING:
    from .find import Search

RATIO = 0.5  #: moved landmarks for each pivot of the same error, as long as no descent was made
SUBSET = 2_048  #: points among which pivots are looked for, four times as many where these do not suffice
LARGEST_SUBSET = 8_192
QUICK = 0.15  #: of the usual steps, for a first guess
AGAIN = 0.3  #: of the usual steps, for a descent that begins where another ended
FAR = 0.25  #: change of n that calls for another quick descent
SLACK = 0.03  #: share of the landmarks that is worth another descent
COMPARED = 1_024  #: points that tell which landmarks to remove, or are added
ATTEMPTS = 6  #: longer descents, at most, once one has kept the tolerance


@dataclass(frozen=True)
class Attempt:
    """A number of landmarks that was tried."""

    sample: Array
    error: float  #: mean residual
    bound: float  #: upper confidence bound of it; the error itself if it is exact
    method: str
    reasons: tuple[str, ...]
    start: Array
    start_error: float
    steps: int

    @property
    def n(self) -> int:
        """How many landmarks."""
        return len(self.sample)


class PivotCurve:
    """The mean residual that the first n pivots of a randomly pivoted Cholesky decomposition leave, for every n."""

    def __init__(self, kernel: Kernel, data: NDArray[np.float64], target: float, rng: np.random.Generator) -> None:
        for size in (SUBSET, LARGEST_SUBSET):
            size = min(size, len(data))
            points = data[rng.choice(len(data), size, replace=False)]
            most = size if size == len(data) else size // 3
            self.numbers, self.errors = _decompose(kernel, points, most, 0.5 * target, rng)
            if self.errors[-1] <= 0.5 * target or size == len(data):
                break

    def number(self, error: float) -> float:
        """How many pivots leave this error, by interpolation of log error; beyond the last, by its last slope."""
        logs = -np.log(np.maximum(self.errors, 1e-300))
        wanted = -math.log(max(error, 1e-300))
        if wanted <= logs[-1] or len(logs) < 3:
            return float(np.interp(wanted, logs, self.numbers))
        back = len(logs) * 3 // 4 - 1
        slope = (math.log(self.numbers[-1] / max(self.numbers[back], 1.0))) / max(logs[-1] - logs[back], 1e-12)
        return float(self.numbers[-1] * math.exp(min(slope * (wanted - logs[-1]), 50.0)))


def _decompose(
    kernel: Kernel, points: NDArray[np.float64], most: int, target: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Numbers of pivots and the mean residual of the other points, until that is at most the target."""
    cholesky = PartialCholesky(kernel, points, most)
    numbers, errors = [0.0], [float(cholesky.residual.mean())]
    while len(cholesky.pivots) < most and errors[-1] > target:
        size = max(4, len(cholesky.pivots) // 8)
        cholesky.add_random(size, rng)
        if len(cholesky.pivots) > numbers[-1]:
            numbers.append(float(len(cholesky.pivots)))
            errors.append(float(cholesky.residual.sum()) / max(len(points) - len(cholesky.pivots), 1))
    return np.array(numbers), np.array(errors)


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
    """A search for a number of landmarks; ``base`` holds kernel, data and generators."""

    def __init__(
        self, base: Search, tolerance: float, method: str, seconds: float | None, iterations: int | None, level: float
    ) -> None:
        self.base, self.method, self.seconds, self.iterations = base, method, seconds, iterations
        self.risk = 1.0 - level
        self.source = base.source
        self.limit = tolerance * base.mean_diagonal  #: what the bound of the error must not exceed
        self.target = target_error(self.limit, base, 0.5 * self.risk)
        self.curve = PivotCurve(base.kernel, base.data, self.target, base.for_start)
        self.tried: list[Attempt] = []

    @property
    def best(self) -> Attempt:
        """The smallest sample that meets the tolerance, or else the one of the least error."""
        met = [each for each in self.tried if each.bound <= self.limit]
        return min(met, key=lambda each: each.n) if met else min(self.tried, key=lambda each: each.bound)

    def run(self) -> Attempt:
        """Quick descents until the number changes little, then longer ones until it is the smallest found."""
        number = self._within(RATIO * self.curve.number(self.target))
        for _ in range(3):
            guess = self._descend(number, None, QUICK)
            number = self._predicted(guess)
            if abs(number - guess.n) <= FAR * guess.n or self._over():
                break
        sample, share = self._resized(guess.sample, number), 1.0
        while True:
            self.tried.append(self._certified(self._descend(len(sample), sample, share)))
            better = self._next()
            if better is None or self._over():
                return self.best
            last = self.tried[-1]
            sample, share = self._resized(last.sample, better), min(1.0, AGAIN + 3.0 * abs(better / last.n - 1.0))

    def _next(self) -> int | None:
        """The number to try next; None if fewer landmarks are not worth another descent, or more are not to be had."""
        last = self.tried[-1]
        number, step = self._predicted(last), max(1, round(SLACK * last.n))
        met = [each.n for each in self.tried if each.bound <= self.limit]
        failed = max((each.n for each in self.tried if each.bound > self.limit), default=0)
        if not met:  # ever longer steps, which end at N
            number = max(number, self._within(last.n + step * 2 ** (len(self.tried) - 1)))
            return number if number > failed else None
        number = max(number, failed + step)
        return number if len(self.tried) < ATTEMPTS and min(met) - number >= step else None

    def _predicted(self, tried: Attempt) -> int:
        """How many landmarks would leave the target, if they stay worth as many pivots as those tried."""
        worth = tried.n / max(self.curve.number(tried.error), 1.0)
        return self._within(worth * self.curve.number(self.target))

    def _within(self, number: float) -> int:
        return min(max(math.ceil(number), 1), len(self.base.data))

    def _resized(self, sample: Array, n: int) -> Array:
        if n == len(self.base.data):
            return np.array(self.base.data, dtype=np.float64)
        points = np.asarray(self.base.validation_points[:COMPARED], dtype=np.float64)
        if n > len(sample) + len(points):
            points = np.asarray(self.base.data, dtype=np.float64)
        return resized(self.base.kernel, sample, n, points, self.base.for_start)

    def _descend(self, n: int, sample: Array | None, share: float) -> Attempt:
        """A descent of a share of the usual length, with its error on the points that compare samples."""
        search = self.base.with_number(n)
        if self.method in STARTS:
            error, drawn = search.drawn(self.method)
            return Attempt(drawn.points, error, math.inf, self.method, (), drawn.points, error, 0)
        seconds = None if self.seconds is None else share / 2.0 * max(self.seconds - self.base.elapsed(), 1e-6)
        iterations = None if self.iterations is None else math.ceil(share * self.iterations)
        name, objective = search.named(self.method)
        if sample is None:
            error, first = search.begin("auto", name, seconds)
        else:
            error, first = search.measured(Drawn(sample, None))
        moved, after, steps = search.moved(name, objective, first.points, iterations, seconds, share)
        if after > error:
            moved, after = first.points, error
        return Attempt(moved, after, math.inf, name, tuple(search.reasons), first.points, error, steps)

    def _certified(self, tried: Attempt) -> Attempt:
        """The same with its error from all the data, or with an upper confidence bound."""
        look = len(self.tried) + 1
        risk = self.risk / (look * (look + 1))  # which add up to the risk, however many there are
        error, bound = error_and_bound(self.base.kernel, self.source, tried.sample, risk, self.base.for_validation)
        return replace(tried, error=error, bound=bound)

    def _over(self) -> bool:
        """Whether the caller has ended the search, or its time is over."""
        return self.base.stopped or (self.seconds is not None and self.base.elapsed() >= self.seconds)


def target_error(limit: float, base: Search, risk: float) -> float:
    """The error whose upper confidence bound is about the limit."""
    N, m = len(base.source), CERTIFIED
    if N <= m:
        return limit
    largest = base.largest_diagonal
    excess = largest * mean_below(limit / largest * m, m, N, risk) - limit
    return max(limit - excess, 0.1 * limit)
