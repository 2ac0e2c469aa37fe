"""The page "In your code": every recipe is run, and prints what the page says it prints."""

from __future__ import annotations

import re

import pytest

from companion.checkout import BOOK
from tests.printed import agrees, printed_by

PAGE = (BOOK / "in_your_code.md").read_text(encoding="utf-8")
RECIPES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, flags=re.DOTALL)


def test_every_block_of_the_page_is_run() -> None:
    """Catches a block without its output, which nothing would run."""
    assert PAGE.count("```python\n") == len(RECIPES) == 10


@pytest.mark.parametrize(("code", "printed"), RECIPES, ids=lambda text: text.splitlines()[0] if text else "")
def test_a_recipe_prints_what_the_page_says(code: str, printed: str) -> None:
    for guest in ("gpflow", "gpytorch"):
        if f"import {guest}" in code:
            pytest.importorskip(guest, reason="shown for those who have it", exc_type=ImportError)
    found = printed_by(code)
    assert agrees(found, printed), found
