"""The register of equations: nothing is missing, and every name in it leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from companion.book import equations
from companion.book.equations import EQUATIONS, Equation
from companion.chapters import CHAPTERS
from companion.errors import ConfigurationError

NUMBERED = tuple(str(number) for number in range(1, 20))
LABEL = re.compile(r"^\$\$ \(eq-(\w+)\)$", re.MULTILINE)
LINKS = re.compile(r"^```\{equation-links\} (\w+)$", re.MULTILINE)


def problems(equation: Equation, root: Path) -> list[str]:
    """What a row names that does not exist."""
    found = []
    for name in equation.functions:
        try:
            equations.function(name)
        except AttributeError:
            found.append(f"function {name}")
    for name in equation.tests:
        try:
            assert equations.check(name, root).catches
        except ConfigurationError:
            found.append(f"test {name}")
    found += [f"chapter {name}" for name in equation.chapters if name not in CHAPTERS]
    page = root / "book" / f"{equation.page}.md"
    if not page.is_file() or equation.number not in LABEL.findall(page.read_text(encoding="utf-8")):
        found.append(f"label {equation.label} on {equation.page}")
    return found


@pytest.mark.parametrize("equation", EQUATIONS, ids=lambda equation: equation.label)
def test_every_name_leads_somewhere(root: Path, equation: Equation) -> None:
    """Catches a function, a test, a chapter or a page that was renamed or never existed."""
    assert equation.functions and equation.tests and equation.chapters and equation.what and equation.where
    assert problems(equation, root) == []


# Eq. (10) is Eq. (5) written through Eq. (9): a chapter that cites one of these uses it.
SAME = {"eq-10": {"eq-5", "eq-9", "eq-10"}}


@pytest.mark.parametrize("equation", [e for e in EQUATIONS if e.numbered], ids=lambda equation: equation.label)
def test_a_chapter_that_uses_an_equation_cites_it(root: Path, equation: Equation) -> None:
    """Catches a chapter that is said to use an equation it does not mention."""
    silent = []
    for name in equation.chapters:
        notebook = (root / "notebooks" / CHAPTERS[name].file).read_text(encoding="utf-8")
        cited = set(re.findall(r"\{eq\}`(eq-\w+)`", notebook))
        if not cited & SAME.get(equation.label, {equation.label}):
            silent.append(name)
    assert silent == []


def test_every_equation_of_the_paper_has_its_row() -> None:
    """Catches a row that is missing, or there twice."""
    numbers = [equation.number for equation in EQUATIONS]
    assert len(numbers) == len(set(numbers))
    assert [number for number in (*NUMBERED, "L") if number not in numbers] == []


def test_the_pages_and_the_register_show_the_same_equations(root: Path) -> None:
    """Catches an equation that is labelled on no page or on two, or that has no line below it."""
    pages = [path.read_text(encoding="utf-8") for path in sorted((root / "book").rglob("theory/*.md"))]
    labels = sorted(label for page in pages for label in LABEL.findall(page))
    assert labels == sorted(equation.number for equation in EQUATIONS)
    assert sorted(label for page in pages for label in LINKS.findall(page)) == labels
