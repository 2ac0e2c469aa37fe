"""Every link of the built pages leads somewhere, and no page loads anything from another host."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

#: What a browser fetches when it opens a page.
LOADED = {
    "src": "script, img, iframe, source, video, audio, embed",
    "href": "link[rel~=stylesheet], link[rel~=icon], link[rel~=preload], link[rel~=preconnect], image, use",
    "data": "object",
}
IN_STYLE = re.compile(r"""@import\s+(?:url\()?["']?([^"')\s;]+)|url\(\s*["']?([^"')]+)""")


def in_style(css: str) -> list[str]:
    return [imported or loaded for imported, loaded in IN_STYLE.findall(css)]


def loaded(page: BeautifulSoup) -> list[str]:
    found = [str(tag[name]) for name, tags in LOADED.items() for tag in page.select(tags) if tag.get(name)]
    styles = [tag.get_text() for tag in page.select("style")] + [str(tag["style"]) for tag in page.select("[style]")]
    return found + [address for style in styles for address in in_style(style)]


def is_foreign(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme in ("http", "https", "ws", "wss", "ftp") or bool(parts.netloc and parts.scheme != "file")


def is_broken(address: str, path: Path, anchors: dict[Path, set[str]]) -> bool:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return False
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    anchor = unquote(parts.fragment)
    if not target.is_file():
        return True
    return anchor not in ("", "top") and target in anchors and anchor not in anchors[target]


def test_every_link_leads_somewhere(pages: dict[str, BeautifulSoup], built: Path) -> None:
    found = {(built / f"{name}.html").resolve(): page for name, page in pages.items()}
    anchors = {
        path: {str(tag[key]) for key in ("id", "name") for tag in page.select(f"[{key}]")}
        for path, page in found.items()
    }
    broken = [
        f"{path.stem}: {address}"
        for path, page in found.items()
        for address in {*(str(link["href"]) for link in page.select("a[href]")), *loaded(page)}
        if is_broken(address, path, anchors)
    ]
    assert broken == []


def test_nothing_is_loaded_from_another_host(pages: dict[str, BeautifulSoup], built: Path) -> None:
    foreign = [f"{name}: {address}" for name, page in pages.items() for address in loaded(page) if is_foreign(address)]
    for path in built.rglob("*.css"):
        urls = in_style(path.read_text(encoding="utf-8", errors="replace"))
        foreign += [f"{path.name}: {address}" for address in urls if is_foreign(address)]
    assert foreign == []
