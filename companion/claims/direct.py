"""R5: is a descent on the trace error itself intractable? From the stored timings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..results.archive import Archive
from ..wording import number, percent
from .base import Claim, Finding, Table, Verdict


def direct_optimisation(claim: Claim, stored: Archive) -> Verdict:
    """R5."""
    timed = stored.direct_descent()
    if timed is None:
        return Verdict(
            claim,
            Finding.UNTESTABLE,
            "Nothing was measured.",
            "The timings are not stored; `python -m benchmarks.direct` takes them.",
        )
    return decide_direct(claim, timed["problems"], timed["machine"])


def decide_direct(claim: Claim, problems: Mapping[str, Mapping[str, Any]], machine: str) -> Verdict:
    """R5 from the seconds and errors of each problem."""
    rows, against, counted = [], [], []
    for label, each in problems.items():
        cost, error = each["gradient_s"] / each["trace_s"], float(np.median(each["error_quotients"]))
        if not each["stand_in"]:
            counted.append(label)
            if cost <= claim.limit("gradient") and error <= claim.limit("error"):
                against.append(label)
        rows.append(
            (
                label + (" (a stand-in, not counted)" if each["stand_in"] else ""),
                f"{each['n'] * each['d']:,}",
                number(cost, 2),
                number(each["gradient_s"] / each["radial_gradient_s"], 2),
                number(each["descent_s"], 2),
                percent(error),
            )
        )
    finding = Finding.FAILS if 2 * len(against) >= len(counted) else Finding.IN_PART if against else Finding.HOLDS
    costs = [each["gradient_s"] / each["trace_s"] for each in problems.values()]
    radial = [each["gradient_s"] / each["radial_gradient_s"] for each in problems.values()]
    errors = [float(np.median(problems[label]["error_quotients"])) for label in counted]
    return Verdict(
        claim,
        finding,
        f"On {machine}, one thread: the whole gradient of the trace error costs {number(min(costs), 2)} to "
        f"{number(max(costs), 2)} times as much as one evaluation, and {number(min(radial), 2)} to "
        f"{number(max(radial), 2)} times as much as ∇R. In the seconds of the paper's descent on R, a descent on the "
        f"trace error ends with {percent(min(errors))} to {percent(max(errors))} of the error that the other leaves.",
        f"{len(against)} of {len(counted)} problems speak against the claim"
        + (f"; not: {', '.join(others)}" if (others := [label for label in counted if label not in against]) else "")
        + ". That one partial derivative costs about as much as the criterion may be so; but the n·d of them share "
        "nearly all of their work, and what costs O(n³ + Nn²) once costs a small multiple of it with its whole "
        "gradient. With batches it does not depend on N.",
        {"against": len(against), "problems": len(counted)},
        tables=(
            Table(
                "The trace error descended on directly",
                (
                    "problem", "n·d", "whole gradient / one evaluation", "whole gradient / ∇R",
                    "seconds of each descent", "error left / error left by the descent on R",
                ),
                tuple(rows),
            ),
        ),
    )  # fmt: skip
