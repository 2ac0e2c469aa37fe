"""What the template of the claims page, ``book/claims.md``, needs besides the verdicts: formulas, links, tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..chapters import CHAPTERS
from ..wording import markdown_table, number
from .base import Case, Outcome
from .declared import DECLARED

_ROLES = {"eq-": "eq", "fig": "numref", "thm": "prf:ref"}
#: Subscripts in the texts of the claims.
_SUBSCRIPT = re.compile(r"_(tr|sp|F|S|k|\*)(?![A-Za-z])")
#: The claims were declared in the paper's terms; the book has figures and sections of its own.
_FIGURE, _SECTION = re.compile(r"\bFigure (\d)"), re.compile(r"(?<!paper )§")


def markup(text: str) -> str:
    """Markdown of a declared text: subscripts of formulas such as ‖K‖_F, references to the paper's figures.

    Examples
    --------
    >>> markup("E_tr is ‖K − K̂‖_* < 2")
    'E{sub}`tr` is ‖K − K̂‖{sub}`∗` \\\\< 2'
    """
    text = _SECTION.sub("paper §", _FIGURE.sub(r"{numref}`figure-\1`", text))
    text = _SUBSCRIPT.sub(lambda match: f"{{sub}}`{match[1].replace('*', '∗')}`", text)
    for character in "*_|<":
        text = text.replace(character, f"\\{character}")
    return text


def link(evidence: str) -> str:
    """A reference to an equation, a figure, a theorem, or ``chapter NAME``."""
    kind, _, name = evidence.partition(" ")
    if kind != "chapter":
        return f"{{{_ROLES[evidence[:3]]}}}`{evidence}`"
    chapter = CHAPTERS[name]
    return f"{{doc}}`{chapter.title} </notebooks/{chapter.file.removesuffix('.ipynb')}>`"


def commit(name: str) -> str:
    """The commit in which something was declared."""
    return f"commit `{name}` of {DECLARED[name]['date']}"


def cases(outcome: Outcome) -> str:
    """All cases with their values, a table for each group of cases."""
    groups: dict[tuple[str, str, tuple[str, ...]], list[Case]] = {}
    for case in outcome.cases:
        groups.setdefault((case.part, case.group, tuple(case.values)), []).append(case)
    return "\n\n".join(_table(outcome, part, group, each) for (part, group, _), each in groups.items())


def _table(outcome: Outcome, part: str, group: str, cases: Sequence[Case]) -> str:
    thresholds = outcome.rule.thresholds
    limits = [f"{each}, {thresholds[each]}" if each in thresholds else each for each in cases[0].values]
    title = ", ".join(filter(None, (part, group))) or "case"
    rows = [
        [
            case.name,
            *(f"{each:,}" if isinstance(each, int) else number(each) for each in case.values.values()),
            {True: "yes", False: "no"}[case.passes(thresholds)] if case.counts else "not counted",
        ]
        for case in cases
    ]
    head, *body = [[markup(cell) for cell in row] for row in ([title, *limits, "passes"], *rows)]
    return markdown_table(head, body)
