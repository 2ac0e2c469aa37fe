"""Where the project's own files are: notebooks, stored results, book. The companion runs from a checkout only."""

from __future__ import annotations

from pathlib import Path

#: The folder that holds ``notebooks/``, ``results/`` and ``book/``.
ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
RESULTS = ROOT / "results"
BOOK = ROOT / "book"
#: What unfinished runs keep so that they can be resumed.
WORK = ROOT / ".cache"
