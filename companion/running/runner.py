"""Runs the repetitions of an experiment on the engine, and returns them with what produced them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import nystrom_lib as nl

from ..errors import CompanionError, Interrupted
from ..experiments.components import Stay, Uniform
from ..experiments.config import Experiment, Record
from ..experiments.outcome import Outcome
from ..experiments.protocol import Problem, load_data, prepare, repetition
from ..results import provenance
from ..results.table import Results
from .engine import compute, count, load, sessions, store

_CONSTANTS = "_constants"


@dataclass(frozen=True)
class Repetition:
    """Computes a repetition of an experiment from its number, wherever it is called."""

    experiment: Experiment
    sha256: str
    constants: tuple[tuple[str, float], ...]

    def __call__(self, j: int, progress: Callable[[int], None] | None = None) -> dict[str, Any]:
        """What repetition j measures."""
        with _lock:
            problem = _prepared(self.experiment)
        if problem.dataset.sha256 != self.sha256:
            raise CompanionError(
                f"A worker loads {problem.dataset.name} with sha256 {problem.dataset.sha256[:16]}… where this machine "
                f"has {self.sha256[:16]}…; give both the same data."
            )
        return repetition(replace(problem, constants=dict(self.constants)), j, progress).to_plain()


_lock = threading.Lock()


@lru_cache(maxsize=1)
def _prepared(experiment: Experiment) -> Problem:
    """Data and K, prepared once in each process."""
    return prepare(experiment, constants={})


def run(
    experiment: Experiment,
    folder: str | Path = "runs",
    *,
    threads: int | None = None,
    cluster: str | None = None,
) -> Results:
    """Compute the repetitions of an experiment that are not stored yet, and return all of them.

    Every repetition is stored as soon as it is computed, below ``folder``. If a run was killed, or ended by Ctrl-C, a
    full disk or an error, the same call continues it. It uses ``threads`` of this machine, by default one per core, or
    the workers of the Dask scheduler whose address is ``cluster``.
    """
    threads = provenance.cores() if threads is None else threads
    dataset = load_data(experiment)
    place = Path(folder) / f"{experiment.data.kind}-{experiment.series[:16]}-{dataset.sha256[:8]}"
    try:
        constants = load(place, _CONSTANTS)
        if constants is None:
            with nl.threads(threads):
                bare = experiment.replace(m=1, initial=Uniform(), descent=Stay(), record=Record())
                constants = dict(_constants(bare))
            store(place, _CONSTANTS, constants)
        pieces = compute(
            Repetition(experiment, dataset.sha256, tuple(constants.items())),
            {str(j): j for j in range(experiment.m)},
            place,
            threads=threads,
            cluster=cluster,
            title=f"{experiment.data.kind}, n = {experiment.n}",
            unit="repetition",
        )
    except KeyboardInterrupt:
        raise Interrupted(
            f"Stopped: {count(place)} of {experiment.m} repetitions are stored in {place}; the same call continues "
            "from there."
        ) from None
    return Results(
        {int(name): Outcome.from_plain(piece.value) for name, piece in pieces.items()},
        {
            "experiment": experiment.to_plain(),
            "fingerprint": experiment.fingerprint,
            "seed": experiment.seed,
            "data": provenance.describe(dataset),
            "constants": constants,
            "sessions": sessions(pieces),
        },
    )


@lru_cache(maxsize=1)
def _constants(experiment: Experiment) -> Mapping[str, float]:
    """The constants that experiments of the same data, kernel and n share; they can cost more than the rest."""
    return prepare(experiment).constants
