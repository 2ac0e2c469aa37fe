"""``python -m companion.claims.computed_answers``: answer X14–X16 and store the cases.

Chapters 14 and 15 compute them again at every build.
"""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path

import numpy as np

import nystrom_lib as nl

from ..atomic_write import write_text
from ..chapters.designs import Parameters as Uses
from ..chapters.sphere import Parameters as Sphere
from ..checkout import RESULTS
from ..experiments.problems import BEYOND
from ..results import provenance
from ..results.archive import Archive
from ..studies import sphere, uses

#: Below ``results/``.
FILE = "beyond/computed_answers.json"
Cases = dict[str, float]


def designs(p: Uses) -> Cases:
    """X14."""
    table = uses.designs(nl.Gaussian(rho=p.design_rho), p.design_n, p.design_N, p.seeds, p.noise)
    medians = table.groupby(["region", "n", "way"])["variance"].median().unstack("way")
    return {
        f"{region}, n = {n}": float(row["descent"] / min(row["Latin hypercube"], row["Sobol"]))
        for (region, n), row in medians.iterrows()
    }


def worth(p: Uses) -> Cases:
    """X15."""
    stored, cases = Archive(RESULTS / "beyond"), {}
    for each in p.posed():
        results = stored.results(f"{each.name}.uniform-trace")
        assert results is not None and f"{each.name}.uniform-trace" in BEYOND
        error = float(results.table.query("stage == 'optimised'")["trace"].median())
        data = each.points(p.most(each)).load(p.seed).X
        cases[each.title] = uses.worth(nl.Gaussian(rho=each.rho), data, p.landmarks(each), error, p.worth_seeds, p.seed)
    return cases


def lattice(p: Sphere) -> Cases:
    """X16."""
    objective, cases = nl.TraceError(nl.Gaussian(rho=p.rho), sphere.lattice(p.N)), {}
    for n in p.n:
        starts = [sphere.scattered(n, p.seed + j) for j in range(p.seeds)]
        ends = [objective.value(sphere.descend(objective, start, p.steps)) for start in starts]
        cases[f"n = {n}"] = float(np.median(ends)) / objective.value(sphere.lattice(n))
    return cases


def load(file: Path) -> dict[str, Cases]:
    """The stored cases by question; none if they are not stored."""
    if not file.is_file():
        return {}
    cases: dict[str, Cases] = json.loads(file.read_text(encoding="utf-8"))["cases"]
    return cases


def main() -> int:
    """Compute and store."""
    here = provenance.environment()
    cases = {"X14": designs(Uses()), "X15": worth(Uses()), "X16": lattice(Sphere())}
    about = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "by": "python -m companion.claims.computed_answers",
        **{name: here[name] for name in ("commit", "dirty", "cpu", "cores", "python", "library", "packages")},
    }
    write_text(RESULTS / FILE, json.dumps({"about": about, "cases": cases}, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
