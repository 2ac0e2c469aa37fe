"""How far a recomputed number may lie from a stored one, and why.

Measured twice. Some repetitions were done on one thread and on two (which never moves a bit), and with compiled loops
and BLAS as they are for three generations of processors: benchmarks/results/drift.md has the figures. And all
experiments were done twice at full scale, by different loops on an Intel and on an AMD processor.
Each tolerance is what moved the most, with some room for machines not seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerance:
    """|found − stored| ≤ relative · |stored| + absolute, for a stated reason."""

    relative: float
    absolute: float
    reason: str

    def excess(self, found: float, stored: float) -> float:
        """The difference as a multiple of what is allowed: at most 1 is within."""
        difference = abs(found - stored)
        if difference == 0.0:
            return 0.0
        allowed = self.relative * abs(stored) + self.absolute
        return math.inf if math.isnan(difference) or allowed == 0.0 else difference / allowed

    def __str__(self) -> str:
        parts = [f"{self.relative:.0e} relative"] if self.relative else []
        parts += [f"{self.absolute:.0e} absolute"] if self.absolute else []
        return " + ".join(parts) or "none"


def tolerance_after_drift(quantity: str, lowered: bool, floor: float = 0.0) -> Tolerance:
    """The tolerance where rounding grows until it shows, at the end of many steps that adapt, say.

    ``lowered`` says whether the quantity is what was descended on; below ``floor`` its minima lie close together.

    Examples
    --------
    >>> str(tolerance_after_drift("E_tr", lowered=True))
    '2e-02 relative'
    """
    if quantity == "rank":
        return tolerance_for(quantity, {})
    if not lowered:
        return Tolerance(0.25, 0.0, "samples that do as well differ in what was not descended on (by 0.18)")
    return Tolerance(
        0.02,
        floor,
        "a thousand adaptive steps let rounding grow until it chooses among neighbouring minima: sums in another order "
        "moved the error by 2e-3 of itself, another numpy R by 9e-3, and another processor an error of 2e-7 of the "
        "trace of K by 1e-8 of that trace",
    )


def tolerance_for(quantity: str, constants: Mapping[str, float]) -> Tolerance:
    """The tolerance of one quantity of an experiment with these constants.

    Examples
    --------
    >>> str(tolerance_for("E_tr", {}))
    '1e-04 relative'
    """
    if quantity in ("R", "curve"):
        return Tolerance(
            1e-9,
            1e-13 * constants.get("squared_norm", 0.0),
            "rounding along the descent moved R by 1e-10 of itself, and R is a difference of numbers of the size of "
            "the squared norm of K",
        )
    if quantity == "squared_norm":
        return Tolerance(1e-12, 0.0, "a sum of positive numbers, in another order (1e-16 measured)")
    if quantity == "rank":
        return Tolerance(0.0, 1.0, "a pivot at the level of rounding may count or not")
    if quantity == "path":
        return Tolerance(
            1e-8, 1e-8, "landmarks move along directions in which R is flat before R shows it (5e-11 measured)"
        )
    if quantity == "diverged_at":
        return Tolerance(0.01, 2.0, "where numbers overflow, rounding has grown with them")
    return Tolerance(
        1e-4,
        0.0,
        "with K_S nearly singular double precision shows in the fifth digit of an error norm (1.4e-5 measured), and "
        "rounding decides whether more digits are taken",
    )
