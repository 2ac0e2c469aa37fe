"""Text files as people have them: read as they are meant, or refused with the line where they go wrong."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nystrom_lib.datasets import _packaged, from_file

EXPECTED = [[1.5, 2.5], [3.25, -4.0], [0.001, 6.0]]

WRITTEN = {
    "comma": "x,y\n1.5,2.5\n3.25,-4\n1e-3,6\n",
    "semicolon and decimal comma": "x;y\n1,5;2,5\n3,25;-4\n1e-3;6\n",
    "decimal comma without a header": "1,5;2,5\n3,25;-4\n1e-3;6\n",
    "tabulator and decimal comma": "x\ty\n1,5\t2,5\n3,25\t-4,0\n0,001\t6\n",
    "blanks": "1.5   2.5\n3.25 -4\n  1e-3\t6\n",
    "quotes, blanks and empty lines": '\n"x", "y"\n"1.5", 2.5\n\n3.25, -4\n1e-3, 6\n\n',
    "a byte-order mark and Windows": "\ufeffx,y\r\n1.5,2.5\r\n3.25,-4\r\n1e-3,6\r\n",
}


@pytest.mark.parametrize("kind", WRITTEN)
@pytest.mark.parametrize("ending", [".csv", ".txt.gz"])
def test_however_it_is_written_it_holds_the_same_points(kind: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"mine{ending}"
    raw = WRITTEN[kind].encode()
    path.write_bytes(gzip.compress(raw) if ending.endswith("gz") else raw)
    data = from_file(path, standardise=False)
    assert data.X.tolist() == EXPECTED
    assert data.columns == (("x0", "x1") if "without" in kind or kind == "blanks" else ("x", "y"))


REFUSED = {
    "a surplus field": ("x,y\n1,2\n3,4,5\n6,7\n", {}, "line 3 has 3 fields, where line 1 has 2"),
    "a field too few": ("x,y,z\n1,2,3\n\n4,5\n", {}, "line 4 has 2 fields, where line 1 has 3"),
    "after a quoted line break": ('x,y\n"a\nb",2\n3\n', {}, "line 4 has 1 fields, where line 1 has 2"),
    "beyond what is looked at first": ("1,2\n" * 300 + "3\n", {}, "line 301 has 1 fields, where line 1 has 2"),
    "a word among numbers": ("x,y\n1,2\n3,4\n\nabc,6\n7,def\n", {}, "'x' (for example 'abc'), 'y' (for example 'def')"),
    "a header where none was to be": ("1,b\n3,4\n", {"header": False}, "'x1' (for example 'b')"),
    "thousands": ('x,y\n"1,234",2\n"5,678",3\n', {}, "'x' (for example '1,234')"),
    "nothing": ("\n\n", {}, "it holds no line"),
    "a header alone": ("a,b\n", {}, "it holds names of columns, but no row"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_with_its_line(case: str, tmp_path: Path) -> None:
    text, options, said = REFUSED[case]
    (tmp_path / "mine.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError) as caught:
        from_file(tmp_path / "mine.csv", **options)
    assert said in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize("options", [{"separator": ","}, {"header": True}])
def test_what_would_have_no_effect_is_refused(options: dict[str, Any], tmp_path: Path) -> None:
    np.save(tmp_path / "mine.npy", np.eye(3))
    with pytest.raises(ValueError, match=r"separator and header mean nothing for a \.npy file"):
        from_file(tmp_path / "mine.npy", **options)


def test_a_header_of_numbers_is_one_if_you_say_so(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("2019,2020\n1,2\n3,5\n", encoding="utf-8")
    assert from_file(tmp_path / "mine.csv", standardise=False).N == 3
    data = from_file(tmp_path / "mine.csv", header=True, standardise=False)
    assert data.columns == ("2019", "2020") and data.X.tolist() == [[1.0, 2.0], [3.0, 5.0]]


class TestOneHot:
    text = "sex,size\nM,1\nF,2\n?,3\nI,4\nM,5\n"

    def read(self, folder: Path, **options: Any) -> Any:
        (folder / "mine.csv").write_text(self.text, encoding="utf-8")
        return from_file(folder / "mine.csv", one_hot=True, missing_codes=["?"], standardise=False, **options)

    def test_a_column_for_every_word(self, tmp_path: Path) -> None:
        data = self.read(tmp_path)
        assert data.columns == ("sex=F", "sex=I", "sex=M", "size")
        assert data.X.tolist() == [[0, 0, 1, 1], [1, 0, 0, 2], [0, 1, 0, 4], [0, 0, 1, 5]]
        assert data.removed == (("rows with missing values", 1),)

    def test_columns_are_chosen_by_their_own_names(self, tmp_path: Path) -> None:
        assert self.read(tmp_path, columns=["size", "sex"]).columns == ("size", "sex=F", "sex=I", "sex=M")
        assert self.read(tmp_path, without=["sex"]).columns == ("size",)

    def test_names_of_rows_are_not_categories(self, tmp_path: Path) -> None:
        self.text = "name,size\n" + "".join(f"s{i},{i}\n" for i in range(200))
        with pytest.raises(ValueError, match=r"200 different words in 'name'; one_hot takes at most 100"):
            self.read(tmp_path)


def test_the_repository_s_abalone_needs_one_word(tmp_path: Path) -> None:
    """The file as UCI has it: no header, and the sex in letters."""
    path = tmp_path / "abalone.data"
    path.write_bytes(gzip.decompress((_packaged.FILES / "abalone.data.gz").read_bytes()))
    with pytest.raises(ValueError, match=r"'x0' \(for example 'M'\); leave them out with without=, or .* one_hot=True"):
        from_file(path)
    data = from_file(path, one_hot=True)
    assert data.X.shape == (4177, 11) and data.columns[:4] == ("x0=F", "x0=I", "x0=M", "x1")
