"""The style of all figures, and how they are saved.

Light orange is a sample before its optimisation and dark blue one after it: the two differ in lightness as well as in
hue, for grey prints and colour-blind readers. Saving the same figure twice gives the same bytes.

Examples
--------
>>> figure, axes = subplots(1, 2)
>>> _ = axes[0, 0].plot([0, 1], [2, 1], color=OPTIMISED)
>>> svg(figure) == svg(figure)
True
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullFormatter, ScalarFormatter
from numpy.typing import ArrayLike, NDArray

from ..experiments.outcome import STAGES

#: Before and after the optimisation: S⁽⁰⁾ and S⁽ᵀ⁾.
INITIAL, OPTIMISED = "#e8a33d", "#1f4e79"
COLOURS = dict(zip(STAGES, (INITIAL, OPTIMISED), strict=True))
SAMPLES = dict(zip(STAGES, (r"$\mathcal{S}^{(0)}$", r"$\mathcal{S}^{(T)}$"), strict=True))
#: Points of D, auxiliary lines (bounds, best possible values), and accents.
DATA, REFERENCE, ACCENT = "#b4b8bd", "#6b7075", "#b0325b"
#: Paths of landmarks.
PATH = "#7a6aa8"
#: For several curves in one figure, from dark to light; the dashes tell them apart in grey prints.
CYCLE = (OPTIMISED, "#b0325b", "#4c9a8f", "#e8a33d", "#8d97a1")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (8, 2)))
#: For surfaces and densities: perceptually uniform.
COLOUR_MAP = "cividis"
INK, PAPER, GRID = "#22262a", "#fdfdfc", "#e6e7e8"

#: The width of a page's column, in inches.
WIDTH = 7.2

#: matplotlib types these settings by literal names, which no dictionary in a variable fits: hence Any.
RC: Any = {
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "figure.autolayout": False,  # ``settle`` computes the layout once
    "figure.constrained_layout.use": False,
    "savefig.dpi": 160,
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "mathtext.fontset": "dejavusans",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": REFERENCE,
    "axes.linewidth": 0.7,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "axes.prop_cycle": cycler(color=CYCLE, linestyle=DASHES),
    "axes.formatter.use_mathtext": True,
    "axes.formatter.limits": (-3, 4),
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "image.cmap": COLOUR_MAP,
    "svg.hashsalt": "nystrom_lib",
}

P = ParamSpec("P")
T = TypeVar("T")


def use() -> None:
    """Use this style for all figures."""
    mpl.rcParams.update(RC)


def drawn(draw: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function that draws: it uses this style, and the layout of a figure that it returns is final."""

    @functools.wraps(draw)
    def styled(*args: P.args, **kwargs: P.kwargs) -> T:
        with mpl.rc_context(RC):
            made = draw(*args, **kwargs)
            if isinstance(made, Figure):
                tick(made)
                settle(made)
            return made

    return styled


def tick(figure: Figure) -> None:
    """Label at least two ticks of each logarithmic axis, in plain text, which matplotlib draws faster than formulas."""
    for axis in (each for axes in figure.axes for each in (axes.xaxis, axes.yaxis)):
        if axis.get_scale() == "log":
            _tick_powers(axis)
        elif isinstance(numbers := axis.get_major_formatter(), ScalarFormatter):
            numbers.set_locs(axis.get_majorticklocs().tolist())
            numbers.set_useMathText(bool(numbers.get_offset()))


def _tick_powers(axis: Axis) -> None:
    if isinstance(axis.get_major_formatter(), LogFormatterSciNotation):
        axis.set_major_formatter(lambda value, _: _power(value))
        axis.set_minor_formatter(NullFormatter())
    for between in ((1.0, 2.0, 5.0), tuple(np.arange(1.0, 10.0))):
        if _numbers(axis) > 1:
            break
        axis.set_major_locator(LogLocator(subs=between))
        axis.set_major_formatter(lambda value, _: f"{value:,g}" if 1e-3 <= value < 1e6 else _power(value))
        axis.set_minor_formatter(NullFormatter())


_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _power(value: float) -> str:
    """10³, or 2 × 10³."""
    power = int(np.floor(np.log10(value) + 1e-9))
    factor = f"{value / 10.0**power:g}"
    return ("" if factor == "1" else f"{factor} × ") + f"10{str(power).translate(_SUPERSCRIPT)}"


def _numbers(axis: Axis) -> int:
    low, high = sorted(axis.get_view_interval())
    return sum(low <= place <= high for place in axis.get_majorticklocs())


def settle(figure: Figure) -> None:
    """Compute the final layout; otherwise matplotlib moves the panels a little each time it draws."""
    engine = figure.get_layout_engine()
    if engine is not None:
        for _ in range(2):  # after the first pass labels may be cut off at the edge
            engine.execute(figure)
        figure.set_layout_engine(None)  # "none" would leave a stand-in, for which every picture is drawn twice


@drawn
def subplots(rows: int = 1, columns: int = 1, *, height: float = 3.0, **options: Any) -> tuple[Figure, NDArray[Any]]:
    """A figure of this height in inches, and its axes as a two-dimensional array; options of ``Figure.subplots``."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    FigureCanvasAgg(figure)  # caches its renderer, and the sizes of texts
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    assert isinstance(axes, np.ndarray)
    return figure, axes


def label(axes: Axes, x: str = "", y: str = "", title: str = "") -> None:
    """Label the axes."""
    axes.set(xlabel=x, ylabel=y, title=title)


def spans_decades(values: ArrayLike, decades: float = 1.5) -> bool:
    """Whether values need a logarithmic axis: all positive, and spread over more than this many powers of ten."""
    finite = np.asarray(values, dtype=float)
    finite = finite[np.isfinite(finite)]
    return bool(len(finite) and finite.min() > 0 and finite.max() > finite.min() * 10**decades)


def dots(axes: Axes, points: ArrayLike, **options: Any) -> None:
    """Draw many small points as one path, a tenth of the size of markers; ``linewidth`` is their diameter."""
    points = np.asarray(points, dtype=float)
    # Each dot is a very short stroke with round ends.
    length = 1e-4 * max(float(np.ptp(points[:, 0], axis=0)), 1e-12)
    x = np.column_stack([points[:, 0], points[:, 0] + length, np.full(len(points), np.nan)])
    y = np.column_stack([points[:, 1], points[:, 1], np.full(len(points), np.nan)])
    chosen: Any = {"color": DATA, "linewidth": 1.6, "linestyle": "-", "solid_capstyle": "round", "zorder": 1} | options
    (line,) = axes.plot(x.ravel(), y.ravel(), **chosen)
    line.get_path().should_simplify = False


def svg(figure: Figure, salt: str = "nystrom_lib") -> str:
    """The figure as SVG without a date; identifiers depend on ``salt`` only."""
    return _written(figure, "svg", {"svg.hashsalt": salt}).decode("utf-8")


def png(figure: Figure, dpi: int = 160) -> bytes:
    """The figure as PNG."""
    return _written(figure, "png", dpi=dpi)


def _written(figure: Figure, kind: str, settings: Any = None, **options: Any) -> bytes:
    file = io.BytesIO()
    nothing = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    with mpl.rc_context(RC | (settings or {})):
        figure.savefig(file, format=kind, metadata=nothing, **options)
    return file.getvalue()
