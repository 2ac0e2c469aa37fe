"""``python -m benchmarks.miniboone``: the three timings of §4.4, ours and those of plain C on the same machine.

Writes ``results/miniboone_timings.json``. Plain C does R in full, a slice of the trace norm and a few steps of the
descent, scaled: its work is the same for every point and for every step.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import nystrom_lib as nl
from benchmarks import machine
from benchmarks.plain import PlainC, compile_plain
from benchmarks.problems import is_stand_in
from benchmarks.timing import best_of
from companion import Experiment, paper_experiment
from companion.experiments.protocol import load_data
from companion.experiments.seeds import Axis, seed_for

FILE = Path(__file__).resolve().parent.parent / "results" / "miniboone_timings.json"
SLICE_POINTS = 1000
SLICE_STEPS = 20


def ours(experiment: Experiment, X: Any, S: Any) -> dict[str, float]:
    """Seconds of the library, compiled code loaded beforehand."""
    kernel, descent = experiment.kernel, experiment.descent
    batches = seed_for(experiment.seed, Axis.BATCHES, 0)

    def descend(iterations: int) -> None:
        nl.stochastic_gradient_descent(
            kernel, X, S, step=descent.step, iterations=iterations, batch_size=descent.batch_size, seed=batches
        )

    descend(2)
    return {
        "radial_skd_s": best_of(lambda: nl.radial_skd(kernel, X, S, constant=False), 5),
        "trace_s": best_of(lambda: nl.nystrom_errors(kernel, X, S, norms=("trace",)), 3),
        "descent_s": best_of(lambda: descend(descent.iterations), 1),
    }


def plain_c(plain: PlainC, experiment: Experiment, X: Any, S: Any) -> dict[str, float]:
    """Seconds of plain C on one thread."""
    rho, descent = experiment.kernel.rho, experiment.descent
    batches = np.random.default_rng(0).integers(0, len(X), size=(SLICE_STEPS, descent.batch_size))
    part = X[:SLICE_POINTS].copy()
    factors: list[Any] = []
    factorise = best_of(lambda: factors.append(plain.cholesky(S, rho)), 1)
    solve = best_of(lambda: plain.trace_norm(part, S, rho, factors[0]), 3)
    steps = best_of(lambda: plain.stochastic_descent(X, batches, S, rho, descent.step), 3)
    return {
        "radial_skd_s": best_of(lambda: plain.radial_skd(X, S, rho), 2),
        "trace_s": factorise + solve * len(X) / SLICE_POINTS,
        "descent_s": steps * descent.iterations / SLICE_STEPS,
    }


def main() -> int:
    """Measure and write."""
    experiment = paper_experiment("figure-5")
    X = load_data(experiment).X
    S = experiment.initial.draw(None, X, experiment.n, seed_for(experiment.seed, Axis.INITIAL_SAMPLE, 0))
    with tempfile.TemporaryDirectory() as folder:
        plain = compile_plain(Path(folder))
        if plain is None:
            print("There is no C compiler here, so there is nothing to compare with.", file=sys.stderr)
            return 1
        found = {
            "machine": f"{machine.processor()}, {machine.cores()} cores",
            "details": machine.describe(),
            "compiler": plain.compiler,
            "stand_in": is_stand_in("miniboone"),
            "N": len(X),
            "ours": ours(experiment, X, S),
            "plain_c": plain_c(plain, experiment, X, S),
            "scaled": f"plain C: trace norm from {SLICE_POINTS:,} points, descent from {SLICE_STEPS} steps",
        }
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    print(json.dumps({name: found[name] for name in ("ours", "plain_c")}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
