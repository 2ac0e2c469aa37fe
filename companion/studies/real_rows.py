"""Real rows of MiniBooNE: the paper's descent on a public sample of them, and the same on the stand-in.

``python -m companion.studies.real_rows FILE`` computes ``results/miniboone_sample.json`` again in a few minutes, where
FILE is the sample that :func:`nystrom_lib.datasets.miniboone_sample` describes. The questions X25 to X28 were declared
before the first result.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import nystrom_lib as nl

from ..atomic_write import write_text
from ..checkout import RESULTS
from ..experiments.outcome import Array
from ..experiments.paper import SEED
from ..experiments.seeds import Axis, seed_for
from ..results import provenance
from ..results.archive import Archive

FILE = "miniboone_sample.json"
REAL, STAND_IN = "real rows", "stand-in"
#: Rows of the whole set and of the sample; training rows of a split, and how many splits.
N, ROWS, TRAIN, SPLITS = 129_592, 5_027, 3_500, 5
LANDMARKS, KERNEL, STEPS, BATCH_SIZE = 1_000, nl.Gaussian(rho=0.04), 8_000, 200
#: The paper's step for all rows; a gradient is about as large as the square of their number.
STEP = 2e-7 * (N / TRAIN) ** 2
#: Steps between two records of R, in the first split.
EVERY = 100
#: Draws from the stand-in that check the intervals.
DRAWS = 20
#: The criteria that the chapter compares.
CRITERIA = {
    "R": "$R$ on the training rows",
    "test": r"mean of $K-\hat K(\mathcal S)$ on the test rows",
    "E_tr": r"$\mathcal E_{\mathrm{tr}}$ on the training rows",
}
Row = dict[str, Any]


def split(X: Array, j: int, train: int = TRAIN) -> tuple[Array, Array]:
    """The training rows and the test rows of split j."""
    order = np.random.default_rng(seed_for(SEED, Axis.DATA, j)).permutation(len(X))
    return X[order[:train]], X[order[train:]]


@nl.threads(1)
def descent(X: Array, j: int, *, train: int = TRAIN, n: int = LANDMARKS, steps: int = STEPS) -> tuple[Row, Row]:
    """R and the trace error on the training rows and the mean residual on the test rows of split j, and R along it."""
    fit, test = split(X, j, train)
    start = nl.uniform_sample(fit, n, seed_for(SEED, Axis.INITIAL_SAMPLE, j))
    run = nl.stochastic_gradient_descent(
        KERNEL, fit, start, step=STEP, iterations=steps, batch_size=BATCH_SIZE, seed=seed_for(SEED, Axis.BATCHES, j),
        record_every=EVERY if j == 0 else 0,
    )  # fmt: skip
    best = nl.best_rank_errors(KERNEL, fit, n, "trace").trace
    row: Row = {"split": j, "best": best}
    for when, sample in (("before", start), ("after", run.sample)):
        trace = nl.nystrom_errors(KERNEL, fit, sample, "trace").trace
        row |= {
            f"R {when}": nl.radial_skd(KERNEL, fit, sample),
            f"trace {when}": trace,
            f"test {when}": float(nl.NystromApproximation(KERNEL, sample).residuals(test).mean()),
            f"E_tr {when}": trace / best,
        }
    values = run.values + nl.squared_frobenius_norm(KERNEL, fit)
    return row, {} if j else {"iteration": run.iterations.tolist(), "R": values.tolist()}


def squared_norm(X: Array) -> Row:
    """Estimate ‖K‖_F²/N² of the whole set from a uniform sample of its rows, with a 95 % interval.

    The mean of K² over pairs of different rows is a U-statistic, unbiased for that of the whole set. Its variance is
    4/n times that of the means of single rows, less the share of the set that was drawn. The diagonal adds 1/N.
    """
    n = len(X)
    means = np.concatenate([(KERNEL.matrix(block, X) ** 2).sum(axis=1) - 1.0 for block in np.array_split(X, 10)])
    means /= n - 1
    within = 1.96 * float(np.sqrt(4.0 * means.var(ddof=1) / n * (1.0 - n / N)))
    value = float(means.mean())
    estimate, low, high = (x * (1.0 - 1.0 / N) + 1.0 / N for x in (value, value - within, value + within))
    return {"estimate": estimate, "low": low, "high": high}


def draw(stand_in: Array, j: int, *, standardise: bool = True) -> Array:
    """As many rows of the stand-in as the sample has, standardised by themselves or by all rows of the stand-in."""
    chosen = np.random.default_rng(seed_for(SEED + 1, Axis.DATA, j)).choice(len(stand_in), ROWS, replace=False)
    rows: Array = stand_in[chosen]
    return np.ascontiguousarray((rows - rows.mean(axis=0)) / rows.std(axis=0)) if standardise else rows


def same_scales(stand_in: Array) -> Row:
    """The estimates from draws that keep the means and scales of all rows; not part of the declared study."""
    about = provenance.session(why="to explain the answer to X28, after it was known")
    return {"about": about, "norms": [squared_norm(draw(stand_in, j, standardise=False)) for j in range(DRAWS)]}


def compute(file: Path) -> dict[str, Any]:
    """Everything that is stored."""
    real, whole = nl.datasets.miniboone_sample(file), nl.datasets.miniboone(stand_in="always")
    about = provenance.session(by="python -m companion.studies.real_rows")
    rows: list[Row] = []
    curves: dict[str, Row] = {}
    for name, X in ((REAL, real.X), (STAND_IN, draw(whole.X, 0))):
        for j in range(SPLITS):
            row, curve = descent(X, j)
            rows.append({"data": name, **row})
            curves |= {name: curve} if curve else {}
            print(rows[-1], flush=True)
    figure_5 = Archive(RESULTS).results("figure-5")
    assert figure_5 is not None and figure_5.stand_in
    return {
        "about": about,
        "data": {REAL: provenance.describe(real), STAND_IN: provenance.describe(whole)},
        "rows": rows,
        "curves": curves,
        "norm": squared_norm(real.X),
        "stand_in_norm": figure_5.constants["squared_norm"] / N**2,
        "stand_in_norms": [squared_norm(draw(whole.X, j)) for j in range(DRAWS)],
        "same_scales": same_scales(whole.X),
    }


# -- what is stored --------------------------------------------------------------------------------------------


def load(results: Path) -> dict[str, Any] | None:
    """The stored results; None if they are not in this folder."""
    file = results / FILE
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None


def medians(stored: Mapping[str, Any]) -> pd.DataFrame:
    """Medians over the splits: a row for each kind of data."""
    return pd.DataFrame(stored["rows"]).drop(columns="split").groupby("data", sort=False).median()


def left(results: Path) -> dict[str, float]:
    """What the descent leaves of R and of the error on test rows, on real rows; medians over the splits."""
    stored = load(results)
    if stored is None:
        raise FileNotFoundError(f"{results} has no {FILE}.")
    row = medians(stored).loc[REAL]
    return {name: float(row[f"{name} after"] / row[f"{name} before"]) for name in ("R", "test")}


def cases(stored: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The numbers that answer X25 to X28."""
    real = [row for row in stored["rows"] if row["data"] == REAL]
    table = pd.DataFrame(stored["rows"])
    table["R after / before"] = table["R after"] / table["R before"]
    middle = table.groupby("data")[["R after / before", "test before", "test after", "E_tr after"]].median().T
    pairs = {name: (row[STAND_IN], row[REAL]) for name, row in middle.iterrows()}
    pairs["squared norm"] = (stored["stand_in_norms"][0]["estimate"], stored["norm"]["estimate"])
    return {
        "X25": {f"split {row['split'] + 1}": row["R after"] / row["R before"] for row in real},
        "X26": {f"split {row['split'] + 1}": row["test after"] / row["test before"] for row in real},
        "X27": {str(name): float(max(a / b, b / a)) for name, (a, b) in pairs.items()},
        "X28": {"stand-in": covered(stored, stored["stand_in_norms"])},
    }


def covered(stored: Mapping[str, Any], norms: Iterable[Row]) -> float:
    """The share of intervals that contain the value of all rows of the stand-in."""
    return float(np.mean([each["low"] <= stored["stand_in_norm"] <= each["high"] for each in norms]))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Name the file with the sample of MiniBooNE: python -m companion.studies.real_rows FILE")
    write_text(RESULTS / FILE, json.dumps(compute(Path(sys.argv[1])), indent=1, ensure_ascii=False) + "\n")
