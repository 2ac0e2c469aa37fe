"""``python -m companion.claims.later``: compute the rows of the later checks, and of B1, and store them.

They take a few minutes, too long for every build of the book, and are the same on every run:
``results/later_checks.json`` keeps them, and a test computes some of them again.
"""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import nystrom_lib as nl

from ..atomic_write import write_text
from ..checkout import RESULTS
from ..experiments.components import GradientDescent, StochasticGradientDescent
from ..experiments.outcome import Array
from ..experiments.paper import paper_experiment
from ..experiments.protocol import load_data
from ..experiments.seeds import Axis, seed_for
from ..results import provenance
from ..studies import curvature
from . import estimators, landmarks

FILE = RESULTS / "later_checks.json"
Row = dict[str, Any]

#: T4: initial samples at each ρ, and the steps of each descent.
STARTS, STEPS = 10, 30_000
#: A3: multiples of the paper's γ, and initial samples at each ρ.
MULTIPLES, SAMPLES = (0.25, 0.5, 1.0, 2.0, 4.0), 3


def end_points() -> Iterator[Row]:
    """T4: where descents end at each ρ; the last row of each ρ begins with one landmark given twice."""
    for name in ("figure-2-n20", "figure-2-n20-rho16"):
        for j in range(STARTS):
            yield end_point(name, j)
        yield end_point(name, 0, twice=True)


def end_point(name: str, j: int, *, twice: bool = False, steps: int = STEPS) -> Row:
    """One descent, from initial sample j, and the Hessian where it ends."""
    experiment = paper_experiment(name)
    descent = experiment.descent
    assert isinstance(descent, GradientDescent)
    kernel, data = experiment.kernel, np.asarray(load_data(experiment).X)
    start = experiment.initial.draw(kernel, data, experiment.n, seed_for(experiment.seed, Axis.INITIAL_SAMPLE, j))
    if twice:
        start[1] = start[0]
    end = nl.gradient_descent(kernel, data, start, step=descent.step, iterations=steps).sample
    first, last = (float(np.linalg.norm(nl.radial_skd_gradient(kernel, data, sample))) for sample in (start, end))
    low, high = curvature.extremes(kernel, data, end)
    return {
        "rho": experiment.kernel.parameters["rho"], "start": j, "pathological": twice,
        "gradient": last / first, "eigenvalue": low / high,
    }  # fmt: skip


def pairs() -> Iterator[Row]:
    """S4: the two estimators against each other and against the exact gradient, in every setting."""
    for setting in estimators.settings():
        yield from estimators.compare_with_exact(setting)


def settings() -> Iterator[Row]:
    """A3: each ρ, multiple of γ and initial sample."""
    for rho in ("0.25", "1", "4"):
        best = _best_trace(f"figure-3-rho{rho}")
        for multiple in MULTIPLES:
            for j in range(SAMPLES):
                yield excess(f"figure-3-rho{rho}", multiple, j, best)


def excess(name: str, multiple: float, j: int, best: float) -> Row:
    """E_tr − 1 after the paper's descent with another step; ``best`` is the smallest trace error of that rank."""
    experiment = paper_experiment(name)
    descent = experiment.descent
    assert isinstance(descent, StochasticGradientDescent)
    kernel, data = experiment.kernel, np.asarray(load_data(experiment).X)
    start = experiment.initial.draw(kernel, data, experiment.n, seed_for(experiment.seed, Axis.INITIAL_SAMPLE, j))
    try:
        end: Array = nl.stochastic_gradient_descent(
            kernel, data, start, step=multiple * descent.step, iterations=descent.iterations,
            batch_size=descent.batch_size, seed=seed_for(experiment.seed, Axis.BATCHES, j),
        ).sample  # fmt: skip
        error = nl.nystrom_errors(kernel, data, end, "trace").trace
    except nl.DescentError:
        error = float("inf")
    return {"rho": experiment.kernel.parameters["rho"], "multiple": multiple, "start": j, "excess": error / best - 1.0}


def _best_trace(name: str) -> float:
    experiment = paper_experiment(name)
    return nl.best_rank_errors(experiment.kernel, np.asarray(load_data(experiment).X), experiment.n, "trace").trace


def main(file: Path = FILE) -> int:
    """Compute and store."""
    with nl.threads(1):
        checks = {
            "B1": [row for name in landmarks.FIGURES.values() for row in landmarks.walk(name)],
            "T4": list(end_points()), "S4": list(pairs()), "A3": list(settings()),
        }  # fmt: skip
    here = provenance.environment()
    about = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "by": "python -m companion.claims.later",
        **{name: here[name] for name in ("commit", "dirty", "cpu", "cores", "python", "library", "packages")},
    }
    lists = [f'"{claim}": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]" for claim, rows in checks.items()]
    write_text(file, "{\n" + ",\n".join([f'"about": {json.dumps(about)}', *lists]) + "\n}\n")  # a line for each row
    print(f"{file.name}: " + ", ".join(f"{len(rows)} rows of {claim}" for claim, rows in checks.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
