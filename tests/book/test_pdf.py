"""The whole book as one PDF: every link stays within it, and what cannot be pressed on paper is not there."""

from __future__ import annotations

from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from companion.book import BookError, pdf

NAVIGATION = """
<nav class="bd-links"><a class="reference internal" href="intro.html">a</a>
<a class="reference internal" href="playground.html">b</a>
<a class="reference internal" href="theory/one.html">c</a></nav>
"""
PAGES = {
    "intro": """<h1 id="top">Landing</h1> <a href="theory/one.html#eq">to the formula</a>
        <a href="playground.html">play</a> <a href="https://example.org/">out</a> <img src="_images/a.svg">
        <section id="how-to-read"><ul><li>a way</li></ul></section>""",
    "playground": "<h1>Playground</h1>",
    "theory/one": """<h1 id="top">One</h1> <p id="eq">x</p> <a href="#eq">(1)</a> <a href="../intro.html">home</a>
        <img src="../_images/a.svg"> <details class="hide above-input"><pre>folded code</pre></details>
        <details class="hide above-output">a table</details><a class="headerlink" href="#top">#</a>""",
}


@pytest.fixture
def html(tmp_path: Path) -> Path:
    for name, article in PAGES.items():
        page = tmp_path / f"{name}.html"
        page.parent.mkdir(exist_ok=True)
        scripts = "<script>window.MathJax = {}</script><script>alert(1)</script>"
        page.write_text(
            f"<html><head><title>a book</title>{scripts}</head><body>{NAVIGATION}"
            f'<article class="bd-article">{article}</article></body></html>',
            encoding="utf-8",
        )
    return tmp_path


def test_all_pages_are_one_whose_links_stay_within_it(html: Path) -> None:
    page = BeautifulSoup(pdf.one_page(html), "html.parser")
    ids = [each["id"] for each in page.select("[id]")]
    assert len(ids) == len(set(ids))
    assert [each["href"] for each in page.select("a[href]")] == [
        "#theory-one--eq", "https://example.org/", "#theory-one--eq", "#intro--",
    ]  # fmt: skip
    assert {"theory-one--eq", "intro--"} <= set(ids)
    assert [each["src"] for each in page.select("img")] == ["_images/a.svg"] * 2


def test_what_can_only_be_pressed_is_left_out_and_what_is_folded_is_open(html: Path) -> None:
    page = BeautifulSoup(pdf.one_page(html), "html.parser")
    assert [each.get_text() for each in page.select("h1")] == ["Landing", "One"]
    assert "play" in page.get_text() and "folded code" not in page.get_text()
    assert [each.get_text() for each in page.select("script")] == ["window.MathJax = {}"]
    assert all(each.has_attr("open") for each in page.select("details")) and page.select("details")


def test_the_landing_page_leads_to_the_pdf_once(html: Path) -> None:
    for _ in range(2):
        pdf.link_to_it(html / "intro.html")
    page = BeautifulSoup((html / "intro.html").read_text(encoding="utf-8"), "html.parser")
    assert len(page.select(f'#how-to-read a[href="{pdf.PDF}"]')) == 1


@pytest.mark.skipif(pdf.find_browser() is None, reason="there is no Chromium or Chrome on this machine")
def test_it_is_printed(html: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert pdf.main(str(html)) == 0
    printed = (html / pdf.PDF).read_bytes()
    assert printed.startswith(b"%PDF") and b"/Outlines" in printed
    assert str(html).encode() not in printed  # a link would carry the path of this machine
    assert pdf.PDF in (html / "intro.html").read_text(encoding="utf-8") and not (html / "_together.html").exists()
    assert capsys.readouterr().out.startswith("pdf: ")


def test_without_a_book_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BookError, match="holds no book"):
        pdf.print_book(tmp_path)
    assert pdf.main(str(tmp_path)) == 1
    assert "`make book` builds it." in capsys.readouterr().err


def test_without_a_browser_it_says_so(html: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "find_browser", lambda: None)
    with pytest.raises(BookError, match="no Chromium or Chrome"):
        pdf.print_book(html)
