"""The book in a browser, as readers have it: from disk or a server, at a desk or on a phone, by day and by night."""

from __future__ import annotations

import functools
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup

from companion.chapters import CHAPTERS

from . import browser as chromium
from .accessibility import PAGES, Axe
from .browser import PHONE, Browser, Tab

pytestmark = pytest.mark.skipif(chromium.find() is None, reason="there is no Chromium or Chrome on this machine")


OPENING_ON_A_FIGURE = [f"notebooks/{Path(chapter.file).stem}" for chapter in CHAPTERS.values()]


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def served(built: Path) -> Iterator[str]:
    """The address of the book on a server of our own."""
    handler = functools.partial(_Quiet, directory=str(built))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(params=["disk", "server"])
def home(request: pytest.FixtureRequest, built: Path, served: str) -> str:
    return built.as_uri() if request.param == "disk" else served


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
                            (!e.closest("details:not([open])") && e.getBoundingClientRect().width < 50))
               .map(e => "not to be seen: " + e.src);
})()
"""

# Text against the nearest opaque ground, by the formula of WCAG 2; 4.5 is its level AA, 3 for large text.
PALE = r"""
(() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const colours = new Map();
  const rgba = text => {
    if (!colours.has(text)) {
      canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data; colours.set(text, [r, g, b, a / 255]);
    }
    return colours.get(text);
  };
  const over = (top, under) => top.slice(0, 3).map((v, i) => v * top[3] + under[i] * (1 - top[3]));
  const ground = element => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const colour = rgba(getComputedStyle(e).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((under, layer) => over(layer, under), [255, 255, 255]);
  };
  const light = c => c.map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; })
                      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const found = new Map();
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    const words = walker.currentNode.textContent.trim();
    if (!words || e.closest("svg, mjx-assistive-mml, script, style, noscript")) continue;
    const style = getComputedStyle(e), box = e.getBoundingClientRect();
    if (!box.width || !box.height || style.visibility === "hidden" || style.opacity === "0") continue;
    const under = ground(e), ink = over(rgba(style.color), under);
    const [dark, bright] = [light(ink), light(under)].sort((a, b) => a - b), ratio = (bright + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) {
      const kind = e.tagName + "." + e.className + " " + style.color + " on " + under.map(Math.round);
      found.set(kind, "too pale, " + ratio.toFixed(2) + ": " + kind + ": " + words.slice(0, 40));
    }
  }
  return [...found.values()];
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


# Folded code may be as wide as it likes; what is read at a desk has its place.
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

# Browsers let a line begin with the comma after a formula.
STRAY = r"""
[...document.querySelectorAll("article span.math")].flatMap(formula => {
  const after = formula.nextSibling, last = [...formula.getClientRects()].pop();
  if (!/^[.,;:!?)]/.test(after?.data) || !last || formula.matches(".wide")) return [];
  const stop = document.createRange();
  stop.setStart(after, 0); stop.setEnd(after, 1);
  return stop.getBoundingClientRect().left < last.right - 2 ? ["begins a line: " + after.data.slice(0, 30)] : [];
})
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
    """Everything that a reader at a desk would not want to see."""
    asked = [f"asks another host: {url}" for url in foreign_requests(tab, home)]
    return [*asked, *(f"console: {error}" for error in tab.errors), *tab.run(UNTYPESET), *tab.run(UNSEEN)]


SCREEN = 1280, 800


@pytest.fixture(scope="module")
def axe(root: Path) -> Axe:
    return Axe(root)


@pytest.fixture(scope="module")
def looked(browser: Browser, pages: dict[str, BeautifulSoup], built: Path, axe: Axe) -> dict[str, list[str]]:
    """Every page looked at once by day, by night and on a phone: what is wrong, and which pictures come too late."""
    tab = browser.tab()
    wrong, late, shut = [], [], []
    assert set(PAGES) <= {*pages, "search"}
    for name in (*pages, "search"):
        tab.open("about:blank")  # else the page before would be laid out once more, for a desk
        tab.prefer("light")
        tab.resize(*SCREEN)
        tab.open(f"{built.as_uri()}/{name}.html")
        if name in OPENING_ON_A_FIGURE:
            late += [f"{name}: {trouble}" for trouble in [beyond_the_first_screen(tab)] if trouble]
        wrong += [f"{name}: {trouble}" for trouble in troubles(tab, built.as_uri())]
        wrong += [f"{name}: by day {trouble}" for trouble in [*tab.run(PALE), *tab.run(SQUEEZED), *tab.run(STRAY)]]
        shut += axe.troubles(tab, name, "by day")
        tab.prefer("dark")
        tab.wait_for("document.documentElement.dataset.theme === 'dark'")
        wrong += [f"{name}: by night {trouble}" for trouble in tab.run(PALE)]
        shut += axe.troubles(tab, name, "by night")
        tab.resize(PHONE, 844, phone=True)
        wrong += [f"{name}: on a phone {trouble}" for trouble in [*tab.run(WIDE), *tab.run(CUT_OFF), *tab.run(STRAY)]]
        shut += axe.troubles(tab, name, "on a phone")
    return {"wrong": wrong, "late": late, "shut": shut}


def beyond_the_first_screen(tab: Tab) -> str:
    """Where the first picture is, if too little of it is to be seen."""
    box = "document.querySelector('article .cell_output img').getBoundingClientRect()"
    top, bottom = tab.run(f"[{box}.top, {box}.bottom]")
    seen = min(bottom, SCREEN[1]) - top
    return "" if seen >= min(2 / 3 * (bottom - top), 300) else f"from {top:.0f} to {bottom:.0f}"


def test_every_page_by_day_by_night_and_on_a_phone(looked: dict[str, list[str]]) -> None:
    assert looked["wrong"] == []


def test_a_chapter_opens_on_its_figure(looked: dict[str, list[str]], pages: dict[str, BeautifulSoup]) -> None:
    """Catches parameters, code or many words above the first picture."""
    assert looked["late"] == [] and set(OPENING_ON_A_FIGURE) <= set(pages)


def test_axe_finds_nothing(looked: dict[str, list[str]], axe: Axe) -> None:
    if axe.missing:
        pytest.skip(axe.missing)
    assert looked["shut"] == []


def test_the_landing_page_says_what_was_found_and_what_next_on_its_first_screen(tab: Tab, built: Path) -> None:
    tab.resize(*SCREEN)
    tab.open(f"{built.as_uri()}/intro.html")
    ends = "['.numbers', '.next'].map(e => document.querySelector(`article ${e}`).getBoundingClientRect().bottom)"
    verdict, onwards = tab.run(ends)
    assert verdict < onwards <= SCREEN[1]
    assert tab.run("document.querySelector('article img').getBoundingClientRect().top") > onwards
    (links,) = tab.run("[[...document.querySelectorAll('article .next a')].map(e => e.getAttribute('href'))]")
    assert links == ["playground.html", "notebooks/01_approximation.html", "in_your_code.html"]


def test_the_pages_from_a_server(tab: Tab, served: str) -> None:
    """From disk they are all looked at above."""
    for name in ("index", "theory/proof", "notebooks/05_bigaussian", "search"):
        tab.open(f"{served}/{name}.html")
        tab.wait_for("document.querySelector('h1')")
        tab.settle()
        assert troubles(tab, served) == []
    tab.open(f"{served}/theory/proof.html")
    assert tab.run("document.querySelectorAll('article mjx-container').length") > 20


def test_search_finds(tab: Tab, home: str) -> None:
    tab.open(f"{home}/search.html?q=Lipschitz")
    tab.wait_for("document.querySelectorAll('ul.search li a[href*=\"theory/\"]').length > 0")
    found = tab.run("[...document.querySelectorAll('ul.search li a')].map(e => e.href.split('?')[0])")
    assert any("/theory/" in link for link in found)
    assert foreign_requests(tab, home) == [] and tab.errors == []
    tab.open(next(link for link in found if "/theory/" in link))
    assert tab.errors == []


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("trace norm", "theory/approximation.html"),
        ("rho", "theory/notation.html"),
        ("k-means", "api/library.html"),
        ("install", "intro.html"),
    ],
)
def test_search_leads_to_the_right_page_first(tab: Tab, built: Path, words: str, page: str) -> None:
    tab.open(f"{built.as_uri()}/search.html?q={words.replace(' ', '+')}")
    tab.wait_for("document.querySelectorAll('ul.search li a').length > 0")
    assert tab.run("document.querySelector('ul.search li a').getAttribute('href')").startswith(page)


def test_search_does_not_look_into_code(built: Path) -> None:
    # "import" stands in the code of every chapter; Sphinx shortens "important", in some prose, to the same word.
    index = (built / "searchindex.js").read_text(encoding="utf-8")
    found = json.loads(index.removeprefix("Search.setIndex(").rstrip().removesuffix(")"))["terms"]["import"]
    assert len(found if isinstance(found, list) else [found]) < len(CHAPTERS) / 2


def test_figures_are_dark_by_night(tab: Tab, built: Path) -> None:
    tab.prefer("dark")
    tab.open(f"{built.as_uri()}/notebooks/05_bigaussian.html")
    for what in ("article img", ".nystrom-slider"):
        tab.wait_for(f"document.querySelector('{what}')")
        assert "invert" in tab.run(f"getComputedStyle(document.querySelector('{what}')).filter"), what


def test_search_opens_from_the_keyboard(tab: Tab, served: str) -> None:
    tab.open(f"{served}/intro.html")
    tab.run("document.querySelector('button.search-button, .search-button-field, .search-button__button').focus()")
    tab.press("Enter", "Enter", 13)
    tab.run("document.activeElement.click()")
    tab.wait_for("document.activeElement && document.activeElement.matches('input[type=search]')")


def test_the_slider_moves_the_landmarks(tab: Tab, served: str) -> None:
    tab.open(f"{served}/notebooks/05_bigaussian.html")
    slider = "document.querySelector('.nystrom-slider')"
    tab.wait_for(f"{slider} && {slider}.hasAttribute('data-ready')")
    read = (
        f"[{slider}.querySelector('output').textContent,"
        f" [...{slider}.querySelectorAll('circle')].map(e => e.getAttribute('cx') + ' ' + e.getAttribute('cy')).join()]"
    )
    words, places = tab.run(read)
    tab.run(f"{slider}.querySelector('input[type=range]').focus()")
    tab.press("End", "End", 35)
    tab.wait_for(f"{slider}.querySelector('output').textContent !== {words!r}")
    moved_words, moved_places = tab.run(read)
    assert "t = 0 of" in words and "t = 0 of" not in moved_words
    assert places != moved_places
    assert tab.errors == []


def test_folded_code_unfolds(tab: Tab, served: str) -> None:
    tab.open(f"{served}/notebooks/05_bigaussian.html")
    details = "document.querySelector('details.hide')"
    assert tab.run(f"{details}.open") is False
    tab.run(f"{details}.querySelector('summary').click()")
    assert tab.run(f"{details}.open") is True
    assert tab.run(f"{details}.querySelector('pre').getBoundingClientRect().height") > 10


# -- that the tests can fail -----------------------------------------------------------------------------------

BAD = """
<html data-theme="light"><body style="margin:0"><main>
<p style="color:#999;background:#fff">pale words</p>
<div style="width:2000px">wide</div>
<article style="width:100px"><pre style="width:90px;overflow:auto">a line of code that is too long for its box</pre>
<mjx-container style="margin-left:1500px">f(x)</mjx-container>
<p><span class="math"><span style="display:inline-block;width:99px">f</span></span>, a comma</p></article>
<article><img src="missing.png" alt="a picture that is not there"><span class="math">\\(x\\)</span></article>
<script>console.error("a complaint"); fetch("https://example.org/").catch(() => {}); undefinedFunction();</script>
</main></body></html>
"""


def test_a_bad_page_is_seen_to_be_bad(tab: Tab, tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    page.write_text(BAD, encoding="utf-8")
    tab.resize(PHONE, 844, phone=True)
    tab.open(page.as_uri())
    tab.wait_for("true")
    checks = (PALE, WIDE, SQUEEZED, CUT_OFF, STRAY)
    text = "\n".join([*troubles(tab, page.as_uri()), *(trouble for check in checks for trouble in tab.run(check))])
    for sign in (
        "asks another host: https://example.org/", "console: a complaint", "undefinedFunction is not defined",
        "not typeset: \\(x\\)", "not to be seen: ", "too pale, 2.85", "the page is 2000 wide",
        "wider than its box: PRE a line of code", "cut off: f(x)", "begins a line: , a comma",
    ):  # fmt: skip
        assert sign in text, (sign, text)


def test_axe_sees_that_a_bad_page_is_bad(tab: Tab, tmp_path: Path, axe: Axe) -> None:
    if axe.missing:
        pytest.skip(axe.missing)
    page = tmp_path / "bad.html"
    page.write_text("<html><title>bad</title><main><img src='none.png'><button></button></main></html>")
    tab.open(page.as_uri())
    text = "\n".join(axe.violations(tab))
    for rule in ("button-name", "html-has-lang", "image-alt"):
        assert f"{rule}: " in text
