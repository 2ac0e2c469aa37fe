"""The claims of the paper, judged by rules that were fixed early, and by our reading now.

``declared`` holds the rules, ``readings`` our reading of each claim; the other modules measure and decide; ``page``
writes it up. In a terminal, ``python -m companion.claims`` judges all claims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path

import nystrom_lib as nl

from ..errors import ConfigurationError
from ..results.archive import Archive
from ..wording import did_you_mean
from .base import Claim, Evidence, Finding, Table, Threshold, Verdict
from .declared import CLAIMS
from .page import page, plain, summary

__all__ = [
    "CLAIMS",
    "Claim",
    "Evidence",
    "Finding",
    "Table",
    "Threshold",
    "Verdict",
    "judge",
    "measure",
    "page",
    "plain",
    "summary",
]


def measure(claim: Claim) -> Callable[[Claim, Archive], Verdict]:
    """The function that measures a claim and decides on it."""
    module, _, function = claim.measured_by.partition(":")
    decide: Callable[[Claim, Archive], Verdict] = getattr(import_module(f".{module}", __name__), function)
    return decide


def judge(results: str | Path | Archive, only: Iterable[str] | None = None) -> list[Verdict]:
    """Measure claims and decide on each, in the order of the paper.

    Parameters
    ----------
    results : path or Archive
        Where the results of the experiments are; a claim whose results are not there is not testable here.
    only : iterable of str, optional
        The claims asked for, by name; by default all.
    """
    asked = list(CLAIMS) if only is None else list(only)
    for name in asked:
        if name not in CLAIMS:
            hint = did_you_mean(name.upper(), CLAIMS)
            raise ConfigurationError("only", f"has {name!r}{hint}; the claims are {', '.join(CLAIMS)}.")
    stored = results if isinstance(results, Archive) else Archive(Path(results))
    with nl.threads(1):  # small problems, which several threads would only slow down
        return [measure(claim)(claim, stored) for claim in CLAIMS.values() if claim.id in asked]
