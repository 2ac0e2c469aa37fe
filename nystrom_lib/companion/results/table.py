"""Results: a tidy table with its provenance, kept in one Parquet file; loaded, compared, verified.

A row of the table is a Nyström sample (a repetition at a stage, ``initial`` or ``optimised``), a column a quantity
measured on it. Curves and paths of the repetitions that have them travel in the same file.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ...datasets import Dataset
from ..errors import ConfigurationError, DamagedResultsError, VerificationError
from ..experiments.config import Experiment
from ..experiments.outcome import STAGES, TIMINGS, Array, Outcome
from ..settings import canonical_json
from . import provenance
from .store import Store
from .tolerances import Tolerance, tolerance_for

FORMAT = 1
#: Under which a file has its provenance.
KEY = b"nystrom_lib"

#: The order of the table's columns; others follow by name.
QUANTITIES = ("R", "trace", "frobenius", "spectral", "E_tr", "E_F", "E_sp", "rank", "diverged_at", "seconds")


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

    @classmethod
    def from_store(cls, store: Store, experiment: Experiment, dataset: Dataset) -> Results:
        """What a store holds of an experiment so far."""
        outcomes = {j: outcome for j, outcome in store.outcomes().items() if j < experiment.m}
        return cls(
            outcomes,
            {
                "experiment": experiment.to_plain(),
                "fingerprint": experiment.fingerprint,
                "seed": experiment.seed,
                "data": provenance.describe(dataset),
                "constants": store.constants() or {},
                "sessions": store.sessions(),
            },
        )

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
        found = {name.partition(".")[0] for outcome in self.outcomes.values() for name in outcome.numbers}
        quantities = [*(q for q in QUANTITIES if q in found), *sorted(found - set(QUANTITIES))]
        rows = [
            {
                "repetition": j,
                "stage": stage,
                **{q: outcome.numbers.get(f"{q}.{stage}", np.nan) for q in quantities},
            }
            for j, outcome in self.outcomes.items()
            for stage in STAGES
        ]
        table = pd.DataFrame(rows, columns=["repetition", "stage", *quantities])
        return table.astype({"repetition": "int64", "stage": "str", **dict.fromkeys(quantities, "float64")})

    @cached_property
    def curves(self) -> pd.DataFrame:
        """R at every so many steps: columns repetition, iteration, R."""
        parts = [
            pd.DataFrame({"repetition": j, "iteration": curve[0].astype("int64"), "R": curve[1]})
            for j, outcome in self.outcomes.items()
            if (curve := outcome.arrays.get("curve")) is not None
        ]
        empty = pd.DataFrame(columns=["repetition", "iteration", "R"]).astype(
            {"repetition": "int64", "iteration": "int64", "R": "float64"}
        )
        return pd.concat(parts, ignore_index=True) if parts else empty

    def path(self, j: int) -> tuple[Array, Array]:
        """The iterations at which the landmarks of repetition j were kept, and the landmarks, (k, n, d)."""
        arrays = self.outcomes[j].arrays
        if "path" not in arrays:
            raise ConfigurationError("j", f"is {j}; only the recorded repetitions have a path, with record.path.")
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
        draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}.draft")
        try:
            pq.write_table(table, draft, compression="zstd", write_page_checksum=True)
            with open(draft, "rb") as file:
                os.fsync(file.fileno())
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)
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
            table = pq.read_table(path, page_checksum_verification=True)
            stamp = json.loads((table.schema.metadata or {})[KEY])
            version, results = stamp["format"], cls(_outcomes(table, stamp["provenance"]), stamp["provenance"])
            intact = version != FORMAT or results._seal() == stamp["seal"]
        except (OSError, KeyError, ValueError, TypeError, pa.ArrowException) as error:
            raise DamagedResultsError(f"The results file {path} is damaged or not one of ours ({error!r}).") from error
        if not intact:
            raise DamagedResultsError(f"The results file {path} is damaged: it fails its checksum.")
        if version != FORMAT:
            raise DamagedResultsError(f"The results file {path} has format {version}; this version reads {FORMAT}.")
        return results


def _outcomes(table: pa.Table, origin: Mapping[str, Any]) -> dict[int, Outcome]:
    """Back from the table to what each repetition left behind."""
    for column in table.schema:
        if column.type not in (pa.int64(), pa.float64(), pa.string(), pa.large_string(), pa.list_(pa.float64())):
            raise ValueError(f"column {column.name} has the type {column.type}")
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


# -- comparing -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two sets of results, quantity by quantity.

    Attributes
    ----------
    table : DataFrame
        For each quantity and stage: on how many repetitions, the largest difference, where, the tolerance and why
        it is what it is, and whether the difference is within it.
    notes : tuple of str
        What differs besides numbers: settings, data, repetitions that only one of the two has.
    """

    table: pd.DataFrame
    notes: tuple[str, ...] = ()

    @property
    def agree(self) -> bool:
        """Is every difference within its tolerance?"""
        return bool(self.table["within"].all())

    def check(self) -> Comparison:
        """Raise VerificationError unless they agree."""
        if not self.agree:
            worst = self.table[~self.table["within"]]
            listed = "; ".join(
                f"{row.quantity} ({row.stage}) of repetition {row.repetition} is {row.found!r}, stored {row.stored!r}, "
                f"allowed {row.tolerance}"
                for row in worst.itertuples()
            )
            raise VerificationError(f"The numbers differ by more than their tolerance: {listed}.")
        return self

    def __str__(self) -> str:
        verdict = "agree" if self.agree else "DIFFER"
        shown = self.table.drop(columns=["reason", "stored", "found"]).to_string(index=False)
        return "\n".join([f"The results {verdict}.", shown, *self.notes])


def compare(found: Results, stored: Results) -> Comparison:
    """Compare the repetitions that two sets of results have in common, within the stated tolerances."""
    return Comparison(_differences(found.outcomes, stored.outcomes, stored), tuple(_unlike(found, stored)))


def _unlike(found: Results, stored: Results) -> Iterable[str]:
    ours, theirs = _flat(found.provenance["experiment"]), _flat(stored.provenance["experiment"])
    for name in sorted({*ours, *theirs}):
        if ours.get(name) != theirs.get(name):
            yield f"{name}: {ours.get(name)!r} against {theirs.get(name)!r}"
    if found.provenance["data"]["sha256"] != stored.provenance["data"]["sha256"]:
        yield f"other data: {found.provenance['data']['name']} against {stored.provenance['data']['name']}"
    for one, other, which in ((found, stored, "first"), (stored, found, "second")):
        missing = set(one.outcomes) - set(other.outcomes)
        if missing:
            yield f"{len(missing)} repetitions are in the {which} only"


def _flat(plain: Any, prefix: str = "") -> dict[str, Any]:
    if not isinstance(plain, dict):
        return {prefix: plain}
    return {
        name: value
        for key, item in plain.items()
        for name, value in _flat(item, f"{prefix}.{key}" if prefix else key).items()
    }


def _differences(found: Mapping[int, Outcome], stored: Mapping[int, Outcome], results: Results) -> pd.DataFrame:
    common = sorted(set(found) & set(stored))
    both = [outcome for j in common for outcome in (found[j], stored[j])]
    rows = []
    for name in sorted({name for outcome in both for name in outcome.numbers}, key=_column_order):
        quantity, _, stage = name.partition(".")
        pairs = [(j, found[j].numbers.get(name, np.nan), stored[j].numbers.get(name, np.nan)) for j in common]
        if quantity not in TIMINGS:
            rows.append(_row(quantity, stage, pairs, results))
    for name in sorted({name for outcome in both for name in outcome.arrays}):
        pairs = [pair for j in common for pair in _elements(j, found[j].arrays.get(name), stored[j].arrays.get(name))]
        rows.append(_row(name, STAGES[-1], pairs, results))
    return pd.DataFrame(rows, columns=_COMPARED)


_COMPARED = (
    "quantity", "stage", "repetitions", "difference", "repetition", "found", "stored", "tolerance", "within", "reason"
)  # fmt: skip


def _row(quantity: str, stage: str, pairs: list[tuple[int, float, float]], results: Results) -> dict[str, Any]:
    return {"quantity": quantity, "stage": stage, **_worst(pairs, tolerance_for(quantity, results.constants))}


def _elements(j: int, found: Array | None, stored: Array | None) -> list[tuple[int, float, float]]:
    """Entry by entry; an array that is missing or has another shape differs without bound."""
    if found is None and stored is None:
        return []
    if found is None or stored is None or found.shape != stored.shape:
        return [(j, np.nan, 0.0)]
    return [(j, float(a), float(b)) for a, b in zip(found.ravel(), stored.ravel(), strict=True)]


def _worst(pairs: list[tuple[int, float, float]], tolerance: Tolerance) -> dict[str, Any]:
    """The pair that is furthest beyond, or nearest to, what is allowed."""
    there = [pair for pair in pairs if not (np.isnan(pair[1]) and np.isnan(pair[2]))]
    j, found, stored = max(there, key=lambda pair: tolerance.excess(pair[1], pair[2]))
    return {
        "repetitions": len({pair[0] for pair in there}),
        "difference": abs(found - stored),
        "repetition": j,
        "found": found,
        "stored": stored,
        "tolerance": str(tolerance),
        "within": tolerance.excess(found, stored) <= 1.0,
        "reason": tolerance.reason,
    }


def _column_order(name: str) -> tuple[int, str, int]:
    quantity, _, stage = name.partition(".")
    place = QUANTITIES.index(quantity) if quantity in QUANTITIES else len(QUANTITIES)
    return place, quantity, STAGES.index(stage)


# -- verifying -------------------------------------------------------------------------------------------------


def verify(
    stored: Results,
    repetitions: int | Iterable[int] = 3,
    *,
    dataset: Dataset | None = None,
    threads: int | None = None,
    constants: bool = False,
) -> Comparison:
    """Compute chosen repetitions again, from the configuration alone, and compare them with the stored ones.

    Parameters
    ----------
    stored : Results
        What to verify.
    repetitions : int or iterable of int
        Which; a number takes so many, spread evenly.
    dataset : Dataset, optional
        The data, if they are in memory already.
    threads : int, optional
        By default one per core.
    constants : bool
        Compute ‖K‖_F² and the best rank-n errors again as well? They can cost more than many repetitions.

    Returns
    -------
    Comparison
        Call ``.check()`` on it to have a difference raise VerificationError.
    """
    from ..experiments.protocol import load_data, prepare
    from ..running.runner import recompute

    experiment = stored.experiment
    chosen = _chosen(repetitions, sorted(stored.outcomes))
    dataset = load_data(experiment, dataset)
    if dataset.sha256 != stored.provenance["data"]["sha256"]:
        raise VerificationError(
            f"The data differ: {dataset.name} has sha256 {dataset.sha256[:16]}…, the results were made from "
            f"{stored.provenance['data']['name']} with {stored.provenance['data']['sha256'][:16]}…."
        )
    problem = prepare(experiment, dataset, None if constants else stored.constants)
    found = recompute(problem, chosen, threads)
    table = _differences(found, stored.outcomes, stored)
    if constants:
        table = pd.concat([_constant_differences(problem.constants, stored), table], ignore_index=True)
    return Comparison(table, (f"recomputed: repetitions {', '.join(map(str, chosen))}",))


def _constant_differences(found: Mapping[str, float], stored: Results) -> pd.DataFrame:
    rows = [_row(name, "constant", [(-1, found[name], value)], stored) for name, value in stored.constants.items()]
    return pd.DataFrame(rows, columns=_COMPARED)


def _chosen(repetitions: int | Iterable[int], there: list[int]) -> list[int]:
    if isinstance(repetitions, int):
        if repetitions < 1:
            raise ConfigurationError("repetitions", f"is {repetitions}; it must be at least 1.")
        places = np.linspace(0, len(there) - 1, min(repetitions, len(there))).round().astype(int)
        return [there[place] for place in sorted(set(places.tolist()))]
    chosen = sorted(set(repetitions))
    missing = [j for j in chosen if j not in set(there)]
    if missing or not chosen:
        raise ConfigurationError("repetitions", f"is {chosen}; the stored ones are {there[0]} to {there[-1]}.")
    return chosen
