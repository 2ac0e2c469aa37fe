"""A file of the reader's own: where it is, what is done with it, how to look at it, and the landmarks to take home.

What ``nystrom optimise`` and chapter 9 do is here, once. They differ in how a run is stored and shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import nystrom_lib as nl

from ..checkout import NOTEBOOKS
from ..errors import ConfigurationError
from ..experiments import components
from ..experiments.config import NORMS, Experiment, Record
from ..experiments.outcome import Array
from ..experiments.seeds import Axis, seed_for
from ..wording import WITH_SAMPLE as CRITERIA

if TYPE_CHECKING:
    import pandas as pd

    from ..results.table import Results

#: A small file that comes with the notebooks, so that the chapter runs without one.
EXAMPLE = "data/abalone_measurements.csv"

#: Up to this many points all norms with their optimal values, and ‖K‖_F², are computed for the report.
FULL_REPORT = 5_500
CONSTANT = 20_000

_LOOKED_AT = 5_000  # points that principal components are computed from, and that a picture shows
#: How often R is looked at on the way, for few points and for many; each look costs O(nN).
_RECORDS, _FEW_RECORDS = 100, 20
#: How often a step of our own choosing is cut, and to what part, if R does not get lower.
_MOST_CUTS, _CUT = 4, 0.25
#: R at the level of rounding counts as zero: this part of ‖K‖_F², or of R where that is not known.
_ROUNDING = 1e-12


def locate(file: str) -> Path:
    """The file as seen from the present folder, or else from the folder of the notebooks."""
    for folder in (Path(), NOTEBOOKS):
        place = folder / Path(file).expanduser()
        if place.is_file():
            return place.resolve()
    raise ConfigurationError("file", f"is {file!r}, and there is no such file in {Path().resolve()}.")


# -- what is done ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Request:
    """Landmarks for a file; None leaves a choice to :func:`nystrom_lib.advise`."""

    source: components.File
    n: int
    kernel: str = "gaussian"
    rho: float | None = None
    step: float | None = None
    iterations: int | None = None
    batch_size: int | None = None
    seed: int = 0

    def advice(self, dataset: nl.datasets.Dataset) -> nl.Advice:
        """Everything that was not given, chosen; steps are tried from the S⁽⁰⁾ of the experiment."""
        start = nl.uniform_indices(dataset.N, self.n, seed_for(self.seed, Axis.INITIAL_SAMPLE))
        return nl.advise(
            dataset.X,
            self.n,
            kernel=self.kernel,
            rho=self.rho,
            step=self.step,
            iterations=self.iterations,
            batch_size=self.batch_size,
            sample=dataset.X[start],
            seed=self.seed,
        )

    def experiment(self, dataset: nl.datasets.Dataset, advice: nl.Advice) -> Experiment:
        """The protocol of Section 4, once, with landmarks kept on the way; dear criteria only where N allows them."""
        N, looks = dataset.N, _RECORDS if dataset.N <= nl.advice.EXACT_GRADIENT else _FEW_RECORDS
        return Experiment(
            data=self.source,
            # a kernel's settings have the names of the library's class and of its parameters
            kernel=getattr(components, advice.kernel.name)(**advice.kernel.parameters),
            n=advice.n,
            descent=_descent(advice),
            m=1,
            seed=self.seed,
            norms=NORMS if N <= FULL_REPORT else ("trace",),
            factors=N <= FULL_REPORT,
            constant=N <= CONSTANT,
            record=Record(repetitions=(0,), every=max(1, advice.iterations // looks), path=True),
        )


def _descent(advice: nl.Advice) -> components.Descent:
    if advice.batch_size is None:
        return components.GradientDescent(step=advice.step, iterations=advice.iterations)
    return components.StochasticGradientDescent(
        step=advice.step, iterations=advice.iterations, batch_size=advice.batch_size
    )


@dataclass(frozen=True)
class Optimised:
    """The landmarks, and how they came about.

    Attributes
    ----------
    dataset : Dataset
        The data, as they were used.
    advice : Advice
        What was chosen, and why.
    results : Results
        The engine's results, with the landmarks on the way.
    """

    dataset: nl.datasets.Dataset
    advice: nl.Advice
    results: Results

    @property
    def is_lower(self) -> bool:
        """Is R lower than before, or at the level of rounding?"""
        before, after = self.measured("R")
        return after <= before + _ROUNDING * self.results.constants.get("squared_norm", abs(before))

    @property
    def landmarks(self) -> Array:
        """S⁽ᵀ⁾ in the units of the file."""
        return self.dataset.in_original_units(self.results.path(0)[1][-1])

    def frame(self) -> pd.DataFrame:
        """The landmarks as rows of the file might have them, a column for each of the data's."""
        import pandas as pd

        return pd.DataFrame(self.landmarks, columns=list(self.dataset.columns))

    def measured(self, quantity: str) -> tuple[float, float]:
        """A quantity at S⁽⁰⁾ and at S⁽ᵀ⁾."""
        values = self.results.table.set_index("stage")[quantity]
        return float(values["initial"]), float(values["optimised"])

    def save(self, folder: Path) -> None:
        """Leave ``landmarks.npy`` (as optimised) and ``landmarks.csv`` (in the file's units) in a folder."""
        np.save(folder / "landmarks.npy", self.results.path(0)[1][-1])
        self.frame().to_csv(folder / "landmarks.csv", index=False)

    def record(self) -> dict[str, Any]:
        """Everything that was done, as plain data."""
        data, origin = self.dataset, self.results.provenance
        measured = {name: self.measured(name) for name in ("R", "trace")}
        return {
            "what": "landmark points in the units of the file, a row each, columns in the order given here",
            "columns": list(data.columns),
            "n": self.advice.n,
            **{name: {"before": before, "after": after} for name, (before, after) in measured.items()},
            "R_includes_the_constant": "squared_norm" in origin["constants"],
            "standardisation": {
                "done": data.mean is not None,
                "mean": np.broadcast_to(0.0 if data.mean is None else data.mean, data.d).tolist(),
                "scale": np.broadcast_to(1.0 if data.scale is None else data.scale, data.d).tolist(),
                "meaning": "the kernel sees (x - mean) / scale; the landmarks are mean + scale * (its landmarks)",
            },
            "choices": list(self.advice.reasons),
            **origin,
        }


def optimised(
    request: Request,
    dataset: nl.datasets.Dataset,
    advice: nl.Advice,
    run: Callable[[Experiment], Results],
    say: Callable[[str], None],
) -> Optimised:
    """Descend; should R not get lower with a step of our own choosing, the step is cut and the descent done again."""
    found = Optimised(dataset, advice, run(request.experiment(dataset, advice)))
    for _ in range(_MOST_CUTS):
        if request.step is not None or found.is_lower:
            break
        shorter = float(f"{_CUT * advice.step:.1e}")
        say(f"R did not get lower with γ = {advice.step:g}; trying γ = {shorter:g}.")
        why = f"γ = {shorter:g}, smaller than what was found in a short trial: with that R did not get lower."
        advice = replace(advice, step=shorter, reasons=(*advice.reasons[:-1], why))
        found = Optimised(dataset, advice, run(request.experiment(dataset, advice)))
    return found


# -- how to look at it -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plane:
    """A plane to look at points in: their two coordinates, or the first two principal components.

    Attributes
    ----------
    centre : array, (d,)
        What becomes the origin.
    axes : array, (d, 2)
        The two directions.
    labels : tuple of str
        What to write along them.
    share : float
        Which part of the data's variance lies in it.
    """

    centre: Array
    axes: Array
    labels: tuple[str, str]
    share: float

    def __call__(self, points: Array) -> Array:
        """Points in the plane; any shape whose last axis is d."""
        shown: Array = (np.asarray(points, dtype=np.float64) - self.centre) @ self.axes
        return shown


def plane(dataset: nl.datasets.Dataset) -> Plane:
    """The plane for these data; with one column, that column and nothing across it."""
    d = dataset.d
    if d <= 2:
        names = (*dataset.columns, "")[:2]
        return Plane(np.zeros(d), np.eye(d, 2), (names[0], names[1]), 1.0)
    some = thinned(dataset.X)
    centre = some.mean(axis=0)
    _, lengths, directions = np.linalg.svd(some - centre, full_matrices=False)
    axes = directions[:2].T
    # a principal component has no sign of its own: its largest entry is made positive
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    share = float(np.sum(lengths[:2] ** 2) / np.sum(lengths**2))
    return Plane(centre, axes, ("first principal component", "second principal component"), share)


def thinned(data: Array) -> Array:
    """At most some thousand of the points, evenly spread over the rows."""
    return np.asarray(data[:: max(1, -(-len(data) // _LOOKED_AT))], dtype=np.float64)


def before_and_after(results: Results) -> pd.DataFrame:
    """Each criterion that was computed, at S⁽⁰⁾ and at S⁽ᵀ⁾, and the second over the first."""
    import pandas as pd

    table = results.table.set_index("stage")
    rows = []
    for column, name in CRITERIA.items():
        if column not in table or table[column].isna().all():
            continue
        initial, optimised = float(table.loc["initial", column]), float(table.loc["optimised", column])
        if column == "R" and not results.experiment.constant:
            rows.append((r"$R(S) - \lVert\mathbf{K}\rVert_F^2$", initial, optimised, np.nan))
        else:
            rows.append((name, initial, optimised, optimised / initial if initial else np.nan))
    return pd.DataFrame(rows, columns=["criterion", "initial sample", "optimised sample", "after / before"])
