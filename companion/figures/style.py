"""One look for every picture of the companion, and the one way to write it to a file.

The two colours that carry meaning, light orange for a sample before its optimisation and dark blue for one after,
differ in lightness as well as in hue: they stay apart in grey and for colour-blind readers. The background is opaque,
so that a picture reads the same on a white and on a dark page. An SVG file has the same bytes whenever it is drawn
from the same numbers.

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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullFormatter, NullLocator, ScalarFormatter
from numpy.typing import ArrayLike, NDArray

from ..experiments.outcome import STAGES

#: Before and after the optimisation: S⁽⁰⁾ and S⁽ᵀ⁾.
INITIAL, OPTIMISED = "#e8a33d", "#1f4e79"
COLOURS = dict(zip(STAGES, (INITIAL, OPTIMISED), strict=True))
SAMPLES = dict(zip(STAGES, (r"$\mathcal{S}^{(0)}$", r"$\mathcal{S}^{(T)}$"), strict=True))
#: Points of D, auxiliary lines (bounds, best possible values), and what must stand out, sparingly.
DATA, REFERENCE, ACCENT = "#b4b8bd", "#6b7075", "#b0325b"
#: Paths of landmarks.
PATH = "#7a6aa8"
#: For several curves in one picture: from dark to light, each also with a dash of its own (:data:`DASHES`).
CYCLE = (OPTIMISED, "#b0325b", "#4c9a8f", "#e8a33d", "#8d97a1")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (8, 2)))
#: For surfaces and densities: even steps of lightness.
COLOUR_MAP = "cividis"
#: For differences: 0 is white.
DIVERGING = "PuOr_r"
INK, PAPER, GRID = "#22262a", "#fdfdfc", "#e6e7e8"

#: The width of a picture that fills a page's column, in inches.
WIDTH = 7.2

#: matplotlib types these settings by a list of literal names, which no dictionary in a variable fits: hence Any.
RC: Any = {
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "savefig.transparent": False,
    "figure.autolayout": False,  # subplots asks for a layout, and a picture that is drawn has none any more
    "figure.constrained_layout.use": False,
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same letters everywhere
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
    "axes.unicode_minus": True,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "image.cmap": COLOUR_MAP,
    "svg.hashsalt": "nystrom_lib",
    "svg.fonttype": "path",
    "svg.image_inline": True,
}

P = ParamSpec("P")
T = TypeVar("T")


def use() -> None:
    """Draw everything that follows in this style."""
    mpl.rcParams.update(RC)


def drawn(draw: Callable[P, T]) -> Callable[P, T]:
    """Give a function that draws a picture this style, whatever is set around it; a figure's layout is settled."""

    @functools.wraps(draw)
    def styled(*args: P.args, **kwargs: P.kwargs) -> T:
        with mpl.rc_context(RC):
            made = draw(*args, **kwargs)
            if isinstance(made, Figure):
                tick(made)
                settle(made)
            return made

    return styled


@dataclass(frozen=True)
class Picture:
    """A figure as a page shows it.

    Attributes
    ----------
    figure : Figure
        The drawing.
    name : str
        The label that cross-references use, and the name of its file.
    caption, alt : str
        The caption, and the alternative text for those who do not see the figure.
    """

    figure: Figure
    name: str
    caption: str
    alt: str


def picture(name: str, *, caption: str, alt: str) -> Callable[[Callable[P, Figure]], Callable[P, Picture]]:
    """Decorate a function that draws a figure: drawn in this style, and with its name, caption and alternative text."""

    def decorate(draw: Callable[P, Figure]) -> Callable[P, Picture]:
        @functools.wraps(draw)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> Picture:
            return Picture(drawn(draw)(*args, **kwargs), name, caption, alt)

        return wrapped

    return decorate


def tick(figure: Figure) -> None:
    """At least two numbers on every logarithmic axis: where it spans less than two powers of ten, 2 and 5 as well.

    Numbers are plain text where that will do: a formula takes matplotlib much longer, and there are many.
    """
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
    """Lay the panels out for good: left to itself, matplotlib would move them a little each time it draws."""
    engine = figure.get_layout_engine()
    if engine is not None:
        with _without_small_ticks(figure):
            for _ in range(2):  # after the first, labels may still be cut off at the edge
                engine.execute(figure)
        figure.set_layout_engine(None)  # "none" would leave a stand-in, for which every picture is drawn twice


@contextmanager
def _without_small_ticks(figure: Figure) -> Iterator[None]:
    """Ticks without a number take no room, and finding that out would take half of the time of a layout."""
    axes = (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis))
    small = {axis: axis.get_minor_locator() for axis in axes if isinstance(axis.get_minor_formatter(), NullFormatter)}
    for axis in small:
        axis.set_minor_locator(NullLocator())
    yield
    for axis, locator in small.items():
        axis.set_minor_locator(locator)


@drawn
def subplots(
    rows: int = 1, columns: int = 1, *, width: float = WIDTH, height: float | None = None, **options: Any
) -> tuple[Figure, NDArray[Any]]:
    """A figure and its axes, always as an array with a row and a column index.

    Parameters
    ----------
    rows, columns : int
        How many panels.
    width, height : float
        Inches; by default panels are three quarters as high as they are wide.
    **options
        Passed to ``Figure.subplots`` (``sharex``, ``width_ratios``, ...).
    """
    height = 0.75 * width / columns * rows if height is None else height
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)  # which keeps its renderer, and the sizes of texts with it
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    assert isinstance(axes, np.ndarray)
    return figure, axes


def label(axes: Axes, x: str = "", y: str = "", title: str = "") -> Axes:
    """Say what the axes show."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title)
    return axes


def spans_decades(values: ArrayLike, decades: float = 1.5) -> bool:
    """Do these values ask for a logarithmic axis: all positive, and spread over more than so many powers of ten?"""
    finite = np.asarray(values, dtype=float)
    finite = finite[np.isfinite(finite)]
    return bool(len(finite) and finite.min() > 0 and finite.max() > finite.min() * 10**decades)


def dots(axes: Axes, points: ArrayLike, **options: Any) -> None:
    """Many small points as one path: a tenth of the file that as many markers take.

    Parameters
    ----------
    axes : Axes
        Where.
    points : array, (N, 2)
        The points.
    **options
        Of ``Axes.plot``; ``linewidth`` is the diameter of a dot.
    """
    points = np.asarray(points, dtype=float)
    # Each dot is a stroke of almost no length with round ends.
    length = 1e-4 * max(float(np.ptp(points[:, 0], axis=0)), 1e-12)
    x = np.column_stack([points[:, 0], points[:, 0] + length, np.full(len(points), np.nan)])
    y = np.column_stack([points[:, 1], points[:, 1], np.full(len(points), np.nan)])
    chosen: Any = {"color": DATA, "linewidth": 1.6, "linestyle": "-", "solid_capstyle": "round", "zorder": 1} | options
    (line,) = axes.plot(x.ravel(), y.ravel(), **chosen)
    line.get_path().should_simplify = False


def svg(figure: Figure, salt: str = "nystrom_lib") -> str:
    """The picture as SVG: no date, no random names (``salt`` goes into them), the same text each time."""
    return _written(figure, "svg", {"svg.hashsalt": salt}).decode("utf-8")


def png(figure: Figure, dpi: int = 160) -> bytes:
    """The picture as PNG."""
    return _written(figure, "png", dpi=dpi)


def _written(figure: Figure, kind: str, settings: Any = None, **options: Any) -> bytes:
    file = io.BytesIO()
    nothing = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    with mpl.rc_context(RC | (settings or {})):
        figure.savefig(file, format=kind, metadata=nothing, **options)
    return file.getvalue()
