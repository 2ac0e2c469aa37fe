"""A3: is one step as good as another for every ρ? From the stored rows."""

from __future__ import annotations

import pandas as pd

from ..results.archive import Archive
from ..wording import number
from .base import Claim, Table, Verdict, by_share, sentence
from .tables import failing
from .theory import nothing_stored


def one_setting(claim: Claim, stored: Archive) -> Verdict:
    """A3."""
    checks = stored.later_checks()
    if checks is None or claim.id not in checks:
        return nothing_stored(claim)
    return decide_one_setting(claim, pd.DataFrame(checks[claim.id]))


def decide_one_setting(claim: Claim, rows: pd.DataFrame) -> Verdict:
    """A3 from the excess E_tr − 1 at each ρ, multiple of γ and start."""
    medians = rows.groupby(["rho", "multiple"], sort=False)["excess"].median().unstack()
    quotients = medians[1.0] / medians.min(axis=1)
    cases = {f"ρ = {rho:g}": bool(value <= claim.limit("efficient")) for rho, value in quotients.items()}
    best = {rho: float(medians.loc[rho].idxmin()) for rho in medians.index}
    shown = "; ".join(
        f"ρ = {rho:g}: {number(quotients[rho])} times the smallest excess, which is that of "
        + ("the paper's γ" if best[rho] == 1.0 else f"{best[rho]:g} γ")
        for rho in medians.index
    )
    return Verdict(
        claim,
        by_share(sum(cases.values()), len(cases)),
        sentence(shown),
        sentence(failing(cases)),
        {f"ρ = {rho:g}": float(value) for rho, value in quotients.items()},
        tables=(
            Table(
                "Excess E_tr − 1 at the end, median of three samples",
                ("setting", *(f"{multiple:g} γ" for multiple in medians.columns)),
                tuple((f"ρ = {rho:g}", *(number(value) for value in row)) for rho, row in medians.iterrows()),
            ),
        ),
    )
