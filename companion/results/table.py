"""Results: a tidy table with its provenance, kept in one Parquet file.

A row of the table is a Nyström sample (a repetition at a stage, ``initial`` or ``optimised``), a column a quantity
measured on it. Curves and paths of the repetitions that have them travel in the same file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ..atomic_write import atomic_write
from ..errors import CompanionError
from ..experiments.config import Experiment
from ..experiments.outcome import STAGES, Array, Outcome
from ..settings import canonical_json
from ..wording import SYMBOLS

FORMAT = 1
#: Under which a file has its provenance.
KEY = b"nystrom_lib"

#: The order of the table's columns; others follow by name.
QUANTITIES = (*SYMBOLS, "rank", "diverged_at", "seconds")


@dataclass(frozen=True, eq=False)
class Results:
    """The finished repetitions of an experiment, and where they come from.

    Attributes
    ----------
    outcomes : mapping of int to Outcome
        What each repetition left behind.
    provenance : dict
        Configuration, fingerprint, seed, data, constants, and the sessions that did the work, each with library
        version, commit, processor, BLAS, threads, package versions and wall time.
    """

    outcomes: Mapping[int, Outcome]
    provenance: dict[str, Any]

    @property
    def experiment(self) -> Experiment:
        """The configuration."""
        return Experiment.from_plain(self.provenance["experiment"])

    @property
    def complete(self) -> bool:
        """Are all m repetitions there?"""
        return set(self.outcomes) == set(range(self.experiment.m))

    @property
    def constants(self) -> dict[str, float]:
        """‖K‖_F² and the best rank-n errors."""
        return dict(self.provenance["constants"])

    @property
    def stand_in(self) -> bool:
        """Were the data a stand-in for those they are named after?"""
        return bool(self.provenance["data"]["stand_in"])

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each repetition and stage, a column for each quantity."""
        measured = {name.partition(".")[0] for outcome in self.outcomes.values() for name in outcome.numbers}
        quantities = [*(q for q in QUANTITIES if q in measured), *sorted(measured - set(QUANTITIES))]
        rows = [
            {"repetition": j, "stage": stage, **{q: outcome.numbers.get(f"{q}.{stage}", np.nan) for q in quantities}}
            for j, outcome in self.outcomes.items()
            for stage in STAGES
        ]
        table = pd.DataFrame(rows, columns=["repetition", "stage", *quantities])
        return table.astype({"repetition": "int64", "stage": "str", **dict.fromkeys(quantities, "float64")})

    @cached_property
    def curves(self) -> pd.DataFrame:
        """R along the recorded descents: columns repetition, iteration, R."""
        types = {"repetition": "int64", "iteration": "int64", "R": "float64"}
        rows = [
            (j, iteration, R)
            for j, outcome in self.outcomes.items()
            for iteration, R in outcome.arrays.get("curve", np.empty((2, 0))).T
        ]
        return pd.DataFrame(rows, columns=list(types)).astype(types)

    def path(self, j: int) -> tuple[Array, Array]:
        """The iterations at which the landmarks of repetition j were kept, and the landmarks, (k, n, d)."""
        arrays = self.outcomes[j].arrays
        return arrays["curve"][0], arrays["path"]

    @property
    def checksum(self) -> str:
        """sha256 over every number and every array."""
        digest = hashlib.sha256()
        for j in sorted(self.outcomes):
            digest.update(f"{j} {self.outcomes[j].checksum()}\n".encode())
        return digest.hexdigest()

    # -- one file ----------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write a Parquet file, in one step: it is there complete, or as it was before."""
        path = Path(path)
        stamp = {"format": FORMAT, "seal": self._seal(), "provenance": self.provenance}
        table = pa.Table.from_pandas(self._wide_rows(), preserve_index=False)
        table = table.replace_schema_metadata({KEY: canonical_json(stamp).encode("ascii")})
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, lambda part: pq.write_table(table, part, compression="zstd", write_page_checksum=True))
        return path

    def _seal(self) -> str:
        return hashlib.sha256(f"{self.checksum} {canonical_json(self.provenance)}".encode("ascii")).hexdigest()

    def _wide_rows(self) -> pd.DataFrame:
        """The table, with the arrays of a repetition as lists in its second row."""
        table = self.table.copy()
        for name in sorted({name for outcome in self.outcomes.values() for name in outcome.arrays}):
            lists = [
                array.ravel().tolist()
                if stage == STAGES[-1] and (array := outcome.arrays.get(name)) is not None
                else None
                for outcome in self.outcomes.values()
                for stage in STAGES
            ]
            table[name] = pd.Series(lists, dtype=pd.ArrowDtype(pa.list_(pa.float64())))
        return table

    @classmethod
    def load(cls, path: str | Path) -> Results:
        """Read a file written by :meth:`save`; what is damaged is refused by name."""
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"There is no results file {path}.")
        try:
            # An old pyarrow would take a folder of the name rho=1 for a column.
            table = pq.read_table(path, page_checksum_verification=True, partitioning=None)
            stamp = json.loads((table.schema.metadata or {})[KEY])
            version, results = stamp["format"], cls(_outcomes(table, stamp["provenance"]), stamp["provenance"])
            intact = version != FORMAT or results._seal() == stamp["seal"]
        except (OSError, KeyError, ValueError, TypeError, pa.ArrowException) as error:
            raise CompanionError(f"The results file {path} is damaged or not one of ours ({error!r}).") from error
        if not intact:
            raise CompanionError(f"The results file {path} is damaged: it fails its checksum.")
        if version != FORMAT:
            raise CompanionError(f"The results file {path} has format {version}; this version reads {FORMAT}.")
        return results


def read_provenance(path: Path) -> dict[str, Any]:
    """The provenance of a results file, from its footer alone."""
    return _footer(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=1024)
def _footer(path: Path, changed: int) -> dict[str, Any]:
    try:
        provenance: dict[str, Any] = json.loads(pq.read_schema(path).metadata[KEY])["provenance"]
    except (OSError, KeyError, ValueError, TypeError, pa.ArrowException):
        provenance = Results.load(path).provenance  # raises an error that describes the damage
    return provenance


def _outcomes(table: pa.Table, origin: Mapping[str, Any]) -> dict[int, Outcome]:
    """Back from the table to what each repetition left behind."""
    n, d = origin["experiment"]["n"], origin["data"]["d"]
    shapes = {"curve": (2, -1), "path": (-1, n, d)}
    numbers: dict[int, dict[str, float]] = {}
    arrays: dict[int, dict[str, Array]] = {}
    for row in table.to_pylist():
        j, stage = row.pop("repetition"), row.pop("stage")
        for name, value in row.items():
            if isinstance(value, list):
                arrays.setdefault(j, {})[name] = np.array(value).reshape(shapes[name])
            elif value is not None:
                numbers.setdefault(j, {})[f"{name}.{stage}"] = value
    return {j: Outcome(numbers[j], arrays.get(j, {})) for j in sorted(numbers)}
