"""Names of columns are somebody else's text: a page and a figure show them, and do nothing else with them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from companion.notebook.execute import execute
from tests.book import browser as chromium
from tests.book.browser import Browser

SCRIPT = "document.title='hacked'"
NAMES = [f"<img src=x onerror={SCRIPT}>", "a|b", r"$\nonsense{$", f"<script>{SCRIPT}</script>"]
#: The texts of the cells of every table, row by row.
TABLES = """
[...document.querySelectorAll("table")].map(t => [...t.rows].map(r => [...r.cells].map(c => c.textContent.trim())))
"""


@pytest.fixture(scope="module")
def run(
    tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[str]]:
    """Chapter 9 on a file whose columns, and whose own name, are hostile; two columns are named along the axes."""
    names = NAMES
    folder = tmp_path_factory.mktemp("outside")
    with (folder / "<b>`data`|$x$.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(names)
        rows.writerows(np.random.default_rng(0).normal(size=(60, len(names))).tolist())
    values = {"file": str(folder / "<b>`data`|$x$.csv")}
    target = execute("your_data", values, folder / "run", profile="smoke", jobs=1, progress=False)
    return target.with_suffix(".html"), names


@pytest.mark.slow
@pytest.mark.skipif(chromium.find() is None, reason="there is no Chromium or Chrome on this machine")
def test_the_page_shows_names_and_executes_nothing(run: tuple[Path, list[str]], tmp_path: Path) -> None:
    """Catches a script that runs, a table that breaks, a formula where a name should be."""
    page, names = run
    with Browser(tmp_path / "profile") as browser:
        tab = browser.tab()
        tab.open(page.as_uri())
        assert tab.run("document.title") == "Your own data"
        assert tab.run("document.querySelectorAll('img[src=x], main script').length") == 0
        tables = tab.run(TABLES)
        assert names in [table[0] for table in tables]
        assert all(len({len(row) for row in table}) == 1 for table in tables)
