"""Landmarks for a file of the reader's own, as chapter 13 and ``nystrom optimise`` find and describe them."""

from __future__ import annotations

import io
import json
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import nystrom_lib as nl

from ..atomic_write import atomic_write, write_text
from ..choices import kernel_by_name
from ..experiments.outcome import Array
from ..experiments.seeds import Axis, seed_for
from ..results import provenance
from .request import Request

if TYPE_CHECKING:
    import pandas as pd

#: Up to this many points the best possible errors, and for the chapter all three norms, are computed.
FULL_REPORT = 5_500
#: Up to this many points a file is read into memory; of a larger .npy or Parquet file rows are read as needed.
IN_MEMORY = 1_000_000
#: Of more points than this, errors are computed block by block.
ONE_BLOCK = 2**15
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


def load(
    request: Request, progress: Callable[[int], object] | None = None, cluster: Any = None
) -> nl.datasets.Dataset:
    """The data set of a file or folder; where rows are read as needed, its ``X`` is a ``Source``.

    ``progress`` receives the number of rows read of a large file; ``cluster`` is a Dask client whose workers make the
    passes over it.
    """
    path, columns = request.path(), dict[str, Any](columns=request.columns, without=request.without)
    of_text = {name: getattr(request, name) for name in ("one_hot", "header", "separator", "missing_code")}
    others = {name: value for name, value in of_text.items() if value not in (None, False, ())}
    if path.is_dir():
        for name, value in others.items():
            raise ValueError(f"{name} is {value!r}, which means nothing for a folder of Parquet files; leave it out.")
    elif others or not _is_large(path, columns):
        return nl.datasets.from_file(**request.reading())
    source = nl.open_data(
        path, **columns, standardise=request.standardise, missing=request.missing, progress=progress, cluster=cluster
    )
    small = len(source) <= IN_MEMORY
    X: Any = source
    if small:
        X = source.all().astype(np.float64, copy=False)
        X.flags.writeable = False
    return nl.datasets.Dataset(
        X=X,
        name=path.name,
        sha256=nl.datasets.sha256_of(X) if small else "not computed",
        removed=(("rows with missing values", len(source.dropped)),) if request.missing == "drop" else (),
        stand_in=False,
        citation="your own data",
        licence="not stated",
        columns=source.columns,
        source=path.name,
        mean=source.mean,
        scale=source.scale,
    )


def _is_large(path: Path, columns: dict[str, Any]) -> bool:
    if path.suffix.lower() not in (".npy", ".parquet", ".pq"):
        return False
    try:
        return len(nl.open_data(path, **columns)) > IN_MEMORY
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


def optimise(
    request: Request,
    dataset: nl.datasets.Dataset,
    progress: Callable[[int], object] | None = None,
    watch: Callable[[float, float], object] | None = None,
    cluster: Any = None,
) -> Optimised:
    """Find the landmarks."""
    n = None if request.tolerance is not None else request.n or 100
    if n is not None and n > dataset.N:
        raise ValueError(f"n is {n}; it must be from 1 to {dataset.N}, the number of data points.")
    rho = nl.median_rho(dataset.X, request.seed) if request.rho is None else request.rho
    rule = "1 over the median squared distance of the data" if request.rho is None else "as given"
    kernel = kernel_by_name(request.kernel, rho)
    how: dict[str, Any] = {name: getattr(request, name) for name in ("method", "start", "seconds", "iterations")}
    how |= {"n": n} if n is not None else {"tolerance": request.tolerance}
    result = nl.find_landmarks(kernel, dataset.X, seed=request.seed, progress=progress, watch=watch, **how)
    return Optimised(request, dataset, kernel, f"ρ = {rho:g}, {rule}.", result, cluster)


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
    def n(self) -> int:
        """The number of landmarks."""
        return len(self.result.sample)

    @property
    def reasons(self) -> tuple[str, ...]:
        """A sentence for each choice."""
        return (self.kernel_reason, *self.result.reasons)

    def frame(self) -> pd.DataFrame:
        """The landmarks in the units of the file, with its columns."""
        import pandas as pd

        return pd.DataFrame(self.dataset.in_original_units(self.result.sample), columns=list(self.dataset.columns))

    def save(self, out: Path) -> Path:
        """Write the landmarks in the units of the file (.npy or .csv) and a record beside them; return its path."""
        record, landmarks = out.with_suffix(".json"), self.frame()
        if out.suffix.lower() == ".csv":
            write_text(out, landmarks.to_csv(index=False))
        else:
            encoded = io.BytesIO()  # numpy.save to a file hides why a disk took only a part
            np.save(encoded, landmarks.to_numpy(), allow_pickle=False)
            atomic_write(out, lambda part: part.write_bytes(encoded.getvalue()))
        content = self.record() | {"landmarks": out.name}
        write_text(record, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
        return record

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
        return self._after.estimate  # type: ignore[no-any-return]

    @cached_property
    def _after(self) -> Any:
        return self._errors(self.result.sample)

    def _errors(self, sample: Array) -> Any:
        X: Any = self.dataset.X
        N, points = self.dataset.N, None
        if self.stopped and N > _COMPARED:
            points = _COMPARED
        elif not self.request.exact and not exact_is_cheap(N, self.n):
            points = ESTIMATED_FROM
        if not isinstance(X, nl.Source) and N > ONE_BLOCK:
            X = nl.open_data(X, cluster=self.cluster)
        return nl.nystrom_errors(
            self.kernel, X, sample, "trace", points=points, seed=self.request.seed,
            neighbours=NEIGHBOURS if self._by_nearest else None,
        )  # fmt: skip

    @property
    def _by_nearest(self) -> bool:
        return self.n > EXACT and self.kernel.radial

    @cached_property
    def best(self) -> float | None:
        """The smallest trace error of any matrix of rank n; None where it would cost too much."""
        if self.dataset.N > FULL_REPORT:
            return None
        return nl.best_rank_errors(self.kernel, self.dataset.X, self.n, "trace").trace

    @cached_property
    def best_bound(self) -> float:
        """A lower confidence bound of the smallest trace error of any matrix of rank n."""
        return self.dataset.N * nl.best_error_bound(self.kernel, self.dataset.X, self.n)

    # uniform landmarks for the same error

    def _mean_error(self, sample: Array) -> float:
        """The mean error of a sample over some of the points."""
        points = some_points(self.dataset.X, _COMPARED)
        how: Any = {"neighbours": NEIGHBOURS} if self._by_nearest else {"precision": "double"}
        return float(nl.nystrom_errors(self.kernel, points, sample, "trace", **how).trace) / len(points)

    @cached_property
    def ours(self) -> float:
        """The mean error of the landmarks, on the points on which ``uniform`` is computed."""
        return self._mean_error(self.result.sample)

    @cached_property
    def uniform(self) -> tuple[dict[int, float], int | None]:
        """The mean errors of uniform landmarks by their number, and the smallest number that leaves no larger error.

        Each sample contains the smaller ones, so that the error falls with the number, which is found by bisection;
        None if even the largest number tried is too small.
        """
        X: Any = self.dataset.X
        most = min(len(X), _TIMES * self.n, max(_MOST, 4 * self.n if self._by_nearest else self.n))
        rng = np.random.default_rng(seed_for(self.request.seed, Axis.DATA))
        if isinstance(X, nl.Source):
            candidates = X.rows(rng.permutation(X.choose(most, rng))).astype(np.float64)
        else:
            candidates = np.asarray(X[rng.choice(len(X), most, replace=False)], dtype=np.float64)
        errors: dict[int, float] = {}

        def enough(m: int) -> bool:
            errors[m] = self._mean_error(candidates[:m])
            return errors[m] <= self.ours

        enough(min(self.n, most))  # for the picture
        smallest = 1 + bisect_left(range(1, most + 1), True, key=enough)
        return dict(sorted(errors.items())), smallest if smallest <= most else None

    @property
    def in_uniform(self) -> str:
        """How many uniform landmarks the same error takes, in words."""
        errors, enough = self.uniform
        number = max(errors) if enough is None else enough
        return (
            f"Uniform landmarks would need {'more than ' if enough is None else ''}{number:,} for the same error "
            f"({number / self.n:.1f} times as many)."
        )

    @property
    def heading(self) -> str:
        """The file, its size, and how many rows were left out."""
        data = self.dataset
        left_out = "".join(f"; {reason}: {count:,}" for reason, count in data.removed if count)
        return f"{data.name}: N = {data.N:,}, d = {data.d}{left_out}"

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
        found |= {} if request.tolerance is None else {"tolerance": request.tolerance}
        trace = {"before": self.before, "after": self.after, "best_possible": vars(self).get("best")}
        trace |= {} if self.estimate is None else {"after_is_estimated": asdict(self.estimate)}
        return {
            "what": "landmark points in the units of the file, a row each, columns in the order given here",
            "columns": list(data.columns),
            "n": self.n,
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
            "file": request.reading(),
            "data": provenance.describe(data),
            "environment": provenance.environment(),
        }
