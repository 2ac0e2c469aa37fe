"""The paths of landmarks as an animation in the page: a slider, a button and a few lines of script.

It needs no kernel, no network and no library. Everything is within one element: the script looks for elements of its
class that are not set up yet, so that any number of them may be on a page, and none needs a name. Coordinates travel
as 16-bit whole numbers in base 64, which is finer than a screen and takes a tenth of the digits.
"""

from __future__ import annotations

import base64
import html
import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checkout import BOOK
from ..errors import ConfigurationError
from . import style

#: At most so many steps of the slider; more would not be seen.
MOST_FRAMES = 261
_LARGEST = 65535


def landmark_slider(
    data: ArrayLike,
    path: ArrayLike,
    iterations: ArrayLike,
    values: ArrayLike,
    *,
    title: str,
    factors: ArrayLike | None = None,
) -> str:
    """Figure 1 as an animation: HTML that can stand anywhere in a page.

    Parameters
    ----------
    data : array, (N, 2)
        The points of D.
    path : array, (k, n, 2)
        The landmarks at the iterations kept.
    iterations, values : array, (k,)
        Which those are, and R there.
    title : str
        What it shows, for those who read it and those who hear it.
    factors : array, (k,), optional
        The trace factor there: a second curve.
    """
    points, path = np.asarray(data, dtype=float), np.asarray(path, dtype=float)
    if path.ndim != 3 or path.shape[2] != 2:
        raise ConfigurationError("path", f"has shape {path.shape}; it must be (k, n, 2): only a plane can be drawn.")
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
            for name, colour, curve in (("R", style.OPTIMISED, values), ("ℰ_tr", style.ACCENT, factors))
            if curve is not None
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
    return (
        f'<figure class="nystrom-slider" aria-label="{words}">\n'
        f"<style>{_CSS}</style>\n"
        f"<figcaption>{words}</figcaption>\n"
        f'<svg viewBox="0 0 720 400" role="img" aria-label="{words}"></svg>\n'
        '<div class="ns-controls">\n'
        '<button type="button" class="ns-play" aria-label="Play the descent">Play</button>\n'
        f'<input type="range" min="0" max="{last}" value="0" step="1" aria-label="Step of the descent">\n'
        "<output></output>\n"
        "</div>\n"
        "<noscript>This animation needs JavaScript; the figure above shows its first and its last step.</noscript>\n"
        f'<script type="application/json" class="ns-content">{packed}</script>\n'
        f"<script>{_SCRIPT}</script>\n"
        "</figure>\n"
    )


_CSS = (
    ".nystrom-slider{margin:1em 0;padding:.6em .8em;border-radius:4px;"
    f"background:{style.PAPER};color:{style.INK};border:1px solid {style.GRID};max-width:760px}}"
    ".nystrom-slider figcaption{color:inherit;font-size:.9em;margin:0 0 .3em;text-align:left}"
    ".nystrom-slider svg{width:100%;height:auto;display:block}"
    ".nystrom-slider .ns-controls{display:flex;flex-wrap:wrap;gap:.7em;align-items:center}"
    ".nystrom-slider input{flex:1 1 12em;accent-color:" + style.OPTIMISED + "}"
    ".nystrom-slider button{min-width:4.5em;padding:.2em .7em;color:inherit;background:#fff;"
    f"border:1px solid {style.REFERENCE};border-radius:3px;font:inherit;cursor:pointer}}"
    f".nystrom-slider :is(button,input):focus-visible{{outline:2px solid {style.OPTIMISED};outline-offset:2px}}"
    ".nystrom-slider output{flex:0 0 22em;font-variant-numeric:tabular-nums}"
)

#: The colours are filled in where the script has "@INK" and the like.
_SCRIPT = "\n" + (BOOK / "_assets" / "slider.js").read_text(encoding="utf-8")
for _name in ("REFERENCE", "OPTIMISED", "INITIAL", "ACCENT", "DATA", "GRID", "PATH", "INK"):
    _SCRIPT = _SCRIPT.replace(f"@{_name}", getattr(style, _name))
