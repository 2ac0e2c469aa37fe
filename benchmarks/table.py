"""The rows of the table: each times the library, plain C and JAX in turn, and sets the ceiling beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
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
from benchmarks.rivals import rival
from benchmarks.timing import Timed, stopwatch, take_turns

Array = NDArray[np.float64]

SLICE, PAIR_SLICE = 400, 3000  #: points from which the seconds of plain C are scaled


@dataclass
class Row:
    """One line of the table; times are in seconds."""

    name: str
    work: str
    setting: str
    threads: int
    seconds: float
    others: dict[str, float] = field(default_factory=dict)  #: seconds of plain C, JAX, one thread, the ceiling
    agreement: float | None = None  #: the largest difference from plain C, relative to the largest value
    notes: list[str] = field(default_factory=list)
    commit: str = ""  #: what was measured: rows may be measured again one by one


@dataclass
class Bench:
    """What the rows share: plain C, the interpreter with JAX, ceilings, a temporary folder."""

    plain: PlainC | None
    python: str | None
    ceilings: Ceilings
    folder: Path
    quick: bool = False

    def problem(self, problem: Problem) -> Problem:
        """The problem as it is run."""
        return problem.reduced() if self.quick else problem

    def rounds(self, full: int) -> int:
        """Rounds in which the contestants take turns."""
        return min(2, full) if self.quick else full

    def steps(self, full: int) -> int:
        """Steps of a descent."""
        return max(3, full // 10) if self.quick else full


def relative(ours: float | Array, theirs: float | Array) -> float:
    """The largest difference, relative to the largest value."""
    return float(np.max(np.abs(np.asarray(ours) - theirs)) / np.max(np.abs(theirs)))


def timed_steps(
    bench: Bench, problem: Problem, threads: int, steps: int, descent: Callable[[int], object],
    objective: str, plain: Timed | None = None,
) -> tuple[float, dict[str, float], list[str]]:  # fmt: skip
    """Seconds of a step of ``descent``, a long one less one of a single step; those of the others; and notes."""
    with nl.threads(threads), ExitStack() as stack:
        contestants = {"long": stopwatch(partial(descent, steps)), "short": stopwatch(partial(descent, 1))}
        take_turns(contestants, 1)  # compiled before it is timed
        ways: dict[str, float] = {}
        if plain is not None:
            contestants["plain C"] = plain
        if bench.python is not None:
            opened = stack.enter_context(rival(bench.python, threads))
            ways = opened.prepare(problem, bench.steps(max(10, steps // 10)), bench.folder, objective)
            contestants["JAX"] = opened.timed
        best = take_turns(contestants, bench.rounds(7))
    long, short = best.pop("long"), best.pop("short")
    return (long - short) / (steps - 1), best, [f"JAX, {way}: {1e3 * took:.3g} ms" for way, took in ways.items()]


# --- steps of a descent -----------------------------------------------------------------------------------------


def descend(problem: Problem, points: Array, sample: Array, batches: Any, steps: int) -> Array:
    """The paper's descent by the library."""
    settings: dict[str, Any] = {"step": problem.gamma, "iterations": steps}
    if batches is None:
        return nl.gradient_descent(problem.kernel, points, sample, **settings).sample
    return nl.stochastic_gradient_descent(problem.kernel, points, sample, **settings, batches=batches[:steps]).sample


def step_agreement(plain: PlainC, problem: Problem, points: Array, sample: Array, batches: Any) -> float:
    """Compare a gradient, and the movement of three steps long enough to be seen beside the rounding of the sample."""
    batch = None if batches is None else batches[0]
    theirs = plain.gradient(points, sample, problem.rho, batch)
    if batch is None:
        ours = nl.radial_skd_gradient(problem.kernel, points, sample)
    else:
        ours = nl.one_sample_gradient(problem.kernel, points, sample, batch)
    problem = replace(problem, gamma=0.01 / float(np.max(np.abs(theirs))))
    end = descend(problem, points, sample, batches, 3)
    plain_end = plain.descent(points, sample, problem.rho, problem.gamma, 3, batches)
    return max(relative(ours, theirs), relative(end - sample, plain_end - sample))


def skd_step(bench: Bench, name: str, original: Problem, threads: int, steps: int) -> Row:
    """A step on R, with the exact gradient or from a batch."""
    problem, steps = bench.problem(original), bench.steps(steps)
    points, sample = problem.points, problem.sample
    batches = None if problem.b is None else problem.batches(steps)
    few, plain, agreement = max(3, steps // 20), None, None
    if bench.plain is not None:
        run = stopwatch(partial(bench.plain.descent, points, sample, problem.rho, problem.gamma, few, batches))
        plain = lambda: run() / few  # noqa: E731
        agreement = step_agreement(bench.plain, problem, points, sample, batches)
    ours = partial(descend, problem, points, sample, batches)
    seconds, others, notes = timed_steps(bench, problem, threads, steps, ours, "radial-skd", plain)
    n, b, d = problem.n, problem.b or problem.N, problem.d
    others["ceiling"] = bench.ceilings.seconds(d * (3.0 * n * n + 4.0 * n * b), pairs_of_a_step(n, b), threads)
    return Row(name, "GD step" if batches is None else "SGD step", problem.setting, threads, seconds, others,
               agreement, notes)  # fmt: skip


def trace_step(bench: Bench, name: str, original: Problem, threads: int, steps: int) -> Row:
    """A step of Adam on the trace error, from a batch."""
    problem, steps = bench.problem(original), bench.steps(steps)
    objective, sample = nl.TraceError(problem.kernel, problem.points), problem.sample

    def ours(count: int) -> object:
        return nl.descend(objective, sample, nl.Adam(), iterations=count, batch_size=problem.b, seed=0)

    seconds, others, notes = timed_steps(bench, problem, threads, steps, ours, "trace")
    # two triangular solves and half a product for each point, half a Cholesky factor, distances and sums of points
    n, b, d = problem.n, problem.b or problem.N, problem.d
    flops = 3.0 * n * n * b + n**3 / 3.0 + 4.0 * d * n * (n + b)
    others["ceiling"] = bench.ceilings.seconds(flops, pairs_of_a_step(n, b), threads)
    return Row(name, "trace-error step", problem.setting, threads, seconds, others, None, notes)


# --- sums over all of the data ----------------------------------------------------------------------------------


def pass_over_data(bench: Bench, name: str) -> Row:
    """R up to its constant, the trace norm or ‖K‖_F² of MiniBooNE; plain C does the last two on fewer points."""
    problem = bench.problem(MINIBOONE)
    N, n, d, rho, kernel = problem.N, problem.n, problem.d, problem.rho, problem.kernel
    points, sample, plain, agreement, others = problem.points, problem.sample, bench.plain, None, {}
    part = points[: {"R": N, "trace norm": SLICE, "‖K‖_F²": PAIR_SLICE}[name]].copy()
    ours: dict[str, Callable[[Array], float]] = {
        "R": lambda X: nl.radial_skd(kernel, X, sample, constant=False),
        "trace norm": lambda X: nl.nystrom_errors(kernel, X, sample, "trace").trace,
        "‖K‖_F²": lambda X: nl.squared_frobenius_norm(kernel, X),
    }
    with nl.threads(2):
        value = ours[name](part)
        seconds = take_turns({"ours": stopwatch(partial(ours[name], points))}, bench.rounds(3))["ours"]
    if plain is not None:
        found: list[float] = []
        if name == "R":
            others["plain C"] = stopwatch(lambda: found.append(plain.radial_skd(points, sample, rho)))()
            agreement = relative(value, found[0])
        elif name == "trace norm":
            factors: list[Array] = []
            factor = stopwatch(lambda: factors.append(plain.cholesky(sample, rho)))()
            solve = stopwatch(lambda: found.append(plain.trace_norm(part, sample, rho, factors[0])))()
            others["plain C"] = factor + solve * N / len(part)
            # with few landmarks the norm is close to N: compare what they explain as well
            agreement = max(relative(value, found[0]), relative(len(part) - value, len(part) - found[0]))
        else:
            took = stopwatch(lambda: found.append(plain.squared_frobenius_norm(part, rho)))()
            others["plain C"] = took * (N / len(part)) ** 2
            agreement = relative(value - len(part), found[0] - len(part))  # the diagonal is N and not computed
    flops, pairs = {
        "R": (2.0 * d * pairs_of_a_step(n, N), pairs_of_a_step(n, N)),
        "trace norm": (N * n**2 + n**3 / 3.0 + 2.0 * N * n * d, float(N * n)),
        "‖K‖_F²": (d * float(N) * (N - 1), N * (N - 1) / 2.0),
    }[name]
    others["ceiling"] = bench.ceilings.seconds(flops, pairs, 2)
    notes = [] if len(part) == N or plain is None else [f"plain C was timed on {len(part):,} points, and scaled"]
    setting = f"N={N:,}, d={d}" + ("" if name == "‖K‖_F²" else f", n={n}")
    return Row(name, name, setting, 2, seconds, others, agreement, notes)


def repetitions(bench: Bench, name: str, original: Problem, steps: int) -> Row:
    """Sixteen independent descents on two threads, against the same on one."""
    problem, steps = bench.problem(original), bench.steps(steps)
    points, m = problem.points, 4 if bench.quick else 16
    samples = [np.ascontiguousarray(nl.uniform_sample(points, problem.n, seed=j)) for j in range(m)]
    batches = None if problem.b is None else problem.batches(steps)

    def one(sample: Array) -> Array:
        with nl.threads(1):
            return descend(problem, points, sample, batches, steps)

    def all_of_them(workers: int) -> None:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, samples))

    one(samples[0])
    best = take_turns({str(w): stopwatch(partial(all_of_them, w)) for w in (1, 2)}, bench.rounds(5))
    setting = f"{problem.setting}, T={steps:,}"
    return Row(name, f"{m} descents on two threads", setting, 2, best["2"], {"one thread": best["1"]})


ROWS: dict[str, Callable[[Bench, str], Row]] = {
    "sgd-miniboone": lambda bench, name: skd_step(bench, name, MINIBOONE, 2, 101),
    "sgd-magic": lambda bench, name: skd_step(bench, name, MAGIC, 1, 1001),
    "sgd-abalone": lambda bench, name: skd_step(bench, name, ABALONE, 1, 5001),
    "gd-bigaussian": lambda bench, name: skd_step(bench, name, BIGAUSSIAN, 1, 501),
    "trace-step-abalone": lambda bench, name: trace_step(bench, name, replace(ABALONE, b=100), 1, 2001),
    "trace-step-magic": lambda bench, name: trace_step(bench, name, replace(MAGIC, b=200), 1, 301),
    "trace-step-miniboone": lambda bench, name: trace_step(bench, name, replace(MINIBOONE, b=1000), 2, 11),
    "R": pass_over_data,
    "trace norm": pass_over_data,
    "‖K‖_F²": pass_over_data,
    "repetitions-gd": lambda bench, name: repetitions(bench, name, BIGAUSSIAN, 400),
    "repetitions-sgd": lambda bench, name: repetitions(bench, name, ABALONE, 5000),
}


# --- as Markdown ------------------------------------------------------------------------------------------------


def duration(seconds: float) -> str:
    """Seconds with three digits in a unit that suits them."""
    unit, size = next((pair for pair in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)) if seconds >= pair[1]), ("ns", 1e-9))
    return f"{digits(seconds / size)} {unit}"


def digits(value: float) -> str:
    """Three of them."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def markdown(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table."""
    rows = ["| " + " | ".join(line) + " |" for line in (header, *lines)]
    return "\n".join([rows[0], "|" + "---|" * len(header), *rows[1:]])


def rows_as_markdown(rows: Sequence[Row]) -> str:
    """Our seconds, those of the others as multiples of ours, and notes."""
    others = [name for name in ("plain C", "JAX", "one thread", "ceiling") if any(name in row.others for row in rows)]
    lines = []
    for row in rows:
        cells = [f"{row.work}, {row.setting}", str(row.threads), duration(row.seconds)]
        for name in others:
            took = row.others.get(name)
            cells.append("–" if took is None else f"{duration(took)} ({digits(took / row.seconds)}×)")
        lines.append([*cells, "–" if row.agreement is None else f"{row.agreement:.1e}"])
    notes = [f"- {row.work}, {row.setting}: {note}." for row in rows for note in row.notes]
    table = markdown(["work", "threads", "library", *others, "difference from plain C"], lines)
    return "\n".join([table, "", *notes])
