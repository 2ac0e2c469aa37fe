"""Your own data: from a file, a NumPy array or a pandas object."""

from __future__ import annotations

import csv
import functools
import hashlib
import json
import lzma
import os
import sys
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from .. import _validation as check
from .._extras import needed
from . import _text
from ._cache import cached
from ._dataset import Dataset, FloatArray, frozen, row_blocks, sha256_of
from ._prepare import Missing, Prepared, Rows, check_ddof, prepare, scaling

Column: TypeAlias = str | int

CITATION = "your own data"
LICENCE = "not stated"
MOST_CATEGORIES = 100  #: of a column that one_hot takes apart


class Options(TypedDict, total=False):
    """What `from_file` and `from_array` have in common; `from_array` describes each."""

    columns: Sequence[Column] | None
    without: Sequence[Column]
    missing: Missing
    missing_codes: Sequence[float | str]
    one_hot: bool
    standardise: bool
    ddof: int
    memory_map: bool
    name: str
    citation: str
    licence: str


@dataclass(frozen=True)
class _Table:
    """Named columns, of which ``values`` has those that hold numbers."""

    values: NDArray[Any]
    names: tuple[str, ...]
    #: For each name None, or what is in the column instead of numbers.
    unusable: tuple[str | None, ...]


@dataclass(frozen=True)
class _Recipe:
    """Everything besides the source that decides the values of the result."""

    chosen: tuple[int, ...]
    missing: Missing
    codes: tuple[float, ...]
    standardise: bool
    ddof: int


def _check_options(options: Options) -> None:
    known = tuple(Options.__annotations__)
    for name in options:
        if name not in known:
            raise TypeError(f"{name!r} is no option{check.did_you_mean(name, known)}; there are {', '.join(known)}.")
    check.choice("missing", options.get("missing", "drop"), get_args(Missing))
    check_ddof(options.get("ddof", 0))


def _array_table(data: NDArray[Any], what: str) -> _Table:
    if isinstance(data, np.ma.MaskedArray):
        data = np.ma.filled(data.astype(np.float64), np.nan)
    if data.ndim != 2:
        raise ValueError(
            f"{what} has the shape {data.shape}; it must have a row per point, two dimensions in all."
        )
    if data.dtype.kind not in "biuf":
        raise ValueError(f"{what} has the type {data.dtype}; it must hold real numbers.")
    names = tuple(f"x{j}" for j in range(data.shape[1]))
    return _Table(data, names, (None,) * len(names))


def _frame_table(frame: Any, codes: Sequence[float | str], where: Callable[[int], str]) -> _Table:
    """Turn a pandas DataFrame into a matrix; columns that are not numbers are set aside, not guessed at.

    ``where`` says in which place of the source a row is.
    """
    usable: list[FloatArray] = []
    unusable: list[str | None] = []
    for j in range(frame.shape[1]):
        column = frame.iloc[:, j]
        texts = [code for code in codes if isinstance(code, str)]
        if texts and column.dtype.kind not in "biufc":
            column = column.mask(column.isin(texts)).infer_objects()
        # Extension types of pandas have a kind, too; text, categories, dates and complex numbers another one.
        if getattr(column.dtype, "kind", "O") in "biuf":
            usable.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
            unusable.append(None)
        else:
            unusable.append(_example(column, where))
    values = np.column_stack(usable) if usable else np.empty((len(frame), 0))
    return _Table(values, tuple(str(label) for label in frame.columns), tuple(unusable))


def _example(column: Any, where: Callable[[int], str]) -> str:
    """The first value of a column that is not a number, and where it is."""
    for row, value in enumerate(column):
        if isinstance(value, str) and not _text.is_number(value):
            return f"{check.shown(value)} in {where(row)}"
    present = column.dropna()
    example = f"for example {check.shown(present.iloc[0])}" if len(present) else "no value"
    return f"{column.dtype}, {example}"


def _taken_apart(frame: Any, options: Options, what: str) -> tuple[Any, Options]:
    """The chosen columns, each of words as a column of 0 and 1 for every word; what is missing stays missing."""
    import pandas

    names = tuple(str(label) for label in frame.columns)
    texts = [code for code in options.get("missing_codes", ()) if isinstance(code, str)]
    parts = []
    for position in column_positions(names, options.get("columns"), options.get("without", ())):
        column = frame.iloc[:, position]
        if getattr(column.dtype, "kind", "O") in "biufcmM":
            parts.append(column)
            continue
        column = column.mask(column.isin(texts)) if texts else column
        words = sorted(column.dropna().unique(), key=str)
        if len(words) > MOST_CATEGORIES:
            raise ValueError(
                f"{what} has {len(words):,} different words in {names[position]!r}; one_hot takes at most "
                f"{MOST_CATEGORIES}: leave the column out with without=."
            )
        hot = pandas.DataFrame({f"{names[position]}={word}": (column == word).astype(float) for word in words})
        parts.append(hot.mask(column.isna()))
    rest: Any = {name: value for name, value in options.items() if name not in ("columns", "without")}
    return pandas.concat(parts, axis=1), rest


def _position(column: Column, names: tuple[str, ...], argument: str) -> int:
    """Which column of the source is meant: a name comes first, then a number from 0."""
    wanted = str(column)
    if names.count(wanted) > 1:
        raise ValueError(
            f"{argument} names {column!r}, but several columns have that name; use their numbers from 0."
        )
    if wanted in names:
        return names.index(wanted)
    if isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < len(names):
        return int(column)
    hint = check.did_you_mean(wanted, names)
    shown = ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")
    raise ValueError(f"{argument} names {check.shown(column)}, which is no column{hint}; there are {shown}.")


def _is_list(value: Any) -> bool:
    try:
        iter(value)  # which an array of no dimension refuses
    except TypeError:
        return False
    return not isinstance(value, str | bytes)


def column_positions(
    names: tuple[str, ...], columns: Sequence[Column] | None, without: Sequence[Column]
) -> list[int]:
    """Which columns of the source are chosen, in the order asked for."""
    for argument, value in (("columns", columns), ("without", without)):
        if value is not None and not _is_list(value):
            raise ValueError(f"{argument} is {check.shown(value)}; it must be a list of names or numbers.")
    positions = (
        list(range(len(names))) if columns is None else [_position(column, names, "columns") for column in columns]
    )
    if len(set(positions)) < len(positions):
        raise ValueError(f"columns is {list(columns or ())!r}; it must name each column once.")
    left_out = {_position(column, names, "without") for column in without}
    return [position for position in positions if position not in left_out]


def _choose(
    table: _Table, columns: Sequence[Column] | None, without: Sequence[Column], what: str
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The chosen columns of the matrix and their names, in the order asked for."""
    positions = column_positions(table.names, columns, without)
    refused = [position for position in positions if table.unusable[position] is not None]
    if refused:
        listed = ", ".join(f"{table.names[position]!r} ({table.unusable[position]})" for position in refused)
        raise ValueError(
            f"{what} has columns that do not hold numbers: {listed}; leave them out with without=, or have words "
            "turned into numbers with one_hot=True."
        )
    if not positions:
        raise ValueError(f"{what} has no column left; columns and without must leave at least one.")
    # The columns without numbers are not part of the matrix, so those before a chosen one do not count.
    chosen = tuple(table.unusable[:position].count(None) for position in positions)
    return chosen, tuple(table.names[position] for position in positions)


def _fingerprint(values: NDArray[Any], recipe: _Recipe) -> str:
    """A name for the result: equal sources and equal recipes have equal ones."""
    digest = hashlib.sha256(json.dumps(asdict(recipe), sort_keys=True).encode())
    digest.update(f"{values.dtype.str}{values.shape}".encode())
    for rows in row_blocks(*values.shape):
        digest.update(np.ascontiguousarray(values[rows]).data)
    return digest.hexdigest()[:32]


def _is_mapped(values: NDArray[Any]) -> bool:
    base: Any = values
    while base is not None:
        if isinstance(base, np.memmap):
            return True
        base = getattr(base, "base", None)
    return False


def _matrix(
    values: NDArray[Any], names: tuple[str, ...], recipe: _Recipe, what: str, memory_map: bool
) -> Rows:
    @functools.cache
    def prepared() -> Prepared:
        return prepare(
            values,
            names,
            what=what,
            standardise=recipe.standardise,
            ddof=recipe.ddof,
            chosen=recipe.chosen,
            missing=recipe.missing,
            codes=recipe.codes,
        )

    if _is_mapped(values) and values.flags.c_contiguous and prepared().unchanged:
        return Rows(frozen(values.view()), sha256_of(values), prepared().removed)
    if memory_map:
        return cached(f"own-{_fingerprint(values, recipe)}", prepared, standardised=recipe.standardise)
    return prepared().collect()


def _build(table: _Table, what: str, origin: str, default_name: str, options: Options) -> Dataset:
    missing: Missing = options.get("missing", "drop")
    standardise, ddof = options.get("standardise", True), options.get("ddof", 0)
    chosen, names = _choose(table, options.get("columns"), options.get("without", ()), what)
    codes = tuple(float(code) for code in options.get("missing_codes", ()) if not isinstance(code, str))
    recipe = _Recipe(chosen, missing, codes, standardise, ddof)
    rows = _matrix(table.values, names, recipe, what, options.get("memory_map", False))
    return Dataset(
        **rows._asdict(),
        name=options.get("name", default_name),
        stand_in=False,
        citation=options.get("citation", CITATION),
        licence=options.get("licence", LICENCE),
        columns=names,
        source=f"{origin}; {scaling(standardise, ddof)}",
    )


def _is_pandas(data: object) -> bool:
    # Whoever has a pandas object has imported pandas; everybody else is spared the time.
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(data, (pandas.DataFrame, pandas.Series))


def from_array(data: Any, **options: Unpack[Options]) -> Dataset:
    """A data set of a NumPy array or a pandas object.

    Parameters
    ----------
    data : numpy.ndarray, pandas.DataFrame or pandas.Series
        A row per point. The array may be a memory map larger than memory: it is read block by block, and with
        ``standardise=False``, nothing missing and all columns it is used as it is.
    columns : list of str or int, optional
        The columns to use, in this order, by name or by number from 0; all by default. Columns that do not
        hold numbers are refused, unless they are not among the chosen.
    without : list of str or int
        Columns to leave out.
    missing : {"drop", "keep", "refuse"}
        What to do with rows in which a chosen column has no value: leave them out (default), keep them with
        the mean of the column in the place of the value, or fail. ``removed`` reports how many there were.
    missing_codes : list of float or str
        What else stands for a missing value, for example -999 or "?".
    one_hot : bool
        Whether to take columns of words apart: a column of 0 and 1 for every word, named ``column=word``.
    standardise : bool
        Whether to rescale each column to zero mean and unit variance.
    ddof : {0, 1}
        The variance has the divisor N − ddof.
    memory_map : bool
        Whether to write the result to the cache and map it, for data that do not fit into memory.
    name, citation, licence : str
        How to present the data.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If a column is constant, infinite or not of numbers, or if fewer than two rows are left.

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
    codes = options.get("missing_codes", ())
    if _is_pandas(data):
        frame = data.to_frame() if data.ndim == 1 else data
        if options.get("one_hot"):
            frame, options = _taken_apart(frame, options, what)
        table, origin = _frame_table(frame, codes, lambda row: f"row {row}"), "a pandas object"
    elif isinstance(data, np.ndarray):
        table, origin = _array_table(data, what), "a NumPy array"
    else:
        raise TypeError(f"data is a {type(data).__name__}; it must be a NumPy array or a pandas object.")
    return _build(table, what, origin, "your data", options)


#: An .npz file may hold this much, uncompressed, whatever its own size, or this many times its own size.
NPZ_BYTES, NPZ_RATIO = 2**30, 100


def _refuse_bomb(path: Path) -> None:
    """Go by what the archive declares: nothing is unpacked to find out."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    if any(member.flag_bits & 0x1 for member in members):
        raise ValueError("it is encrypted")
    if any(member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for member in members):
        raise ValueError("it is compressed in a way that numpy does not use")
    declared, there = sum(member.file_size for member in members), path.stat().st_size
    if declared > max(NPZ_BYTES, NPZ_RATIO * there):
        raise ValueError(f"it declares {declared:,} bytes in a file of {there:,}; save it as .npy if that is right")


def _read_npz(path: Path, array: str | None) -> NDArray[Any]:
    _refuse_bomb(path)
    with np.load(path, allow_pickle=False) as archive:
        if array is None and len(archive.files) == 1:
            array = archive.files[0]
        if array not in archive.files:
            raise ValueError(f"array is {array!r}; it must name one of its arrays ({', '.join(archive.files)})")
        values: Any = archive[array]
    if not isinstance(values, np.ndarray):
        raise ValueError(f"{array} is no array")
    return values


def _read_npy(path: Path) -> NDArray[Any]:
    with open(path, "rb") as file:
        if file.read(len(np.lib.format.MAGIC_PREFIX)) != np.lib.format.MAGIC_PREFIX:
            raise ValueError("it does not begin as such a file does")
    values: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return values


def _no_objects(error: Exception) -> str:
    """What numpy said, but for its advice to load objects all the same."""
    reason = str(error).strip().partition("\n")[0].rstrip(".")
    refused = "pickle" in reason or "Python objects" in reason
    return "it holds Python objects, which are never loaded" if refused else reason


@dataclass(frozen=True)
class _Asked:
    """How to read a file, as far as the caller says."""

    separator: str | None
    header: bool | None
    array: str | None

    def check(self, kind: str) -> None:
        """Refuse what would have no effect on a file of this kind."""
        text = kind in _text.SUFFIXES
        for name, asked, sense in (
            ("separator", self.separator, text),
            ("header", self.header, text),
            ("array", self.array, kind == ".npz"),
        ):
            if asked is not None and not sense:
                raise ValueError(f"{name} is {asked!r}, which means nothing for a {kind} file; leave it out.")


def _read(path: Path, kind: str, asked: _Asked, options: Options) -> tuple[_Table, Options]:
    if kind == ".npy":
        return _array_table(_read_npy(path), str(path)), options
    if kind == ".npz":
        return _array_table(_read_npz(path, asked.array), str(path)), options
    codes = options.get("missing_codes", ())

    def where(row: int) -> str:
        return f"row {row}" if written is None else f"line {_text.line_of(path, written, row)}"

    written = None
    if kind in (".parquet", ".pq"):
        needed("pyarrow")
        frame = needed("pandas").read_parquet(path)
    else:
        written = _text.form(path, _text.SUFFIXES[kind], asked.separator, asked.header)
        frame = _text.read(path, written, [code for code in codes if isinstance(code, str)])
        if len(frame) == 0:
            raise ValueError("it holds names of columns, but no row")
    if options.get("one_hot"):
        frame, options = _taken_apart(frame, options, str(path))
    return _frame_table(frame, codes, where), options


def from_file(
    path: str | os.PathLike[str],
    *,
    separator: str | None = None,
    header: bool | None = None,
    array: str | None = None,
    **options: Unpack[Options],
) -> Dataset:
    """A data set of a file: CSV (also compressed), Parquet, NPY or NPZ.

    Nothing in the file is executed: arrays of Python objects are refused.

    Parameters
    ----------
    path : path
        Its ending decides how it is read: .csv, .tsv, .txt, .data, .dat (each perhaps with .gz, .bz2 or .xz),
        .parquet, .npy, .npz. An .npy file is mapped, not loaded.
    separator : str, optional
        Between the fields of a text file, one character, where a blank stands for any run of blanks. By default that
        of comma, semicolon, tabulator, bar and blank which makes as many fields of every line, and numbers of most.
        Where it is not the comma, numbers may have a decimal comma.
    header : bool, optional
        Whether the first line of a text file names the columns. By default it does if it holds no number.
    array : str, optional
        Which array of an .npz file, if it holds several.
    **options
        As for `from_array`: columns, without, missing, missing_codes, one_hot, standardise, ddof, memory_map,
        name, citation, licence.

    Returns
    -------
    Dataset
    """
    _check_options(options)
    place = Path(path).expanduser()
    endings = [suffix.lower() for suffix in place.suffixes]
    packed = bool(endings) and endings[-1] in _text.PACKED
    kind = (endings[-2] if len(endings) > 1 else "") if packed else (endings[-1] if endings else "")
    allowed = (*_text.SUFFIXES, *(() if packed else (".parquet", ".pq", ".npy", ".npz")))
    if kind not in allowed:
        raise ValueError(f"path is {place.name!r}; it must end in one of {', '.join(allowed)}.")
    if not place.is_file():
        raise FileNotFoundError(f"path names {str(place)!r}, which is not a file.")
    asked = _Asked(_text.as_separator(separator), header, array)
    asked.check(kind)
    try:
        table, options = _read(place, kind, asked, options)
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, csv.Error) as error:
        raise ValueError(f"{place} cannot be read as {kind} data: {_no_objects(error)}.") from error
    return _build(table, str(place), place.name, place.name, options)
