"""Data that need not fit into memory: files, arrays, and passes over them, here or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from .._columns import Column, column_positions, named
from .source import Choose, Indices, Source

__all__ = ["Source", "open_data"]

_ROUNDING = 1e-14  # a standard deviation below this fraction of the mean is that of a constant
#: Rows without missing values in a block, their mean, squared deviations from it, and the rows with missing values.
_Part = tuple[int, NDArray[np.float64], NDArray[np.float64], Indices]


def open_data(
    data: Any,
    *,
    columns: Sequence[Column] | None = None,
    without: Sequence[Column] = (),
    standardise: bool = False,
    missing: str = "refuse",
    progress: Callable[[int], object] | None = None,
    cluster: Any = None,
) -> Source:
    """Data that are read as they are needed, for :func:`find_landmarks` and :func:`nystrom_errors`.

    Only shape and types are read here, unless ``standardise`` or ``missing`` ask for a pass over the data. A value that
    is not finite raises an error that names its row when that row is read; ``.check()`` reads all rows to find it now.

    Parameters
    ----------
    data
        The path of an ``.npy`` file, of a Parquet file or of a folder of them (which needs pyarrow); or anything with
        ``shape``, ``dtype`` and slices: an array, a memory map, a Dask array, a data set of h5py, an array of Zarr.
        float32 is kept; everything else is converted to float64.
    columns, without
        The columns to use, in this order, and those to leave out, by name or by number from 0.
    standardise
        Whether to rescale each column to zero mean and unit variance, which takes a pass over the data, once.
    missing
        ``"refuse"``, or ``"drop"``: leave out rows with NaN, which are found in one pass over the data.
    progress
        Called with the number of rows read so far in that pass.
    cluster
        A ``distributed.Client``: passes over all the data are then computed by the workers of its Dask cluster, with
        bit-for-bit identical results. Workers read files under the same path; arrays are sent to them.

    Returns
    -------
    Source
        With ``.rows(indices)``, ``.blocks()``, ``len()``, ``.d``, ``.columns``, ``.mean`` and ``.scale``.

    Examples
    --------
    >>> import numpy as np, nystrom_lib as nl
    >>> data = nl.open_data(np.array([[0.0, 1.0], [2.0, 5.0]]), standardise=True)
    >>> data
    Source('data', 2 points in 2 dimensions, float64)
    >>> data.rows([1]), data.mean, data.in_original_units([[0.0, 0.5]])
    (array([[1., 1.]]), array([1., 3.]), array([[1., 4.]]))
    """
    standardise = check.flag("standardise", standardise)
    check.choice("missing", missing, ("refuse", "drop"))
    check.callback("progress", progress)
    if cluster is not None and not all(hasattr(cluster, name) for name in ("map", "submit", "nthreads")):
        raise TypeError(f"cluster is {check.quoted(cluster)}; it must be a distributed.Client.")
    if isinstance(data, Source):
        if columns is not None or len(without) or standardise or missing == "drop":
            raise ValueError("data is open already; give columns, without, standardise and missing where it is opened.")
        return data if cluster is None else data.on(cluster)

    def choose(names: Sequence[str]) -> list[int]:
        positions = column_positions(tuple(names), columns, without)
        if not positions:
            raise ValueError("data has no column left; columns and without must leave at least one.")
        return positions

    source = _open(data, choose)
    if cluster is not None:
        source = source.on(cluster)
    if standardise or missing == "drop":
        _prepare(source, standardise, missing == "drop", progress)
    return source


def _open(data: Any, choose: Choose) -> Source:
    if isinstance(data, str) or hasattr(data, "__fspath__"):
        from .files import open_file

        return open_file(data, choose)
    try:
        array = data if all(hasattr(data, name) for name in ("shape", "dtype", "chunks")) else None
    except Exception as error:  # h5py raises for a closed file
        raise ValueError(f"data cannot be read ({type(error).__name__}: {error}).") from error
    array = check.as_array("data", data) if array is None else array
    if any(size != size for size in array.shape):
        raise ValueError("data has an unknown number of rows; call its compute_chunk_sizes() first.")
    return Source(array, "data", choose)


def _prepare(source: Source, standardise: bool, drop: bool, progress: Callable[[int], object] | None) -> None:
    """Read everything once: moments, block by block (Chan, Golub and LeVeque), and rows with missing values."""
    count, mean, squares = 0, np.zeros(source.d), np.zeros(source.d)
    dropped: list[Indices] = []
    for (_, stop), (rows, part_mean, part_squares, absent) in zip(
        source.spans(), source.each(partial(_moments, drop)), strict=True
    ):
        dropped.append(absent)
        if rows:
            total = count + rows
            with np.errstate(over="ignore", invalid="ignore"):
                apart = part_mean - mean
                squares += part_squares + apart * apart * (count * rows / total)
                mean += apart * (rows / total)
            count = total
        if progress is not None:
            progress(stop)
    if count < 2:
        raise ValueError(f"{source.name} has {count} rows without missing values; at least 2 are needed.")
    if standardise:
        scale = np.sqrt(squares / count)
        for wrong, problem in (
            (~np.isfinite(scale), "has values too large to be squared in {}; rescale first."),
            (scale <= _ROUNDING * np.abs(mean), "is constant in {}; leave out constant columns."),
        ):
            if wrong.any():
                raise ValueError(f"{source.name} {problem.format(named(source.columns, wrong))}")
        source.standardise(mean, scale)
    source.drop(np.concatenate(dropped))
    source.checked = True


def _moments(drop: bool, source: Source, start: int, stop: int) -> _Part:
    block = np.ascontiguousarray(source.stored(start, stop), dtype=source.dtype)
    absent = np.isnan(block).any(axis=1) if drop else np.zeros(len(block), bool)
    number = np.arange(start, stop)
    rows = block[~absent].astype(np.float64)
    if len(rows) == 0:
        return 0, np.zeros(source.d), np.zeros(source.d), number[absent]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.einsum("ij->j", rows) / len(rows)  # BLAS rounds differently on other numbers of threads
        if not np.isfinite(mean).all():
            check.bounded(source.name, block[~absent], lambda k: int(number[~absent][k]))
        rows -= mean
        return len(rows), mean, np.einsum("ij,ij->j", rows, rows), number[absent]
