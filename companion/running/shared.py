"""What several experiments have in common is computed once: ‖K‖_F² and the best rank-n errors."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from nystrom_lib.datasets import Dataset

from ..atomic_write import without_temporary
from ..experiments.config import Experiment
from ..experiments.protocol import load_data
from ..results.store import Store
from ..results.table import KEY, Results
from ..settings import canonical_json
from .runner import run


def run_sharing(
    experiment: Experiment, work: Path, folders: Iterable[Path], dataset: Dataset | None = None, **how: Any
) -> Results:
    """:func:`.runner.run`, with the constants taken from stored results of the same data, kernel and n, if any are.

    Parameters
    ----------
    experiment : Experiment
        What to do.
    work : Path
        Where the repetitions are stored.
    folders : iterable of Path
        Where results may be, a Parquet file for each experiment.
    dataset : Dataset, optional
        The data, if they are in memory already.
    **how
        Of :func:`.runner.run`.
    """
    dataset = load_data(experiment, dataset)
    with Store(work, experiment, dataset.sha256) as store:
        if store.constants() is None:
            known = shared_constants(experiment, dataset.sha256, folders)
            if known is not None:
                store.keep_constants(known)
    return run(experiment, work, dataset=dataset, **how)


def shared_constants(experiment: Experiment, sha256: str, folders: Iterable[Path]) -> dict[str, float] | None:
    """The constants an experiment asks for, from results that have them all; None if no results do."""
    asked = {*(experiment.norms if experiment.factors else ()), *(("squared_norm",) if experiment.constant else ())}
    for path in (path for folder in folders for path in without_temporary(folder.glob("*.parquet"))):
        origin = _origin(path, path.stat().st_mtime_ns)
        same = origin["data"]["sha256"] == sha256 and _matrix(origin["experiment"]) == _matrix(experiment.to_plain())
        if same and asked <= set(origin["constants"]):
            return {name: value for name, value in origin["constants"].items() if name in asked}
    return None


def _matrix(plain: dict[str, Any]) -> str:
    """What the constants depend on, besides the data."""
    return canonical_json([plain["kernel"], plain["n"]])


@lru_cache(maxsize=1024)
def _origin(path: Path, changed: int) -> dict[str, Any]:
    origin: dict[str, Any] = json.loads(pq.read_schema(path).metadata[KEY])["provenance"]
    return origin
