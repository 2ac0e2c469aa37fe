"""The paper's experiments in a few numbers each, for the landing page and "What we learned".

``python -m companion.book.lessons`` draws the figure of the landing page and the README again.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np

from ..checkout import BOOK, RESULTS
from ..experiments.paper import PAPER
from ..results.archive import Archive
from ..results.summary import change, rank_correlation, spread_of
from ..results.table import Results
from ..wording import DATA, number

FIGURE = BOOK / "_assets" / "answer.svg"
#: The experiments with many repetitions, in the order of the pages; first those on the bi-Gaussian data with ρ = 1.
PRINTED = [f"figure-2-n{n}" for n in (20, 50, 80)]
NAMES = [
    *PRINTED,
    *(f"{name}-rho16" for name in PRINTED),
    *(f"figure-3-rho{rho}" for rho in ("0.25", "1", "4")),
    *(f"figure-4-n{n}" for n in (100, 200)),
]


def lesson(name: str, results: Results) -> SimpleNamespace:
    """One experiment in numbers, which are medians over its repetitions."""
    R, trace, factor = (change(results, criterion) for criterion in ("R", "trace", "E_tr"))
    N = int(results.provenance["data"]["N"])
    experiment = PAPER[name]
    rho = experiment.kernel.parameters["rho"]
    before, after = factor.medians
    return SimpleNamespace(
        title=f"{DATA[experiment.data.kind]}, ρ = {rho:g}, n = {experiment.n}",
        rho=rho,
        n=experiment.n,
        m=len(R.after),
        R=R.kept,  # the radial SKD after the descent, over that before
        trace=trace.kept,  # the trace error likewise
        before=before,  # the trace factor of Eq. (8)
        after=after,
        factors=f"{number(before)} → {number(after)}",
        better=trace.improved,  # the share of the repetitions in which the trace error fell
        # what the descent leaves of the trace factor's excess over 1
        excess=float(np.nanmedian((factor.after - 1.0) / (factor.before - 1.0))),
        spread=spread_of(factor.after),  # interquartile range over median of the trace factor after the descent
        # √(N R), which bounds the trace error, over the trace error of the initial sample
        bound=float(np.nanmedian((N * R.before) ** 0.5 / trace.before)),
        agreement=rank_correlation(R.after, trace.after),  # of R and the trace error among the optimised samples
        # the smallest trace error possible, over the trace of K: K(x, x) = 1 for the Gaussian kernel
        optimum=results.constants["trace"] / N,
    )


def read(archive: Archive, names: Sequence[str] = tuple(NAMES)) -> list[SimpleNamespace]:
    """The experiments of the landing page."""
    return [lesson(name, _stored(archive, name)) for name in names]


def rings(archive: Archive) -> list[SimpleNamespace]:
    """Abalone with the number of rings in place of the sex."""
    return read(archive, [f"{name}-rings" for name in NAMES if name.startswith("figure-3")])


def full_size(archive: Archive) -> dict[str, object]:
    """The one descent of Figure 5."""
    results = _stored(archive, "figure-5")
    R, trace = (change(results, criterion) for criterion in ("R", "trace"))
    return {
        "stand_in": results.stand_in,
        "N": int(results.provenance["data"]["N"]),
        "n": results.experiment.n,
        "R": R.kept,
        "trace": trace.kept,
    }


def settings() -> list[dict[str, object]]:
    """The settings of the paper's experiments, for the table of the protocol."""
    rows = []
    for name, each in PAPER.items():
        descent = each.descent.to_plain()
        rho = each.kernel.parameters["rho"]
        row = {"name": name, "data": DATA[each.data.kind], "rho": f"{rho:g}", "n": each.n, "m": each.m}
        rows.append(row | {"b": descent.get("batch_size"), "step": descent["step"], "T": descent["iterations"]})
    return rows


def time_taken(archive: Archive) -> dict[str, float]:
    """How long all experiments of the paper took, and on how many cores."""
    sessions = [session for name in PAPER for session in _stored(archive, name).provenance["sessions"]]
    cores = max(session["cores"] for session in sessions)
    return {"seconds": sum(session["wall_seconds"] for session in sessions), "cores": cores}


def _stored(archive: Archive, name: str) -> Results:
    results = archive.results(name)
    if results is None:
        raise FileNotFoundError(f"{archive.folder} has no results of {name}; `make paper` computes them.")
    return results


def figure_svg(archive: Archive) -> str:
    """The figure of the landing page; ρ = 1, with factors in the thousands, has an axis of its own."""
    from ..figures import answer, style

    titles = dict(zip(NAMES, (each.title for each in read(archive)), strict=True))
    panels = {
        "": [name for name in NAMES if name not in PRINTED],
        "ρ = 1 on the bi-Gaussian data, on a scale of its own": PRINTED,
    }
    tables = {
        panel: {titles[name][0].upper() + titles[name][1:]: _stored(archive, name).table for name in names}
        for panel, names in panels.items()
    }
    return style.svg(answer.before_and_after(tables))


if __name__ == "__main__":
    FIGURE.write_text(figure_svg(Archive(RESULTS)), encoding="utf-8")
