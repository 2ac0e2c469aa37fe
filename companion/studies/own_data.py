"""Landmarks for a file of the reader's own, as chapter 13 and ``nystrom optimise`` find and describe them."""

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

if TYPE_CHECKING:
    import pandas as pd

#: A small file that comes with the notebooks, so that the chapter runs without one.
EXAMPLE = "data/abalone_measurements.csv"
#: Up to this many points the best possible errors, and for the chapter all three norms, are computed.
FULL_REPORT = 5_500
#: Up to this many points a file is read into memory; of a larger .npy or Parquet file rows are read as needed.
IN_MEMORY = 1_000_000
#: Points from which errors are estimated where all would take more than about a second.
ESTIMATED_FROM = 100_000
#: With more landmarks than this, errors are computed from the NEIGHBOURS nearest to each point.
EXACT, NEIGHBOURS = 4_000, 20

_SECOND = 2e10  # multiplications in about a second on two cores
_READ = 1_000  # reading a point takes about as long as this many
_SHOWN = 5_000  # points in a picture
_COMPARED = 2_048  # points on which uniform landmarks are compared with ours
_TIMES, _MOST = 20, 4_000  # numbers of uniform landmarks tried: at most this many times n, and at most this many


# -- reading ---------------------------------------------------------------------------------------------------


def locate(file: str) -> Path:
    """The file as seen from the current folder, or else from the folder of the notebooks."""
    for folder in (Path(), NOTEBOOKS):
        place = folder / os.path.expanduser(file)  # unlike pathlib it accepts the name of an unknown user
        if place.is_file():
            return place.resolve()
    raise ConfigurationError("file", f"is {file!r}, and there is no such file in {Path().resolve()}.")


def load(
    file: components.File, seed: int, progress: Callable[[int], object] | None = None, cluster: Any = None
) -> nl.datasets.Dataset:
    """The data set of a file or folder; where rows are read as needed, its ``X`` is a ``Source``.

    ``progress`` receives the number of rows read of a large file; ``cluster`` is a Dask client whose workers make the
    passes over it.
    """
    path = Path(file.path).expanduser()
    plain = {name: getattr(file, name) for name in ("path", "columns", "without", "missing", "standardise")}
    others = [name for name, value in vars(file).items() if value != getattr(components.File(**plain), name)]
    if path.is_dir():
        if file.missing == "keep":
            raise ValueError("missing='keep' cannot be had of a folder of Parquet files; allow missing='drop'.")
        for name in others:
            raise ValueError(
                f"{name} is {getattr(file, name)!r}, which means nothing for a folder of Parquet files; leave it out."
            )
    elif others or file.missing == "keep" or not _is_large(file, path):
        return file.load(seed)
    source = nl.open_data(
        path, columns=file.columns, without=file.without, standardise=file.standardise, missing=file.missing,
        progress=progress, cluster=cluster,
    )  # fmt: skip
    small = len(source) <= IN_MEMORY
    X: Any = source
    if small:
        X = source.all().astype(np.float64, copy=False)
        X.flags.writeable = False
    return nl.datasets.Dataset(
        X=X,
        name=path.name,
        sha256=nl.datasets.sha256_of(X) if small else "not computed",
        removed=(("rows with missing values", len(source.dropped)),) if file.missing == "drop" else (),
        stand_in=False,
        citation="your own data",
        licence="not stated",
        columns=source.columns,
        source=path.name,
        mean=source.mean,
        scale=source.scale,
    )


def _is_large(file: components.File, path: Path) -> bool:
    if path.suffix.lower() not in (".npy", ".parquet", ".pq"):
        return False
    try:
        return len(nl.open_data(path, columns=file.columns, without=file.without)) > IN_MEMORY
    except (ValueError, OSError):  # reported where the file is read
        return False


def some_points(X: Array | nl.Source, most: int = _SHOWN) -> Array:
    """At most ``most`` of the points, evenly spread over the rows; of a source, drawn at random."""
    if isinstance(X, nl.Source):
        rng = np.random.default_rng(0)
        return X.rows(rng.permutation(X.choose(most, rng))).astype(np.float64)
    return np.asarray(X[:: max(1, -(-len(X) // most))], dtype=np.float64)


def exact_is_cheap(N: int, n: int) -> bool:
    """Whether the errors of all points cost no more than those of 100,000, or about a second.

    Examples
    --------
    >>> [exact_is_cheap(N, n) for N, n in [(100_000, 1000), (1_000_000, 1000), (1_000_000, 100), (10**8, 1)]]
    [True, False, True, False]
    """
    return N <= ESTIMATED_FROM or N * (n * n + _READ) <= _SECOND


# -- landmarks -------------------------------------------------------------------------------------------------


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
    tries: int = 1  # seeds to try, of which the best is kept
    tolerance: float | None = None  # the relative error allowed, which then determines n

    def _kernel(self, dataset: nl.datasets.Dataset) -> tuple[nl.Kernel, str]:
        """The kernel, with ρ by the median rule unless it is given, and the reason for it."""
        if self.tolerance is None and self.n > dataset.N:
            raise ValueError(f"n is {self.n}; it must be from 1 to {dataset.N}, the number of data points.")
        rho = nl.median_rho(dataset.X, self.seed) if self.rho is None else self.rho
        rule = "1 over the median squared distance of the data" if self.rho is None else "as given"
        return kernel_by_name(self.kernel, rho), f"ρ = {rho:g}, {rule}."

    def optimised(
        self,
        dataset: nl.datasets.Dataset,
        progress: Callable[[int], object] | None = None,
        watch: Callable[[float, float], object] | None = None,
        cluster: Any = None,
    ) -> Optimised:
        """The landmarks; of several tries those with the smallest trace error."""
        kernel, reason = self._kernel(dataset)
        how: dict[str, Any] = {name: getattr(self, name) for name in ("method", "start", "seconds", "iterations")}
        how |= {"n": self.n} if self.tolerance is None else {"tolerance": self.tolerance}
        found = []
        for seed in range(self.seed, self.seed + self.tries):
            result = nl.find_landmarks(kernel, dataset.X, seed=seed, progress=progress, watch=watch, **how)
            request = replace(self, n=len(result.sample))
            found.append(Optimised(request, dataset, kernel, reason, result, cluster))
        if self.tries == 1:
            return found[0]
        best = min(range(self.tries), key=lambda k: found[k].after)
        why = f"The best of {self.tries} tries, by the trace error: the one with seed {self.seed + best}."
        return found[best].with_result(why)


@dataclass(frozen=True)
class Optimised:
    """The landmarks and how they were found; errors are computed when they are first asked for."""

    request: Request
    dataset: nl.datasets.Dataset
    kernel: nl.Kernel
    kernel_reason: str
    result: nl.Landmarks
    cluster: Any = None  #: a Dask client whose workers make the passes over the data
    stopped: bool = False  #: whether the user waits for the end: then errors are estimated from few points

    @property
    def reasons(self) -> tuple[str, ...]:
        """A sentence for each choice."""
        return (self.kernel_reason, *self.result.reasons)

    @property
    def landmarks(self) -> Array:
        """The landmarks in the units of the file."""
        return self.dataset.in_original_units(self.result.sample)

    def frame(self) -> pd.DataFrame:
        """The landmarks in the units of the file, with its columns."""
        import pandas as pd

        return pd.DataFrame(self.landmarks, columns=list(self.dataset.columns))

    def save(self, folder: Path) -> None:
        """Write ``landmarks.npy`` (as optimised) and ``landmarks.csv`` (in the units of the file) to a folder."""
        write_array(folder / "landmarks.npy", self.result.sample)
        write_text(folder / "landmarks.csv", self.frame().to_csv(index=False))

    def with_result(self, reason: str, **changes: Any) -> Optimised:
        """The same with changes of the result and a reason for them."""
        return replace(self, result=replace(self.result, reasons=(*self.result.reasons, reason), **changes))

    def or_start(self) -> Optimised:
        """This, or the start if its trace error is smaller: the descent compared the two on some points only."""
        if self.after <= self.before:
            return self
        reason = "The approximation got worse; the start is better and was kept."
        return self.with_result(reason, sample=self.result.start, error=self.result.start_error)

    # errors

    @cached_property
    def before(self) -> float:
        """The trace error of the initial sample."""
        kept = self.result.sample is self.result.start
        return self.after if kept else float(self._errors(self.result.start).trace)

    @property
    def after(self) -> float:
        """The trace error of the landmarks."""
        return float(self._after.trace)

    @property
    def estimate(self) -> nl.Estimate | None:
        """The interval of ``after``, where it is an estimate; ``before`` is then from the same points."""
        estimate: nl.Estimate | None = self._after.estimate
        return estimate

    @cached_property
    def _after(self) -> Any:
        return self._errors(self.result.sample)

    def _errors(self, sample: Array) -> Any:
        X: Any = self.dataset.X
        N, points = self.dataset.N, None
        if self.stopped and N > _COMPARED:
            points = _COMPARED
        elif not self.request.exact and not exact_is_cheap(N, self.request.n):
            points = ESTIMATED_FROM
        if not isinstance(X, nl.Source) and N > BLOCK_ROWS:
            X = nl.open_data(X, cluster=self.cluster)
        return nl.nystrom_errors(
            self.kernel, X, sample, "trace", points=points, seed=self.request.seed,
            neighbours=NEIGHBOURS if self._by_nearest else None,
        )  # fmt: skip

    @property
    def _by_nearest(self) -> bool:
        return self.request.n > EXACT and self.kernel.radial

    @cached_property
    def best(self) -> float | None:
        """The smallest trace error of any matrix of rank n; None where it would cost too much."""
        if self.dataset.N > FULL_REPORT:
            return None
        return nl.best_rank_errors(self.kernel, self.dataset.X, self.request.n, "trace").trace

    @cached_property
    def best_bound(self) -> float:
        """A lower confidence bound of the smallest trace error of any matrix of rank n."""
        return self.dataset.N * nl.best_error_bound(self.kernel, self.dataset.X, self.request.n)

    @property
    def at_most(self) -> float:
        """An upper confidence bound of the trace error; the error itself where it is exact."""
        return self.after if self.estimate is None else self.estimate.bounds[1]

    @property
    def factor(self) -> float | None:
        """E_tr of Eq. (8), where the best error is known and not zero."""
        return self.after / self.best if self.best else None

    # uniform landmarks for the same error

    def _mean_error(self, sample: Array) -> float:
        """The mean error of a sample over some of the points."""
        approximation = nl.LocalApproximation if self._by_nearest else nl.NystromApproximation
        return float(approximation(self.kernel, sample).residuals(some_points(self.dataset.X, _COMPARED)).mean())

    @cached_property
    def ours(self) -> float:
        """The mean error of the landmarks, on the points on which ``uniform`` is computed."""
        return self._mean_error(self.result.sample)

    @cached_property
    def uniform(self) -> dict[int, float]:
        """The mean error of uniform landmarks by their number, up to one that is enough, or the most tried.

        Each sample contains the smaller ones, so that the error falls with the number; bisection finds the place.
        """
        X: Any = self.dataset.X
        n = self.request.n
        most = min(len(X), _TIMES * n, max(_MOST, 4 * n if self._by_nearest else n))
        rng = np.random.default_rng(seed_for(self.request.seed, Axis.DATA))
        if isinstance(X, nl.Source):
            candidates = X.rows(rng.permutation(X.choose(most, rng))).astype(np.float64)
        else:
            candidates = np.asarray(X[rng.choice(len(X), most, replace=False)], dtype=np.float64)
        errors: dict[int, float] = {}

        def error(m: int) -> float:
            if m not in errors:
                errors[m] = self._mean_error(candidates[:m])
            return errors[m]

        low, high = 1, n
        while error(high) > self.ours and high < len(candidates):
            low, high = high, min(2 * high, len(candidates))
        while high - low > 1 and error(high) <= self.ours:
            middle = (low + high) // 2
            low, high = (low, middle) if error(middle) <= self.ours else (middle, high)
        return dict(sorted(errors.items()))

    @property
    def equivalent(self) -> tuple[int, bool]:
        """How many uniform landmarks the same error takes, and whether that many were enough."""
        enough = [m for m, error in self.uniform.items() if error <= self.ours]
        return (min(enough), True) if enough else (max(self.uniform), False)

    @cached_property
    def least(self) -> Array:
        """The smallest mean error possible for n = 0, 1, …, estimated from some of the points."""
        points = some_points(self.dataset.X, _COMPARED)
        eigenvalues = np.linalg.eigvalsh(self.kernel.matrix(points))
        tails: Array = np.cumsum(np.maximum(eigenvalues, 0.0))[::-1] / len(points)
        return tails

    def record(self) -> dict[str, Any]:
        """Everything that was done, as plain data; no error is computed for the record."""
        data, request, kernel = self.dataset, self.request, self.kernel
        names = ("method", "start", "iterations", "seconds", "seed")
        found = {name: getattr(request, name) for name in names} | {"steps": self.result.steps}
        found |= {"tries": request.tries} if request.tries > 1 else {}
        found |= {} if request.tolerance is None else {"tolerance": request.tolerance}
        trace = {"before": self.before, "after": self.after, "best_possible": vars(self).get("best")}
        trace |= {} if self.estimate is None else {"after_is_estimated": asdict(self.estimate)}
        return {
            "what": "landmark points in the units of the file, a row each, columns in the order given here",
            "columns": list(data.columns),
            "n": request.n,
            "trace": trace,
            "standardisation": {
                "done": data.mean is not None,
                "mean": np.broadcast_to(0.0 if data.mean is None else data.mean, data.d).tolist(),
                "scale": np.broadcast_to(1.0 if data.scale is None else data.scale, data.d).tolist(),
                "meaning": "the kernel sees (x - mean) / scale; the landmarks are mean + scale * (its landmarks)",
            },
            "kernel": {"name": kernel.name, **kernel.parameters},
            "choices": list(self.reasons),
            "find_landmarks": found,
            "file": request.source.to_plain(),
            "data": provenance.describe(data),
            "environment": provenance.environment(),
        }
