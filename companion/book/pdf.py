"""The whole book as one PDF: all pages in one, printed by the browser that is here.

``python -m companion.book.pdf`` (``make pdf``) prints the book that ``make book`` has built, and puts a
link to the PDF on its landing page. The playground stays out: on paper it does not move.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from posixpath import normpath
from urllib.parse import urljoin, urlsplit

from bs4 import BeautifulSoup, Tag

from ..checkout import ROOT
from .errors import BookError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ON_A_MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")

#: Below the folder of the pages.
PDF = "nystrom_samples.pdf"

#: The first page, and what is left out.
FIRST = "intro"
LEFT_OUT = {"playground"}

#: What there is to press, and code that is folded: the notebooks have it.
_NOT_PRINTED = "script, .headerlink, .copybtn, .next, details.above-input, .ns-controls"

_SECONDS = 600


def find_browser() -> str | None:
    """The Chromium or Chrome on this machine, if there is one."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or (str(ON_A_MAC) if ON_A_MAC.exists() else None)


def print_book(html: Path) -> Path:
    """Print the book whose pages are in this folder, next to them; the PDF."""
    if not (html / f"{FIRST}.html").is_file():
        raise BookError(f"{html} holds no book; `make book` builds it.")
    program = find_browser()
    if program is None:
        raise BookError("There is no Chromium or Chrome on this machine; it must be there to print the book.")
    together, pdf = html / "_together.html", html / PDF
    pdf.unlink(missing_ok=True)
    together.write_text(one_page(html), encoding="utf-8")
    try:
        _print(program, together, pdf)
    finally:
        together.unlink()
    link_to_it(html / f"{FIRST}.html")
    return pdf


def _print(program: str, page: Path, pdf: Path) -> None:
    with tempfile.TemporaryDirectory() as profile:
        options = (
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
            f"--user-data-dir={profile}", "--no-pdf-header-footer", "--generate-pdf-document-outline",
            "--virtual-time-budget=600000", f"--print-to-pdf={pdf}",
        )  # fmt: skip
        try:
            done = subprocess.run(
                [program, *options, page.as_uri()], capture_output=True, text=True, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise BookError(f"The browser did not print the book within {_SECONDS} s.") from None
    if not pdf.is_file():
        raise BookError(f"The browser did not print the book: {done.stderr.strip()[-300:]}")


def one_page(html: Path) -> str:
    """All pages in the order of the book, with links that stay within the one page."""
    first = _read(html / f"{FIRST}.html")
    links = (str(link["href"]) for link in first.select("nav.bd-links a.reference.internal"))
    names = [FIRST, *(link.removesuffix(".html") for link in links if link.endswith(".html"))]
    names = [name for name in dict.fromkeys(names) if name not in LEFT_OUT]
    for script in first.select("script"):
        if "MathJax" not in script.get_text() and "mathjax" not in str(script.get("src")):
            script.decompose()
    chapters = "\n".join(str(_chapter(html, name, set(names))) for name in names)
    return (
        f'<!DOCTYPE html>\n<html lang="en" data-theme="light">{first.head}\n<body>'
        f'<div class="bd-content together"><article class="bd-article">{chapters}</article></div></body></html>'
    )


def _read(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


def _chapter(html: Path, name: str, names: set[str]) -> Tag:
    chapter = _read(html / f"{name}.html").select_one("article.bd-article")
    if chapter is None:
        raise BookError(f"{name}.html has no article; `make book` builds the book anew.")
    for each in chapter.select(_NOT_PRINTED):
        each.decompose()
    for each in chapter.select("details"):
        each["open"] = ""
    for each in chapter.select("[id]"):
        each["id"] = _anchor(name, str(each["id"]))
    for each in chapter.select("img[src]"):
        each["src"] = normpath(urljoin(f"{name}.html", str(each["src"])))
        each["loading"] = "eager"
    for each in chapter.select("a[href]"):
        _redirect(each, name, names)
    chapter.name, chapter["class"], chapter["id"] = "section", "chapter", _anchor(name, "")
    return chapter


def _anchor(name: str, identifier: str) -> str:
    return f"{name.replace('/', '-')}--{identifier}"


def _redirect(link: Tag, name: str, names: set[str]) -> None:
    """A link into the book leads to the same place of the one page; one to what is left out becomes plain words."""
    parts = urlsplit(urljoin(f"{name}.html", str(link["href"])))
    if parts.scheme:
        return
    target = normpath(parts.path).removesuffix(".html")
    if target in names:
        link["href"] = f"#{_anchor(target, parts.fragment)}"
    else:
        del link["href"]


def link_to_it(landing: Path) -> None:
    """A line of "How to read" that leads to the PDF, once."""
    page = _read(landing)
    ways = page.select_one("section#how-to-read ul")
    if ways is not None and not ways.select(f'a[href="{PDF}"]'):
        line = f'<li><p><strong>On paper</strong>: <a href="{PDF}">all of it as one PDF</a>.</p></li>'
        ways.append(BeautifulSoup(line, "html.parser"))
        landing.write_text(str(page), encoding="utf-8")


def main(*arguments: str) -> int:
    """Print the book; an error is one sentence and exit code 1."""
    try:
        pdf = print_book(Path(*arguments) if arguments else ROOT / "_build" / "html")
    except BookError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"pdf: {pdf}, {pdf.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
