"""What lies on disk at full scale, each read once: results of experiments, timings, the benchmark."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import DamagedResultsError
from .table import Results


class Archive:
    """The stored results, each read once.

    Parameters
    ----------
    folder : Path
        The folder ``results/``; the benchmark's own results are looked for beside it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self._read: dict[str, Results | None] = {}

    def results(self, name: str) -> Results | None:
        """An experiment's results; None if they are not there, or not all of them."""
        if name not in self._read:
            path = self.folder / f"{name}.parquet"
            results = Results.load(path) if path.is_file() else None
            self._read[name] = results if results is not None and results.complete else None
        return self._read[name]

    def missing(self, names: Iterable[str]) -> list[str]:
        """Those of the named experiments that have no complete results here."""
        return [name for name in names if self.results(name) is None]

    def timings(self) -> dict[str, Any] | None:
        """MiniBooNE's timings: ``machine``, and under ``ours`` and ``plain_c`` seconds by name."""
        return _json(self.folder / "miniboone_timings.json")

    def later_checks(self) -> dict[str, Any] | None:
        """The rows that ``python -m companion.claims.later`` computed, by claim."""
        return _json(self.folder / "later_checks.json")

    def direct_descent(self) -> dict[str, Any] | None:
        """Descents on the trace error beside descents on R, timed: ``machine``, and ``problems`` by name."""
        return _json(self.folder / "direct_descent.json")

    def second_thread(self) -> dict[str, Any] | None:
        """Descents on one thread, on two, and two at a time: ``machine``, and ``problems`` by title."""
        return _json(self.folder / "beyond" / "second_thread.json")

    def cluster_timings(self) -> dict[str, Any] | None:
        """What the parts of a pass over the data take on a cluster: ``machine``, and seconds by name."""
        return _json(self.folder / "cluster_timings.json")

    def large_data(self) -> dict[str, Any] | None:
        """The benchmark of 10⁴ to 10⁸ points: ``machine``, and a mapping for each of ``sizes``."""
        return _json(self.folder.parent / "benchmarks" / "results" / "large.json")

    def many_landmarks(self) -> dict[str, Any] | None:
        """The benchmark of up to 100,000 landmarks: ``machine``, and a mapping for each of ``sizes``."""
        return _json(self.folder.parent / "benchmarks" / "results" / "many_landmarks.json")

    def benchmark(self) -> dict[str, Any] | None:
        """The committed benchmark at full size."""
        benchmark = _json(self.folder.parent / "benchmarks" / "results" / "results.json")
        return None if benchmark is None or benchmark.get("quick") else benchmark


def _json(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DamagedResultsError(f"The file {path} is damaged: {error}.") from error
    if not isinstance(content, dict):
        raise DamagedResultsError(f"The file {path} is damaged: it holds no mapping.")
    return content
