"""B3–B7, A1–A3, M1 and N1: the stored tables of the paper's experiments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ..results.archive import Archive
from ..results.summary import Change, change, quantile, rank_correlation, spread_of
from ..results.table import Results
from ..wording import FACTORS
from .base import Case, later_rows

_FACTORS = tuple(FACTORS.values())


def _figure_2(archive: Archive) -> Iterator[tuple[str, str, Results]]:
    """ρ, n and the table of each experiment of Figure 2."""
    for rho, variant in (("ρ = 1", ""), ("ρ = 16", "-rho16")):
        for n in (20, 50, 80):
            yield rho, f"n = {n}", _stored(archive, f"figure-2-n{n}{variant}")


def _figure_3(archive: Archive) -> Iterator[tuple[str, str, Results]]:
    """The eighth attribute, ρ and the table of each experiment of Figure 3."""
    for attribute, variant in (("with sex", ""), ("with rings", "-rings")):
        for rho in ("0.25", "1", "4"):
            yield attribute, f"ρ = {rho}", _stored(archive, f"figure-3-rho{rho}{variant}")


def _stored(archive: Archive, name: str) -> Results:
    results = archive.results(name)
    assert results is not None  # claims.yml lists what a claim needs
    return results


def _change(results: Results, quantity: str) -> Change:
    """Before and after, repetition by repetition; a diverged descent counts as infinitely bad."""
    return change(results, quantity, diverged=np.inf)


def _factors(results: Results, statistic: Callable[[Change], float]) -> dict[str, float]:
    """A statistic of each of the three factors."""
    return {factor: statistic(_change(results, factor)) for factor in _FACTORS}


# -- statistics ---------------------------------------------------------------------------------------------------


def _closeness(change: Change) -> dict[str, float]:
    """Spread and range of the values after, and that spread over the spread of the values before."""
    spread = spread_of(change.after)
    return {
        "spread": spread,
        "range": quantile(change.after, 0.95) / quantile(change.after, 0.05),
        "relative": spread / spread_of(change.before),
    }


def _separation(change: Change) -> float:
    """The distance of the medians of two boxes over the mean of their heights."""
    before, after = change.medians
    heights = [quantile(values, 0.75) - quantile(values, 0.25) for values in (change.before, change.after)]
    return (before - after) / (sum(heights) / 2.0)


# -- cases that several claims share ------------------------------------------------------------------------------


def _improvements(label: str, results: Results, quantities: Iterable[str], part: str = "") -> Iterator[Case]:
    """Share of repetitions that improve, ratio of medians, gap between the boxes, and the part of the excess left."""
    for quantity in quantities:
        change = _change(results, quantity)
        before, after = change.medians
        gap = quantile(change.before, 0.25) - quantile(change.after, 0.75)
        values = {"share": change.improved, "ratio": after / before, "gap": gap / before}
        if quantity != "R":  # a factor is at least 1: no more than its excess can be removed
            values["excess left"] = (after - 1.0) / (before - 1.0)
        yield Case(f"{quantity} at {label}", values, part)


def _gains(label: str, results: Results, part: str, group: str = "") -> Iterator[Case]:
    """The part of its value that E_sp keeps over the parts that E_tr and E_F keep; separations are shown."""
    kept = _factors(results, lambda change: change.kept)
    for factor in _FACTORS[:2]:
        values = {"margin": kept["E_sp"] / kept[factor], "E_sp keeps": kept["E_sp"], "the other": kept[factor]}
        yield Case(f"E_sp against {factor} at {label}", values, part, group)
    yield Case(f"separation of the boxes at {label}", _factors(results, _separation), part, group, counts=False)


# -- the claims ---------------------------------------------------------------------------------------------------


def improvement(archive: Archive) -> Iterator[Case]:
    """B3: improvement of R and the three factors."""
    for rho, label, results in _figure_2(archive):
        yield from _improvements(label, results, ("R", *_FACTORS), rho)


def gain(archive: Archive) -> Iterator[Case]:
    """B4: the gain in the spectral norm against the other two."""
    for rho, label, results in _figure_2(archive):
        yield from _gains(label, results, rho)


def closeness_of_samples(archive: Archive) -> Iterator[Case]:
    """B5: closeness of the optimised samples by E_tr and E_F; E_sp is shown."""
    for rho, label, results in _figure_2(archive):
        for factor in _FACTORS:
            values = _closeness(_change(results, factor))
            yield Case(f"{factor} at {label}", values, rho, counts=factor != "E_sp")


def coarseness(archive: Archive) -> Iterator[Case]:
    """B6: the separation of the boxes by E_sp over the smaller of the other two."""
    for rho, label, results in _figure_2(archive):
        separations = _factors(results, _separation)
        margin = separations["E_sp"] / min(separations[factor] for factor in _FACTORS[:2])
        yield Case(label, {"margin": margin, **separations}, rho)


def spread_by_norm(archive: Archive) -> Iterator[Case]:
    """B7: the spread of the optimised E_sp over those of E_tr and E_F."""
    for rho, label, results in _figure_2(archive):
        spreads = _factors(results, lambda change: spread_of(change.after))
        for factor in _FACTORS[:2]:
            margin = spreads["E_sp"] / spreads[factor]
            yield Case(f"E_sp over {factor} at {label}", {"margin": margin, **spreads}, rho)


def abalone_improvement(archive: Archive) -> Iterator[Case]:
    """A1: improvement of the factors (R is shown), and the growth of the part of the trace beyond rank 50."""
    earlier: dict[str, tuple[str, float]] = {}
    for attribute, label, results in _figure_3(archive):
        yield from _improvements(label, results, _FACTORS, attribute)
        for case in _improvements(label, results, ("R",), attribute):
            yield Case(case.name, case.values, attribute, counts=False)
        # tr K = N for a kernel that is 1 on its diagonal
        after = results.constants["trace"] / float(results.provenance["data"]["N"])
        if attribute in earlier:
            low, before = earlier[attribute]
            values = {"growth": after / before, "part left before": before, "after": after}
            yield Case(f"decay from {low} to {label}", values, attribute)
        earlier[attribute] = label, after


def abalone_gain_and_impact(archive: Archive) -> Iterator[Case]:
    """A2: the gain by norm; closeness, and the rank correlation of the factors before and after."""
    for attribute, label, results in _figure_3(archive):
        yield from _gains(label, results, attribute, "gain")
        for factor in _FACTORS:
            change = _change(results, factor)
            correlation = rank_correlation(change.before, change.after)
            values = _closeness(change) | {"correlation": abs(correlation)}
            counts = factor != "E_sp"
            yield Case(f"{factor} at {label}", values, attribute, "impact of the initial sample", counts=counts)


def steps(archive: Archive) -> Iterator[Case]:
    """A3: the excess E_tr − 1 with the paper's γ over the smallest of five multiples of it (medians)."""
    rows = later_rows(archive, "A3")
    medians = rows.groupby(["rho", "multiple"], sort=False)["excess"].median().unstack()
    for rho, each in medians.iterrows():
        shown = {f"excess, {multiple:g} γ": float(excess) for multiple, excess in each.items()}
        yield Case(f"ρ = {rho:g}", {"efficient": float(each[1.0] / each.min()), **shown})


def magic_improvement(archive: Archive) -> Iterator[Case]:
    """M1: improvement of R and E_tr, and the part of the fall of R in the last fifth of the steps."""
    for n in (100, 200):
        yield from _improvements(f"n = {n}", _stored(archive, f"figure-4-n{n}"), ("R", "E_tr"))
    yield Case("not completed", {"unfinished": _late_fall(_stored(archive, "figure-4-n200"))})


def _late_fall(results: Results) -> float:
    """The part of the fall of R in the last fifth of the first recorded descent."""
    curves = results.curves
    curve = curves[curves["repetition"] == curves["repetition"].min()]
    steps, R = curve["iteration"].to_numpy(), curve["R"].to_numpy()
    then = R[np.searchsorted(steps, 0.8 * steps[-1])]
    return float(then - R[-1]) / float(R[0] - R[-1])


def miniboone(archive: Archive) -> Iterator[Case]:
    """N1: R along the curve of Figure 5, and the trace norm; on a stand-in nothing counts."""
    results = _stored(archive, "figure-5")
    R = results.curves["R"].to_numpy()
    trace = _change(results, "trace")
    counts, label = not results.stand_in, " (stand-in)" if results.stand_in else ""
    values = {
        "decay": ("R at the end over R at the beginning", R[-1] / R[0]),
        "falling": ("stretches in which R falls", (np.diff(R) < 0).mean()),
        "trace": ("trace norm after over before", trace.after[0] / trace.before[0]),
    }
    for threshold, (name, value) in values.items():
        yield Case(f"{name}{label}", {threshold: float(value)}, counts=counts)
