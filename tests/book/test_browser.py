"""The book in a browser: a few pages at a desk, and with ``-m slow`` every page at three widths and with axe."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup

from companion.chapters import CHAPTERS

from . import accessibility
from . import browser as chromium
from .browser import PHONE, Browser, Tab

pytestmark = pytest.mark.skipif(chromium.find() is None, reason="there is no Chromium or Chrome on this machine")

SCREEN = 1280, 800
QUICK = ("intro", "notebooks/03_convergence", "notebooks/05_bigaussian", "claims", "search")
OPENING_ON_A_FIGURE = [f"notebooks/{Path(chapter.file).stem}" for chapter in CHAPTERS.values()]


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def served(built: Path) -> Iterator[str]:
    """The address of the book on a server of this process."""
    handler = functools.partial(_Quiet, directory=str(built))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


# -- what is wrong with a page that is open --------------------------------------------------------------------

UNTYPESET = r"""
(() => {
  const raw = [...document.querySelectorAll("article .math")].filter(e => !e.querySelector("mjx-container"));
  const wrong = [...document.querySelectorAll("mjx-merror, [data-mjx-error]")];
  return [...raw.map(e => "not typeset: " + e.textContent.slice(0, 60)),
          ...wrong.map(e => "error: " + (e.getAttribute("data-mjx-error") || e.textContent).slice(0, 90))];
})()
"""

# A closed <details> hides what is in it, which is its purpose.
UNSEEN = r"""
(async () => {
  const images = [...document.querySelectorAll("article img")];
  images.forEach(e => { e.loading = "eager"; });
  await Promise.all(images.map(e => e.decode().catch(() => null)));
  return images.filter(e => !(e.complete && e.naturalWidth > 0) ||
                            (!e.closest("details:not([open]), .panels") && e.getBoundingClientRect().width < 50))
               .map(e => "not to be seen: " + e.src);
})()
"""

WIDE = r"""
(() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  const scrolls = e => {
    for (let a = e.parentElement; a && a.tagName !== "BODY"; a = a.parentElement) {
      if (["auto", "scroll", "hidden"].includes(getComputedStyle(a).overflowX)) return true;
    }
    return false;
  };
  return [...document.querySelectorAll("main *")]
    .filter(e => e.getBoundingClientRect().right > width + 1 && !scrolls(e))
    .map(e => "wider than the screen: " + e.tagName + "." + e.className).slice(0, 5)
    .concat(["the page is " + document.documentElement.scrollWidth + " wide"]);
})()
"""

# Folded code may be as wide as it likes.
SQUEEZED = r"""
[...document.querySelectorAll("article :is(pre, dt.sig, div.math, .pst-scrollable-table-container)")]
  .filter(e => !e.closest("details:not([open]), .toggle-hidden") && e.scrollWidth > e.clientWidth + 1)
  .map(e => "wider than its box: " + e.tagName + " " + e.textContent.trim().slice(0, 60))
"""

CUT_OFF = r"""
(() => {
  const scrolls = e => e && e.tagName !== "MAIN" &&
    (["auto", "scroll"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
  return [...document.querySelectorAll("article mjx-container")]
    .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !scrolls(e))
    .map(e => "cut off: " + e.textContent.slice(0, 60));
})()
"""


def foreign_requests(tab: Tab, home: str) -> list[str]:
    ours = urlsplit(home)
    return [
        url
        for url in tab.requests
        if urlsplit(url).scheme not in ("data", "blob", "about")
        and (urlsplit(url).scheme, urlsplit(url).netloc) != (ours.scheme, ours.netloc)
    ]


def troubles(tab: Tab, home: str) -> list[str]:
    """Requests to other hosts, errors on the console, formulas that are not typeset, pictures that are not shown."""
    asked = [f"asks another host: {url}" for url in foreign_requests(tab, home)]
    return [*asked, *(f"console: {error}" for error in tab.errors), *tab.run(UNTYPESET), *tab.run(UNSEEN)]


def test_a_few_pages_at_a_desk(tab: Tab, served: str) -> None:
    """Catches a script that fails, a formula that is not typeset, a request to another host, by server."""
    tab.resize(*SCREEN)
    wrong = {}
    for name in QUICK:
        tab.open(f"{served}/{name}.html")
        wrong[name] = [*troubles(tab, served), *tab.run(SQUEEZED)]
    assert {name: found for name, found in wrong.items() if found} == {}


@pytest.mark.slow
def test_every_page_at_three_widths(browser: Browser, pages: dict[str, BeautifulSoup], built: Path) -> None:
    tab, wrong = browser.tab(), []
    for name in (*pages, "search"):
        tab.open("about:blank")
        tab.resize(*SCREEN)
        tab.open(f"{built.as_uri()}/{name}.html")
        if name in OPENING_ON_A_FIGURE:
            wrong += [f"{name}: its figure is {where}" for where in [beyond_the_first_screen(tab)] if where]
        wrong += [f"{name}: {trouble}" for trouble in [*troubles(tab, built.as_uri()), *tab.run(SQUEEZED)]]
        for width in (768, PHONE):
            tab.resize(width, 844, phone=width == PHONE)
            wrong += [f"{name}: at {width} {trouble}" for trouble in [*tab.run(WIDE), *tab.run(CUT_OFF)]]
    assert wrong == [] and set(OPENING_ON_A_FIGURE) <= set(pages)


def beyond_the_first_screen(tab: Tab) -> str:
    """Where the first picture is, if too little of it is to be seen."""
    box = "document.querySelector('article .cell_output img').getBoundingClientRect()"
    top, bottom = tab.run(f"[{box}.top, {box}.bottom]")
    seen = min(bottom, SCREEN[1]) - top
    return "" if seen >= min(2 / 3 * (bottom - top), 300) else f"from {top:.0f} to {bottom:.0f}"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(
    browser: Browser, pages: dict[str, BeautifulSoup], built: Path, root: Path, scheme: str
) -> None:
    axe, tab = accessibility.script(root), browser.tab()
    tab.prefer(scheme)
    wrong = {}
    for name in (*pages, "search"):
        tab.open(f"{built.as_uri()}/{name}.html")
        wrong[name] = accessibility.violations(tab, axe)
    assert {name: found for name, found in wrong.items() if found} == {}


def test_the_landing_page_says_what_was_found_and_what_next_on_its_first_screen(tab: Tab, built: Path) -> None:
    tab.resize(*SCREEN)
    tab.open(f"{built.as_uri()}/intro.html")
    onwards = tab.run("document.querySelector('article .next').getBoundingClientRect().bottom")
    assert onwards <= SCREEN[1]
    assert tab.run("document.querySelector('article img').getBoundingClientRect().top") > onwards
    (links,) = tab.run("[[...document.querySelectorAll('article .next a')].map(e => e.getAttribute('href'))]")
    assert links == ["notebooks/01_approximation.html", "#rerun", "in_your_code.html"]
