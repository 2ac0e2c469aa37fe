"""Results stored at full scale: found by their experiment, and checked before they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nystrom_lib.datasets import Dataset

from ..atomic_write import without_temporary
from ..experiments.config import Experiment
from ..experiments.protocol import load
from ..results.table import Results, read_provenance
from .verifying import some_of, verify


@dataclass(frozen=True)
class Stored:
    """Stored results, their name, and their data."""

    name: str
    results: Results
    dataset: Dataset

    def verified(self, count: int, threads: int | None = None) -> str:
        """Compute ``count`` repetitions again, raise VerificationError if they differ, and say which these were."""
        if count == 0:
            return "none"
        chosen = some_of(sorted(self.results.outcomes), count)
        verify(self.results, chosen, dataset=self.dataset, threads=threads).check()
        return ", ".join(map(str, chosen))


def find(experiment: Experiment, folder: Path) -> Stored | None:
    """The stored results of this very experiment, or None.

    Results of other data do not count: a stand-in and what it stands in for are one experiment on two sets of data.

    Parameters
    ----------
    experiment : Experiment
        What is asked.
    folder : Path
        Where results are stored, a Parquet file for each experiment, perhaps in a folder below.
    """
    for path in without_temporary(folder.rglob("*.parquet")):
        origin = read_provenance(path)
        if origin["fingerprint"] != experiment.fingerprint:
            continue
        results, dataset = Results.load(path), load(experiment.data, experiment.seed)
        if results.complete and dataset.sha256 == origin["data"]["sha256"]:
            return Stored(path.stem, results, dataset)
    return None
