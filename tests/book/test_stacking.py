"""The panels of wide figures stand below one another on a phone."""

import itertools
from pathlib import Path

import pytest

from companion.book.stacking import stack, views
from companion.figures import style


def drawn(columns: int, title: str = "") -> str:
    figure, axes = style.subplots(1, columns, height=2.5)
    for axis in axes[0]:
        axis.plot([0, 1], [0, 1])
        style.label(axis, "number of landmarks", "mean error", "a panel")
    if title:
        figure.suptitle(title)
    style.settle(figure)
    return style.svg(figure)


@pytest.mark.parametrize(("columns", "count"), [(1, 0), (2, 2), (3, 3), (4, 2)])
def test_views_cover_the_figure_without_cutting_a_panel(columns: int, count: int) -> None:
    found = views(drawn(columns))
    assert len(found) == count
    if count:
        assert (found[0].left, found[-1].right) == (0.0, pytest.approx(518.4))
        assert all(one.right == other.left for one, other in itertools.pairwise(found))


def test_a_title_of_the_whole_figure_is_a_view_of_its_own() -> None:
    first, *others = views(drawn(2, "both panels"))
    assert first.left < 250 < first.right < 518 and len(others) == 2
    assert all(other.top == first.bottom > 8.0 for other in others)


def test_pages_show_the_views_of_their_figures(tmp_path: Path) -> None:
    (tmp_path / "_images").mkdir()
    (tmp_path / "_images" / "a.svg").write_text(drawn(2), encoding="utf-8")
    page = tmp_path / "page.html"
    page.write_text('<img alt="Two panels." src="_images/a.svg"/><img src="b.png">', encoding="utf-8")
    stack(tmp_path)
    text = page.read_text(encoding="utf-8")
    assert text.count("_images/a.svg#svgView(viewBox(") == 2 and text.count('alt="Two panels."') == 2
    assert text.endswith('<img src="b.png">')
    stack(tmp_path)
    assert page.read_text(encoding="utf-8") == text, "a page that is not written again keeps its views"
