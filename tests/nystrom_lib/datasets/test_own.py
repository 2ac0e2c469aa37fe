"""Your own data: every kind of source gives the same points, and what cannot be used is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nystrom_lib.datasets import _dataset, from_array, from_file, sha256_of

ROOT = Path(__file__).parents[3]
X = np.random.default_rng(0).standard_normal((40, 3)) * [1.0, 10.0, 1e-3] + [0.0, 5.0, 1.0]
NAMES = ["a", "b", "c"]


def frame() -> pd.DataFrame:
    return pd.DataFrame(X, columns=NAMES)


def write(folder: Path, kind: str) -> Path:
    path = folder / f"mine{kind}"
    if kind.startswith(".csv"):
        frame().to_csv(path, index=False)
    elif kind == ".tsv":
        frame().to_csv(path, index=False, sep="\t")
    elif kind == ".parquet":
        frame().to_parquet(path)
    else:
        np.save(path, X)
    return path


@pytest.mark.parametrize("kind", [".csv", ".csv.gz", ".csv.xz", ".tsv", ".parquet", ".npy"])
def test_every_kind_of_file_holds_the_same_points(kind: str, tmp_path: Path) -> None:
    path = write(tmp_path, kind)
    raw = from_file(path, standardise=False)
    np.testing.assert_array_equal(raw.X, X)
    assert raw.sha256 == sha256_of(X)
    data = from_file(path)
    np.testing.assert_array_equal(data.X, (X - X.mean(axis=0)) / X.std(axis=0))
    assert data.X.dtype == np.float64 and data.X.flags.c_contiguous and not data.X.flags.writeable
    assert data.name == path.name and not data.stand_in
    assert data.removed == (("rows with missing values", 0),)


@pytest.mark.parametrize("ddof", [0, 1])
def test_standardised_data_remember_mean_and_scale(ddof: int) -> None:
    data = from_array(X, ddof=ddof)
    assert data.mean is not None and data.scale is not None
    np.testing.assert_array_equal(data.X, (X - data.mean) / data.scale)
    np.testing.assert_array_equal(data.scale, X.std(axis=0, ddof=ddof))
    np.testing.assert_allclose(data.in_original_units(data.X[:4]), X[:4], rtol=1e-12)
    assert not data.mean.flags.writeable and not data.scale.flags.writeable


def test_data_as_they_are_have_no_mean_and_scale() -> None:
    data = from_array(X, standardise=False)
    assert data.mean is None and data.scale is None
    points = data.in_original_units(data.X[:4])
    np.testing.assert_array_equal(points, X[:4])
    assert points.flags.writeable and not np.shares_memory(points, data.X)


SOURCES: dict[str, Any] = {
    "C order": X,
    "Fortran order": np.asfortranarray(X),
    "big-endian": X.astype(">f8"),
    "sliced": np.repeat(X, 2, axis=0)[::2],
    "masked": np.ma.array(X, mask=False),
    "frame": frame(),
    "nullable frame": frame().convert_dtypes(),
    "frame with an index": frame().set_index(pd.Index(range(100, 140))),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_kind_of_array_holds_the_same_points(kind: str) -> None:
    assert from_array(SOURCES[kind], standardise=False).sha256 == sha256_of(X)


def test_the_given_array_is_not_changed() -> None:
    mine = X.copy()
    data = from_array(mine, standardise=False)
    mine[0, 0] = 7.0
    assert data.X[0, 0] == X[0, 0] and mine.flags.writeable


def test_whole_numbers_and_truth_values_are_numbers() -> None:
    mixed = pd.DataFrame({"n": [1, 2, 3], "yes": [True, False, True], "f": np.array([0.5, 0.25, 0.125], np.float32)})
    expected = [[1.0, 1.0, 0.5], [2.0, 0.0, 0.25], [3.0, 1.0, 0.125]]
    assert from_array(mixed, standardise=False).X.tolist() == expected


class TestColumns:
    @pytest.mark.parametrize("columns", [["c", "a"], [2, 0], ["c", 0], np.array([2, 0])], ids=repr)
    def test_chosen_by_name_or_number_in_the_order_asked(self, columns: Any) -> None:
        data = from_array(frame(), columns=columns, standardise=False)
        np.testing.assert_array_equal(data.X, X[:, [2, 0]])
        assert data.columns == ("c", "a")

    def test_columns_without_numbers_are_named(self) -> None:
        mixed = frame().assign(
            town=["Ulm"] * 40,
            when=pd.Timestamp("2020-01-01"),
            sort=pd.Categorical([1, 2] * 20),
            z=1j * X[:, 0],
        )
        mixed = mixed[["town", "a", "when", "b", "sort", "z", "c"]]
        with pytest.raises(ValueError, match=r"do not hold numbers: 'town' .*'Ulm'.*'when'.*'sort'.*'z'.*without="):
            from_array(mixed)
        for data in (
            from_array(mixed, standardise=False, columns=["b", "c"]),
            from_array(mixed, standardise=False, without=["a", "town", "when", "sort", "z"]),
        ):
            np.testing.assert_array_equal(data.X, X[:, [1, 2]])

    def test_equal_names_are_told_apart_by_number(self) -> None:
        twice = pd.concat([frame(), pd.DataFrame({"a": ["text"] * 40})], axis=1)
        with pytest.raises(ValueError, match="columns names 'a', but several columns have that name"):
            from_array(twice, columns=["a"])
        np.testing.assert_array_equal(from_array(twice, columns=[0], standardise=False).X, X[:, [0]])
        with pytest.raises(ValueError, match="do not hold numbers: 'a'"):
            from_array(twice, columns=[3])

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"columns": ["weigth"]}, r"columns names 'weigth', which is no column \(did you mean 'weight'\?\)"),
            ({"columns": [3]}, "columns names 3, which is no column; there are 'weight', 'b', 'c'"),
            ({"columns": ["b", 1]}, "columns is .*; it must name each column once"),
            ({"columns": "b"}, r"^columns is 'b'; it must be a list of names or numbers\.$"),
            ({"without": None}, r"^without is None; it must be a list of names or numbers\.$"),
            ({"standardise": "no"}, r"^standardise is 'no'; it must be True or False\.$"),
            ({"without": [0, 1, 2]}, "no column left"),
            ({"colums": [1]}, "unexpected keyword argument 'colums'"),
        ],
    )
    def test_bad_choices_are_refused_in_a_sentence(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            from_array(frame().rename(columns={"a": "weight"}), **options)


class TestMissing:
    holes = np.array([[1.0, 2.0], [np.nan, 3.0], [5.0, np.nan], [7.0, -999.0], [9.0, 7.0]])

    def test_dropped_and_counted(self) -> None:
        data = from_array(self.holes, standardise=False)
        assert data.X.tolist() == [[1.0, 2.0], [7.0, -999.0], [9.0, 7.0]]
        assert data.removed == (("rows with missing values", 2),)
        data = from_array(self.holes, missing_codes=[-999], standardise=False)
        assert data.X.tolist() == [[1.0, 2.0], [9.0, 7.0]]
        with pytest.raises(ValueError, match="2 rows with missing values; allow missing='drop'"):
            from_array(self.holes, missing="refuse")

    def test_in_every_kind_of_source(self, tmp_path: Path) -> None:
        path = tmp_path / "holes.csv"
        path.write_text("a,b\n1,2\n,3\n5,NA\n7,?\n9,7\n", encoding="utf-8")
        assert from_file(path, missing_codes=["?"]).removed[0][1] == 3
        table = pd.read_csv(path, na_values="?").convert_dtypes()
        assert from_array(table).removed[0][1] == 3
        table.to_parquet(path.with_suffix(".parquet"))
        assert from_file(path.with_suffix(".parquet")).removed[0][1] == 3
        assert from_array(np.ma.masked_invalid(self.holes)).removed[0][1] == 2
        mixed = pd.DataFrame({"a": [1, "?", 3], "b": [1.0, 2.0, 4.0]})
        assert from_array(mixed, missing_codes=["?"], standardise=False).X.tolist() == [[1.0, 1.0], [3.0, 4.0]]

    @pytest.mark.parametrize("codes", [-999, "NA"])
    def test_codes_without_a_list(self, codes: Any, tmp_path: Path) -> None:
        """Catches a text that is taken letter by letter."""
        path = tmp_path / "holes.csv"
        path.write_text("a,b\n1,2\nN,3\n5,6\n", encoding="utf-8")
        for read in (lambda: from_array(self.holes, missing_codes=codes), lambda: from_file(path, missing_codes=codes)):
            with pytest.raises(TypeError, match=f"^missing_codes is {codes!r}; it must be a sequence"):
                read()


def columns(*values: Any) -> np.ndarray:
    return np.array(values, dtype=np.float64).T


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (columns([7] * 3, [1, 2, 3], [0.1] * 3), {"name": "mine"}, "mine is constant in columns 'x0', 'x2'"),
        (columns([1, np.inf], [1, 2]), {}, "infinite values in column 'x0'"),
        (columns([1.0], [2.0]), {}, "too few rows: 1; at least 2"),
        (columns([1, np.nan], [1, 2]), {}, "too few rows: 1 after 1 with missing values were dropped"),
        (columns([1e308, 1.5e308, 1], [1, 2, 3]), {}, "too large or too close together .* column 'x0'"),
        (columns([1e-200, 2e-200], [1, 2]), {}, "too large or too close together .* column 'x0'"),
        (np.arange(5.0), {}, r"has the shape \(5,\); it must have a row per point"),
        (np.array([["a", "b"], ["c", "d"]]), {}, "has the type <U1; it must hold real numbers"),
        (X, {"missing": "ignore"}, "missing is 'ignore'; it must be 'drop' or 'refuse'"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(data: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_array(data, **options)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xlsx", b"", r"path is 'a\.xlsx'; it must end in one of \.csv, "),
        ("a.csv", b"\xff\xfe\x00", "cannot be read"),
        ("a.csv.gz", b"no gzip", r"a\.csv\.gz cannot be read as \.csv data"),
        ("a.parquet", b"no parquet", r"a\.parquet cannot be read as \.parquet data"),
        ("a.npy", b"no numpy", r"a\.npy cannot be read as \.npy data"),
    ],
)
def test_files_that_cannot_be_read_are_named(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        from_file(tmp_path / name)


@given(
    rows=st.integers(2, 60),
    block=st.integers(1, 200),
    dropped=st.sets(st.integers(0, 59), max_size=20),
    ddof=st.sampled_from([0, 1]),
)
def test_the_size_of_a_block_does_not_matter(rows: int, block: int, dropped: set[int], ddof: int) -> None:
    """Block by block the result is what the plain formula gives for the whole, up to rounding."""
    data = np.random.default_rng(rows).standard_normal((rows, 4)) * 50 + 1000
    data[[i for i in dropped if i < rows], 2] = np.nan
    absent = np.isnan(data).any(axis=1)
    plain = data[~absent]
    if len(plain) < 2:
        return
    plain = (plain - plain.mean(axis=0)) / plain.std(axis=0, ddof=ddof)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_dataset, "BLOCK_VALUES", block)
        result = from_array(data, ddof=ddof)
    np.testing.assert_allclose(result.X, plain, rtol=1e-10, atol=1e-11)
    assert result.sha256 == sha256_of(result.X)


def test_slow_packages_are_imported_only_when_needed() -> None:
    code = (
        "import sys, nystrom_lib.datasets\n"
        "print([name for name in ('pandas', 'pooch', 'requests', 'pyarrow') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_arrays_of_objects_are_refused_without_numpys_advice(tmp_path: Path) -> None:
    """Catches numpy's own words, which recommend pickle."""
    np.save(tmp_path / "a.npy", np.array([[{}]], dtype=object))
    with pytest.raises(ValueError, match=r"data: it is damaged, or holds no numbers\.$"):
        from_file(tmp_path / "a.npy")
