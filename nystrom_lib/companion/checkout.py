"""Where the project's own files are: notebooks, stored results, book. They are in the checkout, not in the package."""

from __future__ import annotations

from pathlib import Path

#: The folder that holds ``notebooks/``, ``results/`` and ``book/``.
ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"
RESULTS = ROOT / "results"
BOOK = ROOT / "book"
