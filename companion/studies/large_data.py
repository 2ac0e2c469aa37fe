"""A file too large to be read whole, or a folder of Parquet files: opened, and a data set in all but that.

Beyond :data:`WHOLE` points ``Dataset.X`` is a source, of which rows are read as they are needed; nothing but what is
asked about such a data set here and in :mod:`.own_data` may be asked.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np

import nystrom_lib as nl

from ..experiments import components
from ..experiments.outcome import Array

#: Up to this many points a file is read whole.
WHOLE = 1_000_000
#: Points from which errors are estimated where all would take long.
POINTS = 100_000
_SECOND = 2e10  # multiplications, about what a second is enough for on two cores
_READ = 1_000  # as many, about, as reading a point takes

_SCALING = {
    True: "columns standardised to zero mean and unit variance (divisor N)",
    False: "columns as they are in the source",
}
_OPENED = (".npy", ".parquet", ".pq")


def load(
    file: components.File, seed: int, progress: Callable[[int], object] | None = None, cluster: Any = None
) -> nl.datasets.Dataset:
    """The data set of a file or folder; ``progress`` is told how many rows of a large one have been read.

    ``cluster`` is a Dask client, whose workers then make the passes over a large one.
    """
    path = Path(file.path).expanduser()
    if path.is_dir():
        _refuse_settings(file)
    elif not _is_large(file, path):
        return file.load(seed)
    source = nl.open_data(
        path, columns=file.columns, without=file.without, standardise=file.standardise, missing=file.missing,
        progress=progress, cluster=cluster,
    )  # fmt: skip
    small = len(source) <= WHOLE
    X: Any = source
    if small:
        X = source.all().astype(np.float64, copy=False)
        X.flags.writeable = False
    left_out = len(source.dropped)
    return nl.datasets.Dataset(
        X=X,
        name=path.name,
        sha256=nl.datasets.sha256_of(X) if small else "not computed",
        removed=(("rows with missing values", left_out),) if file.missing == "drop" else (),
        stand_in=False,
        citation="your own data",
        licence="not stated",
        columns=source.columns,
        source=f"{path.name}; {_SCALING[file.standardise]}",
        mean=source.mean,
        scale=source.scale,
    )


def is_large(dataset: nl.datasets.Dataset) -> bool:
    """Whether its points are read as they are needed."""
    return isinstance(dataset.X, nl.Source)


def exact_is_cheap(N: int, n: int) -> bool:
    """Whether the errors of all points cost no more than those of :data:`POINTS`, or about a second.

    So how long everything takes does not fall where estimates begin.

    Examples
    --------
    >>> [exact_is_cheap(N, n) for N, n in [(100_000, 1000), (1_000_000, 1000), (1_000_000, 100), (10**8, 1)]]
    [True, False, True, False]
    """
    return N <= POINTS or N * (n * n + _READ) <= _SECOND


def some(X: Array | nl.Source, most: int, rng: np.random.Generator) -> Array:
    """At most so many of a source's points, in random order."""
    source = cast(nl.Source, X)
    return source.rows(rng.permutation(source.choose(most, rng))).astype(np.float64)


def _plain(file: components.File) -> components.File:
    """The same file with nothing asked for but what a source knows."""
    return components.File(
        path=file.path, columns=file.columns, without=file.without, missing=file.missing, standardise=file.standardise
    )


def _is_large(file: components.File, path: Path) -> bool:
    """Whether it has too many rows to be read whole, and nothing is asked for that would need that."""
    if path.suffix.lower() not in _OPENED or file != _plain(file) or file.missing == "keep":
        return False
    try:
        return len(nl.open_data(path, columns=file.columns, without=file.without)) > WHOLE
    except (ValueError, OSError):  # what is wrong with it is said where it is read
        return False


def _refuse_settings(file: components.File) -> None:
    """Of a folder, what would have no effect."""
    if file.missing == "keep":
        raise ValueError("missing='keep' cannot be had of a folder of Parquet files; allow missing='drop'.")
    for name, value in vars(file).items():
        if value != getattr(_plain(file), name):
            raise ValueError(f"{name} is {value!r}, which means nothing for a folder of Parquet files; leave it out.")
