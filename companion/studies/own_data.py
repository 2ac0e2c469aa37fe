"""A file of the reader's own: where it is, what is done with it, how to look at it, and the landmarks to take home.

What ``nystrom optimise`` and chapter 13 do is here, once. They differ in how a run is stored and shown.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import nystrom_lib as nl

from ..atomic_write import write_array, write_text
from ..checkout import NOTEBOOKS
from ..choices import kernel_by_name
from ..errors import ConfigurationError
from ..experiments import components
from ..experiments.outcome import Array
from ..experiments.seeds import Axis, seed_for
from ..experiments.sums import BLOCK_ROWS
from ..results import provenance
from ..wording import FACTORS, NORMS, WITH_SAMPLE
from . import large_data

if TYPE_CHECKING:
    import pandas as pd

#: A small file that comes with the notebooks, so that the chapter runs without one.
EXAMPLE = "data/abalone_measurements.csv"

#: Up to this many points the best possible errors, and all three norms for the chapter, are computed.
FULL_REPORT = 5_500

#: More landmarks than this are judged by the NEIGHBOURS nearest to each point, as ``find_landmarks`` does.
EXACT, NEIGHBOURS = 4_000, 20
GOT_WORSE = "The approximation got worse; the start is better and was kept."

_LOOKED_AT = 5_000  # points that principal components are computed from, and that a picture shows
_JUDGED = 2_048  # points on which uniform landmarks are compared with ours
#: Up to so many uniform landmarks are tried: this many times n, and no more than that.
_TIMES, _MOST = 20, 4_000


def locate(file: str) -> Path:
    """The file as seen from the present folder, or else from the folder of the notebooks."""
    for folder in (Path(), NOTEBOOKS):
        place = folder / os.path.expanduser(file)  # unlike pathlib it accepts the name of an unknown user
        if place.is_file():
            return place.resolve()
    raise ConfigurationError("file", f"is {file!r}, and there is no such file in {Path().resolve()}.")


# -- what is done ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Request:
    """Landmarks for a file; None leaves a choice to a rule."""

    source: components.File
    n: int
    kernel: str = "gaussian"
    rho: float | None = None
    method: str = "auto"
    start: str = "auto"
    iterations: int | None = None
    seconds: float | None = None
    seed: int = 0
    exact: bool = False  # the errors from all points, however many
    tries: int = 1  # descents from as many seeds, of which the best is kept
    tolerance: float | None = None  # the relative error allowed, which then decides n

    def chosen(self, dataset: nl.datasets.Dataset) -> Chosen:
        """The kernel, with ρ by the median rule unless it is given."""
        if self.tolerance is None and self.n > dataset.N:
            raise ValueError(f"n is {self.n}; it must be from 1 to {dataset.N}, the number of data points.")
        rho = nl.median_rho(dataset.X, self.seed) if self.rho is None else self.rho
        rule = "1 over the median squared distance of the data" if self.rho is None else "as given"
        return Chosen(kernel_by_name(self.kernel, rho), rho, f"ρ = {rho:g}, {rule}.")

    def optimised(
        self,
        dataset: nl.datasets.Dataset,
        chosen: Chosen,
        progress: Callable[[int], object] | None = None,
        watch: Callable[[float, float], object] | None = None,
        cluster: Any = None,
    ) -> Optimised:
        """The landmarks, and the trace error before and after; of several tries those with the smallest error."""
        how: dict[str, Any] = {name: getattr(self, name) for name in ("method", "start", "seconds", "iterations")}
        if self.tolerance is not None:
            del how["start"]
            how |= {"tolerance": self.tolerance, "progress": progress, "watch": watch}
            result = nl.find_landmarks(chosen.kernel, dataset.X, seed=self.seed, **how)
            return Optimised(replace(self, n=len(result.sample)), dataset, chosen, result, cluster)
        seeds = range(self.seed, self.seed + self.tries)
        if cluster is not None and self.tries > 1:
            from ..running.cluster import found_there

            found = found_there(cluster, chosen.kernel, dataset.X, self.n, seeds, how)
        else:
            how |= {"progress": progress, "watch": watch}
            found = [nl.find_landmarks(chosen.kernel, dataset.X, self.n, seed=seed, **how) for seed in seeds]
        each = [Optimised(self, dataset, chosen, result, cluster) for result in found]
        if self.tries == 1:
            return each[0]
        best = min(range(self.tries), key=lambda k: each[k].after)
        why = f"The best of {self.tries} tries, by the trace error: the one with seed {seeds[best]}."
        result = replace(each[best].result, reasons=(*each[best].result.reasons, why))
        return replace(each[best], result=result)


@dataclass(frozen=True)
class Chosen:
    """The kernel, and why it is this one."""

    kernel: nl.Kernel
    rho: float
    reason: str


@dataclass(frozen=True)
class Optimised:
    """The landmarks, and how they came about; what costs much is computed when it is asked for, once."""

    request: Request
    dataset: nl.datasets.Dataset
    chosen: Chosen
    result: nl.Landmarks
    cluster: Any = None  #: a Dask client whose workers make the passes over the data
    stopped: bool = False  #: whether the user is waiting for the end: then errors are estimated from few points

    @property
    def reasons(self) -> tuple[str, ...]:
        """A sentence for each choice."""
        return (self.chosen.reason, *self.result.reasons)

    @property
    def landmarks(self) -> Array:
        """The landmarks in the units of the file."""
        return self.dataset.in_original_units(self.result.sample)

    def frame(self) -> pd.DataFrame:
        """The landmarks as rows of the file might have them, a column for each of the data's."""
        import pandas as pd

        return pd.DataFrame(self.landmarks, columns=list(self.dataset.columns))

    def save(self, folder: Path) -> None:
        """Leave ``landmarks.npy`` (as optimised) and ``landmarks.csv`` (in the file's units) in a folder."""
        write_array(folder / "landmarks.npy", self.result.sample)
        write_text(folder / "landmarks.csv", self.frame().to_csv(index=False))

    def or_start(self) -> Optimised:
        """This, or the start if its trace error is smaller: the two were compared on some of the points only."""
        if self.after <= self.before:
            return self
        reasons = (*self.result.reasons, GOT_WORSE)
        start, error = self.result.start, self.result.start_error
        return replace(self, result=replace(self.result, sample=start, error=error, reasons=reasons))

    # what it is worth

    @property
    def before(self) -> float:
        """The trace error of the sample the descent began at."""
        return float(self._before.trace)

    @property
    def after(self) -> float:
        """The trace error of the landmarks."""
        return float(self._after.trace)

    @property
    def estimate(self) -> nl.Estimate | None:
        """How sure ``after`` is, where it is an estimate; ``before`` is then from the same points."""
        estimate: nl.Estimate | None = self._after.estimate
        return estimate

    @cached_property
    def _before(self) -> Any:
        return self._errors(self.result.start)

    @cached_property
    def _after(self) -> Any:
        return self._errors(self.result.sample) if self.result.sample is not self.result.start else self._before

    def _errors(self, sample: Array) -> Any:
        points = None
        if self.stopped and self.dataset.N > _JUDGED:
            points = _JUDGED
        elif not self.request.exact and not large_data.exact_is_cheap(self.dataset.N, self.request.n):
            points = large_data.POINTS
        return nl.nystrom_errors(
            self.chosen.kernel, self._everything, sample, "trace", points=points,
            seed=self.request.seed, neighbours=NEIGHBOURS if self._by_nearest else None,
        )  # fmt: skip

    @property
    def _everything(self) -> Any:
        """The points as one pass goes over them, by blocks, on whatever machines."""
        X = self.dataset.X
        several = not large_data.is_large(self.dataset) and self.dataset.N > BLOCK_ROWS
        return nl.open_data(X, cluster=self.cluster) if several else X

    @property
    def _by_nearest(self) -> bool:
        return self.request.n > EXACT and self.chosen.kernel.radial

    @cached_property
    def best(self) -> float | None:
        """The smallest trace error of any matrix of rank n; None where that would cost too much."""
        if self.dataset.N > FULL_REPORT:
            return None
        return nl.best_rank_errors(self.chosen.kernel, self.dataset.X, self.request.n, "trace").trace

    @cached_property
    def best_bound(self) -> float:
        """A lower confidence bound of the smallest trace error of any matrix of rank n."""
        return self.dataset.N * nl.best_error_bound(self.chosen.kernel, self.dataset.X, self.request.n)

    @property
    def at_most(self) -> float:
        """An upper confidence bound of the trace error; the error itself where it is exact."""
        return self.after if self.estimate is None else self.estimate.bounds[1]

    @cached_property
    def least(self) -> Array:
        """The smallest mean error possible for n = 0, 1, …, estimated from some of the points."""
        kernel, points = self.chosen.kernel, thinned(self.dataset.X, _JUDGED)
        eigenvalues = np.linalg.eigvalsh(kernel.matrix(points))
        tails: Array = np.cumsum(np.maximum(eigenvalues, 0.0))[::-1] / len(points)
        return tails

    @property
    def factor(self) -> float | None:
        """E_tr of Eq. (8), where the best error is known and not zero."""
        return self.after / self.best if self.best else None

    @cached_property
    def uniform(self) -> dict[int, float]:
        """The mean error of uniform landmarks by their number: so many that it falls to ours, or the most tried.

        Samples contain one another, so that the error falls from each to the next; bisection finds the place.
        """
        X, n = self.dataset.X, self.request.n
        most = min(len(X), _TIMES * n, max(_MOST, 4 * n if self._by_nearest else n))
        seed = seed_for(self.request.seed, Axis.DATA)
        if large_data.is_large(self.dataset):
            candidates = large_data.some(X, most, np.random.default_rng(seed))
        else:
            chosen = np.random.default_rng(seed).choice(len(X), most, replace=False)
            candidates = np.asarray(X[chosen], dtype=np.float64)
        points = thinned(X, _JUDGED)
        errors: dict[int, float] = {}

        def error(m: int) -> float:
            if m not in errors:
                errors[m] = self._mean(candidates[:m], points)
            return errors[m]

        low, high = 1, n
        while error(high) > self.ours and high < len(candidates):
            low, high = high, min(2 * high, len(candidates))
        while high - low > 1 and error(high) <= self.ours:
            middle = (low + high) // 2
            low, high = (low, middle) if error(middle) <= self.ours else (middle, high)
        return dict(sorted(errors.items()))

    @cached_property
    def ours(self) -> float:
        """The mean error of our landmarks on the same points."""
        return self._mean(self.result.sample, thinned(self.dataset.X, _JUDGED))

    def _mean(self, sample: Array, points: Array) -> float:
        """The mean error at these points, of the kind that n landmarks are judged by."""
        judged = nl.LocalApproximation if self._by_nearest else nl.NystromApproximation
        return float(judged(self.chosen.kernel, sample).residuals(points).mean())

    @property
    def equivalent(self) -> tuple[int, bool]:
        """How many uniform landmarks the same error takes, and whether so many were enough."""
        enough = [m for m, error in self.uniform.items() if error <= self.ours]
        return (min(enough), True) if enough else (max(self.uniform), False)

    def record(self) -> dict[str, Any]:
        """Everything that was done, as plain data."""
        data, request, kernel = self.dataset, self.request, self.chosen.kernel
        known = vars(self)  # nothing is computed for the record's sake
        return {
            "what": "landmark points in the units of the file, a row each, columns in the order given here",
            "columns": list(data.columns),
            "n": request.n,
            "trace": {
                "before": self.before,
                "after": self.after,
                "best_possible": known.get("best"),
                **({} if self.estimate is None else {"after_is_estimated": asdict(self.estimate)}),
            },
            "standardisation": {
                "done": data.mean is not None,
                "mean": np.broadcast_to(0.0 if data.mean is None else data.mean, data.d).tolist(),
                "scale": np.broadcast_to(1.0 if data.scale is None else data.scale, data.d).tolist(),
                "meaning": "the kernel sees (x - mean) / scale; the landmarks are mean + scale * (its landmarks)",
            },
            "kernel": {"name": kernel.name, **kernel.parameters},
            "choices": list(self.reasons),
            "find_landmarks": {
                "method": request.method,
                **({} if request.tolerance is None else {"tolerance": request.tolerance}),
                "start": request.start,
                "iterations": request.iterations,
                "seconds": request.seconds,
                "seed": request.seed,
                **({"tries": request.tries} if request.tries > 1 else {}),
                "steps": self.result.steps,
            },
            "file": request.source.to_plain(),
            "data": provenance.describe(data),
            "environment": provenance.environment(),
        }


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


def thinned(data: Array | nl.Source, most: int = _LOOKED_AT) -> Array:
    """At most so many of the points, evenly spread over the rows; of a source, drawn at random."""
    if isinstance(data, nl.Source):
        return large_data.some(data, most, np.random.default_rng(0))
    return np.asarray(data[:: max(1, -(-len(data) // most))], dtype=np.float64)


def before_and_after(optimised: Optimised) -> pd.DataFrame:
    """The errors that can be afforded, before and after, beside the smallest possible, and the factors E of Eq. (8)."""
    import pandas as pd

    kernel, X, n = optimised.chosen.kernel, optimised.dataset.X, optimised.request.n
    small = len(X) <= FULL_REPORT
    norms = tuple(NORMS) if small else ("trace",)
    samples = (optimised.result.start, optimised.result.sample)
    before, after = (nl.nystrom_errors(kernel, X, sample, norms) for sample in samples)
    best = nl.best_rank_errors(kernel, X, n, norms) if small else None
    rows = []
    for norm in norms:
        old, new = getattr(before, norm), getattr(after, norm)
        least = getattr(best, norm) if best else np.nan
        rows.append((WITH_SAMPLE[norm], old, new, least, new / old if old else np.nan))
    for norm, factor in FACTORS.items() if small else ():
        least = getattr(best, norm)
        old, new = (getattr(errors, norm) / least if least else np.nan for errors in (before, after))
        rows.append((WITH_SAMPLE[factor], old, new, 1.0, new / old if old else np.nan))
    head = ["criterion", "initial sample", "optimised sample", "best possible", "after / before"]
    return pd.DataFrame(rows, columns=head)
