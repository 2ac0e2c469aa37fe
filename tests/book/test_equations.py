"""The list of equations: nothing is missing, and every name in it exists."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from companion.book import equations
from companion.book.equations import Equation
from companion.chapters import CHAPTERS

EQUATIONS = equations.read()
LABEL = re.compile(r"^\$\$ \(eq-(\w+)\)$", re.MULTILINE)
LINKS = re.compile(r"^```\{equation-links\} (\w+)$", re.MULTILINE)


@pytest.mark.parametrize("equation", EQUATIONS.values(), ids=lambda equation: equation.number)
def test_every_name_exists(equation: Equation) -> None:
    """Catches a test or a chapter that was renamed; Sphinx, which makes links of the functions, catches these."""
    assert equation.functions and equation.tests and equation.chapters and equation.says and equation.paper
    assert [name for name in equation.tests if not equations.check(name).catches] == []
    assert [name for name in equation.chapters if name not in CHAPTERS] == []


# Eq. (10) is Eq. (5) written through Eq. (9): a chapter that cites one of these uses it.
SAME = {"10": {"5", "9", "10"}}


@pytest.mark.parametrize(
    "equation", [each for each in EQUATIONS.values() if each.number.isdigit()], ids=lambda e: e.number
)
def test_a_chapter_that_uses_an_equation_cites_it(root: Path, equation: Equation) -> None:
    """Catches a chapter that is said to use an equation it does not mention."""
    silent = []
    for name in equation.chapters:
        notebook = (root / "notebooks" / CHAPTERS[name].file).read_text(encoding="utf-8")
        cited = set(re.findall(r"\{eq\}`eq-(\w+)`", notebook))
        if not cited & SAME.get(equation.number, {equation.number}):
            silent.append(name)
    assert silent == []


def test_the_pages_and_the_list_have_the_same_equations(root: Path) -> None:
    """Catches an equation that is labelled on no page or on two, that is not listed, or has no line below it."""
    pages = [path.read_text(encoding="utf-8") for path in sorted((root / "book").rglob("*.md"))]
    for chapter in CHAPTERS.values():
        cells = nbformat.read(chapter.path, as_version=4).cells
        pages += [cell.source for cell in cells if cell.cell_type == "markdown"]
    labels = sorted(label for page in pages for label in LABEL.findall(page))
    assert labels == sorted(EQUATIONS)
    assert sorted(label for page in pages for label in LINKS.findall(page)) == labels
    assert {str(number) for number in range(1, 20)} <= set(labels)
