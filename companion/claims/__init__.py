"""The claims of the paper and the questions beyond it, decided by rules that were declared beforehand.

``claims.yml`` holds what was declared and our reading of each claim. The other modules compute the cases of the claims;
:mod:`~companion.claims.base` decides them all by one rule, and the book's page of claims shows the verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path

import nystrom_lib as nl

from ..results.archive import Archive
from .base import Case, Claim, Finding, NotStored, Outcome, Rule, Verdict
from .declared import CLAIMS, DECLARED, QUESTIONS

__all__ = ["CLAIMS", "DECLARED", "QUESTIONS", "Case", "Claim", "Finding", "Outcome", "Verdict", "cases_of", "judge"]


def cases_of(name: str) -> Callable[[Archive], Iterable[Case]]:
    """The function ``module.function`` that computes the cases of a claim."""
    module, _, function = name.partition(".")
    found: Callable[[Archive], Iterable[Case]] = getattr(import_module(f".{module}", __name__), function)
    return found


def judge(results: str | Path | Archive, only: Iterable[str] = tuple(CLAIMS)) -> list[Verdict]:
    """Decide all claims, or some by name; one whose results are not stored is not testable here."""
    archive = results if isinstance(results, Archive) else Archive(Path(results))
    with nl.threads(1):  # small problems, which several threads would only slow down
        return [verdict(CLAIMS[name], archive) for name in only]


def verdict(claim: Claim, archive: Archive) -> Verdict:
    """Decide one claim."""
    first = _outcome(claim.rule, archive, claim.results)
    return Verdict(claim, first, _outcome(claim.later, archive) if claim.later else None)


def _outcome(rule: Rule, archive: Archive, needed: Iterable[str] = ()) -> Outcome:
    if missing := [name for name in needed if archive.results(name) is None]:
        return Outcome(rule, missing=f"Not stored, or incomplete: {', '.join(missing)}; `make paper` computes them.")
    try:
        return Outcome.of(rule, cases_of(rule.cases)(archive))
    except NotStored as error:
        return Outcome(rule, missing=str(error))
