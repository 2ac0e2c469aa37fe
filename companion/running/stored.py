"""Results stored at full scale: found by what they are results of, and checked before they are shown."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from nystrom_lib.datasets import Dataset

from ..atomic_write import without_temporary
from ..experiments.components import DataSource
from ..experiments.config import Experiment
from ..results.table import KEY, Results
from .verifying import verify


@dataclass(frozen=True)
class Stored:
    """Stored results, what they are called, and the data they are of."""

    name: str
    results: Results
    dataset: Dataset

    def verified(self, count: int, threads: int | None = None) -> str:
        """Compute ``count`` repetitions again, raise VerificationError if they differ, and say which these were."""
        if count == 0:
            return "none"
        comparison = verify(self.results, count, dataset=self.dataset, threads=threads).check()
        return ", ".join(map(str, comparison.recomputed))


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
    wanted = experiment.fingerprint
    for path in without_temporary(folder.rglob("*.parquet")):
        if _fingerprint(path, path.stat().st_mtime_ns) != wanted:
            continue
        results, dataset = Results.load(path), _data(experiment.data, experiment.seed)
        if results.complete and dataset.sha256 == results.provenance["data"]["sha256"]:
            return Stored(path.stem, results, dataset)
    return None


@lru_cache(maxsize=2)
def _data(source: DataSource, seed: int) -> Dataset:
    """The data; a chapter asks for many experiments on the same."""
    return source.load(seed)


@lru_cache(maxsize=1024)
def _fingerprint(path: Path, changed: int) -> str:
    """Which experiment a file is of, from its footer alone."""
    try:
        fingerprint: str = json.loads(pq.read_schema(path).metadata[KEY])["provenance"]["fingerprint"]
    except (OSError, KeyError, ValueError, TypeError, pa.ArrowException):
        fingerprint = Results.load(path).provenance["fingerprint"]  # says what is wrong with it
    return fingerprint
