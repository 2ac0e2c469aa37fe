"""The pages "In your code" and "Large data": every recipe is run, and prints what the page says it prints."""

from __future__ import annotations

import re

import pytest

from companion.checkout import BOOK
from tests.printed import agrees, printed_by

PAGES = {name: (BOOK / name).read_text(encoding="utf-8") for name in ("in_your_code.md", "large_data.md")}
RECIPES = [
    recipe
    for page in PAGES.values()
    for recipe in re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, flags=re.DOTALL)
]


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
    found = printed_by(code)
    assert agrees(found, printed), found


@pytest.mark.parametrize(
    ("found", "same"),
    [("1.36 % of 20", True), ("1.35 % of 20", True), ("1.34 % of 20", False), ("1.36 % of 21", False),
     ("-1.36 % of 20", False), ("1.36 % in 20", False), ("1 % of 20", False), ("1.36 % of 20 0", False)],
)  # fmt: skip
def test_only_the_last_digit_of_a_decimal_may_differ(found: str, same: bool) -> None:
    assert agrees(found, "1.36 % of 20") == same
