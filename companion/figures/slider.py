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

# Left, the plane (360 units square at (40, 14)); right, each curve over its first value (236 × 310 at (470, 30)).
_SCRIPT = """
(function () {
  var NS = "http://www.w3.org/2000/svg";
  function unpack(text) {
    var raw = atob(text), out = new Float64Array(raw.length / 2);
    for (var i = 0; i < out.length; i++) out[i] = (raw.charCodeAt(2 * i) + 256 * raw.charCodeAt(2 * i + 1)) / 65535;
    return out;
  }
  function digits(value, most) {
    return value.toLocaleString("en", most ? {maximumSignificantDigits: most} : {});
  }
  function add(parent, name, attributes, text) {
    var node = document.createElementNS(NS, name);
    for (var key in attributes) node.setAttribute(key, attributes[key]);
    if (text) node.textContent = text;
    return parent.appendChild(node);
  }
  function setUp(root) {
    root.setAttribute("data-ready", "");
    var c = JSON.parse(root.querySelector(".ns-content").textContent), svg = root.querySelector("svg");
    var range = root.querySelector("input"), button = root.querySelector("button"), out = root.querySelector("output");
    var points = unpack(c.data), path = unpack(c.path), n = c.n, last = c.t.length - 1, i, k;
    function px(v) { return (40 + 360 * v).toFixed(1); }
    function py(v) { return (374 - 360 * v).toFixed(1); }
    var shares = [];
    c.curves.forEach(function (curve) {
      curve.values.forEach(function (v) { shares.push(v / (curve.values[0] || 1)); });
    });
    var most = Math.max.apply(null, shares), least = Math.min.apply(null, shares), log = least > 0 && most > 20 * least;
    function scale(v) { return log ? Math.log10(v) : v; }
    var low = log ? scale(least) : 0, span = scale(most) - low || 1;
    function qx(f) { return (470 + 236 * c.t[f] / (c.t[last] || 1)).toFixed(1); }
    function height(share) { return (340 - 310 * (scale(share) - low) / span).toFixed(1); }
    function qy(curve, f) { return height(curve.values[f] / (curve.values[0] || 1)); }
    var d = "";
    for (i = 0; i < points.length; i += 2) d += "M" + px(points[i]) + " " + py(points[i + 1]) + "h.01";
    add(svg, "path", {d: d, stroke: "@DATA", "stroke-width": 2, "stroke-linecap": "round", fill: "none"});
    add(svg, "rect", {x: 40, y: 14, width: 360, height: 360, fill: "none", stroke: "@GRID"});
    var trails = add(svg, "path", {fill: "none", stroke: "@PATH", "stroke-width": 1.2});
    var marks = [];
    for (i = 0; i < n; i++) add(svg, "rect", {x: px(path[2 * i]) - 3, y: py(path[2 * i + 1]) - 3, width: 6, height: 6,
      fill: "@INITIAL", stroke: "@INK", "stroke-width": 0.6});
    for (i = 0; i < n; i++) marks.push(add(svg, "circle", {r: 4, fill: "@OPTIMISED", stroke: "#fff"}));
    add(svg, "path", {d: "M470 24V350H710", fill: "none", stroke: "@REFERENCE"});
    function text(x, y, anchor, words, colour) {
      add(svg, "text", {x: x, y: y, "text-anchor": anchor, "font-size": 12, fill: colour || "@INK"}, words);
    }
    c.curves.forEach(function (curve) {
      var d = "";
      for (var k = 0; k <= last; k++) d += (k ? "L" : "M") + qx(k) + " " + qy(curve, k);
      add(svg, "path", {d: d, fill: "none", stroke: curve.colour, "stroke-width": 1.6});
      text(706, Number(qy(curve, last)) - 8, "end", curve.name, curve.colour);
      curve.dot = add(svg, "circle", {r: 5, fill: curve.colour, stroke: "#fff"});
    });
    text(590, 384, "middle", "iteration t"); text(470, 366, "middle", "0");
    text(706, 366, "end", digits(c.t[last]));
    text(590, 20, "middle", "share of the value at the start" + (log ? " (logarithmic)" : ""));
    for (k = 1; log ? k >= least : k >= 0; k = log ? k / 10 : Math.round(10 * k - 5) / 10) {
      text(464, Number(height(k)) + 4, "end", digits(k, 3));
    }
    function show() {
      var f = Number(range.value), base = 2 * n * f, lines = "";
      for (var i = 0; i < n; i++) {
        marks[i].setAttribute("cx", px(path[base + 2 * i])); marks[i].setAttribute("cy", py(path[base + 2 * i + 1]));
        for (var k = 0; k <= f; k++) {
          lines += (k ? "L" : "M") + px(path[2 * n * k + 2 * i]) + " " + py(path[2 * n * k + 2 * i + 1]);
        }
      }
      trails.setAttribute("d", lines);
      var words = "t = " + digits(c.t[f]) + " of " + digits(c.t[last]);
      c.curves.forEach(function (curve) {
        curve.dot.setAttribute("cx", qx(f)); curve.dot.setAttribute("cy", qy(curve, f));
        words += ", " + curve.name + " = " + digits(curve.values[f], 4);
      });
      out.textContent = words; range.setAttribute("aria-valuetext", words);
    }
    var timer = null;
    function stop() {
      clearInterval(timer); timer = null;
      button.textContent = "Play"; button.setAttribute("aria-label", "Play the descent");
    }
    function play() {
      // Whoever asked for less motion sees ten still pictures, a second each.
      var still = window.matchMedia && window.matchMedia("(prefers-reduced-motion: reduce)").matches;
      if (Number(range.value) >= last) range.value = 0;
      button.textContent = "Pause"; button.setAttribute("aria-label", "Pause the descent");
      timer = setInterval(function () {
        range.value = Math.min(last, Number(range.value) + (still ? Math.ceil(last / 10) : 1)); show();
        if (Number(range.value) >= last) stop();
      }, still ? 1000 : 40);
    }
    button.addEventListener("click", function () { if (timer === null) play(); else stop(); });
    range.addEventListener("input", function () { if (timer !== null) stop(); show(); });
    show();
  }
  document.querySelectorAll(".nystrom-slider:not([data-ready])").forEach(function (root) {
    if (root.querySelector(".ns-content")) setUp(root);
  });
})();
"""
for _name in ("REFERENCE", "OPTIMISED", "INITIAL", "ACCENT", "DATA", "GRID", "PATH", "INK"):
    _SCRIPT = _SCRIPT.replace(f"@{_name}", getattr(style, _name))
