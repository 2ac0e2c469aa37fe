"""The small book of one's own runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from nystrom_lib.companion import book
from nystrom_lib.companion.book.small import plain_references
from nystrom_lib.companion.chapters import chapter


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Eq. {eq}`eq-5`", "Eq. (5)"),
        ("{eq}`eq-L`", "(L)"),
        ("{prf:ref}`thm-2-1`", "Theorem 2.1"),
        ("{numref}`figure-2`", "Figure 2"),
        ("{doc}`the proof </theory/proof>`", "the proof"),
        ("the [next chapter](03_convergence.ipynb)", "the next chapter"),
        ("{py:func}`~nystrom_lib.radial_skd`", "`nystrom_lib.radial_skd`"),
        ("{math}`x^2` and `code`", "{math}`x^2` and `code`"),
    ],
)
def test_references_to_the_rest_of_the_book_become_words(written: str, read: str) -> None:
    assert plain_references(written) == read


def test_two_runs_of_one_chapter_make_a_book(tmp_path: Path) -> None:
    runs = [tmp_path / "first run", tmp_path / "second"]
    for folder in runs:
        folder.mkdir()
        shutil.copyfile(chapter("bigaussian").source(), folder / "bigaussian.ipynb")
        (folder / "run.json").write_text(json.dumps({"parameters": {"n": 7}}), encoding="utf-8")
    page = book.build_small(runs, tmp_path / "out")
    first, second = page.parent / "01_first-run.html", page.parent / "02_second.html"
    assert first.is_file() and second.is_file()
    front = page.read_text(encoding="utf-8")
    assert "n = 7" in BeautifulSoup(front, "html.parser").get_text() and 'href="01_first-run.html"' in front
    assert "Where these numbers come from" in second.read_text(encoding="utf-8")
