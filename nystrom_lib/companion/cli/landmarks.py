"""The work behind ``nystrom optimise``: data, choices, descent, and what is saved of it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...datasets import Dataset
from ...datasets._dataset import row_blocks
from ..errors import CompanionError, ConfigurationError, Interrupted
from ..experiments.components import File
from ..results.table import Results
from ..running.runner import aside, run
from ..studies.advice import EXACT_GRADIENT, Advice, advise, experiment
from ..studies.own_data import plane, thinned
from .base import duration, table

Array = NDArray[np.float64]

#: How often a step of our own choosing is cut, and to what part, if R does not get lower.
_MOST_CUTS, _CUT = 4, 0.25
#: How often R is looked at on the way; each look costs O(nN).
_RECORDS, _FEW_RECORDS = 100, 20
#: R at the level of rounding counts as zero: this part of ‖K‖_F², or of R where that is not known.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Request:
    """What the user asks for; None leaves a choice to us."""

    source: File
    n: int
    kernel: str
    rho: float | None
    step: float | None
    iterations: int | None
    batch_size: int | None
    seed: int

    def check(self) -> None:
        """Positive is not something the command line can say of a number."""
        for name, value in (("--rho", self.rho), ("--step", self.step)):
            if value is not None and not (value > 0 and np.isfinite(value)):
                raise ConfigurationError(name, f"is {value:g}; it must be a finite number above 0.")


@dataclass(frozen=True)
class Optimised:
    """The landmarks, and how they came about.

    Attributes
    ----------
    request : Request
        What was asked.
    dataset : Dataset
        The data, as they were used.
    advice : Advice
        What was chosen, and why.
    results : Results
        The engine's results, with the landmarks on the way.
    mean, scale : array, (d,)
        The data used are (x − mean) / scale.
    """

    request: Request
    dataset: Dataset
    advice: Advice
    results: Results
    mean: Array
    scale: Array

    @property
    def start(self) -> Array:
        """S⁽⁰⁾ in the units of the file."""
        return self.in_units(self.results.path(0)[1][0])

    @property
    def landmarks(self) -> Array:
        """S⁽ᵀ⁾ in the units of the file."""
        return self.in_units(self.results.path(0)[1][-1])

    def in_units(self, points: Array) -> Array:
        """Undo the standardisation."""
        return self.mean + self.scale * points

    def numbers(self) -> dict[str, dict[str, float]]:
        """What was measured before and after, by quantity."""
        rows = self.results.table.set_index("stage")
        return {
            name: {"before": float(rows[name]["initial"]), "after": float(rows[name]["optimised"])}
            for name in ("R", "trace")
        }

    def report(self) -> str:
        """For the terminal."""
        numbers, data, n = self.numbers(), self.dataset, self.request.n
        left_out = "".join(f"; {reason}: {count:,}" for reason, count in data.removed if count)
        seconds = float(self.results.table["seconds"].max())
        has_constant = "squared_norm" in self.results.constants
        names = {"R": "R, Eq. (3)" if has_constant else "R − ‖K‖_F²", "trace": "trace error"}
        rows = [
            [names[name], f"{each['before']:.6g}", f"{each['after']:.6g}", _change(each)]
            for name, each in numbers.items()
        ]
        lines = [
            f"{data.name}: N = {data.N:,}, d = {data.d}{left_out}",
            *(f"  {reason}" for reason in self.advice.reasons),
            "",
            table(["", "before", "after", "change"], rows, right=[1, 2, 3]),
            "",
            f"{n} landmarks moved in {duration(seconds)}; they are saved in the units of {data.name}.",
        ]
        return "\n".join(lines)

    def record(self) -> dict[str, Any]:
        """Everything that was done, as plain data."""
        origin = self.results.provenance
        standardised = self.request.source.standardise
        return {
            "what": "landmark points in the units of the file, a row each, columns in the order given here",
            "columns": list(self.dataset.columns),
            "n": self.request.n,
            **self.numbers(),
            "R_includes_the_constant": "squared_norm" in origin["constants"],
            "standardisation": {
                "done": standardised,
                "mean": self.mean.tolist(),
                "scale": self.scale.tolist(),
                "meaning": "the kernel sees (x - mean) / scale; the landmarks are mean + scale * (its landmarks)",
            },
            "choices": list(self.advice.reasons),
            **origin,
        }


def _change(each: dict[str, float]) -> str:
    if each["before"] <= 0:  # without its constant R is negative, and a percentage would say nothing
        return f"{each['after'] - each['before']:+.3g}"
    return f"{100 * (each['after'] / each['before'] - 1):+.1f} %"


def optimised(request: Request, jobs: int | None, say: Callable[[str], None]) -> Optimised:
    """Read, choose, descend."""
    request.check()
    dataset = request.source.load(request.seed)
    mean, scale = _units(request.source)
    say(f"{dataset.name}: {dataset.N:,} points; choosing what was not given …")
    advice = aside(lambda: _advice(dataset, request, request.step))
    results = _descended(request, dataset, advice, jobs)
    for _ in range(_MOST_CUTS):
        if request.step is not None or _lower(results):
            break
        shorter = float(f"{_CUT * advice.step:.1e}")
        say(f"R did not get lower with γ = {advice.step:g}; trying γ = {shorter:g}.")
        advice = replace(advice, descent=advice.descent.replace(step=shorter))
        results = _descended(request, dataset, advice, jobs)
    if "R" not in results.table or results.table["R"].isna().any():
        at = int(results.table["diverged_at"].max())
        raise CompanionError(f"The descent left the finite numbers at iteration {at}; try a smaller --step.")
    if not _lower(results):
        before, after = results.table["R"]
        raise CompanionError(
            f"R did not get lower with γ = {advice.step:g} ({before:.6g} before, {after:.6g} after), so nothing was "
            "saved; try a smaller --step or more --iterations."
        )
    return Optimised(request, dataset, advice, results, mean, scale)


def _advice(dataset: Dataset, request: Request, step: float | None) -> Advice:
    return advise(
        dataset.X,
        request.n,
        kernel=request.kernel,
        rho=request.rho,
        step=step,
        iterations=request.iterations,
        batch_size=request.batch_size,
        seed=request.seed,
    )


def _descended(request: Request, dataset: Dataset, advice: Advice, jobs: int | None) -> Results:
    records = _RECORDS if dataset.N <= EXACT_GRADIENT else _FEW_RECORDS
    asked = experiment(request.source, dataset.N, advice, seed=request.seed, records=records)
    # The trace error is what the paper looks at for large N; the others cost O(N³).
    asked = asked.replace(norms=("trace",), factors=False)
    with tempfile.TemporaryDirectory(prefix="nystrom-") as folder:
        try:
            return run(asked, folder, dataset=dataset, threads=jobs)
        except KeyboardInterrupt:
            raise Interrupted("Stopped before the descent was done; nothing was saved.") from None


def _lower(results: Results) -> bool:
    """Is R lower than before, or at the level of rounding?"""
    rows = results.table.set_index("stage")["R"]
    before, after = float(rows["initial"]), float(rows["optimised"])
    return after <= before + _ROUNDING * results.constants.get("squared_norm", abs(before))


def _units(source: File) -> tuple[Array, Array]:
    """Mean and standard deviation of the columns in the file, of the rows that are used."""
    if not source.standardise:
        d = source.load(0).d
        return np.zeros(d), np.ones(d)
    X = source.replace(standardise=False).load(0).X
    mean = sum((X[rows].sum(axis=0) for rows in row_blocks(*X.shape)), np.zeros(X.shape[1])) / len(X)
    squares = sum((((X[rows] - mean) ** 2).sum(axis=0) for rows in row_blocks(*X.shape)), np.zeros(X.shape[1]))
    return mean, np.sqrt(squares / (len(X) - source.ddof))


# -- files -----------------------------------------------------------------------------------------------------


def save(found: Optimised, out: Path, plot: Path | None) -> dict[str, Path]:
    """Write landmarks, record and picture; what each is, and where."""
    landmarks = found.landmarks
    if out.suffix.lower() == ".csv":
        header = ",".join(_quoted(name) for name in found.dataset.columns)
        lines = [header, *(",".join(repr(float(value)) for value in row) for row in landmarks)]
        out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        np.save(out, landmarks, allow_pickle=False)
    record = out.with_suffix(".json")
    record.write_text(json.dumps(found.record(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    written = {"landmarks": out, "record": record}
    if plot is not None:
        _draw(found, plot)
        written["picture"] = plot
    return written


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',"\n') else name


def _draw(found: Optimised, path: Path) -> None:
    """The landmarks in the plane of the data, or of its first two principal components, and the decay of R."""
    from ..figures import style
    from ..figures.paths import paths_and_decay

    data, (iterations, kept) = found.dataset, found.results.path(0)
    view, shown = plane(data), thinned(data.X)
    labels = view.labels
    if data.d <= 2:  # few enough columns to be shown in their own units
        shown, kept = found.in_units(shown), found.in_units(kept)
    points, paths = view(shown), view(kept)
    if data.d == 1:  # across the one column, how far the descent has come
        paths[:, :, 1] = iterations[:, None]
        labels = labels[0], "iteration"
    figure = paths_and_decay(points, paths, iterations, found.results.curves["R"])
    if data.d <= 2:
        figure.axes[0].set_aspect("auto")
    style.label(figure.axes[0], *labels)
    figure.savefig(path)
