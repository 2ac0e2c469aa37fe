"""The page "In your code": every recipe is run, and prints what the page says it prints."""

from __future__ import annotations

import contextlib
import io
import re

import pytest

from nystrom_lib.companion.checkout import BOOK

RECIPES = re.findall(
    r"```python\n(.*?)```\n\n```text\n(.*?)```",
    (BOOK / "in_your_code.md").read_text(encoding="utf-8"),
    flags=re.DOTALL,
)


def output_of(code: str) -> str:
    """What a recipe prints, run alone."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "in_your_code.md", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def test_every_block_of_the_page_is_run() -> None:
    """Catches a block without its output, which nothing would run."""
    text = (BOOK / "in_your_code.md").read_text(encoding="utf-8")
    assert text.count("```python\n") == len(RECIPES) == 6


@pytest.mark.parametrize(("code", "printed"), RECIPES, ids=lambda text: text.splitlines()[0] if text else "")
def test_a_recipe_prints_what_the_page_says(code: str, printed: str) -> None:
    for guest in ("gpflow", "gpytorch"):
        if f"import {guest}" in code:
            pytest.importorskip(guest, reason="shown for those who have it", exc_type=ImportError)
    assert output_of(code) == printed
