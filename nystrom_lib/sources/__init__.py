"""Data that need not fit into memory: files, arrays, and passes over them, here or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from .._columns import Column, column_positions, refuse_columns
from .source import Choose, Indices, Source

__all__ = ["Source", "open_data"]

_ROUNDING = 1e-14  # a standard deviation below this fraction of the mean is that of a constant


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
    check.instance("standardise", standardise, bool | np.bool_, "True or False")
    check.choice("missing", missing, ("refuse", "drop"))
    check.instance("progress", progress, Callable | None, "a function of one argument, or None")
    if cluster is not None and not all(hasattr(cluster, name) for name in ("map", "submit", "nthreads")):
        raise TypeError(f"cluster is {check.quoted(cluster)}; it must be a distributed.Client.")
    if isinstance(data, Source):
        if columns is not None or len(without) or standardise or missing == "drop":
            raise ValueError("data is open already; give columns, without, standardise and missing where it is opened.")
        return data if cluster is None else data.on(cluster)
    choose = partial(column_positions, columns=columns, without=without)
    if isinstance(data, str) or hasattr(data, "__fspath__"):
        from .files import open_file

        source = open_file(data, choose).on(cluster)
    else:
        source = _open_array(data, choose).on(cluster)
    if standardise or missing == "drop":
        _prepare(source, standardise, missing == "drop", progress)
    return source


def _open_array(data: Any, choose: Choose) -> Source:
    try:
        sliced = all(hasattr(data, name) for name in ("shape", "dtype", "chunks"))
    except Exception as error:  # h5py raises for a closed file
        raise ValueError(f"data cannot be read ({type(error).__name__}: {error}).") from error
    array = data if sliced else check.as_array("data", data)
    if any(size != size for size in array.shape):
        raise ValueError("data has an unknown number of rows; call its compute_chunk_sizes() first.")
    return Source(array, "data", choose)


@np.errstate(over="ignore", invalid="ignore")
def _prepare(source: Source, standardise: bool, drop: bool, progress: Callable[[int], object] | None) -> None:
    """Read everything once: moments, block by block (Chan, Golub and LeVeque), and rows with missing values."""
    count, mean, squares = 0, np.zeros(source.d), np.zeros(source.d)
    dropped: list[Indices] = []
    for rows, part_mean, part_squares, absent in source.each(partial(_moments, drop)):
        total = max(count + rows, 1)
        apart = part_mean - mean
        squares += part_squares + apart * apart * (count * rows / total)
        mean += apart * (rows / total)
        count += rows
        dropped.append(absent)
        if progress is not None:
            progress(count + sum(map(len, dropped)))
    if count < 2:
        raise ValueError(f"{source.name} has {count} rows without missing values; at least 2 are needed.")
    if standardise:
        scale, too_large = np.sqrt(squares / count), "has values too large to be squared in {}; rescale first."
        refuse_columns(source.name, source.columns, ~np.isfinite(scale), too_large)
        constant = scale <= _ROUNDING * np.abs(mean)
        refuse_columns(source.name, source.columns, constant, "is constant in {}; leave out constant columns.")
        source.mean, source.scale, source.dtype = mean, scale, np.dtype(np.float64)
    source.dropped, source.shape = np.concatenate(dropped), (count, source.d)
    source.checked = True


@np.errstate(over="ignore", invalid="ignore")
def _moments(
    drop: bool, source: Source, start: int, stop: int
) -> tuple[int, NDArray[np.float64], NDArray[np.float64], Indices]:
    """Of a block: how many rows have no missing values, their mean, the squared deviations from it, the other rows."""
    number = np.arange(start, stop)
    block = np.ascontiguousarray(source.stored(number), dtype=source.dtype)
    absent = np.isnan(block).any(axis=1) if drop else np.zeros(len(block), bool)
    rows = block[~absent].astype(np.float64)
    mean = np.einsum("ij->j", rows) / max(len(rows), 1)  # BLAS rounds differently on other numbers of threads
    if not np.isfinite(mean).all():
        check.bounded(source.name, block[~absent], number[~absent].item)
    rows -= mean
    return len(rows), mean, np.einsum("ij,ij->j", rows, rows), number[absent]
