"""Chapter 13: the method on a file of the reader's own."""

from __future__ import annotations

import numpy as np
import pandas as pd

import nystrom_lib as nl

from ..studies.own_data import FULL_REPORT, Optimised
from ..studies.request import Request
from ..wording import FACTORS, NORMS, WITH_SAMPLE
from .base import Chapter

CHAPTER = Chapter(
    name="your_data",
    number=13,
    title="Your own data",
    section="your data",
    parameters=Request,
    profiles={"quick": {"iterations": 300}, "smoke": {"n": 5, "iterations": 50}},
)


def before_and_after(found: Optimised) -> pd.DataFrame:
    """The errors that can be afforded, before and after, beside the smallest possible, and the factors of Eq. (8)."""
    kernel, X, small = found.kernel, found.dataset.X, found.dataset.N <= FULL_REPORT
    norms = tuple(NORMS) if small else ("trace",)
    samples = {"initial sample": found.result.start, "optimised sample": found.result.sample}
    errors = {title: nl.nystrom_errors(kernel, X, sample, norms) for title, sample in samples.items()}
    if small:
        errors["best possible"] = nl.best_rank_errors(kernel, X, found.n, norms)
    table = pd.DataFrame({title: [getattr(each, norm) for norm in norms] for title, each in errors.items()})
    table.index = pd.Index([WITH_SAMPLE[norm] for norm in norms], name="criterion")
    if small:
        factors = table.div(table["best possible"], axis=0).set_axis([WITH_SAMPLE[FACTORS[norm]] for norm in norms])
        table = pd.concat([table, factors.replace(np.inf, np.nan)])
    table["after / before"] = table["optimised sample"] / table["initial sample"]
    return table.rename_axis("criterion").reset_index()
