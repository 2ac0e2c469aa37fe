"""The stored results at full scale, of experiments, timings and the benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import CompanionError
from .table import Results


class Archive:
    """The stored results of the folder ``results/``, each read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, Results | None] = {}

    def results(self, name: str) -> Results | None:
        """An experiment's results; None if they are not there, or not all of them."""
        if name not in self._read:
            path = self.folder / f"{name}.parquet"
            results = Results.load(path) if path.is_file() else None
            self._read[name] = results if results is not None and results.complete else None
        return self._read[name]

    def file(self, path: str) -> dict[str, Any] | None:
        """A mapping stored as JSON, by its path from the folder; None if there is no such file."""
        file = self.folder / path
        if not file.is_file():
            return None
        try:
            content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise CompanionError(f"The file {file} is damaged: {error}.") from error
        return content
