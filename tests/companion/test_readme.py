"""The README says what the results say."""

from pathlib import Path

import pytest

from companion.book import landing, readme
from companion.results.archive import Archive
from tests.lock import locked


def test_the_numbers_are_those_of_the_results(root: Path) -> None:
    assert readme.block(root / "results") in (root / "README.md").read_text(encoding="utf-8")


@pytest.mark.skipif(not locked("matplotlib"), reason="stored with another matplotlib")
def test_the_figure_is_that_of_the_results(root: Path) -> None:
    assert readme.FIGURE.read_text(encoding="utf-8") == landing.figure_svg(landing.load(Archive(root / "results")))
