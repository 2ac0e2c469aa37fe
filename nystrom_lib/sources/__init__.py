"""Where data come from that need not fit into memory, one file for each kind. The contract is in :mod:`.base`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import _validation as check
from .._columns import Column, column_positions
from .arrays import ArraySource, SlicedSource, said
from .base import Progress, Source
from .npy import open_npy
from .parquet import ENDINGS, open_parquet
from .prepared import Prepared, prepare
from .spread import SpreadSource

__all__ = ["Source", "open_data"]


def open_data(
    data: Any,
    *,
    columns: Sequence[Column] | None = None,
    without: Sequence[Column] = (),
    standardise: bool = False,
    missing: str = "refuse",
    progress: Progress | None = None,
    cluster: Any = None,
) -> Source:
    """Data that are read as they are needed, for :func:`find_landmarks` and :func:`nystrom_errors`.

    Nothing but shape and types is looked at here, unless ``standardise`` or ``missing`` ask for it. A value that is not
    finite is found when its row is read, and named; ``.check()`` reads all rows to find it now.

    Parameters
    ----------
    data
        The path of an ``.npy`` file, of a Parquet file or of a folder of them (which needs pyarrow); an array, perhaps
        a memory map; a Dask array, a data set of h5py or an array of Zarr. Where the data are float32 they stay so.
    columns, without
        The columns to use, in this order, and those to leave out, by name or by number from 0.
    standardise
        Whether to rescale each column to zero mean and unit variance, which takes a pass over the data, once.
    missing
        ``"refuse"``, or ``"drop"``: leave out rows with NaN, which are looked for in one pass over the data.
    progress
        Called with the number of rows read so far in that pass.

    cluster
        A ``distributed.Client``: then passes over all the data, this one and that of :func:`nystrom_errors`, are made
        by the workers of its Dask cluster, with the same result to the last bit. They read the file themselves, and
        must have it under the same path; an array is sent to them.

    Returns
    -------
    Source
        With ``.rows(indices)``, ``.blocks()``, ``len()``, ``.d``, ``.columns``, ``.mean`` and ``.scale``.

    Examples
    --------
    >>> import numpy as np, nystrom_lib as nl
    >>> data = nl.open_data(np.array([[0.0, 1.0], [2.0, 5.0]]), standardise=True)
    >>> data
    Prepared('data', 2 points in 2 dimensions, float64)
    >>> data.rows([1]), data.mean, data.in_original_units([[0.0, 0.5]])
    (array([[1., 1.]]), array([1., 3.]), array([[1., 4.]]))
    """
    standardise = check.flag("standardise", standardise)
    check.choice("missing", missing, ("refuse", "drop"))
    check.callback("progress", progress)
    if cluster is not None and not all(hasattr(cluster, name) for name in ("submit", "scatter", "nthreads")):
        raise TypeError(f"cluster is {check.quoted(cluster)}; it must be a distributed.Client.")

    source, drop = _opened(data, columns, without), missing == "drop"
    if cluster is None:
        return prepare(source, standardise, drop, progress)
    over = SpreadSource(source, cluster)
    return SpreadSource(prepare(source, standardise, drop, progress, over), cluster)


def _opened(data: Any, columns: Sequence[Column] | None, without: Sequence[Column]) -> Source:
    """The source of the columns asked for; of Parquet nothing else is read."""

    def chosen(names: tuple[str, ...]) -> list[int]:
        used = column_positions(names, columns, without)
        if not used:
            raise ValueError("data has no column left; columns and without must leave at least one.")
        return used

    if isinstance(data, str | os.PathLike):
        try:
            path = Path(data).expanduser()
        except RuntimeError:
            raise FileNotFoundError(f"data is {str(data)!r}; there is no such home directory.") from None
        if not path.exists():
            raise FileNotFoundError(f"data names {str(path)!r}, which does not exist.")
        if not (path.is_file() or path.is_dir()):
            raise ValueError(f"data names {str(path)!r}; it must be a regular file or a folder.")
        if path.is_dir() or path.suffix.lower() in ENDINGS:
            return open_parquet(path, chosen)
        if path.suffix.lower() != ".npy":
            raise ValueError(f"data is {path.name!r}; it must be an .npy file, a Parquet file or a folder of those.")
        source = open_npy(path)
    elif isinstance(data, Source):
        source = data
    elif _is_sliced(data):
        source = SlicedSource(data)
    else:
        source = ArraySource(check.as_array("data", data))
    used = chosen(source.columns)
    return source if used == list(range(source.d)) else Prepared(source, used)


def _is_sliced(data: Any) -> bool:
    """Whether it is an array of Dask, HDF5 or Zarr; of a file that was closed HDF5 knows nothing any more."""
    try:
        return all(hasattr(data, name) for name in ("shape", "dtype", "chunks", "__getitem__"))
    except Exception as error:
        raise ValueError(f"data cannot be read ({said(error)}).") from error
