"""Stored results verified: chosen repetitions are computed again, from the configuration alone."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

import nystrom_lib as nl

from ..errors import ConfigurationError, VerificationError
from ..experiments.protocol import load_data, prepare, repetition
from ..results import provenance
from ..results.comparing import Comparison, differences, row
from ..results.table import Results
from .engine import interruptible


def verify(
    stored: Results,
    repetitions: int | Iterable[int] = 3,
    *,
    dataset: nl.datasets.Dataset | None = None,
    threads: int | None = None,
    constants: bool = False,
) -> Comparison:
    """Compute repetitions again, from the configuration alone, and compare them with the stored ones.

    Parameters
    ----------
    stored : Results
        What to verify.
    repetitions : int or iterable of int
        Which; a number takes that many, spread evenly.
    dataset : Dataset, optional
        The data, if they are in memory already.
    threads : int, optional
        By default one per core.
    constants : bool
        Compute ‖K‖_F² and the best rank-n errors again as well? They can cost more than many repetitions.
    """
    experiment = stored.experiment
    there = sorted(stored.outcomes)
    chosen = some_of(there, repetitions) if isinstance(repetitions, int) else sorted(set(repetitions))
    if not chosen or not set(chosen) <= set(there):
        raise ConfigurationError("repetitions", f"is {repetitions}; the stored ones are {there[0]} to {there[-1]}.")
    dataset = load_data(experiment, dataset)
    if dataset.sha256 != stored.provenance["data"]["sha256"]:
        raise VerificationError(
            f"The data differ: {dataset.name} has sha256 {dataset.sha256[:16]}…, the results were made from "
            f"{stored.provenance['data']['name']} with {stored.provenance['data']['sha256'][:16]}…."
        )
    problem = prepare(experiment, dataset, None if constants else stored.constants)
    again = interruptible(lambda: {j: repetition(problem, j) for j in chosen}, threads or provenance.cores())
    table = differences(again, stored.outcomes, stored)
    if constants:
        found = problem.constants
        rows = [row(name, "constant", [(-1, found[name], known)], stored) for name, known in stored.constants.items()]
        table = pd.concat([pd.DataFrame(rows), table], ignore_index=True)
    return Comparison(table)


def some_of(there: list[int], most: int, seed: int | None = None) -> list[int]:
    """At most ``most`` of the repetitions, drawn from a seed or spread evenly from the first to the last."""
    count = min(most, len(there))
    if seed is not None:
        return sorted(np.random.default_rng(seed).choice(there, count, replace=False).tolist())
    return [there[place] for place in np.linspace(0, len(there) - 1, count).round().astype(int)]
