"""Sources: the same rows whatever they are stored in, every value looked at once, and bad ones named."""

from __future__ import annotations

import os
import pickle
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nystrom_lib as nl
from nystrom_lib.sources import source as module

ROWS = np.random.default_rng(0).normal([3.0, -100.0, 0.0], [1.0, 5.0, 1e-3], size=(1000, 3))


def npy(rows: Any, folder: Path) -> Path:
    np.save(folder / "rows.npy", rows)
    return folder / "rows.npy"


def by_column(rows: Any, folder: Path) -> Path:
    return npy(np.asfortranarray(rows), folder)


def table(rows: Any) -> pa.Table:
    return pa.table({name: rows[:, j] for j, name in enumerate("abc")})


def parquet(rows: Any, folder: Path) -> Path:
    """Files and row groups of unequal length, some empty, and files of other programs, which are hidden."""
    (folder / "more").mkdir()
    for name, part in (("1", rows[:7]), ("2", rows[:0]), ("more/3", rows[7:500]), ("more/4", rows[500:])):
        pq.write_table(table(part), folder / f"{name}.parquet", row_group_size=90)
    (folder / "_metadata.parquet").write_text("no Parquet")
    (folder / ".crc").write_text("neither")
    return folder


def dask(rows: Any, folder: Path) -> Any:
    da = pytest.importorskip("dask.array")
    return da.from_array(rows, chunks=((400, 1, 599), (2, 1)))


def hdf5(rows: Any, folder: Path, **how: Any) -> Any:
    h5py = pytest.importorskip("h5py", reason="HDF5 is read with h5py, which is not installed")
    return h5py.File(folder / "rows.h5", "a").create_dataset("group/rows", data=rows, **how)


def zarr(rows: Any, folder: Path) -> Any:
    library = pytest.importorskip("zarr", reason="Zarr is read with zarr, which is not installed")
    array = library.open_array(folder / "rows.zarr", mode="w", shape=rows.shape, chunks=(300, 2), dtype=rows.dtype)
    array[:] = rows
    return array


class Sliced:
    """What h5py and Zarr give: slices of an array, and the shape of its chunks."""

    def __init__(self, rows: Any, chunks: tuple[int, int] | None) -> None:
        self.rows, self.chunks, self.shape, self.dtype = rows, chunks, rows.shape, rows.dtype

    def __getitem__(self, rows: slice) -> Any:
        assert isinstance(rows, slice)
        return self.rows[rows]


#: How rows get into each kind of source.
STORED: dict[str, Callable[[Any, Path], Any]] = {
    "array": lambda rows, folder: rows,
    "map": lambda rows, folder: np.load(npy(rows, folder), mmap_mode="r"),
    "npy": npy,
    "npy by column": by_column,
    "parquet": parquet,
    "dask": dask,
    "hdf5": hdf5,
    "hdf5 in chunks": lambda rows, folder: hdf5(rows, folder, chunks=(90, 2), compression="gzip"),
    "zarr": zarr,
    "chunks": lambda rows, folder: Sliced(rows, (300, 3)),
    "no chunks": lambda rows, folder: Sliced(rows, None),
}
every_kind = pytest.mark.parametrize("kind", STORED)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of HDF5 and Zarr are as small here as they say."""
    monkeypatch.setattr(module, "MIN_CHUNK_ROWS", 1)


# --- the contract ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, dtype", [*((kind, np.float64) for kind in STORED), ("npy", np.float32), ("parquet", np.float32)]
)
def test_every_kind_gives_the_same_rows(
    kind: str, dtype: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK_ROWS", 130)
    rows = ROWS.astype(dtype)
    source = nl.open_data(STORED[kind](rows, tmp_path))
    assert source.shape == rows.shape and len(source) == 1000 and source.d == 3 and source.dtype == dtype
    assert source.columns == (("a", "b", "c") if kind == "parquet" else ("x0", "x1", "x2"))
    wanted = np.random.default_rng(1).integers(0, 1000, 300)
    assert np.array_equal(source.rows(wanted), rows[wanted])
    blocks = list(source.blocks())
    assert [len(block) for block in blocks] == [130] * 7 + [90]
    assert np.array_equal(np.concatenate(blocks), rows) and blocks[0].dtype == dtype
    assert np.array_equal(source.block(95, 401), rows[95:401])
    assert np.array_equal(source.all(), rows)
    for array in (*blocks, source.rows([3]), source.all()):
        assert array.flags.c_contiguous and array.dtype == dtype


@pytest.mark.parametrize("kind", [kind for kind in STORED if not kind.startswith("hdf5")])
def test_a_copy_sent_to_another_process_reads_for_itself(kind: str, tmp_path: Path) -> None:
    source = nl.open_data(STORED[kind](ROWS, tmp_path), standardise=True)
    source.rows([0])
    there = pickle.loads(pickle.dumps(source))
    assert np.array_equal(there.rows([999, 0]), source.rows([999, 0]))


@every_kind
def test_columns_rows_and_scale(kind: str, tmp_path: Path) -> None:
    """Standardised as NumPy would, without the rows that lack a value, in the columns asked for, and back again."""
    rows = ROWS.copy()
    rows[[0, 89, 90, 499, 500, 999], [0, 1, 2, 0, 1, 2]] = np.nan
    seen = []
    names = ("c", "a") if kind == "parquet" else ("x2", "x0")
    source = nl.open_data(
        STORED[kind](rows, tmp_path), columns=names, standardise=True, missing="drop", progress=seen.append
    )
    lacking = np.isnan(rows[:, [2, 0]]).any(axis=1)
    kept = rows[~lacking][:, [2, 0]]
    assert seen[-1] == 1000 and source.columns == names and source.shape == kept.shape and source.checked
    assert np.allclose(source.mean, kept.mean(axis=0), rtol=1e-12) and np.allclose(source.scale, kept.std(axis=0))
    expected = (kept - source.mean) / source.scale
    assert np.allclose(source.all(), expected, rtol=0, atol=1e-12)
    assert np.allclose(source.rows([0, 995, 88]), expected[[0, 995, 88]], rtol=0, atol=1e-12)
    assert np.allclose(source.block(80, 500), expected[80:500], rtol=0, atol=1e-12)
    assert np.allclose(source.in_original_units(expected), kept, rtol=1e-12)


def test_a_source_is_opened_once() -> None:
    source = nl.open_data(ROWS)
    assert nl.open_data(source) is source
    refused(lambda: nl.open_data(source, standardise=True), "data is open already")


def test_mean_and_scale_far_from_zero_and_in_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a variance by squares of what is not centred, which has no digit left here."""
    monkeypatch.setattr(module, "BLOCK_ROWS", 7)
    rows = np.sort(ROWS, axis=0) + 1e5
    assert np.allclose(nl.open_data(rows, standardise=True).scale, rows.std(axis=0), rtol=1e-6, atol=0.0)


def test_whole_numbers_become_doubles_and_single_ones_stay(tmp_path: Path) -> None:
    assert nl.open_data(np.arange(6).reshape(3, 2)).rows([2]).dtype == np.float64
    assert nl.open_data(npy(np.arange(6, dtype=">i2").reshape(3, 2), tmp_path)).rows([2]).tolist() == [[4.0, 5.0]]
    assert nl.open_data(npy(ROWS.astype(">f8"), tmp_path)).rows([5]).tolist() == [ROWS[5].tolist()]


# --- drawing ---------------------------------------------------------------------------------------------------------


def test_rows_are_drawn_wherever_they_are_stored() -> None:
    """Catches rows that depend on the chunks, and rows chosen twice."""
    rows = np.zeros((10_000, 1))
    for stored in (rows, Sliced(rows, (10, 1))):
        source, rng = nl.open_data(stored), np.random.default_rng(0)
        assert np.array_equal(source.draw(500, rng), np.random.default_rng(0).integers(0, 10_000, 500))
        chosen = source.choose(500, rng)
        assert len(set(chosen)) == 500 and np.array_equal(chosen, np.sort(chosen))
        assert np.array_equal(source.choose(20_000, rng), np.arange(10_000))


def test_tiny_chunks_are_read_many_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MIN_CHUNK_ROWS", 100)
    for rows, edges in ((7, [0, 105, 210, 215]), (100, [0, 100, 200, 215]), (150, [0, 150, 215]), (300, [0, 215])):
        source = nl.open_data(Sliced(ROWS[:215], (rows, 3)))
        assert source._edges is not None and source._edges.tolist() == edges
        assert np.array_equal(source.all(), ROWS[:215])


# --- bad input -------------------------------------------------------------------------------------------------------


def refused(call: Callable[[], Any], *words: str) -> None:
    with pytest.raises(ValueError) as found:
        call()
    sentence = str(found.value)
    assert sentence.endswith(".") and "\n" not in sentence and all(word in sentence for word in words), sentence


@pytest.mark.parametrize("kind", ["map", "npy by column", "parquet", "dask", "chunks"])
def test_a_bad_value_is_named_when_its_row_is_read_and_by_check(kind: str, tmp_path: Path) -> None:
    rows = ROWS.copy()
    rows[998, 1] = np.nan
    source = nl.open_data(STORED[kind](rows, tmp_path))
    assert np.array_equal(source.rows([997, 999]), rows[[997, 999]]), "nobody looked at it"
    for call in (lambda: source.rows([1, 998, 0]), lambda: list(source.blocks()), source.check, source.all):
        refused(call, "nan at row 998, column 1; every value must be finite")
    assert not source.checked


def test_infinite_values_are_named_even_where_missing_ones_are_dropped() -> None:
    rows = ROWS.copy()
    rows[4, 2], rows[70, 0] = np.nan, -np.inf
    refused(lambda: nl.open_data(rows, standardise=True, missing="drop"), "-inf at row 70, column 0")


def test_a_file_cut_short(tmp_path: Path) -> None:
    path = npy(ROWS, tmp_path)
    source = nl.open_data(path)
    os.truncate(path, path.stat().st_size - 100)
    refused(lambda: source.rows([0]), "rows.npy cannot be read from row 0 to 0 (")
    refused(source.all, "rows.npy cannot be read from row 0 to 999 (")
    refused(lambda: nl.open_data(path), "cut short")


def test_what_another_library_cannot_read_is_said_with_its_rows(tmp_path: Path) -> None:
    """Some bytes of a chunk are gone, a file was closed, and whatever else an array may raise."""

    class Broken(Sliced):
        def __getitem__(self, rows: slice) -> Any:
            raise OSError("the tape is torn.\nIn several lines.")

    refused(lambda: nl.open_data(Broken(ROWS, (300, 3))).rows([301]), "from row 300 to 599 (OSError: the tape is torn)")
    stored = hdf5(ROWS, tmp_path)
    stored.file.close()
    refused(lambda: nl.open_data(stored), "data cannot be read (")
    source = nl.open_data(zarr(ROWS, tmp_path))
    for part in (tmp_path / "rows.zarr").rglob("2/*"):
        part.write_bytes(part.read_bytes()[:-9])
    assert np.array_equal(source.rows([0]), ROWS[:1]), "what is there can be read"
    refused(lambda: source.rows([0, 601]), "data cannot be read from row 600 to 899 (")


def test_files_that_are_something_else(tmp_path: Path) -> None:
    path = tmp_path / "rows.npy"
    path.write_bytes(b"")
    refused(lambda: nl.open_data(path), "is no .npy file")
    np.save(path, np.array([[object()]]), allow_pickle=True)
    refused(lambda: nl.open_data(path), "is no .npy file of numbers")
    refused(lambda: nl.open_data(npy(ROWS[0], tmp_path)), "it must be two-dimensional")
    refused(lambda: nl.open_data(npy(ROWS[:0], tmp_path)), "(0, 3)")
    (tmp_path / "rows.csv").write_text("1,2\n")
    refused(lambda: nl.open_data(tmp_path / "rows.csv"), "'rows.csv'; it must be an .npy file, a Parquet file")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        nl.open_data(tmp_path / "nothing.npy")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        nl.open_data("~nosuchuser/rows.npy")


def folder_with(folder: Path, **files: dict[str, Any]) -> Path:
    for name, columns in files.items():
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
    return folder


def test_folders_that_do_not_fit_together(tmp_path: Path) -> None:
    refused(lambda: nl.open_data(tmp_path), "holds no row of Parquet data")
    first, one = {"a": [1.0, 2.0], "b": [1.0, 2.0]}, np.ones(1)
    folder_with(tmp_path, p1=first, p2={"a": ["1.0", "two"], "b": [3.0, 4.0]})
    refused(lambda: nl.open_data(tmp_path), "p2.parquet has other columns than p1.parquet")
    assert nl.open_data(tmp_path, without=["a"]).all().ravel().tolist() == [1.0, 2.0, 3.0, 4.0]
    folder_with(tmp_path, p2={"b": one, "c": one, "a": one})
    refused(lambda: nl.open_data(tmp_path), "p2.parquet has other columns than p1.parquet")
    assert nl.open_data(tmp_path, columns=["b", "a"]).rows([2]).tolist() == [[1.0, 1.0]]
    (tmp_path / "p2.parquet").write_bytes((tmp_path / "p1.parquet").read_bytes()[:-50])
    refused(lambda: nl.open_data(tmp_path), "cannot be read as Parquet (", "p2.parquet")
    pq.write_table(pa.Table.from_arrays([pa.array([1.0])] * 2, names=["a", "a"]), tmp_path / "p2.parquet")
    refused(
        lambda: nl.open_data(tmp_path / "p2.parquet"), "p2.parquet cannot be read as Parquet (", "duplicate field names"
    )
    folder_with(tmp_path, p1={"a": np.empty(0)}, p2={"a": np.empty(0)})
    refused(lambda: nl.open_data(tmp_path), "holds no row")
    folder_with(tmp_path, p1={"a": [1.0, None]}, p2={"a": [2.0]})
    refused(lambda: nl.open_data(tmp_path).check(), "nan at row 1, column 0")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused(tmp_path: Path) -> None:
    """Catches a call that waits for ever."""
    os.mkfifo(tmp_path / "pipe.npy")
    refused(lambda: nl.open_data(tmp_path / "pipe.npy"), "it must be a regular file or a folder")


def test_a_header_that_promises_more_than_the_file_has(tmp_path: Path) -> None:
    """Catches memory for the names of 10⁸ columns, taken before the size of the file is compared with its header."""
    with open(tmp_path / "wide.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (2, 10**8)})
        file.write(bytes(100))
    tracemalloc.start()
    refused(lambda: nl.open_data(tmp_path / "wide.npy"), "or it is damaged or cut short")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e7


def test_values_and_columns_that_cannot_be_used() -> None:
    refused(lambda: nl.open_data(np.ones((5, 2)), standardise=True), "is constant in columns 'x0', 'x1'")
    refused(lambda: nl.open_data([[np.nan], [1.0]], missing="drop"), "has 1 rows without missing values")
    refused(lambda: nl.open_data(ROWS, columns=["x7"]), "which is no column")
    refused(lambda: nl.open_data(ROWS, without=["x0", "x1", "x2"]), "There is no column left")
    unknown = Sliced(ROWS, None)
    unknown.shape = (float("nan"), 3)  # type: ignore[assignment]
    refused(lambda: nl.open_data(unknown), "has an unknown number of rows")


# --- data that change after they were opened, and files that are not what they say ----------------------------------


class Shorter(Sliced):
    """A data set that has lost its last rows since it was opened."""

    def __getitem__(self, rows: slice) -> Any:
        return self.rows[:950][rows]


def test_data_shorter_than_they_were() -> None:
    """Catches a buffer that is returned partly filled."""
    source = nl.open_data(Shorter(ROWS, (300, 3)))
    calls: list[Callable[[], object]] = [
        source.all,
        source.check,
        lambda: list(source.blocks()),
        lambda: source.rows([0, 999]),
        lambda: nl.open_data(Shorter(ROWS, (300, 3)), standardise=True),
    ]
    for call in calls:
        refused(call, "gave an array of shape (50, 3) for its rows from 900 to 999")


def test_timeouts_while_data_are_read() -> None:
    """Catches the exception of a signal handler that is taken for one of the library that reads the data."""

    class Slow(Sliced):
        def __getitem__(self, rows: slice) -> Any:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        nl.open_data(Slow(ROWS, (300, 3))).all()


@pytest.mark.parametrize("dtype", [complex, str])
def test_data_of_another_dtype_than_they_said(dtype: type) -> None:
    """Catches imaginary parts that are dropped."""
    liar = Sliced(ROWS.astype(dtype), (300, 3))
    liar.dtype = ROWS.dtype
    refused(nl.open_data(liar).all, "gave an array of shape (300, 3) for its rows from 0 to 299, of ")


def test_parquet_files_written_again_or_damaged(tmp_path: Path) -> None:
    pq.write_table(table(ROWS), tmp_path / "rows.parquet")
    source = nl.open_data(tmp_path / "rows.parquet")
    pq.write_table(table(ROWS[:950]), tmp_path / "rows.parquet")
    refused(source.all, "gave an array of shape (950, 3) for its rows from 0 to 999")
    content = bytearray((tmp_path / "rows.parquet").read_bytes())
    content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
    (tmp_path / "rows.parquet").write_bytes(content)
    refused(nl.open_data(tmp_path / "rows.parquet").all, "rows.parquet cannot be read from row 0 to 949 (")
