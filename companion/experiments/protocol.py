"""The protocol of Section 4: S⁽⁰⁾ → descent → S⁽ᵀ⁾ → criteria, for one repetition."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import nystrom_lib as nl

from ..errors import CompanionError
from ..wording import FACTORS
from .components import DataSource, GradientDescent
from .config import Experiment
from .outcome import Array, Outcome
from .seeds import Axis, seed_for

#: K is computed once and shared by all repetitions if it takes no more than this (N ≤ 11,585).
LARGEST_MATRIX_BYTES = 2**30


@dataclass(frozen=True)
class Problem:
    """What all repetitions of an experiment share."""

    experiment: Experiment
    dataset: nl.datasets.Dataset
    matrix: Array | None  #: K, where the criteria need it and it is small enough to keep
    constants: Mapping[str, float]  #: ``squared_norm`` (‖K‖_F²) and the best rank-n errors by norm, as asked for


def load_data(experiment: Experiment) -> nl.datasets.Dataset:
    """The data of an experiment, which must have enough points."""
    dataset = load(experiment.data, experiment.seed)
    if experiment.n > dataset.N:
        raise CompanionError(f"n is {experiment.n}; {dataset.name} has {dataset.N} points to draw from.")
    return dataset


@lru_cache(maxsize=2)
def load(source: DataSource, seed: int) -> nl.datasets.Dataset:
    """The data of a source; many experiments use the same."""
    return source.load(seed)


def prepare(experiment: Experiment, constants: Mapping[str, float] | None = None) -> Problem:
    """Everything that is done once: data, K if it is worth keeping, and the constants unless they are known."""
    dataset, kernel, norms = load_data(experiment), experiment.kernel, experiment.norms
    keeps = set(norms) - {"trace"} and 8 * dataset.N**2 <= LARGEST_MATRIX_BYTES
    matrix = kernel.matrix(dataset.X) if keeps else None
    if constants is None:
        constants = {"squared_norm": nl.squared_frobenius_norm(kernel, dataset.X)} if experiment.constant else {}
        if experiment.factors and norms:
            best = nl.best_rank_errors(kernel, dataset.X, experiment.n, norms=norms, matrix=matrix)
            constants = {**constants, **{norm: float(getattr(best, norm)) for norm in norms}}
    return Problem(experiment, dataset, matrix, constants)


def repetition(problem: Problem, j: int, progress: Callable[[int], None] | None = None) -> Outcome:
    """Repetition j, from 0: the same numbers wherever and whenever it is computed.

    ``progress`` is called with the number of steps; an exception that it raises ends the repetition. A descent that
    diverges has no optimised criteria, and ``diverged_at`` says when it did.
    """
    experiment, data, record = problem.experiment, problem.dataset.X, problem.experiment.record
    recorded = j in record.repetitions
    start = experiment.initial.draw(
        experiment.kernel, data, experiment.n, seed_for(experiment.seed, Axis.INITIAL_SAMPLE, j)
    )
    numbers = _measured(problem, start, "initial")
    began = time.perf_counter()
    try:
        descent = experiment.descent.descend(
            experiment.kernel,
            data,
            start,
            seed_for(experiment.seed, Axis.BATCHES, j),
            record_every=record.every if recorded else 0,
            keep_path=recorded and record.path,
            progress=progress,
        )
    except nl.DescentError as error:
        return Outcome({**numbers, "diverged_at.optimised": error.iteration})
    numbers["seconds.optimised"] = time.perf_counter() - began
    numbers |= _measured(problem, descent.sample, "optimised")
    # The paper's descents return R without its constant.
    constant = problem.constants.get("squared_norm", 0.0) if isinstance(experiment.descent, GradientDescent) else 0.0
    # The decay of R (iterations in the first row, values in the second) and the path of the landmarks.
    arrays = {"curve": np.stack([descent.iterations.astype(float), descent.values + constant])} if recorded else {}
    return Outcome(numbers, arrays if descent.path is None else {**arrays, "path": descent.path})


def _measured(problem: Problem, sample: Array, stage: str) -> dict[str, float]:
    """R, the norms of K − K̂(S), its factors and the rank of K_S."""
    kernel, norms = problem.experiment.kernel, problem.experiment.norms
    X, constants = problem.dataset.X, problem.constants
    measured = {"R": nl.radial_skd(kernel, X, sample, constants.get("squared_norm", False))}
    if norms:
        errors = nl.nystrom_errors(kernel, X, sample, norms, matrix=problem.matrix)
        measured |= {name: float(getattr(errors, name)) for name in (*norms, "rank")}
        measured |= {FACTORS[norm]: measured[norm] / constants[norm] for norm in norms if norm in constants}
    return {f"{name}.{stage}": value for name, value in measured.items()}
