"""Stored results: found by their experiment, and verified by computing some repetitions again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import nystrom_lib as nl

from ..errors import VerificationError
from ..experiments.config import Experiment
from ..experiments.protocol import load, load_data, prepare, repetition
from ..results import provenance
from ..results.comparing import check, differences, row
from ..results.table import Results, read_provenance


def find(experiment: Experiment, folder: Path) -> tuple[str, Results] | None:
    """The stored results of this very experiment and their name, or None.

    ``folder`` and those below it have a Parquet file for each experiment. Results of other data do not count: a
    stand-in and what it stands in for are one experiment on two sets of data.
    """
    for path in sorted(folder.rglob("[!.]*.parquet")):
        origin = read_provenance(path)
        if origin["fingerprint"] != experiment.fingerprint:
            continue
        results = Results.load(path)
        if results.complete and load(experiment.data, experiment.seed).sha256 == origin["data"]["sha256"]:
            return path.stem, results
    return None


def verify(
    stored: Results, repetitions: list[int], *, threads: int | None = None, constants: bool = False
) -> pd.DataFrame:
    """Compute these repetitions again, from the configuration alone, and compare them with the stored ones.

    VerificationError says which differ by more than their tolerance; the table has all of them. ``constants`` asks for
    ‖K‖_F² and the best rank-n errors as well, which can cost more than many repetitions.
    """
    experiment, origin = stored.experiment, stored.provenance["data"]
    dataset = load_data(experiment)
    if dataset.sha256 != origin["sha256"]:
        raise VerificationError(
            f"The data differ: {dataset.name} has sha256 {dataset.sha256[:16]}…, the results were made from "
            f"{origin['name']} with {origin['sha256'][:16]}…."
        )
    with nl.threads(threads or provenance.cores()):
        problem = prepare(experiment, None if constants else stored.constants)
        again = {j: repetition(problem, j) for j in repetitions}
    table = differences(again, stored.outcomes, stored)
    if constants:
        found = problem.constants
        rows = [row(name, "constant", [(-1, found[name], known)], stored) for name, known in stored.constants.items()]
        table = pd.concat([pd.DataFrame(rows), table], ignore_index=True)
    return check(table)


def recomputed(stored: Results, count: int, threads: int | None = None) -> str:
    """Compute ``count`` repetitions again, raise VerificationError if they differ, and say which these were."""
    if count == 0:
        return "none"
    chosen = some_of(sorted(stored.outcomes), count)
    verify(stored, chosen, threads=threads)
    return ", ".join(map(str, chosen))


def some_of(there: list[int], most: int) -> list[int]:
    """At most ``most`` of the repetitions, spread evenly from the first to the last."""
    count = min(most, len(there))
    return [there[place] for place in np.linspace(0, len(there) - 1, count).round().astype(int)]
