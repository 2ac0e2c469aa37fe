"""Three objectives compared with one start, one optimiser, and descents to convergence.

``python -m companion.studies.converged`` computes ``results/beyond/converged.json`` again, in a quarter of an hour.
"""

from __future__ import annotations

import datetime
import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize

import nystrom_lib as nl

from ..atomic_write import write_text
from ..checkout import RESULTS
from ..experiments.paper import SEED
from ..experiments.problems import PROBLEMS
from ..experiments.seeds import Axis, seed_for
from ..results import provenance

#: Below ``results/``.
FILE = "beyond/converged.json"
OBJECTIVES: Mapping[str, Callable[..., Any]] = {
    "radial": nl.RadialSKD, "weighted": nl.WeightedSKD, "trace": nl.TraceError,
}  # fmt: skip
#: Initial samples: drawn uniformly, and pivots of a randomly pivoted Cholesky decomposition; this many of each.
STARTS, REPETITIONS = ("uniform", "rpcholesky"), 3
#: A descent has converged when this many steps together lower the value by less than this part of it.
WINDOW, ENOUGH = 100, 1e-3
#: Steps at most.
MOST = 20_000
#: An empty batch stands for all of the data.
ALL = np.empty(0, dtype=np.int64)
Row = dict[str, Any]


def rows(
    problems: Iterable[str] = tuple(PROBLEMS),
    repetitions: int = REPETITIONS,
    *,
    most: int | None = None,
    n: int | None = None,
    steps: int = MOST,
) -> Iterator[Row]:
    """The trace error at the start and at the end of each descent.

    Parameters
    ----------
    problems : iterable of str
        Which problems.
    repetitions : int
        Samples of each kind.
    most, n : int, optional
        Points and landmarks at most.
    steps : int
        Steps of a descent at most.
    """
    for name in problems:
        this = PROBLEMS[name]
        kernel, data = nl.Gaussian(rho=this.rho), np.asarray(this.points(most).load(SEED).X)
        for start, j in itertools.product(STARTS, range(repetitions)):
            seed = seed_for(SEED, Axis.INITIAL_SAMPLE, j)
            sample = nl.initial_sample(kernel, data, min(n or this.n, this.n), start, seed=seed)
            for objective in OBJECTIVES:
                key = {"problem": name, "start": start, "repetition": j, "objective": objective}
                yield key | descend(objective, kernel, data, sample, steps)


def ratios(table: pd.DataFrame) -> pd.DataFrame:
    """For each problem and start: the error left by each discrepancy over that left by the trace error, medians."""
    ends = table.pivot(index=["problem", "start", "repetition"], columns="objective", values="after")
    over = ends[["radial", "weighted"]].div(ends["trace"], axis=0)
    return over.groupby(["problem", "start"], sort=False).median().unstack("start")


def descend(objective: str, kernel: nl.Kernel, data: Any, sample: Any, most: int = MOST) -> Row:
    """SciPy's L-BFGS on one objective, with the exact gradient."""
    f = OBJECTIVES[objective](kernel, data)
    evaluate, shape = f.prepare(len(sample), len(data)), sample.shape
    constant = f.value(sample) - evaluate(sample, ALL)[0]  # left out of the values of the discrepancies

    def value_and_gradient(flat: Any) -> tuple[float, Any]:
        value, gradient = evaluate(flat.reshape(shape), ALL)
        return (value + constant) / scale, gradient.ravel() / scale

    scale = 1.0
    scale = value_and_gradient(sample.ravel())[0]
    end = minimize(
        value_and_gradient, sample.ravel(), jac=True, method="L-BFGS-B",
        options={"maxiter": most, "maxfun": 2 * most, "maxcor": 20, "ftol": 0.0, "gtol": 0.0},
        callback=_Converged(),
    )  # fmt: skip
    first, last = (nl.nystrom_errors(kernel, data, each, "trace").trace for each in (sample, end.x.reshape(shape)))
    return {"steps": int(end.nit), "converged": bool(end.nit < most), "before": first, "after": last}


class _Converged:
    """Ends a descent that hardly lowers its value any more."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def __call__(self, intermediate_result: Any) -> None:
        self.values.append(float(intermediate_result.fun))
        if len(self.values) > WINDOW and self.values[-WINDOW - 1] - self.values[-1] < ENOUGH * abs(self.values[-1]):
            raise StopIteration


def load(file: Path) -> tuple[pd.DataFrame, Row]:
    """The stored rows, and where they come from."""
    stored = json.loads(file.read_text(encoding="utf-8"))
    return pd.DataFrame(stored["rows"]), stored["about"]


def main() -> int:
    """Compute and store."""
    here, found = provenance.environment(), []
    with nl.threads(1):
        for row in rows():
            found.append(row)
            print(json.dumps(row), flush=True)
    about = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "by": "python -m companion.studies.converged",
        **{name: here[name] for name in ("commit", "dirty", "cpu", "cores", "python", "library", "packages")},
    }
    lines = ",\n".join(map(json.dumps, found))
    write_text(RESULTS / FILE, f'{{"about": {json.dumps(about)},\n"rows": [\n{lines}\n]}}\n')
    return 0


if __name__ == "__main__":
    sys.exit(main())
