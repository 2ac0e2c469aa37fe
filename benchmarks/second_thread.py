"""``python -m benchmarks.second_thread``: what a second thread gives a descent on the radial SKD (chapter 10).

A descent of :data:`STEPS` steps with the exact gradient on each of the paper's problems that chapter 10 and the arena
use: on one thread, on two, and two such descents at a time with a thread each. Writes
``results/beyond/second_thread.json``.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import nystrom_lib as nl
from benchmarks import machine
from benchmarks.timing import side_by_side, stopwatch, take_turns
from companion.experiments.problems import PROBLEMS, Problem

FILE = Path(__file__).resolve().parent.parent / "results" / "beyond" / "second_thread.json"
NAMES = ("bigaussian-16", "abalone", "magic")
STEPS, ROUNDS, SEED = 20, 15, 0
#: Cores that others may keep busy: beside more, a second thread is not one's own.
BUSY = 0.2


def on(count: int, problem: Problem, data: Any, sample: Any) -> None:
    """The descent, on so many threads; the step hardly matters to the clock."""
    with nl.threads(count):
        nl.gradient_descent(nl.Gaussian(rho=problem.rho), data, sample, step=1e-12, iterations=STEPS)


def timed(problem: Problem, rounds: int = ROUNDS) -> dict[str, float]:
    """Seconds of one descent on one thread and on two, and of two descents at a time."""
    data = problem.points().load(SEED).X
    descent = partial(on, problem=problem, data=data, sample=nl.uniform_sample(data, problem.n, SEED))
    one, two = partial(descent, 1), partial(descent, 2)
    best = take_turns(
        {"one_s": stopwatch(one), "two_s": stopwatch(two), "both_s": partial(side_by_side, [one, one], 1)}, rounds + 1
    )
    return {"n": problem.n, "N": len(data), "d": data.shape[1], **best}


def main() -> int:
    """Measure and write."""
    details = machine.describe()
    if details["load at the start"] > BUSY:
        print(f"Others keep {details['load at the start']} cores busy; it must be at most {BUSY}.")
        return 1
    found = {
        "machine": f"{machine.processor()}, {machine.cores()} cores",
        "details": details,
        "steps": STEPS,
        "rounds": ROUNDS,
        "problems": {PROBLEMS[name].title: timed(PROBLEMS[name]) for name in NAMES},
    }
    FILE.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for title, each in found["problems"].items():
        one, two, both = each["one_s"], each["two_s"], each["both_s"]
        print(f"{title}: {one:.3f} s on one thread, {two:.3f} s on two; two at a time {both:.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
