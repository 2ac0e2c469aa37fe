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
    assert sum(page.count("```python\n") for page in PAGES.values()) == len(RECIPES) == 10


@pytest.mark.parametrize(("code", "printed"), RECIPES, ids=lambda text: text.splitlines()[0] if text else "")
def test_a_recipe_prints_what_the_page_says(code: str, printed: str) -> None:
    for guest in ("gpflow", "gpytorch"):
        if f"import {guest}" in code:
            pytest.importorskip(guest, reason="shown for those who have it", exc_type=ImportError)
    found = printed_by(code)
    assert agrees(found, printed), found
