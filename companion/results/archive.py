"""The stored results at full scale, each read once: of experiments, timings and the benchmark."""

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

    def _content(self, path: str) -> dict[str, Any] | None:
        """A mapping stored as JSON, None if there is no such file."""
        file = self.folder / path
        if not file.is_file():
            return None
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise DamagedResultsError(f"The file {file} is damaged: {error}.") from error
        if not isinstance(content, dict):
            raise DamagedResultsError(f"The file {file} is damaged: it holds no mapping.")
        return content

    def timings(self) -> dict[str, Any] | None:
        """MiniBooNE's timings."""
        return self._content("miniboone_timings.json")

    def later_checks(self) -> dict[str, Any] | None:
        """The rows that ``python -m companion.claims.later`` computed, by claim."""
        return self._content("later_checks.json")

    def direct_descent(self) -> dict[str, Any] | None:
        """Descents on the trace error beside descents on R, timed."""
        return self._content("direct_descent.json")

    def second_thread(self) -> dict[str, Any] | None:
        """Descents on one thread, on two, and two at a time."""
        return self._content("beyond/second_thread.json")

    def cluster_timings(self) -> dict[str, Any] | None:
        """What the parts of a pass over the data take on a cluster."""
        return self._content("cluster_timings.json")

    def large_data(self) -> dict[str, Any] | None:
        """The benchmark of 10⁴ to 10⁸ points."""
        return self._content("../benchmarks/results/large.json")

    def many_landmarks(self) -> dict[str, Any] | None:
        """The benchmark of up to 100,000 landmarks."""
        return self._content("../benchmarks/results/many_landmarks.json")

    def benchmark(self) -> dict[str, Any] | None:
        """The committed benchmark at full size."""
        benchmark = self._content("../benchmarks/results/results.json")
        return None if benchmark is None or benchmark.get("quick") else benchmark
