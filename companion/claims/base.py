"""Claims, their cases, and the one rule that decides them all."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import pandas as pd

from ..results.archive import Archive
from ..wording import number


class Finding(StrEnum):
    """The outcome of a rule."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold"
    UNTESTABLE = "not testable here"


class NotStored(Exception):
    """A claim needs results that are not stored; the message says which, and what computes them."""


def later_rows(archive: Archive, claim: str) -> pd.DataFrame:
    """The rows of a claim that takes minutes to compute, from ``results/later_checks.json``."""
    rows = (archive.file("later_checks.json") or {}).get(claim)
    if rows is None:
        raise NotStored("The rows are not stored; `python -m companion.claims.later` computes them.")
    return pd.DataFrame(rows)


_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "at most": operator.le,
    "at least": operator.ge,
    "above": operator.gt,
}


@dataclass(frozen=True)
class Threshold:
    """A number that values are compared with; ``value`` as comparison means that the cases are computed with it."""

    value: float
    comparison: str
    meaning: str = ""

    def passes(self, value: float) -> bool:
        """Whether a value is on the right side; NaN never is."""
        return self.comparison == "value" or bool(_COMPARE[self.comparison](value, self.value))

    def __str__(self) -> str:
        return f"{self.comparison} {self.value:.10g}"


@dataclass(frozen=True)
class Case:
    """One case of a claim.

    Attributes
    ----------
    name : str
        For example ``"E_tr at n = 20"``.
    values : mapping of str to float
        Values named like a threshold are compared with it; the others are only shown.
    part, group : str
        Parts (such as ρ = 1 and ρ = 16) are decided apart and shown apart. Groups of cases are decided apart within a
        part.
    counts : bool
        Whether the case counts; if not, it is only shown.
    condition : bool
        Further requirement of the rule that is not a number.
    """

    name: str
    values: Mapping[str, float]
    part: str = ""
    group: str = ""
    counts: bool = True
    condition: bool = True

    def passes(self, thresholds: Mapping[str, Threshold]) -> bool:
        """Whether all values pass their thresholds."""
        return self.condition and all(
            thresholds[name].passes(value) for name, value in self.values.items() if name in thresholds
        )


@dataclass(frozen=True)
class Rule:
    """A statistic with thresholds, as declared in ``claims.yml``, which explains the fields."""

    statistic: str
    rule: str
    thresholds: Mapping[str, Threshold]
    declared: str
    cases: str = ""
    known: str = ""
    why: str = ""
    holds_from: str = ""
    in_part: str = "half"
    decided_by: str = ""
    refutes: bool = False
    decides: bool = False

    def decide(self, cases: Iterable[Case]) -> tuple[Finding, dict[str, Finding]]:
        """The outcome, and that of each part."""
        groups: dict[str, dict[str, list[bool]]] = {}
        for case in cases:
            passed = groups.setdefault(case.part, {}).setdefault(case.group, [])
            if case.counts:
                passed.append(case.passes(self.thresholds))
        parts = {part: _together(self._outcome(each) for each in by.values()) for part, by in groups.items()}
        deciding = [parts[self.decided_by]] if self.decided_by else parts.values()
        return _together(deciding), {part: finding for part, finding in parts.items() if part}

    def _outcome(self, passed: list[bool]) -> Finding:
        """The outcome of one group of cases."""
        good, total = sum(passed), len(passed)
        if not total:
            return Finding.UNTESTABLE
        if self.refutes:
            return Finding.FAILS if 2 * good >= total else Finding.IN_PART if good else Finding.HOLDS
        share = self.thresholds[self.holds_from].value if self.holds_from else 1.0
        if good / total >= share:
            return Finding.HOLDS
        in_part = {"half": 2 * good >= total, "any": good > 0, "never": False}
        return Finding.IN_PART if in_part[self.in_part] else Finding.FAILS


def _together(findings: Iterable[Finding]) -> Finding:
    """The outcome that all share, or "holds in part" if they differ; what is not testable is left out."""
    known = {finding for finding in findings if finding is not Finding.UNTESTABLE}
    if not known:
        return Finding.UNTESTABLE
    return known.pop() if len(known) == 1 else Finding.IN_PART


@dataclass(frozen=True)
class Reading:
    """Our reading of a claim, made after the results were seen: holds, holds in part, does not hold, or open."""

    verdict: str
    why: str


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper (``section``), or a question beyond it (``chapter``), and the rule that decides it."""

    id: str
    says: str
    rule: Rule
    section: str = ""
    chapter: str = ""
    results: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    reading: Reading | None = None
    later: Rule | None = None

    def limit(self, name: str) -> float:
        """A threshold's number."""
        return self.rule.thresholds[name].value


@dataclass(frozen=True)
class Outcome:
    """What a rule found: its cases, and what follows from them; ``missing`` says which results are not stored."""

    rule: Rule
    cases: tuple[Case, ...] = ()
    finding: Finding = Finding.UNTESTABLE
    parts: Mapping[str, Finding] = field(default_factory=dict)
    missing: str = ""

    @classmethod
    def of(cls, rule: Rule, cases: Iterable[Case]) -> Outcome:
        """Decide."""
        cases = tuple(cases)
        return cls(rule, cases, *rule.decide(cases))

    @property
    def counted(self) -> list[Case]:
        """The cases that count."""
        return [case for case in self.cases if case.counts]

    @property
    def passed(self) -> list[Case]:
        """Those that pass."""
        return [case for case in self.counted if case.passes(self.rule.thresholds)]

    @property
    def summary(self) -> str:
        """How many cases pass, by part, and within which range their values are."""
        if not self.counted:
            return self.missing or "No case counts; the values are only shown."
        parts = dict.fromkeys(case.part for case in self.counted)
        counts = [self._count(part) for part in parts]
        return f"{'; '.join(counts)}. {self._ranges()}".strip()

    def _count(self, part: str) -> str:
        good, total = (sum(case.part == part for case in cases) for cases in (self.passed, self.counted))
        found = f"{good} of {total} cases {'speak against it' if self.rule.refutes else 'pass'}"
        return f"{part}: {self.parts[part]}, {found}" if part else found

    def _ranges(self) -> str:
        """The smallest and the largest value for each threshold."""
        ranges = []
        for name, threshold in self.rule.thresholds.items():
            values = [case.values[name] for case in self.counted if name in case.values]
            if values and threshold.comparison != "value":
                low, high = number(min(values)), number(max(values))
                ranges.append(f"{name} {low if low == high else f'{low} to {high}'} ({threshold})")
        return f"Values: {'; '.join(ranges)}." if ranges else ""


@dataclass(frozen=True)
class Verdict:
    """The outcome of a claim by its rule, that of its later check, and our reading."""

    claim: Claim
    first: Outcome
    later: Outcome | None = None

    @property
    def finding(self) -> Finding:
        """The outcome; a later check that refutes the claim takes the place of the first rule."""
        refuted = self.later and self.later.rule.decides and self.later.finding is Finding.FAILS
        return Finding.FAILS if refuted else self.first.finding

    @property
    def reading(self) -> Reading:
        """Our reading; open where the results are missing."""
        if self.claim.reading is None or self.first.missing:
            return Reading("open", self.first.missing)
        return self.claim.reading
