"""Your own data: from a file, a NumPy array or a pandas object."""

from __future__ import annotations

import csv
import lzma
import os
import sys
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from .._columns import Column, ColumnError, column_positions
from .._extras import needed
from . import _text
from ._dataset import Dataset
from ._prepare import Missing, prepare

MAX_CATEGORIES = 100  #: of a column of words, with one_hot


class Options(TypedDict, total=False):
    """What `from_file` and `from_array` have in common; `from_array` describes each."""

    columns: Sequence[Column] | None
    without: Sequence[Column]
    missing: Missing
    missing_codes: Sequence[float | str]
    one_hot: bool
    standardise: bool
    ddof: int
    name: str
    citation: str
    licence: str


def from_array(data: Any, **options: Unpack[Options]) -> Dataset:
    """A data set of a NumPy array or a pandas object.

    Parameters
    ----------
    data
        An array, DataFrame or Series with a row per point.
    columns, without
        The columns to use, in this order, and those to leave out, by name or by number from 0. All must hold numbers.
    missing
        Rows with missing values: ``"drop"`` leaves them out (default), ``"keep"`` keeps them with the mean of the
        column in place of the value, ``"refuse"`` raises an error. ``removed`` reports how many there were.
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
    _check_options(options)
    what = f"The data set {options['name']!r}" if "name" in options else "data"
    pandas = sys.modules.get("pandas")  # a pandas object exists only if pandas was imported
    if pandas is not None and isinstance(data, (pandas.DataFrame, pandas.Series)):
        frame = data.to_frame() if data.ndim == 1 else data
        values, columns = _frame_values(frame, options, what, lambda row: f"row {row}")
        return _dataset(values, columns, options, what, "a pandas object", "your data")
    if not isinstance(data, np.ndarray):
        raise TypeError(f"data is a {type(data).__name__}; it must be a NumPy array or a pandas object.")
    return _dataset(*_array_values(data, options, what), options, what, "a NumPy array", "your data")


def from_file(
    path: str | os.PathLike[str],
    *,
    separator: str | None = None,
    header: bool | None = None,
    array: str | None = None,
    **options: Unpack[Options],
) -> Dataset:
    """A data set of a file: CSV (also compressed), Parquet, NPY or NPZ.

    Text and Parquet need pandas. Nothing in the file is executed: arrays of Python objects are refused.

    Parameters
    ----------
    path
        The suffix decides how it is read: .csv, .tsv, .txt, .data, .dat (each perhaps with .gz, .bz2 or .xz),
        .parquet, .npy, .npz.
    separator
        One character between the fields of a text file; a blank stands for any run of blanks. By default the one of
        comma, semicolon, tab, bar and blank that splits every line into the same number of fields, most of them
        numbers. Unless it is the comma, numbers may have a decimal comma.
    header
        Whether the first line of a text file names the columns. By default it does if it holds no number.
    array
        Which array of an .npz file, if it holds several.
    **options
        As for `from_array`: columns, without, missing, missing_codes, one_hot, standardise, ddof, name, citation,
        licence.

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
    _check_options(options)
    place = Path(path).expanduser()
    suffixes = [suffix.lower() for suffix in place.suffixes]
    packed = bool(suffixes) and suffixes[-1] in _text.PACKED
    kind = "".join(suffixes[-2:-1] if packed else suffixes[-1:])
    allowed = (*_text.SUFFIXES, *(() if packed else (".parquet", ".pq", ".npy", ".npz")))
    if kind not in allowed:
        raise ValueError(f"path is {place.name!r}; it must end in one of {', '.join(allowed)}.")
    if not place.is_file():
        raise FileNotFoundError(f"path names {str(place)!r}, which is not a file.")
    text = kind in _text.SUFFIXES
    given = (("separator", separator, text), ("header", header, text), ("array", array, kind == ".npz"))
    for name, value, used in given:
        if value is not None and not used:
            raise ValueError(f"{name} is {value!r}, which means nothing for a {kind} file; leave it out.")
    what, separator = str(place), _text.as_separator(separator)
    try:
        if kind in (".npy", ".npz"):
            values, columns = _array_values(_read_array(place, array), options, what)
        elif text:
            words = [code for code in options.get("missing_codes", ()) if isinstance(code, str)]
            frame, lines = _text.read(place, _text.SUFFIXES[kind], separator, header, words)
            values, columns = _frame_values(frame, options, what, lambda row: f"line {lines[row]}")
        else:
            needed("pyarrow")
            frame = needed("pandas").read_parquet(place)
            values, columns = _frame_values(frame, options, what, lambda row: f"row {row}")
    except ColumnError:
        raise
    except UNREADABLE as error:
        raise ValueError(f"{place} cannot be read as {kind} data: {_first_line(error)}.") from error
    return _dataset(values, columns, options, what, place.name, place.name)


#: What pandas, numpy and the standard library raise for a file that is damaged or of another kind.
UNREADABLE = (ValueError, OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, csv.Error)


def _check_options(options: Options) -> None:
    known = tuple(Options.__annotations__)
    for name in options:
        if name not in known:
            raise TypeError(f"{name!r} is no option{check.did_you_mean(name, known)}; there are {', '.join(known)}.")
    check.choice("missing", options.get("missing", "drop"), get_args(Missing))


def _dataset(
    values: NDArray[Any], columns: tuple[str, ...], options: Options, what: str, source: str, default_name: str
) -> Dataset:
    """Values with the missing codes replaced, rows left out and columns standardised."""
    codes = [float(code) for code in options.get("missing_codes", ()) if not isinstance(code, str)]
    if codes:
        values = np.where(np.isin(values, codes), np.nan, values)
    return prepare(
        values, columns, name=options.get("name", default_name), source=source,
        citation=options.get("citation", "your own data"), licence=options.get("licence", "not stated"),
        standardise=options.get("standardise", True), ddof=options.get("ddof", 0),
        missing=options.get("missing", "drop"), what=what,
    )  # fmt: skip


def _array_values(data: NDArray[Any], options: Options, what: str) -> tuple[NDArray[Any], tuple[str, ...]]:
    """A copy of the chosen columns of an array as float64."""
    if isinstance(data, np.ma.MaskedArray):
        data = np.ma.filled(data.astype(np.float64), np.nan)
    if data.ndim != 2:
        raise ColumnError(f"{what} has the shape {data.shape}; it must have a row per point, two dimensions in all.")
    if data.dtype.kind not in "biuf":
        raise ColumnError(f"{what} has the type {data.dtype}; it must hold real numbers.")
    names = tuple(f"x{j}" for j in range(data.shape[1]))
    chosen = _chosen(names, options)
    return np.array(data[:, chosen], dtype=np.float64, order="C"), tuple(names[j] for j in chosen)


def _frame_values(
    frame: Any, options: Options, what: str, where: Callable[[int], str]
) -> tuple[NDArray[Any], tuple[str, ...]]:
    """The chosen columns of a pandas table; ``where`` says where in the source a row is."""
    names = tuple(str(label) for label in frame.columns)
    texts = [code for code in options.get("missing_codes", ()) if isinstance(code, str)]
    parts: list[NDArray[Any]] = []
    labels: list[str] = []
    refused = []
    for position in _chosen(names, options):
        column, name = frame.iloc[:, position], names[position]
        if texts and column.dtype.kind not in "biufc":
            column = column.mask(column.isin(texts)).infer_objects()
        kind = getattr(column.dtype, "kind", "O")  # extension types of numbers have one, too
        if kind in "biuf":
            parts.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
            labels.append(name)
        elif options.get("one_hot") and kind not in "cmM":
            words = sorted(column.dropna().unique(), key=str)
            if len(words) > MAX_CATEGORIES:
                raise ColumnError(
                    f"{what} has {len(words):,} different words in {name!r}; one_hot takes at most {MAX_CATEGORIES}: "
                    "leave the column out with without=."
                )
            for word in words:
                parts.append(np.where(column.isna(), np.nan, (column == word).fillna(False).to_numpy(dtype=bool)))
                labels.append(f"{name}={word}")
        else:
            refused.append(f"{name!r} ({_example(column, where)})")
    if refused:
        raise ColumnError(
            f"{what} has columns that do not hold numbers: {', '.join(refused)}; leave them out with without=, or have "
            "words turned into numbers with one_hot=True."
        )
    return np.column_stack(parts), tuple(labels)


def _example(column: Any, where: Callable[[int], str]) -> str:
    """The first value of a column that is not a number, and where it is."""
    for row, value in enumerate(column):
        if isinstance(value, str) and not _text.is_number(value):
            return f"{check.quoted(value)} in {where(row)}"
    present = column.dropna()
    example = f"for example {check.quoted(present.iloc[0])}" if len(present) else "no value"
    return f"{column.dtype}, {example}"


def _chosen(names: tuple[str, ...], options: Options) -> list[int]:
    """The positions of the chosen columns, at least one."""
    chosen = column_positions(names, options.get("columns"), options.get("without", ()))
    if not chosen:
        raise ColumnError("There is no column left; columns and without must leave at least one.")
    return chosen


def _read_array(path: Path, array: str | None) -> NDArray[Any]:
    """The array of an .npy or .npz file."""
    values: Any = np.load(path, allow_pickle=False)
    if path.suffix.lower() == ".npz":
        with values as archive:
            if array is None and len(archive.files) == 1:
                array = archive.files[0]
            if array not in archive.files:
                raise ValueError(f"array is {array!r}; it must name one of its arrays ({', '.join(archive.files)})")
            values = archive[array]
    if not isinstance(values, np.ndarray):
        raise ValueError(f"{array} is no array")
    return values


def _first_line(error: Exception) -> str:
    """numpy's or pandas' message without its advice to allow pickled objects."""
    reason = str(error).strip().partition("\n")[0].rstrip(".")
    pickled = "pickle" in reason or "Python objects" in reason
    return "it holds Python objects, which are never loaded, or is damaged" if pickled else reason
