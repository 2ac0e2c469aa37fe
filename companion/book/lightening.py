"""Remove from the built book what the theme adds and no page needs.

The theme draws about fifteen icons with a script of 1.5 MB and two fonts. Here each icon's outline is copied from that
script into the pages as SVG, and the script is deleted.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_SCRIPT = Path("_static/scripts/fontawesome.js")
_LOADS_IT = re.compile(r'\s*<script src="[^"]*scripts/fontawesome\.js[^"]*"></script>')
_ICON = re.compile(r'<(i|span) class="([^"]*\bfa-[^"]*)"([^>]*)>\s*</\1>')
_FAMILIES = {"fa", "fas", "far", "fab", "fa-solid", "fa-regular", "fa-brands"}
_SIZES = {"fa-lg"}
_RETIRED_ROLE = re.compile(r' role="doc-biblioentry"')  # docutils still writes it; ARIA has retired it


def lighten(html: Path) -> None:
    """Make the book in this folder smaller; it looks the same."""
    script = html / _SCRIPT
    if script.is_file():
        outlines = script.read_text(encoding="utf-8")
        for page in html.rglob("*.html"):
            text = page.read_text(encoding="utf-8")
            text = _RETIRED_ROLE.sub(' role="listitem"', _LOADS_IT.sub("", text))
            page.write_text(with_icons(text, outlines), encoding="utf-8")
        script.unlink()


def with_icons(page: str, outlines: str) -> str:
    """The page with each empty element of an icon's class replaced by that icon.

    Examples
    --------
    >>> with_icons('<i class="fas fa-bar"></i>', '{bar:[4,8,[],"f0","M0 0h4"]}')[:52]
    '<svg class="svg-inline--fa fa-bar" viewBox="0 0 4 8"'
    """

    def drawn(match: re.Match[str]) -> str:
        classes = [name for name in match[2].split() if name not in _FAMILIES]
        (icon,) = (name for name in classes if name.startswith("fa-") and name not in _SIZES)
        width, height, path = _outline(icon.removeprefix("fa-"), outlines)
        other = re.sub(r'\s*title="[^"]*"', "", match[3]).rstrip()
        return (
            f'<svg class="{" ".join(["svg-inline--fa", *classes])}"{other} viewBox="0 0 {width} {height}" '
            f'aria-hidden="true"><path fill="currentColor" d="{path}"/></svg>'
        )

    return _ICON.sub(drawn, page)


@cache
def _outline(name: str, outlines: str) -> tuple[str, str, str]:
    """Width, height and path of an icon; the script has the solid set last."""
    *_, (width, height, path) = re.findall(
        rf'[,{{]"?{re.escape(name)}"?:\[(\d+),(\d+),\[[^\]]*\],"\w+","([^"]+)"\]', outlines
    )
    return width, height, path
