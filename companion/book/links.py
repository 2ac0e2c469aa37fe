"""Every link of the built pages followed, and everything that a page would load from elsewhere found."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: What a browser fetches on its own when it opens a page: tag, attribute.
_LOADED = {
    ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src"), ("audio", "src"),
    ("embed", "src"), ("object", "data"), ("image", "href"), ("use", "href"),
}  # fmt: skip
_LOADED_BY_LINK = {
    "stylesheet", "preload", "prefetch", "modulepreload", "icon", "manifest", "preconnect", "dns-prefetch",
}  # fmt: skip
_IN_STYLE = re.compile(r"""@import\s+(?:url\()?["']?([^"')\s;]+)|url\(\s*["']?([^"')]+)""")


@dataclass
class Page(HTMLParser):
    """What one page holds: anchors, links, and what it loads."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called by the parser."""
        values = {name: value for name, value in attrs if value}
        self.anchors.update(values[name] for name in ("id", "name") if name in values)
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and "href" in values and _LOADED_BY_LINK & set(values.get("rel", "").split()):
            self.loaded.append(values["href"])
        self.loaded += [values[name] for name in values if (tag, name) in _LOADED]
        self.loaded += style_urls(values.get("style", ""))
        self._in_style = tag == "style"

    def handle_data(self, data: str) -> None:
        """Called by the parser."""
        if self._in_style:
            self.loaded += style_urls(data)

    def handle_endtag(self, tag: str) -> None:
        """Called by the parser."""
        self._in_style = False


def style_urls(css: str) -> list[str]:
    """The addresses a style sheet loads.

    Examples
    --------
    >>> style_urls("@import 'a.css'; p { background: url(b.png) }")
    ['a.css', 'b.png']
    """
    return [imported or loaded for imported, loaded in _IN_STYLE.findall(css)]


def read(html: Path) -> dict[Path, Page]:
    """Every page below a folder, parsed."""
    pages = {}
    for path in sorted(html.rglob("*.html")):
        page = Page()
        page.feed(path.read_text(encoding="utf-8"))
        page.close()
        # Templates of a theme's own tests and the like are no pages of the book.
        if "_static" not in path.relative_to(html).parts:
            pages[path.resolve()] = page
    return pages


def is_foreign(address: str) -> bool:
    """Would this be asked of another host?

    Examples
    --------
    >>> is_foreign("https://example.org/x.js"), is_foreign("//example.org"), is_foreign("_static/x.js")
    (True, True, False)
    """
    parts = urlsplit(address)
    return parts.scheme in ("http", "https", "ws", "wss", "ftp") or bool(parts.netloc and parts.scheme != "file")


def troubles(html: Path) -> list[str]:
    """A sentence for each link that leads nowhere, and for each thing that another host would be asked for."""
    pages = read(html)
    return [*_broken(html, pages), *_foreign(html, pages)]


def _broken(html: Path, pages: dict[Path, Page]) -> list[str]:
    """A sentence for each link of a page, or file that it loads, that leads nowhere within the book."""
    sentences = []
    for path, page in pages.items():
        for address in dict.fromkeys([*page.links, *page.loaded]):
            trouble = _trouble(address, path, pages)
            if trouble:
                sentences.append(f"{path.relative_to(html.resolve())}: {address} {trouble}")
    return sentences


def _trouble(address: str, path: Path, pages: dict[Path, Page]) -> str:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return ""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return "leads to no file"
    anchor = unquote(parts.fragment)
    # Without a name, or with the name "top", a fragment is the head of the page.
    if anchor in ("", "top") or target not in pages:
        return ""
    return "" if anchor in pages[target].anchors else "leads to no place on that page"


def _foreign(html: Path, pages: dict[Path, Page]) -> list[str]:
    """A sentence for each thing that a browser would ask of another host when it opens a page."""
    sentences = [
        f"{path.relative_to(html.resolve())} loads {address}"
        for path, page in pages.items()
        for address in page.loaded
        if is_foreign(address)
    ]
    for path in sorted(html.rglob("*.css")):
        urls = style_urls(path.read_text(encoding="utf-8", errors="replace"))
        sentences += [f"{path.relative_to(html)} loads {address}" for address in urls if is_foreign(address)]
    return sentences
