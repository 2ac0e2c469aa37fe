"""The rows of the table: each times our side, the C version, the opponents and the ceiling in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nystrom_lib as nl
from benchmarks.ceilings import Ceilings, pairs_of_a_step
from benchmarks.plain import PlainC
from benchmarks.problems import ABALONE, BIGAUSSIAN, MAGIC, MINIBOONE, Problem
from benchmarks.rivals import Rival, rival
from benchmarks.timing import Timed, stopwatch, take_turns

Array = NDArray[np.float64]

AGREEMENT_BAR = 1e-10
# What has to be reached: at least so many times faster than an opponent, at most so many times the ceiling.
BARS: dict[str, dict[str, float]] = {
    "sgd-miniboone": {"plain C": 20.0, "jax": 3.0, "ceiling": 1.2},
    "sgd-magic": {"plain C": 8.0, "jax": 6.0},
    "sgd-abalone": {"plain C": 6.0, "jax": 25.0},
    "gd-bigaussian": {"plain C": 8.0, "jax": 5.0, "ceiling": 1.6},
    "skd": {"plain C": 15.0, "ceiling": 1.3},
    "trace": {"plain C": 200.0, "ceiling": 1.5},
    "frobenius": {"ceiling": 1.5},
    "trace-step-abalone": {"ceiling": 2.5},
    "trace-step-magic": {"jax": 1.5, "ceiling": 1.7},
    "trace-step-miniboone": {"ceiling": 1.4},
    "repetitions-gd": {"one thread": 1.8},
    "repetitions-sgd": {"one thread": 1.8},
}
SLICE = 400
PAIR_SLICE = 3000


@dataclass
class Comparison:
    """Our time against another: the ratio, and the bar it has to clear."""

    seconds: float
    ratio: float
    at_least: float | None = None
    at_most: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the bar is cleared; None where there is no bar."""
        if self.at_least is not None:
            return self.ratio >= self.at_least
        if self.at_most is not None:
            return self.ratio <= self.at_most
        return None


@dataclass
class Row:
    """One line of the table. Times are in seconds; a bar is judged only at the paper's sizes."""

    key: str
    work: str
    setting: str
    threads: int
    seconds: float
    full_size: bool
    against: dict[str, Comparison] = field(default_factory=dict)
    agreement: float | None = None
    notes: list[str] = field(default_factory=list)
    details: dict[str, float] = field(default_factory=dict)

    def faster_than(self, name: str, seconds: float) -> None:
        """Compare with an opponent: how many times faster we are."""
        bar = BARS.get(self.key, {}).get(name)
        self.against[name] = Comparison(seconds, seconds / self.seconds, at_least=bar)

    def ceiling(self, seconds: float) -> None:
        """Compare with the ceiling: how many times longer than it we take."""
        bar = BARS.get(self.key, {}).get("ceiling")
        self.against["ceiling"] = Comparison(seconds, self.seconds / seconds, at_most=bar)


@dataclass
class Bench:
    """What a row needs: the C version, the opponents' interpreter, the ceilings, a temporary folder."""

    plain: PlainC | None
    python: str
    frameworks: dict[str, str]
    ceilings: Ceilings
    folder: Path
    quick: bool = False

    def problem(self, problem: Problem) -> Problem:
        """The problem as it is run."""
        return problem.reduced() if self.quick else problem

    def rounds(self, full: int) -> int:
        return min(2, full) if self.quick else full

    def steps(self, full: int) -> int:
        return max(3, full // 10) if self.quick else full


def relative(ours: float | Array, theirs: float | Array) -> float:
    """The largest difference, relative to the largest value."""
    return float(np.max(np.abs(np.asarray(ours) - theirs)) / np.max(np.abs(theirs)))


# --- one step of a descent ---------------------------------------------------------------------------------


def descend(problem: Problem, points: Array, sample: Array, steps: int, batches: Any) -> Array:
    """Our side: the public descent."""
    if batches is None:
        return nl.gradient_descent(problem.kernel, points, sample, step=problem.gamma, iterations=steps).sample
    return nl.stochastic_gradient_descent(
        problem.kernel, points, sample, step=problem.gamma, iterations=steps, batches=batches[:steps]
    ).sample


def plain_descend(plain: PlainC, problem: Problem, points: Array, sample: Array, steps: int, batches: Any) -> Array:
    """The same in plain C."""
    if batches is None:
        return plain.descent(points, steps, sample, problem.rho, problem.gamma)
    return plain.stochastic_descent(points, batches[:steps], sample, problem.rho, problem.gamma)


def step_agreement(plain: PlainC, problem: Problem, points: Array, sample: Array, batches: Any) -> float:
    """How far one gradient, and the movement of a few steps, are from the C version's.

    The steps are long enough to be seen beside the rounding of the sample itself.
    """
    if batches is None:
        ours = nl.radial_skd_gradient(problem.kernel, points, sample)
        theirs = plain.gradient(points, sample, problem.rho)
    else:
        ours = nl.one_sample_gradient(problem.kernel, points, sample, batches[0])
        theirs = plain.one_sample_gradient(points, batches[0], sample, problem.rho)
    few = 3
    problem = replace(problem, gamma=0.01 / float(np.max(np.abs(theirs))))
    end = descend(problem, points, sample, few, batches)
    plain_end = plain_descend(plain, problem, points, sample, few, batches)
    return max(relative(ours, theirs), relative(end - sample, plain_end - sample))


@contextmanager
def prepared_rivals(
    bench: Bench, problem: Problem, threads: int, steps: int, details: dict[str, float]
) -> Iterator[dict[str, Timed]]:
    """The opponents on the same cores, ready to be timed, each in the fastest way it was written."""
    with ExitStack() as stack:
        timers: dict[str, Timed] = {}
        for framework in bench.frameworks:
            opened: Rival = stack.enter_context(rival(bench.python, framework, threads))
            answer = opened.prepare(problem, steps, bench.folder)
            details |= {f"{framework}: {way}": seconds for way, seconds in answer["ways"].items()}
            timers[framework] = opened.timed
        yield timers


def step_row(
    bench: Bench,
    key: str,
    work: str,
    original: Problem,
    *,
    threads: int,
    steps: int,
    plain_steps: int,
    ceiling: Callable[[Problem], float] | None = None,
) -> Row:
    """One step of a descent, from the difference between a long descent and one of a single step."""
    problem = bench.problem(original)
    points, sample = problem.points, problem.sample
    steps, plain_steps = bench.steps(steps), bench.steps(plain_steps)
    batches = None if problem.b is None else problem.batches(max(steps, plain_steps))
    details: dict[str, float] = {}
    with (
        nl.threads(threads),
        prepared_rivals(bench, problem, threads, plain_steps, details) as timers,
    ):
        contestants = {
            "long": stopwatch(partial(descend, problem, points, sample, steps, batches)),
            "short": stopwatch(partial(descend, problem, points, sample, 1, batches)),
            **timers,
        }
        if bench.plain is not None:
            run = partial(plain_descend, bench.plain, problem, points, sample, plain_steps, batches)
            contestants["plain"] = stopwatch(run)
        take_turns({name: contestants[name] for name in ("long", "short")}, 1)  # compiled before it is timed
        best = take_turns(contestants, bench.rounds(7))
        seconds = (best["long"] - best["short"]) / (steps - 1)
        row = Row(key, work, problem.setting, threads, seconds, problem.full_size, details=details)
        row.details["a call's fixed cost"] = best["short"] - seconds
        if bench.plain is not None:
            row.faster_than("plain C", best["plain"] / plain_steps)
            row.agreement = step_agreement(bench.plain, problem, points, sample, batches)
        for framework in timers:
            row.faster_than(framework, best[framework])
        row.notes += [
            f"{way} took {seconds * 1e3:.3g} ms, {seconds / row.seconds:.3g} times ours"
            for way, seconds in details.items()
            if way.startswith("jax") and "products" in way
        ]
    if ceiling is not None:
        row.ceiling(ceiling(problem))
    return row


def sgd_miniboone(bench: Bench) -> Row:
    def ceiling(problem: Problem) -> float:
        b = problem.b or problem.N
        products = bench.ceilings.step_products(problem.n, b, problem.d, 2)
        return products + pairs_of_a_step(problem.n, b) * bench.ceilings.exponential(2)

    return step_row(
        bench,
        "sgd-miniboone",
        "SGD step",
        MINIBOONE,
        threads=2,
        steps=101,
        plain_steps=4,
        ceiling=ceiling,
    )


def sgd_magic(bench: Bench) -> Row:
    return step_row(bench, "sgd-magic", "SGD step", MAGIC, threads=1, steps=1001, plain_steps=200)


def sgd_abalone(bench: Bench) -> Row:
    return step_row(bench, "sgd-abalone", "SGD step", ABALONE, threads=1, steps=5001, plain_steps=1000)


def gd_bigaussian(bench: Bench) -> Row:
    def ceiling(problem: Problem) -> float:
        return pairs_of_a_step(problem.n, problem.N) * bench.ceilings.exponential(1)

    return step_row(
        bench,
        "gd-bigaussian",
        "GD step",
        BIGAUSSIAN,
        threads=1,
        steps=501,
        plain_steps=50,
        ceiling=ceiling,
    )


def trace_step(bench: Bench, key: str, original: Problem, *, threads: int, steps: int) -> Row:
    """One step of Adam on the trace error, Eq. (C.1), from a batch."""
    problem = bench.problem(original)
    assert problem.b is not None
    objective, sample, steps = nl.TraceError(problem.kernel, problem.points), problem.sample, bench.steps(steps)
    few = bench.steps(max(10, steps // 10))

    def ours(count: int) -> Array:
        return nl.descend(objective, sample, nl.Adam(), iterations=count, batch_size=problem.b, seed=0).sample

    with nl.threads(threads), ExitStack() as stack:
        contestants = {"long": stopwatch(partial(ours, steps)), "short": stopwatch(partial(ours, 1))}
        ways: dict[str, float] = {}
        if "jax" in bench.frameworks:
            opened: Rival = stack.enter_context(rival(bench.python, "jax", threads))
            ways = opened.prepare(problem, few, bench.folder, "trace")["ways"]
            contestants["jax"] = opened.timed
        take_turns({name: contestants[name] for name in ("long", "short")}, 1)  # compiled before it is timed
        best = take_turns(contestants, bench.rounds(7))
    seconds = (best["long"] - best["short"]) / (steps - 1)
    row = Row(key, "trace-error step", problem.setting, threads, seconds, problem.full_size, details=dict(ways))
    if "jax" in best:
        row.faster_than("jax", best["jax"])
    row.notes += [f"jax: {way} took {took * 1e3:.3g} ms, {took / seconds:.3g} times ours" for way, took in ways.items()]
    row.ceiling(_trace_ceiling(bench.ceilings, problem, threads))
    return row


def _trace_ceiling(ceilings: Ceilings, problem: Problem, threads: int) -> float:
    """Two triangular solves and half a product for each point, half a Cholesky factor, distances and sums of points."""
    n, b, d = problem.n, problem.b or problem.N, problem.d
    flops = 3.0 * n * n * b + n**3 / 3.0 + 4.0 * d * n * (n + b)
    return flops / ceilings.large_product(threads) + pairs_of_a_step(n, b) * ceilings.exponential(threads)


def trace_step_abalone(bench: Bench) -> Row:
    return trace_step(bench, "trace-step-abalone", replace(ABALONE, b=100), threads=1, steps=2001)


def trace_step_magic(bench: Bench) -> Row:
    return trace_step(bench, "trace-step-magic", replace(MAGIC, b=200), threads=1, steps=301)


def trace_step_miniboone(bench: Bench) -> Row:
    return trace_step(bench, "trace-step-miniboone", replace(MINIBOONE, b=1000), threads=2, steps=11)


# --- sums over the whole data ------------------------------------------------------------------------------


def skd(bench: Bench) -> Row:
    """R up to its constant: one pass over the data."""
    problem = bench.problem(MINIBOONE)
    N, n, d, rho = problem.N, problem.n, problem.d, problem.rho
    points, sample = problem.points, problem.sample
    ours = partial(nl.radial_skd, problem.kernel, points, sample, constant=False)
    with nl.threads(2):
        value = ours()
        best = take_turns({"ours": stopwatch(ours)}, bench.rounds(5))
    setting = f"N={N:,}, n={n}, d={d}"
    row = Row("skd", "R up to its constant", setting, 2, best["ours"], problem.full_size)
    if bench.plain is not None:
        theirs: list[float] = []
        plain = bench.plain
        timed = stopwatch(lambda: theirs.append(plain.radial_skd(points, sample, rho)))
        row.faster_than("plain C", timed())
        row.agreement = relative(value, theirs[0])
    rate = bench.ceilings.tall_product(N, n, d, 2)
    pairs = pairs_of_a_step(n, N)
    row.ceiling(pairs * (2 * d / rate + bench.ceilings.exponential(2)))
    return row


def trace(bench: Bench) -> Row:
    """The trace norm; the C version on a slice of the points, scaled to all of them."""
    problem = bench.problem(MINIBOONE)
    N, n, d = problem.N, problem.n, problem.d
    points, sample = problem.points, problem.sample
    ours = partial(nl.nystrom_errors, problem.kernel, points, sample, norms=("trace",))
    with nl.threads(2):
        ours()
        best = take_turns({"ours": stopwatch(ours)}, bench.rounds(3))
    setting = f"N={N:,}, n={n}, d={d}"
    row = Row("trace", "trace norm", setting, 2, best["ours"], problem.full_size)
    if bench.plain is not None:
        _plain_trace(bench.plain, row, problem, points[:SLICE].copy(), sample, N / SLICE)
    flops = N * n**2 + n**3 / 3 + 2.0 * N * n * d
    row.ceiling(flops / bench.ceilings.large_product(2))
    row.notes.append("the ceiling counts the flops of the solves and distances only, at the speed of a large product")
    return row


def _plain_trace(plain: PlainC, row: Row, problem: Problem, part: Array, sample: Array, scale: float) -> None:
    factors: list[Array] = []
    traces: list[float] = []
    factorise = stopwatch(lambda: factors.append(plain.cholesky(sample, problem.rho)))()
    solve = stopwatch(lambda: traces.append(plain.trace_norm(part, sample, problem.rho, factors[0])))
    row.faster_than("plain C", factorise + scale * min(solve() for _ in range(3)))
    row.notes.append(f"plain C was timed on {len(part)} points and scaled")
    ours = nl.nystrom_errors(problem.kernel, part, sample, norms=("trace",)).trace
    # With few landmarks the norm is close to a bare N, so what they explain is compared as well.
    explained = relative(len(part) - ours, len(part) - traces[0])
    row.agreement = max(relative(ours, traces[0]), explained)


def frobenius(bench: Bench) -> Row:
    """‖K‖_F²: every pair of points once."""
    problem = bench.problem(MINIBOONE)
    N, d, rho = problem.N, problem.d, problem.rho
    points = problem.points
    ours = partial(nl.squared_frobenius_norm, problem.kernel, points)
    part = points[:PAIR_SLICE].copy()
    with nl.threads(2):
        value = nl.squared_frobenius_norm(problem.kernel, part)
        best = take_turns({"ours": stopwatch(ours)}, bench.rounds(2))
    row = Row("frobenius", "‖K‖_F²", f"N={N:,}, d={d}", 2, best["ours"], problem.full_size)
    if bench.plain is not None:
        theirs: list[float] = []
        plain = bench.plain
        seconds = stopwatch(lambda: theirs.append(plain.squared_frobenius_norm(part, rho)))()
        row.faster_than("plain C", seconds * (N / len(part)) ** 2)
        row.notes.append(f"plain C was timed on {len(part):,} points and scaled")
        # The diagonal is a bare N: only what is left of it was computed.
        row.agreement = relative(value - len(part), theirs[0] - len(part))
    rate = bench.ceilings.tall_product(N, 1000, d, 2)
    row.ceiling(N * (N - 1) / 2 * (2 * d / rate + bench.ceilings.exponential(2)))
    return row


# --- many small runs ---------------------------------------------------------------------------------------


def repetitions(bench: Bench, key: str, original: Problem, steps: int) -> Row:
    """Independent descents, threads over repetitions: two workers against one."""
    problem = bench.problem(original)
    points = problem.points
    m = 4 if bench.quick else 16
    steps = bench.steps(steps)
    samples = [np.ascontiguousarray(nl.uniform_sample(points, problem.n, seed=j)) for j in range(m)]
    batches = None if problem.b is None else problem.batches(steps)

    def one(sample: Array) -> Array:
        with nl.threads(1):
            return descend(problem, points, sample, steps, batches)

    def all_of_them(workers: int) -> None:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, samples))

    one(samples[0])
    contestants = {str(w): stopwatch(partial(all_of_them, w)) for w in (1, 2)}
    best = take_turns(contestants, bench.rounds(5))
    work = f"{m} repetitions on two threads"
    setting = f"{problem.setting}, T={steps:,}"
    row = Row(key, work, setting, 2, best["2"], problem.full_size)
    row.faster_than("one thread", best["1"])
    return row


def repetitions_gd(bench: Bench) -> Row:
    return repetitions(bench, "repetitions-gd", BIGAUSSIAN, 400)


def repetitions_sgd(bench: Bench) -> Row:
    return repetitions(bench, "repetitions-sgd", ABALONE, 5000)


ROWS: dict[str, Callable[[Bench], Row]] = {
    "sgd-miniboone": sgd_miniboone,
    "sgd-magic": sgd_magic,
    "sgd-abalone": sgd_abalone,
    "gd-bigaussian": gd_bigaussian,
    "trace-step-abalone": trace_step_abalone,
    "trace-step-magic": trace_step_magic,
    "trace-step-miniboone": trace_step_miniboone,
    "skd": skd,
    "trace": trace,
    "frobenius": frobenius,
    "repetitions-gd": repetitions_gd,
    "repetitions-sgd": repetitions_sgd,
}
