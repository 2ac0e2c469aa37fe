"""Where the project's own files are: notebooks, stored results, book.

In a checkout they lie beside the package. A wheel carries notebooks and results inside it (``setup.py``) and no book;
what is then computed goes to the folder the user is in, never into the package.
"""

from __future__ import annotations

from pathlib import Path

#: The folder that holds ``notebooks/``, ``results/`` and ``book/``.
ROOT = Path(__file__).resolve().parents[2]
IS_CHECKOUT = (ROOT / "pyproject.toml").is_file() and (ROOT / "notebooks").is_dir()
_FILES = ROOT if IS_CHECKOUT else Path(__file__).resolve().parent / "files"
NOTEBOOKS = _FILES / "notebooks"
RESULTS = _FILES / "results"
BOOK = ROOT / "book"

#: Where experiments at full scale go when they are computed again, and what is kept on the way.
NEW_RESULTS = RESULTS if IS_CHECKOUT else Path("results")
WORK = ROOT / ".cache" if IS_CHECKOUT else Path("results", "unfinished")
