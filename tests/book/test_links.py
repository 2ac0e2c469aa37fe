"""What is looked for in the built pages is found, if it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.book import BookError, links
from companion.book.rendering import check


def page(folder: Path, body: str, name: str = "index.html") -> Path:
    (folder / name).write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("body", "trouble"),
    [
        ('<a href="nowhere.html">x</a>', "nowhere.html leads to no file"),
        ('<a href="#nowhere">x</a>', "#nowhere leads to no place on that page"),
        ('<a href="other.html#nowhere">x</a>', "other.html#nowhere leads to no place on that page"),
        ('<img src="a%20picture.png">', "a%20picture.png leads to no file"),
        ('<script src="x.js"></script>', "x.js leads to no file"),
        ('<link rel="stylesheet" href="x.css?v=1">', "x.css?v=1 leads to no file"),
    ],
)
def test_a_link_that_leads_nowhere_is_found(tmp_path: Path, body: str, trouble: str) -> None:
    page(tmp_path, "<p id='here'></p>", "other.html")
    assert links.troubles(page(tmp_path, body)) == [f"index.html: {trouble}"]
    with pytest.raises(BookError, match="not sound"):
        check(tmp_path)


@pytest.mark.parametrize(
    "body",
    [
        '<script src="https://cdn.example.org/x.js"></script>', '<img src="//example.org/x.png">',
        '<link rel="stylesheet" href="http://example.org/x.css">', '<link rel="preconnect" href="https://example.org">',
        '<iframe src="https://example.org"></iframe>', '<style>@import "https://example.org/x.css";</style>',
        '<p style="background: url(https://example.org/x.png)"></p>',
    ],
)  # fmt: skip
def test_what_another_host_would_be_asked_for_is_found(tmp_path: Path, body: str) -> None:
    assert len(links.troubles(page(tmp_path, body))) == 1
    with pytest.raises(BookError, match="loads"):
        check(tmp_path)


def test_style_sheets_are_read_too(tmp_path: Path) -> None:
    (page(tmp_path, "") / "x.css").write_text("p { background: url('https://example.org/x.png') }", encoding="utf-8")
    assert links.troubles(tmp_path) == ["x.css loads https://example.org/x.png"]
