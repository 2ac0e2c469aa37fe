"""What the theme brings and no page needs is gone, and what readers see of it is still there."""

from __future__ import annotations

import gzip
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

from companion.book.lightening import with_icons

from . import browser as chromium
from .browser import Tab

needs_browser = pytest.mark.skipif(chromium.find() is None, reason="there is no Chromium or Chrome on this machine")

#: As the theme's script has them: an outline of the thin set comes before that of the solid one.
OUTLINES = '{sun:[5,6,[9728],"f185","M1 1"]},{moon:[7,8,[],"f1","M3 3"],sun:[5,6,[9728],"f185","M2 2"]}'


def test_an_icon_is_the_last_outline_of_its_name() -> None:
    page = with_icons('<i class="theme-switch fa-solid fa-sun  fa-lg" data-mode="light" title="Light"></i>', OUTLINES)
    assert page == (
        '<svg class="svg-inline--fa theme-switch fa-sun fa-lg" data-mode="light" viewBox="0 0 5 6" aria-hidden="true">'
        '<path fill="currentColor" d="M2 2"/></svg>'
    )
    assert 'd="M3 3"' in with_icons('<span class="fa-solid fa-moon"> </span>', OUTLINES)


def test_no_page_asks_for_what_was_taken_out(pages: dict[str, BeautifulSoup]) -> None:
    for name, page in pages.items():
        assert page.select("script[src*=fontawesome]") == [], name
        assert page.select("i[class*=fa-], span[class*=fa-]") == [], name
        assert page.select("svg.fa-magnifying-glass path[d]"), name


@needs_browser
def test_the_landing_page_weighs_at_most_600_kb(tab: Tab, built: Path) -> None:
    tab.open(f"{built.as_uri()}/intro.html")
    files = {Path(unquote(urlsplit(url).path)) for url in tab.requests if url.startswith("file:")}
    assert built / "intro.html" in files and any(path.name == "tex-chtml.js" for path in files)
    assert sum(len(gzip.compress(path.read_bytes(), 6)) for path in files) <= 600_000
