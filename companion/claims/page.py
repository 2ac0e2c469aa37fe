"""The verdicts written up: as a page of the book, and for a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

from ..chapters import CHAPTERS
from ..wording import markdown_table
from .base import Check, Claim, Evidence, Finding, Table, Verdict, sentence
from .declared import COMMITS, FIRST, LATER
from .readings import Judgement, reading

_GROUPS = {
    "R": "The radial SKD and the criteria",
    "T": "Convergence",
    "S": "Stochastic approximation",
    "B": "The bi-Gaussian example",
    "A": "Abalone",
    "M": "MAGIC",
    "N": "MiniBooNE",
    "C": "The Conclusion",
}
_ROLES = {"equation": "eq", "figure": "numref", "theorem": "prf:ref"}
_WIDTH = 100
#: What the claims write below the line: norms, factors, the sample, and a landmark's number.
_SUBSCRIPT = re.compile(r"_(tr|sp|F|S|k|\*)(?![A-Za-z])")
#: Claims were declared in the paper's terms; the book has figures and sections of its own.
_FIGURE, _SECTION = re.compile(r"\bFigure (\d)"), re.compile(r"(?<!paper )§")


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many claims hold, in one sentence.

    Examples
    --------
    >>> summary([])
    'Of 0 claims, 0 hold, 0 hold in part, 0 do not hold, and 0 are not testable here.'
    """
    count = {finding: sum(verdict.finding is finding for verdict in verdicts) for finding in Finding}
    words = [
        _plural(count[Finding.HOLDS], "holds", "hold"),
        _plural(count[Finding.IN_PART], "holds in part", "hold in part"),
        _plural(count[Finding.FAILS], "does not hold", "do not hold"),
        "and " + _plural(count[Finding.UNTESTABLE], "is not testable here", "are not testable here"),
    ]
    return f"Of {len(verdicts)} claims, {', '.join(words)}."


def _plural(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


# -- the book -----------------------------------------------------------------------------------------------------


def page(verdicts: Sequence[Verdict]) -> str:
    """MyST Markdown, from the second level of headings down; each claim is a target ``claim-B5``.

    Parameters
    ----------
    verdicts : sequence of Verdict
        From :func:`~companion.claims.judge`.
    """
    parts = [_counts(verdicts), _overview(verdicts)]
    for letter, title in _GROUPS.items():
        group = [verdict for verdict in verdicts if verdict.claim.id.startswith(letter)]
        if group:
            parts += [f"## {title}", *(_card(verdict) for verdict in group)]
    return "\n\n".join(parts) + "\n"


def _counts(verdicts: Sequence[Verdict]) -> str:
    """How many claims hold by the rules, and by our readings."""
    count = {each: sum(reading(verdict).judgement is each for verdict in verdicts) for each in Judgement}
    return (
        f"By the rules: {summary(verdicts)[0].lower()}{summary(verdicts)[1:]} By our reading now: "
        + ", ".join(f"{count[each]} “{each}”" for each in Judgement)
        + "."
    )


def _overview(verdicts: Iterable[Verdict]) -> str:
    rows = [
        (
            f"{{ref}}`{each.claim.id} <claim-{each.claim.id}>`",
            str(each.finding),
            str(reading(each).judgement),
            escape(each.claim.says),
        )
        for each in verdicts
    ]
    return markdown_table(("claim", "by the rule", "our reading now", "what the paper says"), rows)


def _card(verdict: Verdict) -> str:
    claim, ours = verdict.claim, reading(verdict)
    lines = [
        f"(claim-{claim.id})=",
        f"### {claim.id}",
        "",
        f"**Paper {claim.section}**: {escape(claim.says)}",
        "",
        f"**Measured**: {escape(verdict.measured)}",
        "",
        f"**{_by_the_rule(claim)}: {verdict.finding}.** {escape(verdict.why)}",
        "",
        f"**Our reading now, made after seeing the results: {ours.judgement}.** {escape(ours.why)}",
        "",
        *_afterwards(verdict),
        f"**Evidence**: {', '.join(_link(each) for each in verdict.evidence)}.",
        "",
        _dropdown("The rule, with its statistic and thresholds", _declared(claim)),
        *(["", _dropdown("The rule of the later check", _check(claim.later))] if claim.later else []),
    ]
    if verdict.tables:
        lines += ["", _dropdown("All the numbers", "\n\n".join(_captioned(table) for table in verdict.tables))]
    return "\n".join(lines)


def _by_the_rule(claim: Claim) -> str:
    """Whose rule decides, and what was known when it was written."""
    if claim.later and claim.later.decides:
        return f"By a check added on {LATER}, when its result was known"
    if claim.known and not claim.known.startswith("nothing"):
        return "By the rule, written when part of the result was known"
    return "By the rule written beforehand"


def _afterwards(verdict: Verdict) -> list[str]:
    """The outcome of a later check, and further numbers."""
    lines = []
    if verdict.later and verdict.claim.later:
        check = verdict.later
        lines += [
            f"**A check added on {LATER}.** {escape(verdict.claim.later.why)} {escape(check.measured)} "
            f"*{sentence(check.finding)}* {escape(check.why)}",
            "",
        ]
    if verdict.beside:
        lines += [f"**Further numbers.** {escape(verdict.beside)}", ""]
    return lines


def _declared(claim: Claim) -> str:
    module, _, function = claim.measured_by.partition(":")
    return "\n\n".join(
        [
            *_rule(claim),
            f"**Measured by** `companion.claims.{module}.{function}`.",
            *([f"**Known by then**: {escape(claim.known)}"] if claim.known else []),
            f"**Fixed in** {_commit(LATER if claim.known else FIRST)}.",
        ]
    )


def _check(check: Check) -> str:
    known = f"**Known by then**: {escape(check.known)}"
    return "\n\n".join([*_rule(check), known, f"**Fixed in** {_commit(LATER)}."])


def _rule(declared: Claim | Check) -> list[str]:
    thresholds = "\n".join(f"- `{each.value:.10g}`: {escape(each.meaning)}" for each in declared.thresholds.values())
    return [
        f"**Statistic**: {escape(declared.statistic)}",
        f"**Rule**: {escape(declared.rule)}",
        f"**Thresholds**:\n\n{thresholds}",
    ]


def _commit(date: str) -> str:
    """The commit in which something was declared; its number leads there in any copy of the repository."""
    return f"commit `{COMMITS[date]}` of {date}"


def _dropdown(title: str, body: str) -> str:
    return f"```{{dropdown}} {title}\n\n{body}\n```"


def _captioned(table: Table) -> str:
    head, *rows = [[escape(cell) for cell in row] for row in (table.headings, *table.rows)]
    return f"**{escape(table.caption)}**\n\n{markdown_table(head, rows)}"


def _link(evidence: Evidence) -> str:
    """A reference that the book resolves; a chapter that is not there is only named."""
    if evidence.kind != "chapter":
        return f"{{{_ROLES[evidence.kind]}}}`{evidence.target}`"
    if evidence.target not in CHAPTERS:
        return f"chapter “{escape(evidence.target)}”"
    chapter = CHAPTERS[evidence.target]
    return f"{{doc}}`{chapter.title} </notebooks/{chapter.file.removesuffix('.ipynb')}>`"


def escape(text: str) -> str:
    """Set the subscripts of formulas such as ‖K‖_F, and keep Markdown from reading the rest as markup.

    What is called Figure 1 or §2 there is the paper's, and said to be.

    Examples
    --------
    >>> escape("E_tr is ‖K − K̂‖_* < 2")
    'E{sub}`tr` is ‖K − K̂‖{sub}`∗` \\\\< 2'
    """
    text = _SECTION.sub("paper §", _FIGURE.sub(r"{numref}`figure-\1`", text))
    text = _SUBSCRIPT.sub(lambda match: f"{{sub}}`{match[1].replace('*', '∗')}`", text)
    for character in "*_|<":
        text = text.replace(character, f"\\{character}")
    return text


# -- the terminal -------------------------------------------------------------------------------------------------


def plain(verdicts: Sequence[Verdict]) -> str:
    """The same for a terminal."""
    return "\n\n".join([*(_paragraph(verdict) for verdict in verdicts), summary(verdicts)])


def _paragraph(verdict: Verdict) -> str:
    claim = verdict.claim
    lines = [f"{claim.id} (paper {claim.section})"]
    ours = reading(verdict)
    parts = [
        ("paper", claim.says),
        ("measured", verdict.measured),
        (_by_the_rule(claim), f"{verdict.finding}. {verdict.why}"),
        ("Our reading now", f"{ours.judgement}. {ours.why}"),
    ]
    if verdict.later:
        check = verdict.later
        parts.append((f"A check added on {LATER}", f"{check.finding}. {check.measured} {check.why}"))
    if verdict.beside:
        parts.append(("Further numbers", verdict.beside))
    for label, text in parts:
        lines.append(textwrap.fill(f"{label}: {text}", _WIDTH, initial_indent="  ", subsequent_indent="    "))
    return "\n".join(lines)
