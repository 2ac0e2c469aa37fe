"""Stack the panels of wide figures on narrow screens.

Panels side by side are too small to read on a phone. Each figure of several columns is therefore shown there as several
views of the same SVG file, one below the other.
"""

from __future__ import annotations

import functools
import itertools
import re
from pathlib import Path
from typing import NamedTuple

#: Adjacent columns stay together up to this width, in the units of the SVG.
WIDEST = 290.0
#: A figure without its views: a page that Sphinx did not write again has them already.
_IMAGE = re.compile(r'<img\b(?=[^>]*\bsrc="(?P<src>[^"#]+\.svg)")[^>]*>(?!<span class="panels">)')
_ALT = re.compile(r'\balt="([^"]*)"')
_SIZE = re.compile(r'<svg\b[^>]*viewBox="0 0 ([\d.]+) ([\d.]+)"')
_GROUP = re.compile(r'^  <g id="(axes|text|legend)_\d+">$(.*?)^  </g>$', re.MULTILINE | re.DOTALL)
_PATH = re.compile(r'<path d="([^"]*)"')
_POINT = re.compile(r"[ML] (-?[\d.]+) (-?[\d.]+)")
_TEXT = re.compile(
    r'transform="translate\((-?[\d.]+) (-?[\d.]+)\)( rotate\(-90\))? scale\(([\d.]+) -?[\d.]+\)">(.*?)</g>', re.DOTALL
)
_ADVANCE = re.compile(r"translate\((-?[\d.]+) ")
#: The width of a glyph, in units of a hundredth of the font size.
_GLYPH = 75.0


class Box(NamedTuple):
    """A rectangle of the SVG."""

    left: float
    top: float
    right: float
    bottom: float

    def union(self, other: Box) -> Box:
        """The smallest box that contains both."""
        return Box(*map(min, self[:2], other[:2]), *map(max, self[2:], other[2:]))


def views(svg: str) -> list[Box]:
    """What to show below one another of a figure drawn by matplotlib; empty if its panels are in one column."""
    size = _SIZE.search(svg)
    if size is None:
        return []
    width, height = map(float, size.groups())
    groups = [(found[1], found[2]) for found in _GROUP.finditer(svg)]
    panels = sorted(_extent(content) for kind, content in groups if kind == "axes")
    columns: list[Box] = []
    for box in panels:
        if columns and (box.left < columns[-1].right or max(box.right, columns[-1].right) - columns[-1].left < WIDEST):
            columns[-1] = columns[-1].union(box)
        else:
            columns.append(box)
    if len(columns) < 2:
        return []
    edges = [0.0, *((one.right + other.left) / 2.0 for one, other in itertools.pairwise(columns)), width]
    top = min(box.top for box in columns) - 2.0
    others = [_extent(content) for kind, content in groups if kind != "axes"]  # titles and legends of the whole figure
    if not others or top < 8.0:
        return [Box(left, 0.0, right, height) for left, right in itertools.pairwise(edges)]
    title = functools.reduce(Box.union, others)
    centre, half = (title.left + title.right) / 2.0, max((title.right - title.left) / 2.0 + 5.0, WIDEST / 2.0)
    return [
        Box(max(0.0, centre - half), 0.0, min(width, centre + half), top),
        *(Box(left, top, right, height) for left, right in itertools.pairwise(edges)),
    ]


def _extent(group: str) -> Box:
    """A panel, a text or a legend, with its labels: the first path of a panel is its background."""
    boxes = []
    path = _PATH.search(group)
    if points := [(float(x), float(y)) for x, y in _POINT.findall(path[1] if path else "")]:
        xs, ys = zip(*points, strict=True)
        boxes.append(Box(min(xs), min(ys), max(xs), max(ys)))
    for x, y, turned, scale, glyphs in _TEXT.findall(group):
        length = float(scale) * (max([0.0, *map(float, _ADVANCE.findall(glyphs))]) + _GLYPH)
        left, bottom, tall = float(x), float(y), 100.0 * float(scale)
        across, up = (tall, length) if turned else (length, tall)
        left -= across if turned else 0.0
        boxes.append(Box(left, bottom - up, left + across, bottom))
    return functools.reduce(Box.union, boxes) if boxes else Box(0.0, 0.0, 0.0, 0.0)


def stack(html: Path) -> None:
    """Add the stacked views to every page of the book in this folder; the style sheet shows the one or the other."""
    known: dict[Path, list[Box]] = {}
    for page in html.rglob("*.html"):

        def stacked(image: re.Match[str], folder: Path = page.parent) -> str:
            file = (folder / image["src"]).resolve()
            if file not in known:
                known[file] = views(file.read_text(encoding="utf-8")) if file.is_file() else []
            alt = _ALT.search(image[0])
            return image[0] + _views_html(image["src"], known[file], alt[1] if alt else "")

        text = page.read_text(encoding="utf-8")
        page.write_text(_IMAGE.sub(stacked, text), encoding="utf-8")


def _views_html(src: str, boxes: list[Box], alt: str) -> str:
    """The views; the first has the alternative text of the figure."""
    if not boxes:
        return ""
    images = []
    for number, (left, top, right, bottom) in enumerate(boxes, start=1):
        words = alt if number == 1 else f"Part {number} of {len(boxes)} of this figure."
        view = f"{left:.0f},{top:.0f},{right - left:.0f},{bottom - top:.0f}"
        ratio = f"{right - left:.0f} / {bottom - top:.0f}"
        images.append(
            f'<img class="panel" src="{src}#svgView(viewBox({view}))" alt="{words}" '
            f'style="aspect-ratio: {ratio}"/>'
        )
    return f'<span class="panels">{"".join(images)}</span>'
