"""Your own data: from a file, a NumPy array or a pandas object."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import _validation as check
from .._columns import Column, column_positions
from .._extras import needed
from . import _text
from ._dataset import Dataset, FloatArray, prepare

MAX_CATEGORIES = 100  #: of a column of words, with one_hot


def from_array(
    data: Any,
    *,
    columns: Sequence[Column] | None = None,
    without: Sequence[Column] = (),
    missing: str = "drop",
    missing_codes: Sequence[float | str] = (),
    one_hot: bool = False,
    standardise: bool = True,
    ddof: int = 0,
    name: str = "your data",
    citation: str = "your own data",
    licence: str = "not stated",
) -> Dataset:
    """A data set of a NumPy array or a pandas object.

    Parameters
    ----------
    data
        An array, DataFrame or Series with a row per point.
    columns, without
        The columns to use, in this order, and those to leave out, by name or by number from 0. All must hold numbers.
    missing
        Rows with missing values: ``"drop"`` leaves them out, and ``removed`` reports how many there were; ``"refuse"``
        raises an error.
    missing_codes
        Values that stand for a missing value, for example -999 or "?".
    one_hot
        Whether to replace columns of words: a column of 0 and 1 for every word, named ``column=word``.
    standardise, ddof
        As for :func:`abalone`.
    name, citation, licence
        How to present the data.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import numpy as np
    >>> from nystrom_lib.datasets import from_array
    >>> data = from_array(np.array([[0.0, 1.0], [2.0, np.nan], [4.0, 5.0]]))
    >>> data.X.tolist(), data.removed
    ([[-1.0, -1.0], [1.0, 1.0]], (('rows with missing values', 1),))
    """
    check.choice("missing", missing, ("drop", "refuse"))
    missing_codes = check.sequence("missing_codes", missing_codes)
    pandas = sys.modules.get("pandas")  # a pandas object exists only if pandas was imported
    if pandas is not None and isinstance(data, (pandas.DataFrame, pandas.Series)):
        frame, source = data.to_frame() if data.ndim == 1 else data, "a pandas object"
        names = [str(label) for label in frame.columns]
        chosen = column_positions(names, columns, without)
        frame = frame.iloc[:, chosen].set_axis([names[j] for j in chosen], axis=1)
        X, labels = _numbers(frame, missing_codes, one_hot, name)
    elif isinstance(data, np.ndarray):
        if data.ndim != 2:
            raise ValueError(f"{name} has the shape {data.shape}; it must have a row per point, two dimensions in all.")
        if data.dtype.kind not in "biuf":
            raise ValueError(f"{name} has the type {data.dtype}; it must hold real numbers.")
        names, source = [f"x{j}" for j in range(data.shape[1])], "a NumPy array"
        chosen = column_positions(names, columns, without)
        X, labels = np.ma.filled(data.astype(np.float64), np.nan)[:, chosen], [names[j] for j in chosen]
        X[np.isin(X, [code for code in missing_codes if not isinstance(code, str)])] = np.nan
    else:
        raise TypeError(f"data is a {type(data).__name__}; it must be a NumPy array or a pandas object.")
    return prepare(
        np.ascontiguousarray(X), columns=tuple(labels), name=name, source=source, standardise=standardise, ddof=ddof,
        missing=missing, citation=citation, licence=licence,
    )  # fmt: skip


def from_file(
    path: str | os.PathLike[str], *, separator: str | None = None, header: bool | None = None, **options: Any
) -> Dataset:
    """A data set of a file: CSV (also compressed), Parquet or NPY.

    Text and Parquet need pandas. Nothing in the file is executed: arrays of Python objects are refused.

    Parameters
    ----------
    path
        The suffix decides how it is read: .csv, .tsv, .txt, .data, .dat (each perhaps with .gz, .bz2 or .xz),
        .parquet, .npy.
    separator
        One character between the fields of a text file; a blank stands for any run of blanks. By default the one of
        comma, semicolon, tab, bar and blank that splits every line into the same number of fields, most of them
        numbers. Unless it is the comma, numbers may have a decimal comma.
    header
        Whether the first line of a text file names the columns. By default it does if it holds no number.
    **options
        As for `from_array`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from nystrom_lib.datasets import from_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "points.npy")
    ...     np.save(path, np.array([[0.0, 1.0], [2.0, 5.0]]))
    ...     from_file(path).X.tolist()
    [[-1.0, -1.0], [1.0, 1.0]]
    """
    place = Path(os.path.expanduser(path))
    packed = place.suffix.lower() in _text.PACKED
    kind = Path(place.stem if packed else place.name).suffix.lower()
    allowed = (*_text.SUFFIXES, *(() if packed else (".parquet", ".pq", ".npy")))
    if kind not in allowed:
        raise ValueError(f"path is {place.name!r}; it must end in one of {', '.join(allowed)}.")
    if not place.is_file():
        raise FileNotFoundError(f"path names {str(place)!r}, which is not a file.")
    if kind not in _text.SUFFIXES and (separator, header) != (None, None):
        raise ValueError(f"separator and header mean nothing for a {kind} file; leave them out.")
    codes = check.sequence("missing_codes", options.get("missing_codes", ()))
    try:
        if kind == ".npy":
            table: Any = np.load(place, allow_pickle=False)
        elif kind in _text.SUFFIXES:
            table = _text.read(place, separator, header, [code for code in codes if isinstance(code, str)])
        else:
            needed("pyarrow")
            table = needed("pandas").read_parquet(place)
    except ImportError:
        raise
    except Exception as error:  # damaged bytes fail in any way
        # numpy recommends to load pickled objects
        reason = "it is damaged, or holds no numbers" if kind == ".npy" else str(error).strip().partition("\n")[0]
        raise ValueError(f"{place} cannot be read as {kind} data: {reason.rstrip('.')}.") from error
    data = from_array(table, **{"name": place.name, **options})
    return replace(data, source=f"{place.name};{data.source.partition(';')[2]}")


def _numbers(frame: Any, codes: Sequence[float | str], one_hot: bool, name: str) -> tuple[FloatArray, list[str]]:
    """The values of a pandas table, and the names of their columns."""
    parts: list[FloatArray] = []
    labels: list[str] = []
    refused = []
    for label, column in frame.items():
        column = column.mask(column.isin(list(codes))).infer_objects()
        if column.dtype.kind in "biuf":
            parts.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
            labels.append(label)
        elif one_hot and column.dtype.kind not in "cmM":
            if (words := column.nunique()) > MAX_CATEGORIES:
                raise ValueError(
                    f"{name} has {words:,} different words in {label!r}; one_hot takes at most {MAX_CATEGORIES}: "
                    "leave the column out with without=."
                )
            table = needed("pandas").get_dummies(column.astype(object), prefix=label, prefix_sep="=", dtype=float)
            parts.append(np.where(column.isna().to_numpy()[:, None], np.nan, table))
            labels.extend(table.columns)
        else:
            wrong = (value for value in column.dropna() if not (isinstance(value, str) and _text.is_number(value)))
            refused.append(f"{label!r} (for example {check.quoted(next(wrong, None))})")
    if refused:
        raise ValueError(
            f"{name} has columns that do not hold numbers: {', '.join(refused)}; leave them out with without=, or have "
            "words turned into numbers with one_hot=True."
        )
    return np.column_stack(parts), labels
