"""Stored rows of the claims that take minutes to compute: B1, B2, A3, S4, T4."""

from __future__ import annotations

import pandas as pd

from ..results.archive import Archive
from .base import NotStored


def later_rows(archive: Archive, claim: str) -> pd.DataFrame:
    """The rows of a claim in ``results/later_checks.json``."""
    rows = (archive.file("later_checks.json") or {}).get(claim)
    if rows is None:
        raise NotStored("The rows are not stored; `python -m companion.claims.later` computes them.")
    return pd.DataFrame(rows)
