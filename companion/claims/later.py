"""``python -m companion.claims.later``: compute and store the rows of claims and the cases of questions.

Those of B1, T4, S4 and A3, and of X14–X16, X29 and X30 take minutes, too long for every build of the book, and are the
same on every run: a test computes some of the rows again, and the chapters the cases.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

import nystrom_lib as nl

from ..atomic_write import write_text
from ..chapters import arena, designs
from ..checkout import RESULTS
from ..experiments.components import GradientDescent, StochasticGradientDescent
from ..experiments.outcome import Array
from ..experiments.paper import PAPER
from ..experiments.protocol import load_data
from ..experiments.seeds import Axis, seed_for
from ..results import provenance
from ..results.archive import Archive
from . import stochastic
from .beyond import COMPUTED
from .landmarks import FIGURES, Walks, initial_sample

FILE = RESULTS / "later_checks.json"
Row = dict[str, Any]


def walk(name: str, j: int) -> Row:
    """B1: where the landmarks of the descent from initial sample j end, and the lengths of their paths."""
    found = Walks.along(path(name, j)[None])
    parts = {part: getattr(found, part)[0].round(9).tolist() for part in ("end", "length")}
    return {"figure": name, "start": j, **parts}


def path(name: str, j: int) -> Array:
    """The landmarks along the descent from initial sample j, (records, n, d)."""
    experiment = PAPER[name]
    run = experiment.descent.descend(
        experiment.kernel,
        load_data(experiment).X,
        initial_sample(name, j),
        seed_for(experiment.seed, Axis.BATCHES, j),
        record_every=0,  # the path at every step costs less than R at every fifth
        keep_path=True,
        progress=None,
    )
    assert run.path is not None
    return run.path[:: experiment.record.every]


def end_points() -> Iterator[Row]:
    """T4: where ten descents end at each ρ; the last row of each ρ begins with one landmark given twice."""
    for name in ("figure-2-n20", "figure-2-n20-rho16"):
        for j in range(10):
            yield end_point(name, j)
        yield end_point(name, 0, twice=True)


def end_point(name: str, j: int, *, twice: bool = False, steps: int = 30_000) -> Row:
    """One descent, from initial sample j, and the Hessian where it ends."""
    experiment = PAPER[name]
    descent = experiment.descent
    assert isinstance(descent, GradientDescent)
    kernel, data, start = experiment.kernel, np.asarray(load_data(experiment).X), initial_sample(name, j)
    if twice:
        start[1] = start[0]
    end = nl.gradient_descent(kernel, data, start, step=descent.step, iterations=steps).sample
    first, last = (float(np.linalg.norm(nl.radial_skd_gradient(kernel, data, sample))) for sample in (start, end))
    eigenvalues = np.linalg.eigvalsh(nl.radial_skd_hessian(kernel, data, end))
    low, high = float(eigenvalues[0]), float(eigenvalues[-1])
    return {
        "rho": experiment.kernel.parameters["rho"], "start": j, "pathological": twice,
        "gradient": last / first, "eigenvalue": low / high,
    }  # fmt: skip


def pairs(setting: stochastic.Setting, count: int = 8) -> Iterator[Row]:
    """S4: for each initial sample, which of two descents is behind, and how many times the steps it needs.

    The two-sample descent is compared with the one-sample descent, and both with the descent with the exact gradient.
    """
    kernel, data = setting.load()
    for j in range(count):
        start = initial_sample(setting.experiment, j)
        runs = {kind: stochastic.descend(setting, kernel, data, start, j, kind) for kind in stochastic.KINDS}
        runs["exact"] = nl.gradient_descent(
            kernel, data, start,
            step=setting.step, iterations=setting.iterations, record_every=setting.iterations // 20,
        )  # fmt: skip
        behind, steps = _behind(runs["two-sample"], runs["one-sample"])
        row = {"setting": setting.label, "behind": behind, "steps": steps, "start": j}
        for kind in stochastic.KINDS:
            row[f"{kind} behind"], row[f"{kind} steps"] = _behind(runs[kind], runs["exact"])
        yield row


def _behind(run: nl.Descent, other: nl.Descent) -> tuple[bool, float]:
    """Whether R is larger on average, and the steps to half of the other's progress over the steps that one needs."""
    goal = (other.values[0] + other.values[-1]) / 2.0
    return bool(run.values.mean() > other.values.mean()), _steps_to(goal, run) / _steps_to(goal, other)


def _steps_to(goal: float, run: nl.Descent) -> float:
    """At which step R first falls to ``goal``, interpolated between records; infinite if it never does."""
    below = np.flatnonzero(run.values <= goal)
    if not len(below):
        return float("inf")
    k = int(below[0])
    left, right = run.values[k - 1], run.values[k]
    along = (left - goal) / (left - right)
    return float(run.iterations[k - 1] + along * (run.iterations[k] - run.iterations[k - 1]))


def settings() -> Iterator[Row]:
    """A3: each ρ, multiple of γ and initial sample."""
    for rho in ("0.25", "1", "4"):
        best = best_trace(f"figure-3-rho{rho}")
        for multiple in (0.25, 0.5, 1.0, 2.0, 4.0):
            for j in range(3):
                yield excess(f"figure-3-rho{rho}", multiple, j, best)


def excess(name: str, multiple: float, j: int, best: float) -> Row:
    """E_tr − 1 after the paper's descent with another step; ``best`` is the smallest trace error of that rank."""
    experiment = PAPER[name]
    descent = experiment.descent
    assert isinstance(descent, StochasticGradientDescent)
    kernel, data = experiment.kernel, np.asarray(load_data(experiment).X)
    try:
        end: Array = nl.stochastic_gradient_descent(
            kernel, data, initial_sample(name, j), step=multiple * descent.step, iterations=descent.iterations,
            batch_size=descent.batch_size, seed=seed_for(experiment.seed, Axis.BATCHES, j),
        ).sample  # fmt: skip
        error = nl.nystrom_errors(kernel, data, end, "trace").trace
    except nl.DescentError:
        error = float("inf")
    return {"rho": experiment.kernel.parameters["rho"], "multiple": multiple, "start": j, "excess": error / best - 1.0}


def best_trace(name: str) -> float:
    """The smallest trace error of an experiment's rank."""
    experiment = PAPER[name]
    return nl.best_rank_errors(experiment.kernel, np.asarray(load_data(experiment).X), experiment.n, "trace").trace


def worth() -> dict[str, float]:
    """X15."""
    p, stored = arena.ArenaParameters(), Archive(RESULTS / "beyond")
    results = {(name, "trace"): each for name in p.worth if (each := stored.results(f"{name}.uniform-trace"))}
    return dict(arena.worth(p, results).set_index("problem")["one is worth"])


def _about() -> Row:
    return {"by": "python -m companion.claims.later", **provenance.session()}


def store_rows() -> None:
    """Compute and store the rows of claims, a line for each."""
    with nl.threads(1):
        checks = {
            "B1": [walk(name, j) for name in FIGURES.values() for j in range(20)],
            "T4": list(end_points()),
            "S4": [row for setting in stochastic.settings() for row in pairs(setting)],
            "A3": list(settings()),
        }
    lists = [f'"{claim}": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]" for claim, rows in checks.items()]
    write_text(FILE, "{\n" + ",\n".join([f'"about": {json.dumps(_about())}', *lists]) + "\n}\n")


def store_answers() -> None:
    """Compute and store the cases of questions: each file has the cases of one objective."""
    p = designs.DesignsParameters()
    variances, errors = designs.variances(p), designs.against_lattice(p)
    of_trace = {
        "X14": designs.over_classical(variances),
        "X15": worth(),
        "X16": designs.over_lattice(errors),
    }
    of_radial = {
        "X29": designs.over_classical(variances, "descent on R"),
        "X30": designs.over_lattice(errors, "descent on R"),
    }
    for file, cases in zip(COMPUTED, (of_trace, of_radial), strict=True):
        text = json.dumps({"about": _about(), "cases": cases}, indent=1, ensure_ascii=False)
        write_text(RESULTS / file, f"{text}\n")


if __name__ == "__main__":
    store_rows()
    store_answers()
