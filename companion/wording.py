"""What things are called, and numbers and lists as a reader likes them."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Sequence

#: The norms of Eq. (2).
NORMS = {"trace": "trace norm", "frobenius": "Frobenius norm", "spectral": "spectral norm"}
#: The paper's names of the approximation factors, Eq. (8).
FACTORS = {"trace": "E_tr", "frobenius": "E_F", "spectral": "E_sp"}

#: The criteria, Eq. (2), (3) and (8), by their columns of the results: as figures write them, …
SYMBOLS = {
    "R": "$R$",
    "trace": r"$\|\mathbf{K}-\hat{\mathbf{K}}\|_*$",
    "frobenius": r"$\|\mathbf{K}-\hat{\mathbf{K}}\|_{\mathrm{F}}$",
    "spectral": r"$\|\mathbf{K}-\hat{\mathbf{K}}\|_2$",
    "E_tr": r"$\mathcal{E}_{\mathrm{tr}}$",
    "E_F": r"$\mathcal{E}_{\mathrm{F}}$",
    "E_sp": r"$\mathcal{E}_{\mathrm{sp}}$",
}
#: … in Markdown, with the sample they belong to, …
WITH_SAMPLE = SYMBOLS | {
    "R": r"$R(\mathcal{S})$",
    "trace": r"$\lVert\mathbf{K} - \hat{\mathbf{K}}(\mathcal{S})\rVert_*$",
    "frobenius": r"$\lVert\mathbf{K} - \hat{\mathbf{K}}(\mathcal{S})\rVert_{\mathrm{F}}$",
    "spectral": r"$\lVert\mathbf{K} - \hat{\mathbf{K}}(\mathcal{S})\rVert_2$",
}
#: … in Markdown, in tables and prose about many samples, …
WRITTEN = {name: SYMBOLS[name].replace("{E}", " E") for name in ("R", *FACTORS.values())}
#: … and in a terminal.
PLAIN = {"R": "R", "trace": "trace error", **{name: name for name in FACTORS.values()}}

#: The data sets of Section 4, by the names of their configurations.
DATA = {"bigaussian": "bi-Gaussian", "abalone": "Abalone", "magic": "MAGIC", "miniboone": "MiniBooNE"}


def number(value: float, digits: int = 3) -> str:
    """A few digits, as a reader likes them.

    Examples
    --------
    >>> number(1234.5), number(3.14159), number(2.28e-10), number(1234.5, digits=5)
    ('1,230', '3.14', '2.28 · 10⁻¹⁰', '1,234.5')
    """
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    value = float(f"{value:.{digits - 1}e}")  # first: rounding may carry into one more digit
    exponent = math.floor(math.log10(abs(value)))
    if -3 <= exponent < 6:
        shown = f"{value:,.{max(0, digits - 1 - exponent)}f}"
    else:
        power = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        shown = f"{value / 10.0**exponent:.{digits}g} · 10{power}"
    return shown.replace("-", "−")


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """A hint for a message about an unknown name: the known name closest to it, if one is close.

    Examples
    --------
    >>> did_you_mean("abalon", ["abalone", "magic"]), did_you_mean("mnist", ["abalone"])
    (" (did you mean 'abalone'?)", '')
    """
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f" (did you mean {close[0]!r}?)" if close else ""


def percent(share: float) -> str:
    """A share as a percentage; all and none only if it is all and none.

    Examples
    --------
    >>> percent(1.0), percent(0.9996), percent(0.5), percent(0.00042), percent(0.0)
    ('100 %', '99.9 %', '50 %', '0.042 %', '0 %')
    """
    shown = 100.0 * share
    if 0.0 < shown < 100.0:
        shown = min(round(shown, 1 if shown >= 1.0 else 1 - math.floor(math.log10(shown))), 99.9)
    return f"{shown:g} %"


def duration(seconds: float) -> str:
    """Seconds as people say them.

    Examples
    --------
    >>> duration(0.34), duration(42.4), duration(83), duration(7500)
    ('0.3 s', '42 s', '1 min 23 s', '2 h 05 min')
    """
    if seconds < 1.0:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def listed(words: Sequence[str]) -> str:
    """Words in a row, the last after an "and".

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


#: What Markdown, HTML or MathJax would take for more than itself, in the middle of a line.
_MARKED = re.compile(r"[\\`*{}\[\]<>&|~$]|(?<![^\W_])_|_(?![^\W_])")
#: What would end a cell of a table, unless it is escaped already.
_BAR = re.compile(r"(?<!\\)\|")


def markdown(text: str) -> str:
    """A text from outside, such as the name of a column, so that Markdown, HTML and formulas show it as it is.

    A dollar sign stands apart from its neighbours: MathJax looks for pairs once all references have become characters.

    Examples
    --------
    >>> markdown("shell_weight"), markdown("<b>|"), markdown("$x")
    ('shell_weight', '&#60;b&#62;&#124;', '<span>&#36;</span>x')
    """
    return _MARKED.sub(_reference, " ".join(text.split()))


def _reference(match: re.Match[str]) -> str:
    reference = f"&#{ord(match[0])};"
    return f"<span>{reference}</span>" if match[0] == "$" else reference


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[bool] = ()) -> str:
    """A table in Markdown; numeric columns are set flush right.

    Examples
    --------
    >>> print(markdown_table(["a", "b"], [["1|2", "3"]], [False, True]))
    | a | b |
    | --- | ---: |
    | 1\\|2 | 3 |
    """
    rule = ["---:" if right else "---" for right in numeric or [False] * len(head)]
    lines = [[_BAR.sub(r"\|", text) for text in line] for line in (head, *rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:]))
