"""The plot: time against n, N, b and d, slopes in the legend beside those of the paper's claims."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.scaling import AXES, Curve

# One look for each operation on every panel; told apart by marker and dash, so that grey is enough.
LOOKS: dict[str, dict[str, Any]] = {
    "R up to its constant": {"color": "#000000", "marker": "o", "linestyle": "-"},
    "gradient, Eq. (5)": {"color": "#555555", "marker": "s", "linestyle": "--"},
    "SGD step, Eq. (6)": {"color": "#000000", "marker": "^", "linestyle": ":", "markerfacecolor": "white"},
    "trace norm": {"color": "#777777", "marker": "D", "linestyle": "-", "markerfacecolor": "white"},
    "Frobenius norm": {"color": "#777777", "marker": "v", "linestyle": "-."},
    "spectral norm": {"color": "#999999", "marker": "x", "linestyle": "-"},
}
AXIS_NAMES = {
    "n": "landmarks n",
    "N": "points N",
    "b": "batch size b",
    "d": "dimension d",
}


def draw(curves: list[Curve], folder: Path) -> bool:
    """Write ``scaling.svg`` and ``scaling.png``; False, after a sentence, without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        print("matplotlib is not installed: no plot was drawn.")
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    settings: dict[Any, Any] = {
        "font.size": 9,
        "svg.fonttype": "none",
        "svg.hashsalt": "benchmarks",
        "axes.linewidth": 0.6,
    }
    with plt.rc_context(settings):
        figure, panels = plt.subplots(1, 4, figsize=(12, 4.4), sharey=True)
        for panel, axis in zip(panels, AXES, strict=True):
            _panel(panel, axis, [curve for curve in curves if curve.axis == axis])
        panels[0].set_ylabel("seconds, one thread")
        figure.suptitle("Time against size; in brackets the measured slope / the slope of the paper's claim", size=10)
        figure.tight_layout()
        figure.savefig(folder / "scaling.svg", metadata={"Date": None})
        figure.savefig(folder / "scaling.png", dpi=110)
        plt.close(figure)
    return True


def _panel(panel: Any, axis: str, curves: list[Curve]) -> None:
    for curve in curves:
        label = f"{curve.work} ({curve.slope:.2f} / {curve.claimed_slope:.2f})"
        panel.plot(curve.grid, curve.seconds, label=label, linewidth=1, markersize=4, **LOOKS[curve.work])
    panel.set_xscale("log")
    panel.set_yscale("log")
    # Decades, or the sizes themselves where there are few; labels between decades would run into each other.
    panel.xaxis.set_minor_formatter("")
    sizes = sorted({size for curve in curves for size in curve.grid})
    if 0 < len(sizes) <= 5:
        panel.set_xticks(sizes, [f"{size:,}" for size in sizes])
        panel.set_xticks([], minor=True)
    panel.set_xlabel(AXIS_NAMES[axis])
    panel.grid(True, which="major", color="#dddddd", linewidth=0.5)
    panel.spines[["top", "right"]].set_visible(False)
    if curves:
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), frameon=False, fontsize=8, handlelength=2.5)
