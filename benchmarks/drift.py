"""``python -m benchmarks.drift``: how far results move between thread counts, SIMD widths and BLAS kernels.

The same repetitions are computed in processes that differ in one of these, and each quantity is set against the
process that runs as this machine would have it, and against the tolerance the companion allows. What it prints, as
Markdown, is where the tolerances come from.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import machine
from companion.experiments.paper import paper_experiment
from companion.experiments.protocol import load_data, prepare
from companion.results.tolerances import tolerance_for
from companion.running.runner import recompute

Numbers = dict[str, dict[str, float]]

EXPERIMENTS = ("figure-1", "figure-2-n20", "figure-2-n80", "figure-3-rho1", "figure-4-n100")
RESULTS = Path(__file__).with_name("results") / "drift.md"


@dataclass(frozen=True)
class Variant:
    """A way to run: what the environment says, and on how many threads."""

    name: str
    environment: dict[str, str] = field(default_factory=dict)
    threads: int = 1


#: The first is what the others are compared with.
VARIANTS = (
    Variant("as it comes, one thread"),
    Variant("two threads", threads=2),
    Variant("loops for any x86-64 (SSE2)", {"NUMBA_CPU_NAME": "generic"}),
    Variant("OpenBLAS for Haswell (AVX2)", {"OPENBLAS_CORETYPE": "Haswell"}),
    Variant("OpenBLAS for Prescott (SSE3)", {"OPENBLAS_CORETYPE": "Prescott"}),
    Variant("both as old as that", {"NUMBA_CPU_NAME": "generic", "OPENBLAS_CORETYPE": "Prescott"}),
)


# -- in the child -------------------------------------------------------------------------------------------------


def compute(experiments: list[str], repetitions: int, threads: int) -> Numbers:
    """The constants, and every number of the first repetitions, by experiment."""
    found: Numbers = {}
    for name in experiments:
        experiment = paper_experiment(name)
        problem = prepare(experiment, load_data(experiment))
        numbers = {f"constant {key}": value for key, value in problem.constants.items()}
        for j, outcome in recompute(problem, range(min(repetitions, experiment.m)), threads).items():
            numbers |= {f"{j} {key}": value for key, value in outcome.numbers.items() if "seconds" not in key}
            for key, array in outcome.arrays.items():
                numbers |= {f"{j} {key}.{i}": value for i, value in enumerate(array.ravel().tolist())}
        found[name] = numbers
    return found


# -- in the parent ------------------------------------------------------------------------------------------------


def run(variant: Variant, experiments: list[str], repetitions: int, cache: Path) -> Numbers:
    """Compute in a process of its own, whose compiled loops are kept apart from everybody else's."""
    folder = cache / variant.environment.get("NUMBA_CPU_NAME", "native")
    environment = os.environ | variant.environment | {"NUMBA_CACHE_DIR": str(folder)}
    command = [sys.executable, "-m", "benchmarks.drift", "--child", "--threads", str(variant.threads)]
    command += ["--repetitions", str(repetitions), *experiments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    numbers: Numbers = json.loads(done.stdout)
    return numbers


def differences(found: Numbers, expected: Numbers) -> Iterator[tuple[str, str, float, float]]:
    """Experiment, quantity, relative difference, and the difference as a part of what is allowed."""
    for name, numbers in expected.items():
        constants = {key.removeprefix("constant "): v for key, v in numbers.items() if key.startswith("constant ")}
        for key, stored in numbers.items():
            quantity = key.partition(" ")[2].partition(".")[0]
            value = found[name].get(key, float("nan"))
            relative = abs(value - stored) / abs(stored) if stored else abs(value)
            yield name, quantity, relative, tolerance_for(quantity, constants).excess(value, stored)


def table(variants: dict[str, Numbers]) -> str:
    """For each variant and quantity the largest relative difference, and beside it how much of the tolerance it is."""
    (first, baseline), *others = variants.items()
    lines = [
        f"Largest relative difference from “{first}”, and in brackets the part of the tolerance it uses up.",
        "",
        "| experiment | quantity | " + " | ".join(name for name, _ in others) + " |",
        "|" + " --- |" * (2 + len(others)),
    ]
    cells: dict[tuple[str, str], list[str]] = {}
    for _, numbers in others:
        worst: dict[tuple[str, str], tuple[float, float]] = {}
        for name, quantity, relative, excess in differences(numbers, baseline):
            old = worst.get((name, quantity), (0.0, 0.0))
            worst[name, quantity] = (max(old[0], relative), max(old[1], excess))
        for place, (relative, excess) in worst.items():
            cells.setdefault(place, []).append("0" if relative == 0.0 else f"{relative:.0e} ({excess:.0e})")
    lines += [f"| {name} | {quantity} | {' | '.join(row)} |" for (name, quantity), row in cells.items()]
    return "\n".join(lines) + "\n"


def arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drift", description=__doc__)
    parser.add_argument("experiments", nargs="*", default=list(EXPERIMENTS), help="names such as figure-2-n20")
    parser.add_argument("--repetitions", type=int, default=3, help="how many of each experiment")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where to write the table")
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> int:
    options = arguments(given)
    if options.child:
        json.dump(compute(options.experiments, options.repetitions, options.threads), sys.stdout)
        return 0
    found: dict[str, Numbers] = {}
    with tempfile.TemporaryDirectory(prefix="drift-") as cache:
        for variant in VARIANTS:
            print(variant.name, file=sys.stderr, flush=True)
            found[variant.name] = run(variant, options.experiments, options.repetitions, Path(cache))
    where = machine.describe()
    text = f"{where['processor']}; BLAS: {where['blas']}; commit {where['commit']}, {where['date']}.\n\n{table(found)}"
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
