"""Pictures carry the numbers they are given, say what their axes are, and are the same bytes each time."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from companion.chapters import bigaussian
from companion.figures import boxplots, style, trajectories

RNG = np.random.default_rng(7)
POINTS = RNG.uniform(-1, 1, (2000, 2))
LARGEST_SVG = 300_000


def table(m: int, decades: float = 0.2) -> pd.DataFrame:
    """Results of m repetitions: the optimised values are a third of the initial ones."""
    rng = np.random.default_rng(m)
    initial = pd.DataFrame({name: 2.0 * 10 ** (decades * rng.random(m)) for name in ("R", "E_tr", "E_F", "E_sp")})
    return pd.concat([initial.assign(stage="initial"), (initial / 3).assign(stage="optimised")], ignore_index=True)


def walk(k: int, n: int) -> np.ndarray:
    """Smooth paths, as those of a descent are."""
    start, turn = np.random.default_rng(n).uniform(-1, 1, (2, 1, n, 2))
    t = np.linspace(0, 2, k)[:, None, None]
    return start + 0.3 * np.sin(t * turn + start)


def descent(data: np.ndarray, path: np.ndarray, t: np.ndarray, values: np.ndarray) -> bigaussian.RecordedDescent:
    return bigaussian.RecordedDescent(1.0, data, t, path, values, values)


T = np.arange(0, 1305, 5)
PICTURES: dict[str, Callable[[], Figure]] = {
    "with decay": lambda: boxplots.with_decay({"a": table(200), "b": table(201)}, ("R", "E_tr"), T, np.exp(-T), "c"),
    "paths": lambda: bigaussian.figure_1(descent(POINTS, walk(261, 50), T, np.exp(-T / 300))),
}


@pytest.mark.parametrize("name", PICTURES)
def test_svg_is_valid_deterministic_and_small(name: str) -> None:
    figure = PICTURES[name]()
    first = style.svg(figure)
    assert style.svg(figure) == first, "saving a figure moves its panels"
    assert style.svg(PICTURES[name]()) == first
    assert len(first) < LARGEST_SVG
    assert ElementTree.fromstring(first.encode()).tag.endswith("svg")
    assert "<dc:date>" not in first and "Matplotlib" not in first
    assert style.PAPER in first  # an opaque background, for dark pages


def test_a_box_has_the_quartiles_and_every_outlier() -> None:
    values = np.concatenate([np.linspace(1, 2, 99), [10.0, 12.0]])
    given = pd.DataFrame({"stage": "initial", "E_tr": values})
    _, axes = style.subplots()
    boxplots.panel(axes[0, 0], given, "E_tr")
    box = axes[0, 0].patches[0].get_path().vertices[:, 1]
    assert (box.min(), box.max()) == pytest.approx(tuple(np.percentile(values, [25, 75])))
    (outliers,) = (line for line in axes[0, 0].lines if line.get_linestyle() == "None")
    assert sorted(outliers.get_ydata()) == [10.0, 12.0]
    assert any(set(line.get_ydata()) == {1.0} for line in axes[0, 0].lines)  # the best possible factor


def test_curves_and_paths_carry_their_numbers() -> None:
    t, values = np.arange(5), np.array([5.0, 4.0, 3.0, 2.5, 2.0])
    _, axes = style.subplots()
    trajectories.decay(axes[0, 0], {"one": (t, values)})
    (line,) = axes[0, 0].lines
    assert np.array_equal(line.get_xydata(), np.column_stack([t, values]))
    data, path = RNG.random((30, 2)), walk(5, 4)
    by_label = {line.get_label(): line for line in bigaussian.figure_1(descent(data, path, t, values)).axes[0].lines}
    assert np.array_equal(by_label[style.SAMPLES["initial"]].get_xydata(), path[0])
    assert np.array_equal(by_label[style.SAMPLES["optimised"]].get_xydata(), path[-1])
    assert np.array_equal(by_label["data"].get_xydata()[::3], data)
    assert np.array_equal(by_label["path"].get_xydata()[:5], path[:, 0])
