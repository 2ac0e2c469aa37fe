"""What the code on a page prints, and whether that is what the page says."""

import contextlib
import io
import re

NUMBER = re.compile(r"\d[\d,]*(?:\.(\d+))?")


def printed_by(code: str, name: str = "a recipe") -> str:
    """What some code prints, run alone."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, name, "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def agrees(found: str, said: str) -> bool:
    """Words and whole numbers must be the same; a decimal may be off by one in its last digit.

    Processors with vectors of other widths round otherwise, and a descent lets that grow to some tenths of a per cent.
    """
    pairs = list(zip(NUMBER.finditer(found), NUMBER.finditer(said), strict=False))
    return NUMBER.sub("0", found) == NUMBER.sub("0", said) and all(_near(ours[0], theirs) for ours, theirs in pairs)


def _near(found: str, said: re.Match[str]) -> bool:
    decimals = said[1]
    if decimals is None or "." not in found:
        return found == said[0]
    ours, theirs = (float(text.replace(",", "")) for text in (found, said[0]))
    return abs(ours - theirs) < 1.5 * 10.0 ** -len(decimals)
