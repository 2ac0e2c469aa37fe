"""What a claim is, and what a verdict on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Finding(StrEnum):
    """The four things a verdict can say."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold"
    UNTESTABLE = "not testable here"


@dataclass(frozen=True)
class Threshold:
    """A number a statistic is set against, and what it says in words."""

    value: float
    meaning: str


@dataclass(frozen=True)
class Evidence:
    """Where the book shows it: a ``chapter`` by name; an ``equation``, a ``figure`` or a ``theorem`` by label."""

    kind: str
    target: str


@dataclass(frozen=True)
class Check:
    """A check that was added to a claim later, with what was known of its result by then.

    Attributes
    ----------
    why : str
        What the first rule did not ask.
    statistic, rule, thresholds
        As those of a claim.
    decides : bool
        Whether it takes the place of the first rule, because that asked the wrong question; else it stands beside it.
    known : str
        What was known of its result when it was declared.
    """

    why: str
    statistic: str
    rule: str
    thresholds: Mapping[str, Threshold]
    decides: bool = False
    known: str = "nothing."

    def limit(self, name: str) -> float:
        """A threshold's number."""
        return self.thresholds[name].value


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, and how it is to be judged, with what was known of the result when that was written.

    Attributes
    ----------
    id : str
        ``R1``, …, ``N2``.
    section : str
        Where the paper says it.
    says : str
        What the paper says, in our words.
    statistic : str
        What is measured.
    rule : str
        How the verdict follows from what is measured and the thresholds.
    thresholds : mapping of str to Threshold
        By name; the functions that decide read their numbers here.
    measured_by : str
        ``module:function`` below this package.
    results : tuple of str
        The stored experiments it needs; none if it is computed on the spot.
    evidence : tuple of Evidence
        Where to look.
    later : Check, optional
        What was declared afterwards, on :data:`~companion.claims.declared.LATER`.
    known : str
        Of a claim declared later: what was known of the result by then.
    """

    id: str
    section: str
    says: str
    statistic: str
    rule: str
    thresholds: Mapping[str, Threshold]
    measured_by: str
    evidence: tuple[Evidence, ...]
    results: tuple[str, ...] = ()
    later: Check | None = None
    known: str = ""

    def limit(self, name: str) -> float:
        """A threshold's number."""
        return self.thresholds[name].value


@dataclass(frozen=True)
class Table:
    """Numbers behind a verdict, ready to be shown."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Outcome:
    """What a check found that was declared later."""

    finding: Finding
    measured: str
    why: str


@dataclass(frozen=True)
class Verdict:
    """What was found about a claim.

    Attributes
    ----------
    claim : Claim
        Which, with its statistic and thresholds.
    finding : Finding
        The verdict.
    measured : str
        What was measured, in words with its numbers.
    why : str
        Why the verdict is what it is, in a sentence or two.
    numbers : dict
        The numbers behind the words.
    parts : mapping of str to Finding
        The verdicts on parts where they are judged apart, such as ρ = 1 and ρ = 16.
    tables : tuple of Table
        The numbers behind it, where they are many.
    later : Outcome, optional
        What the claim's later check found.
    beside : str
        Further numbers; they change nothing in the verdict.
    """

    claim: Claim
    finding: Finding
    measured: str
    why: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, Finding] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    later: Outcome | None = None
    beside: str = ""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Where to look."""
        return self.claim.evidence


def by_share(good: int, total: int) -> Finding:
    """All cases: holds. At least half of them: in part. Fewer: does not hold."""
    if total < 1:
        return Finding.UNTESTABLE
    if good == total:
        return Finding.HOLDS
    return Finding.IN_PART if 2 * good >= total else Finding.FAILS


def together(findings: Iterable[Finding]) -> Finding:
    """Several parts in one word: what they all say, or "in part" where they differ."""
    known = {finding for finding in findings if finding is not Finding.UNTESTABLE}
    if not known:
        return Finding.UNTESTABLE
    return known.pop() if len(known) == 1 else Finding.IN_PART


def sentence(text: str) -> str:
    """With a capital letter, unless it begins with a symbol such as ρ, and a full stop."""
    return (text[0].upper() if text[0].isascii() else text[0]) + text[1:] + "."
