"""The paths of landmarks as an animation in the page: a slider, a button and a few lines of script.

It needs no kernel, no network and no library. Everything is within one element: the script looks for elements of its
class that are not set up yet, so that any number of them may be on a page, and none needs a name. Coordinates travel
as 16-bit whole numbers in base 64, which is finer than a screen and takes a tenth of the digits.
"""

from __future__ import annotations

import base64
import html
import json
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checkout import BOOK
from . import style

#: At most so many steps of the slider; more would not be seen.
MOST_FRAMES = 261
_LARGEST = 65535


def landmark_slider(
    data: ArrayLike, path: ArrayLike, iterations: ArrayLike, *, R: ArrayLike, E_tr: ArrayLike, title: str
) -> str:
    """Figure 1 as an animation in HTML, from the points of D, (N, 2), and the landmarks at k iterations, (k, n, 2)."""
    points, path = np.asarray(data, dtype=float), np.asarray(path, dtype=float)
    frames = np.unique(np.linspace(0, len(path) - 1, min(len(path), MOST_FRAMES)).round().astype(int))
    low = np.minimum(points.min(axis=0), path.min(axis=(0, 1)))
    size = float(max(np.maximum(points.max(axis=0), path.max(axis=(0, 1))) - low)) or 1.0
    content = {
        "n": int(path.shape[1]),
        "low": [round(float(v), 6) for v in low],
        "size": round(size, 6),
        "data": _packed((points - low) / size),
        "path": _packed((path[frames] - low) / size),
        "t": [int(t) for t in np.asarray(iterations)[frames]],
        "curves": [
            {"name": name, "colour": colour, "values": [float(f"{v:.5g}") for v in np.asarray(curve, float)[frames]]}
            for name, colour, curve in (("R", style.OPTIMISED, R), ("ℰ_tr", style.ACCENT, E_tr))
        ],
    }
    return _page(content, title)


def _packed(shares: Any) -> str:
    """Numbers between 0 and 1 as 16-bit whole numbers, low byte first, in base 64."""
    whole = np.clip(np.rint(shares * _LARGEST), 0, _LARGEST).astype("<u2")
    return base64.b64encode(whole.tobytes()).decode("ascii")


def _page(content: dict[str, Any], title: str) -> str:
    last = len(content["t"]) - 1
    # "</" would end the script element, whatever stands around it.
    packed = json.dumps(content, separators=(",", ":")).replace("</", "<\\/")
    words = html.escape(title, quote=True)
    css, script = _asset("slider.css").replace("\n", ""), _asset("slider.js")
    return (
        f'<figure class="nystrom-slider" aria-label="{words}">\n'
        f"<style>{css}</style>\n"
        f"<figcaption>{words}</figcaption>\n"
        f'<svg viewBox="0 0 720 400" role="img" aria-label="{words}"></svg>\n'
        '<div class="ns-controls">\n'
        '<button type="button" class="ns-play" aria-label="Play the descent">Play</button>\n'
        f'<input type="range" min="0" max="{last}" value="0" step="1" aria-label="Step of the descent">\n'
        "<output></output>\n"
        "</div>\n"
        "<noscript>This animation needs JavaScript; the figure above shows its first and its last step.</noscript>\n"
        f'<script type="application/json" class="ns-content">{packed}</script>\n'
        f"<script>\n{script}</script>\n"
        "</figure>\n"
    )


def _asset(name: str) -> str:
    """The style sheet or the script, with the colours of :mod:`style` in place of "@INK" and the like."""
    text = (BOOK / "_assets" / name).read_text(encoding="utf-8")
    return re.sub("@([A-Z]+)", lambda colour: str(getattr(style, colour[1])), text)
