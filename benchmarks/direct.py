"""``python -m benchmarks.direct``: is a descent on the trace error itself intractable (§1.2, claim R5)?

On the paper's problems, one thread: the seconds of the whole gradient of the trace error, of one evaluation, and of
∇R; and the trace error after as many seconds of descent on it as the paper's descent on R takes. Writes
``results/direct_descent.json``.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import nystrom_lib as nl
from benchmarks import machine
from benchmarks.timing import best_of
from companion.experiments.config import Experiment
from companion.experiments.paper import PAPER
from companion.experiments.protocol import load_data
from companion.experiments.seeds import Axis, seed_for
from companion.results.table import Results

FOLDER = Path(__file__).resolve().parent.parent / "results"
FILE = FOLDER / "direct_descent.json"
LEAST_BATCH = 96  #: as find_landmarks has it
STARTS = 5
PROBLEMS = {
    "bi-Gaussian, ρ = 1": "figure-2-n50",
    "bi-Gaussian, ρ = 16": "figure-2-n50-rho16",
    "Abalone, ρ = 0.25": "figure-3-rho0.25",
    "Abalone, ρ = 1": "figure-3-rho1",
    "Abalone, ρ = 4": "figure-3-rho4",
    "MAGIC, n = 100": "figure-4-n100",
    "MAGIC, n = 200": "figure-4-n200",
}
LARGE = "figure-5"
#: Of the large problem: steps and points from which seconds are scaled, and the most that the direct descent is given.
SOME_STEPS, SOME_POINTS, MOST_SECONDS = 100, 20_000, 10.0


def start(experiment: Experiment, data: Any, j: int) -> Any:
    """Initial sample j."""
    kernel = experiment.kernel
    return experiment.initial.draw(kernel, data, experiment.n, seed_for(experiment.seed, Axis.INITIAL_SAMPLE, j))


def radial(experiment: Experiment, data: Any, S: Any, j: int, steps: int | None = None) -> Any:
    """The paper's descent on R."""
    descent = experiment.descent if steps is None else experiment.descent.replace(iterations=steps)
    return descent.descend(
        experiment.kernel, data, S, seed_for(experiment.seed, Axis.BATCHES, j),
        record_every=0, keep_path=False, progress=None,
    ).sample  # fmt: skip


def direct(objective: nl.TraceError, S: Any, j: int, seconds: float) -> Any:
    """A descent on the trace error for so many seconds."""
    size = min(max(len(S), LEAST_BATCH), len(objective.data))
    return nl.descend(objective, S, nl.Adam(), seconds=seconds, batch_size=size, seed=j).sample


def costs(objective: nl.TraceError, S: Any) -> dict[str, float]:
    """Seconds of the three pieces."""
    kernel, data = objective.kernel, objective.data
    return {
        "gradient_s": best_of(lambda: objective.gradient(S), 3),
        "trace_s": best_of(lambda: nl.nystrom_errors(kernel, data, S, "trace"), 3),
        "radial_gradient_s": best_of(lambda: nl.radial_skd_gradient(kernel, data, S), 3),
    }


def problem(name: str) -> dict[str, Any]:
    """One problem: costs, and descents of equal seconds from five samples."""
    experiment = PAPER[name]
    data = np.asarray(load_data(experiment).X)
    objective = nl.TraceError(experiment.kernel, data)
    direct(objective, start(experiment, data, 0), 0, 0.05)
    quotients, taken = [], []
    for j in range(STARTS):
        S = start(experiment, data, j)
        began = time.perf_counter()
        after = radial(experiment, data, S, j)
        taken.append(time.perf_counter() - began)
        quotients.append(objective.value(direct(objective, S, j, taken[-1])) / objective.value(after))
    return {
        "n": experiment.n, "d": data.shape[1], "N": len(data), "stand_in": False,
        **costs(objective, start(experiment, data, 0)),
        "descent_s": float(np.median(taken)), "direct_s": float(np.median(taken)), "error_quotients": quotients,
    }  # fmt: skip


def large() -> dict[str, Any]:
    """MiniBooNE or its stand-in: the error after the paper's descent is the stored one."""
    experiment = PAPER[LARGE]
    loaded = load_data(experiment)
    data, stored = np.asarray(loaded.X), Results.load(FOLDER / f"{LARGE}.parquet")
    objective = nl.TraceError(experiment.kernel, data)
    S = start(experiment, data, 0)
    taken = best_of(lambda: radial(experiment, data, S, 0, SOME_STEPS), 1) * experiment.descent.iterations / SOME_STEPS
    given = min(taken, MOST_SECONDS)
    table = stored.table.set_index("stage")
    some = costs(nl.TraceError(objective.kernel, data[:SOME_POINTS].copy()), S)
    return {
        "n": experiment.n, "d": data.shape[1], "N": len(data), "stand_in": bool(loaded.stand_in),
        **{name: seconds * len(data) / SOME_POINTS for name, seconds in some.items()},
        "descent_s": taken, "direct_s": given,
        "error_quotients": [objective.value(direct(objective, S, 0, given)) / float(table["trace"]["optimised"])],
    }  # fmt: skip


def main() -> int:
    """Measure and write."""
    with nl.threads(1):
        nl.warm_up()
        problems = {label: problem(name) for label, name in PROBLEMS.items()}
        problems["MiniBooNE"] = large()
    found = {
        "machine": f"{machine.processor()}, {machine.cores()} cores",
        "details": machine.describe(),
        "problems": problems,
    }
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for label, each in problems.items():
        cost, error = each["gradient_s"] / each["trace_s"], float(np.median(each["error_quotients"]))
        print(f"{label}: gradient / evaluation {cost:.2f}, error / error after the descent on R {error:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
