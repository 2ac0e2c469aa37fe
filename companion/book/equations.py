"""``book/equations.yml``: which function computes each formula, which tests check it, which chapters use it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from ..chapters import chapter
from ..checkout import BOOK, ROOT


@dataclass(frozen=True)
class Equation:
    """One formula: its number in the book, what it says, its place in the paper, and where to find it in the code."""

    number: str
    says: str
    paper: str
    functions: list[str]
    tests: list[str]
    chapters: list[str]

    @property
    def links(self) -> str:
        """The line below the formula, in MyST Markdown."""
        functions = ", ".join(f"{{py:obj}}`.{name}`" for name in self.functions)
        tests = ", ".join(f"{{ref}}`{name.partition('::')[2]} <{label(name)}>`" for name in self.tests)
        chapters = ", ".join(
            f"{{doc}}`{each.number}. {each.title} </notebooks/{Path(each.file).stem}>`"
            for each in map(chapter, self.chapters)
        )
        return f"Computed by {functions} · checked by {tests} · used in {chapters}"


@cache
def read() -> dict[str, Equation]:
    """Every formula by its number, in the order of the book."""
    content = yaml.safe_load((BOOK / "equations.yml").read_text(encoding="utf-8"))
    return {number: Equation(number, **entry) for number, entry in content.items()}


@dataclass(frozen=True)
class Check:
    """A test as the book shows it: its name, what it catches (the first line of its docstring) and its code."""

    name: str
    catches: str
    code: str

    @property
    def label(self) -> str:
        """Its anchor."""
        return label(self.name)


def label(test: str) -> str:
    """The anchor of a test.

    Examples
    --------
    >>> label("tests/nystrom_lib/test_x.py::test_y")
    'test-x-test-y'
    """
    file, _, name = test.partition("::")
    return f"{Path(file).stem}-{name}".replace("_", "-")


def check(test: str) -> Check:
    """Read a test; ValueError if it does not exist."""
    file, _, name = test.partition("::")
    text = (ROOT / file).read_text(encoding="utf-8")
    (node,) = (each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef) and each.name == name)
    catches = (ast.get_docstring(node) or "").split("\n\n")[0].replace("\n", " ")
    decorators = "".join(f"@{ast.unparse(each)}\n" for each in node.decorator_list)
    return Check(test, catches, decorators + (ast.get_source_segment(text, node) or ""))


def checks() -> list[Check]:
    """The tests of all formulas."""
    return [check(test) for test in dict.fromkeys(test for each in read().values() for test in each.tests)]
