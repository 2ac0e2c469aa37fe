"""Your own data: from a file, a NumPy array or a pandas object."""

from __future__ import annotations

import difflib
import functools
import hashlib
import json
import os
import sys
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from ._cache import cached
from ._dataset import Dataset, FloatArray, frozen, row_blocks, sha256_of
from ._prepare import Missing, Prepared, Rows, check_ddof, prepare, said

Column: TypeAlias = str | int

CITATION = "your own data"
LICENCE = "not stated"
TEXT_SUFFIXES = {".csv": ",", ".tsv": "\t", ".txt": ","}
PACKED_SUFFIXES = (".gz", ".bz2", ".xz")


class Options(TypedDict, total=False):
    """What `from_file` and `from_array` have in common; `from_array` describes each."""

    columns: Sequence[Column] | None
    without: Sequence[Column]
    missing: Missing
    missing_codes: Sequence[float | str]
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
            close = difflib.get_close_matches(name, known, n=1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            raise TypeError(f"{name!r} is no option{hint}; there are {', '.join(known)}.")
    missing = options.get("missing", "drop")
    if missing not in get_args(Missing):
        raise ValueError(f"missing must be one of 'drop', 'keep' and 'refuse', not {missing!r}.")
    check_ddof(options.get("ddof", 0))


def _array_table(data: NDArray[Any], what: str) -> _Table:
    if isinstance(data, np.ma.MaskedArray):
        data = np.ma.filled(data.astype(np.float64), np.nan)
    if data.ndim != 2:
        raise ValueError(
            f"{what} must have a row per point, two dimensions in all, not the shape {data.shape}."
        )
    if data.dtype.kind not in "biuf":
        raise ValueError(f"{what} must hold real numbers, not the type {data.dtype}.")
    names = tuple(f"x{j}" for j in range(data.shape[1]))
    return _Table(data, names, (None,) * len(names))


def _frame_table(frame: Any, codes: Sequence[float | str]) -> _Table:
    """Turn a pandas DataFrame into a matrix; columns that are not numbers are set aside, not guessed at."""
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
            unusable.append(_example(column))
    values = np.column_stack(usable) if usable else np.empty((len(frame), 0))
    return _Table(values, tuple(str(label) for label in frame.columns), tuple(unusable))


def _example(column: Any) -> str:
    present = column.dropna()
    return f"{column.dtype}, for example {present.iloc[0]!r}" if len(present) else f"{column.dtype}, no value"


def _position(column: Column, names: tuple[str, ...], argument: str) -> int:
    """Return which column of the source is meant: a name comes first, then a number from 0."""
    wanted = str(column)
    if names.count(wanted) > 1:
        raise ValueError(
            f"{argument} names {column!r}, but several columns have that name; use their numbers from 0."
        )
    if wanted in names:
        return names.index(wanted)
    if isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < len(names):
        return int(column)
    close = difflib.get_close_matches(wanted, names, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    shown = ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")
    raise ValueError(f"{argument} names {column!r}, which is no column{hint}; there are {shown}.")


def _choose(
    table: _Table, columns: Sequence[Column] | None, without: Sequence[Column], what: str
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the chosen columns of the matrix and their names, in the order asked for."""
    for argument, value in (("columns", columns), ("without", without)):
        if isinstance(value, (str, int)):
            raise ValueError(f"{argument} must be a list of names or numbers, not {value!r}.")
    positions = (
        list(range(len(table.names)))
        if columns is None
        else [_position(column, table.names, "columns") for column in columns]
    )
    if len(set(positions)) < len(positions):
        raise ValueError(f"columns must name each column once, not {list(columns or ())!r}.")
    left_out = {_position(column, table.names, "without") for column in without}
    positions = [position for position in positions if position not in left_out]
    refused = [position for position in positions if table.unusable[position] is not None]
    if refused:
        listed = ", ".join(f"{table.names[position]!r} ({table.unusable[position]})" for position in refused)
        raise ValueError(
            f"{what} has columns that do not hold numbers: {listed}; leave them out with without=, "
            "or turn them into numbers."
        )
    if not positions:
        raise ValueError(f"{what} has no column left; columns and without must leave at least one.")
    # The columns without numbers are not part of the matrix, so those before a chosen one do not count.
    chosen = tuple(table.unusable[:position].count(None) for position in positions)
    return chosen, tuple(table.names[position] for position in positions)


def _fingerprint(values: NDArray[Any], recipe: _Recipe) -> str:
    """Return a name for the result: equal sources and equal recipes have equal ones."""
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
        source=f"{origin}; {said(standardise, ddof)}",
    )


def _is_pandas(data: object) -> bool:
    # Whoever has a pandas object has imported pandas; everybody else is spared the time.
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(data, (pandas.DataFrame, pandas.Series))


def from_array(data: Any, **options: Unpack[Options]) -> Dataset:
    """Make a data set of a NumPy array or a pandas object.

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
    >>> data = from_array(np.array([[0.0, 1.0], [2.0, np.nan], [4.0, 5.0]]))
    >>> data.X.tolist(), data.removed
    ([[-1.0, -1.0], [1.0, 1.0]], (('rows with missing values', 1),))
    """
    _check_options(options)
    what = f"The data set {options['name']!r}" if "name" in options else "data"
    codes = options.get("missing_codes", ())
    if _is_pandas(data):
        frame = data.to_frame() if data.ndim == 1 else data
        table, origin = _frame_table(frame, codes), "a pandas object"
    elif isinstance(data, np.ndarray):
        table, origin = _array_table(data, what), "a NumPy array"
    else:
        raise TypeError(f"data must be a NumPy array or a pandas object, not {type(data).__name__}.")
    return _build(table, what, origin, "your data", options)


def _has_header(first: Sequence[str]) -> bool:
    """Take a first line without a single number for the columns' names."""
    for field in first:
        try:
            float(field)
        except ValueError:
            continue
        return False
    return True


def _read_text(path: Path, separator: str, header: bool | None, codes: Sequence[float | str]) -> Any:
    import pandas

    if header is None:
        first = pandas.read_csv(path, sep=separator, header=None, nrows=1, dtype=str, keep_default_na=False)
        header = _has_header(first.iloc[0].tolist())
    # Before 3.1 pandas read decimals to the nearest float64 only on request; since then always.
    old = tuple(int(part) for part in pandas.__version__.split(".")[:2]) < (3, 1)
    frame = pandas.read_csv(
        path,
        sep=separator,
        header=0 if header else None,
        na_values=[code for code in codes if isinstance(code, str)],
        skipinitialspace=True,
        **({"float_precision": "round_trip"} if old else {}),
    )
    if not header:
        frame.columns = [f"x{j}" for j in range(frame.shape[1])]
    return frame


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
            raise ValueError(f"array must name one of its arrays ({', '.join(archive.files)}), not {array!r}")
        found: NDArray[Any] = archive[array]
        return found


def _read(
    path: Path,
    kind: str,
    separator: str | None,
    header: bool | None,
    array: str | None,
    codes: Sequence[float | str],
) -> _Table:
    if kind == ".npy":
        return _array_table(np.load(path, mmap_mode="r", allow_pickle=False), str(path))
    if kind == ".npz":
        return _array_table(_read_npz(path, array), str(path))
    if kind in (".parquet", ".pq"):
        import pandas

        return _frame_table(pandas.read_parquet(path), codes)
    return _frame_table(_read_text(path, separator or TEXT_SUFFIXES[kind], header, codes), codes)


def from_file(
    path: str | os.PathLike[str],
    *,
    separator: str | None = None,
    header: bool | None = None,
    array: str | None = None,
    **options: Unpack[Options],
) -> Dataset:
    """Make a data set of a file: CSV (also compressed), Parquet, NPY or NPZ.

    Nothing in the file is executed: arrays of Python objects are refused.

    Parameters
    ----------
    path : path
        Its ending decides how it is read: .csv, .tsv, .txt (each perhaps with .gz, .bz2 or .xz), .parquet,
        .npy, .npz. An .npy file is mapped, not loaded.
    separator : str, optional
        Between the fields of a text file; by default a comma, in .tsv a tabulator.
    header : bool, optional
        Whether the first line of a text file names the columns. By default it does if it holds no number.
    array : str, optional
        Which array of an .npz file, if it holds several.
    **options
        As for `from_array`: columns, without, missing, missing_codes, standardise, ddof, memory_map, name,
        citation, licence.

    Returns
    -------
    Dataset
    """
    _check_options(options)
    place = Path(path).expanduser()
    endings = [suffix.lower() for suffix in place.suffixes]
    packed = bool(endings) and endings[-1] in PACKED_SUFFIXES
    kind = (endings[-2] if len(endings) > 1 else "") if packed else (endings[-1] if endings else "")
    allowed = (*TEXT_SUFFIXES, *(() if packed else (".parquet", ".pq", ".npy", ".npz")))
    if kind not in allowed:
        raise ValueError(f"path must end in one of {', '.join(allowed)}, not {place.name!r}.")
    if not place.is_file():
        raise FileNotFoundError(f"path names {str(place)!r}, which is not a file.")
    try:
        table = _read(place, kind, separator, header, array, options.get("missing_codes", ()))
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise ValueError(f"{place} cannot be read as {kind} data: {reason}.") from error
    return _build(table, str(place), place.name, place.name, options)
