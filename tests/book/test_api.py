"""The pages of the library: what they document has returns and examples that stand by themselves."""

from __future__ import annotations

import ast
import builtins
import copy
import doctest
import importlib
import importlib.util
import inspect
import re
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag

from companion.checkout import BOOK

pytest.importorskip("sklearn", reason="scikit-learn, which one of the pages is about, is not installed")

_LINE = re.compile(r"^\.\. (currentmodule|autofunction|autoclass|autoexception):: (\S+)", re.MULTILINE)


def _documented() -> dict[str, Any]:
    """What the pages name, by its full name."""
    found: dict[str, Any] = {}
    for page in sorted((BOOK / "api").glob("*.md")):
        module = ""
        for kind, name in _LINE.findall(page.read_text(encoding="utf-8")):
            if kind == "currentmodule":
                module = name
                continue
            path, _, last = (name if "." in name else f"{module}.{name}").rpartition(".")
            found[f"{path}.{last}"] = getattr(importlib.import_module(path), last)
    return found


DOCUMENTED = _documented()
FUNCTIONS = {name: each for name, each in DOCUMENTED.items() if inspect.isfunction(each)}
#: Functions and, of classes, the methods of their own.
CALLED = FUNCTIONS | {
    f"{name}.{method}": function
    for name, each in DOCUMENTED.items()
    if inspect.isclass(each)
    for method, function in vars(each).items()
    if inspect.isfunction(function) and not method.startswith("_")
}
EXAMPLES = {
    name: doctest.DocTestParser().get_examples(text)
    for name, each in (DOCUMENTED | CALLED).items()
    if ">>>" in (text := inspect.getdoc(each) or "")
}


def says_what_it_returns(function: Any) -> bool:
    """Does the docstring have the section, or the function nothing to return, as a context manager?"""
    # the page says once what all starts return
    nothing = inspect.signature(function).return_annotation in (None, "None", "Drawn")
    manages = inspect.isgeneratorfunction(inspect.unwrap(function))
    return nothing or manages or "\nReturns\n-------\n" in (inspect.getdoc(function) or "")


def test_every_function_says_what_it_returns() -> None:
    assert [name for name, each in FUNCTIONS.items() if not says_what_it_returns(each)] == []


def unknown_names(examples: list[doctest.Example]) -> set[str]:
    """What an example uses without having made or imported it."""
    tree = ast.parse("".join(example.source for example in examples))
    made = set(dir(builtins)) | {"_"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            made |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.arg):
            made.add(node.arg)
        elif isinstance(node, ast.FunctionDef):
            made.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            made.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            made.add(node.name)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id not in made}


def test_an_example_imports_what_it_uses() -> None:
    """Catches what runs as a doctest, among the names of its module, and not where a reader pastes it."""
    assert {name: missing for name, each in EXAMPLES.items() if (missing := unknown_names(each))} == {}


# -- "Eq. (5)" ------------------------------------------------------------------------------------------------------


def content(page: BeautifulSoup) -> Tag:
    found = page.select_one("article")
    assert found is not None
    return found


def test_equations_that_docstrings_name_lead_to_the_formula(pages: dict[str, BeautifulSoup]) -> None:
    page = content(pages["api/library"])
    links = [link for link in page.select("a.reference") if re.fullmatch(r"\(\d+\)", link.get_text())]
    assert len(links) > 25
    for link in links:
        target, _, anchor = str(link["href"]).partition("#")
        assert target.startswith(("../notebooks/", "../protocol")) and anchor == f"equation-eq-{link.get_text()[1:-1]}"
    page = copy.copy(page)  # the other tests read it, too
    for each in page.select("a.reference, pre, code"):
        each.decompose()
    assert not re.search(r"Eq\.\s\(\d", page.get_text()), "one that is no link"


def test_signatures_have_types_as_they_are_written(pages: dict[str, BeautifulSoup]) -> None:
    page = content(pages["api/library"])
    found = page.select_one("#nystrom_lib\\.radial_skd")
    assert found is not None
    words = " ".join(found.get_text().replace("#", "").split())
    assert "kernel: Kernel" in words and "data: ArrayLike" in words and "→ float" in words
    assert "_SupportsArray" not in page.get_text()
