"""Numbers as a reader likes them."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from companion import wording


@pytest.mark.parametrize(
    "value, shown",
    [
        (999.6, "1,000"),
        (0.00999, "0.00999"),
        (123456.0, "123,000"),
        (999999.0, "1 · 10⁶"),
        (8e-7, "8 · 10⁻⁷"),
        (-2.5, "−2.50"),
        (float("inf"), "inf"),
    ],
)
def test_three_digits(value: float, shown: str) -> None:
    """Catches a lost digit or a wrong power of ten, also where rounding carries into one more digit."""
    assert wording.number(value) == shown


HOSTILE = ["<img src=x onerror=alert(1)>", "a|b", "$x$ and $y", "`code` *bold* _it_ [a](b)", "a\nb"]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_outside_is_shown_as_it_is(text: str) -> None:
    """Catches a name that becomes an element, a cell border, a formula, or emphasis."""
    from nbconvert.filters.markdown_mistune import markdown2html_mistune

    head = wording.markdown(text)
    assert BeautifulSoup(markdown2html_mistune(head), "html.parser").get_text().strip() == " ".join(text.split())
    table = BeautifulSoup(markdown2html_mistune(f"| {head} | b |\n|---|---|\n| 1 | 2 |"), "html.parser")
    assert [cell.get_text().strip() for cell in table.find_all("th")] == [" ".join(text.split()), "b"]
    assert not table.find_all(["img", "em", "strong", "code", "a"])
