"""The pages "In your code" and "Large data": every recipe is run, and prints what the page says it prints."""

from __future__ import annotations

import contextlib
import io
import re

import pytest

from nystrom_lib.companion.checkout import BOOK

PAGES = {name: (BOOK / name).read_text(encoding="utf-8") for name in ("in_your_code.md", "large_data.md")}
RECIPES = [
    recipe
    for page in PAGES.values()
    for recipe in re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, flags=re.DOTALL)
]


def output_of(code: str) -> str:
    """What a recipe prints, run alone."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "a recipe", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def test_every_block_of_the_pages_is_run() -> None:
    """Catches a block without its output, which nothing would run."""
    assert sum(page.count("```python\n") for page in PAGES.values()) == len(RECIPES) == 9


def test_recipes_fit_their_box() -> None:
    assert [line for code, _ in RECIPES for line in code.splitlines() if len(line) > 79] == []


@pytest.mark.parametrize(("code", "printed"), RECIPES, ids=lambda text: text.splitlines()[0] if text else "")
def test_a_recipe_prints_what_the_page_says(code: str, printed: str) -> None:
    for guest in ("gpflow", "gpytorch"):
        if f"import {guest}" in code:
            pytest.importorskip(guest, reason="shown for those who have it", exc_type=ImportError)
    assert output_of(code) == printed
