"""MiniBooNE: layout, cleaning, where it is looked for, and its cache."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from nystrom_lib.datasets import DamagedFileError, _miniboone_file, miniboone, sha256_of
from tests.nystrom_lib.datasets import miniboone_text

TEXT = miniboone_text.small()
DIGEST = hashlib.sha256(TEXT).hexdigest()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "MiniBooNE_PID.txt"
    path.parent.mkdir()
    path.write_bytes(TEXT)
    return path


def test_the_artificial_text_has_the_true_layout() -> None:
    lines = TEXT.splitlines()
    assert lines[0] == b" 30 50"
    assert {len(line) for line in lines[1:]} == {50 * 14}
    assert lines[2] == b" -0.999000E+03" * 50
    assert miniboone_text.e14_6(16_000_900.0) == "  0.160009E+08"
    assert [miniboone_text.e14_6(x) for x in (0.0, -0.25, 9.999999)] == [
        "  0.000000E+00",
        " -0.250000E+00",
        "  0.100000E+02",
    ]


def test_parsing_keeps_every_digit() -> None:
    X = np.random.default_rng(3).standard_normal((20, 50)) * 1e3
    parsed = _miniboone_file.parse(miniboone_text.text(X[:5], X[5:]), Path("some.txt"))
    np.testing.assert_array_equal(parsed, miniboone_text.rounded(X))


def test_cleaning(file: Path) -> None:
    everything = miniboone(file, sha256=DIGEST, clean=False, standardise=False)
    kept = miniboone(file, sha256=DIGEST, standardise=False)
    assert (everything.N, kept.N) == (80, 72)
    assert kept.removed == (
        ("rows with missing values (any value at or below -999)", 7),
        ("outlier: feature 19 at or above 1,000,000", 1),
    )
    gone = {1, 5, 6, 32, 33, 37, 39, 50}
    np.testing.assert_array_equal(kept.X, everything.X[[i for i in range(80) if i not in gone]])


def test_standardised_after_cleaning(file: Path) -> None:
    raw = miniboone(file, sha256=DIGEST, standardise=False).X
    for ddof in (0, 1):
        data = miniboone(file, sha256=DIGEST, ddof=ddof)
        np.testing.assert_array_equal(data.X, (raw - raw.mean(axis=0)) / raw.std(axis=0, ddof=ddof))
        np.testing.assert_array_equal([data.mean, data.scale], [raw.mean(axis=0), raw.std(axis=0, ddof=ddof)])
        assert data.sha256 == sha256_of(data.X)


def test_every_field_is_filled(file: Path) -> None:
    data = miniboone(file, sha256=DIGEST)
    assert not data.stand_in
    assert "Roe" in data.citation and "CC BY 4.0" in data.licence
    assert len(data.columns) == data.d == 50
    assert DIGEST in data.source
    # Only the file with the known hash gets the plain name.
    assert data.name == "MiniBooNE (unverified file)"


def test_the_result_is_a_read_only_memory_map(file: Path) -> None:
    X = miniboone(file, sha256=DIGEST).X
    assert isinstance(X, np.memmap)
    assert X.dtype == np.float64 and X.flags.c_contiguous and not X.flags.writeable


@pytest.mark.slow
def test_the_full_size_is_parsed_and_counted_as_in_the_paper(tmp_path: Path) -> None:
    text = miniboone_text.full()
    # The real file has as many bytes: the layout is the true one.
    assert len(text) == 91_174_877
    file = tmp_path / "MiniBooNE_PID.txt"
    file.write_bytes(text)
    data = miniboone(file, sha256=None)
    assert data.X.shape == (129_592, 50)
    assert [count for _, count in data.removed] == [471, 1]
    np.testing.assert_allclose(data.X.mean(axis=0), 0.0, atol=1e-13)
    np.testing.assert_allclose(data.X.std(axis=0), 1.0, rtol=1e-12)
    assert miniboone(file, sha256=None).sha256 == data.sha256


def test_the_order_of_places(file: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {place: miniboone_text.small(seed) for seed, place in enumerate(["path", "variable", "cache"], 10)}
    digests = {hashlib.sha256(text).hexdigest(): place for place, text in texts.items()}

    def found(**options: object) -> str:
        source = miniboone(sha256=None, **options).source  # type: ignore[arg-type]
        return next(place for digest, place in digests.items() if digest in source)

    cache.mkdir()
    (cache / "MiniBooNE_PID.txt").write_bytes(texts["cache"])
    assert found() == "cache"
    other = tmp_path / "other.txt"
    other.write_bytes(texts["variable"])
    monkeypatch.setenv("NYSTROM_MINIBOONE", str(other))
    assert found() == "variable"
    file.write_bytes(texts["path"])
    assert found(path=file) == "path"


def test_a_folder_or_an_archive_will_do(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = miniboone(file, sha256=DIGEST).sha256
    assert miniboone(file.parent, sha256=DIGEST).sha256 == expected
    archive = file.parent / "miniboone+particle+identification.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("readme.txt", "something else")
        packed.writestr("MiniBooNE_PID.txt", TEXT)
    assert miniboone(archive, sha256=DIGEST).sha256 == expected
    file.unlink()
    monkeypatch.setenv("NYSTROM_MINIBOONE", str(file.parent))
    assert miniboone(sha256=DIGEST, ddof=1).N == 72


def test_a_named_place_without_the_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError, match=r"path names .*nowhere\.txt"):
        miniboone(tmp_path / "nowhere.txt")
    with pytest.raises(FileNotFoundError, match="path names"):
        miniboone(tmp_path)
    monkeypatch.setenv("NYSTROM_MINIBOONE", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="the environment variable NYSTROM_MINIBOONE names"):
        miniboone()


def test_absent_data(cache: Path) -> None:
    assert miniboone().stand_in
    assert not cache.exists()
    with pytest.raises(FileNotFoundError, match="MiniBooNE is not here: name the file"):
        miniboone(stand_in="never")


def test_bad_arguments_are_refused_in_a_sentence(file: Path) -> None:
    with pytest.raises(ValueError, match="stand_in is 'yes'; it must be 'auto', 'never' or 'always'"):
        miniboone(stand_in="yes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="it must be left out"):
        miniboone(file, stand_in="always")
    with pytest.raises(ValueError, match="ddof is 3; it must be 0"):
        miniboone(file, ddof=3)


def test_another_file_is_refused(file: Path) -> None:
    with pytest.raises(ValueError, match=f"its sha256 is {DIGEST}, not 577ab8bc"):
        miniboone(file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.partition(b"\n")[2], "its first line is .*; it must hold two counts"),
        (
            lambda text: text.replace(b" 30 50", b" 30 51"),
            "it has 80 rows of 50 numbers, .* announces 81 of 50",
        ),
        (lambda text: text[:-20], "columns"),
        (lambda text: text.replace(b"E+03", b"E+xx", 1), "could not convert"),
        (lambda text: "é".encode() + text, "first line"),
        (lambda text: b"", "first line"),
    ],
    ids=["no header", "wrong count", "cut short", "no number", "not ascii", "empty"],
)
def test_another_layout_is_refused(file: Path, change: object, message: str) -> None:
    file.write_bytes(change(TEXT))  # type: ignore[operator]
    with pytest.raises(ValueError, match=rf"MiniBooNE_PID\.txt is not laid out as .*{message}"):
        miniboone(file, sha256=None)


@pytest.mark.parametrize("kind", ["without the text", "cut short"])
def test_a_bad_archive_is_named(tmp_path: Path, kind: str) -> None:
    archive = tmp_path / "miniboone.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("other.txt" if kind == "without the text" else "MiniBooNE_PID.txt", TEXT)
    if kind == "cut short":
        raw = archive.read_bytes()
        # The directory at the end stays, so that it is still recognised as an archive.
        archive.write_bytes(raw[:3000] + bytes(3000) + raw[6000:])
    with pytest.raises(ValueError, match=r"miniboone\.zip is an archive (without|that cannot)"):
        miniboone(archive, sha256=None)


class TestCache:
    def test_it_is_used_instead_of_the_text(self, file: Path, cache: Path) -> None:
        cache.mkdir()
        fetched = cache / "MiniBooNE_PID.txt"
        file.rename(fetched)
        first = miniboone(sha256=DIGEST)
        fetched.unlink()
        # The parsed matrix serves for other preparations, too.
        assert miniboone(sha256=DIGEST).sha256 == first.sha256
        assert miniboone(sha256=DIGEST, clean=False).N == 80

    def test_nothing_but_whole_files_is_left(self, file: Path, cache: Path) -> None:
        miniboone(file, sha256=DIGEST)
        assert {path.suffix for path in cache.iterdir()} == {".npy", ".json"}
        assert len(list(cache.iterdir())) == 4

    @pytest.mark.parametrize("which", ["parsed", "clean-standardised0"])
    @pytest.mark.parametrize("kind", ["value", "cut short", "header", "record", "no record"])
    def test_damage_is_noticed_and_named(self, file: Path, cache: Path, which: str, kind: str) -> None:
        expected = miniboone(file, sha256=DIGEST).sha256
        (matrix,) = cache.glob(f"*-{which}-v*.npy")
        record = matrix.with_suffix(".json")
        raw = bytearray(matrix.read_bytes())
        if kind == "value":
            raw[-3] ^= 1
        elif kind == "header":
            raw[0] ^= 1
        elif kind == "cut short":
            del raw[-8:]
        matrix.write_bytes(raw)
        if kind == "record":
            record.write_text(json.dumps({"sha256": DIGEST}), encoding="utf-8")
        if kind == "no record":
            record.unlink()
        if which == "parsed":
            for path in cache.glob("*-clean-*"):
                path.unlink()
        if kind == "no record":  # as after a process was killed between the two files
            assert miniboone(file, sha256=DIGEST).sha256 == expected
            return
        damaged = record if kind == "record" else matrix
        with pytest.raises(DamagedFileError, match=f"The cache file .*{damaged.name} is damaged"):
            miniboone(file, sha256=DIGEST)
        damaged.unlink()
        assert miniboone(file, sha256=DIGEST).sha256 == expected

    def test_a_damaged_fetched_text_is_named(self, cache: Path) -> None:
        cache.mkdir()
        (cache / "MiniBooNE_PID.txt").write_bytes(TEXT + b"x")
        with pytest.raises(DamagedFileError, match=r"MiniBooNE_PID\.txt is damaged .* fetch it again"):
            miniboone(sha256=DIGEST)

    def test_pickled_objects_are_not_loaded(self, file: Path, cache: Path) -> None:
        miniboone(file, sha256=DIGEST)
        for matrix in cache.glob("*.npy"):
            np.save(matrix, np.array([{}], dtype=object), allow_pickle=True)
        with pytest.raises(DamagedFileError, match="damaged"):
            miniboone(file, sha256=DIGEST)

    def test_a_folder_that_cannot_be_written_costs_only_memory(self, file: Path, cache: Path) -> None:
        expected = miniboone(file, sha256=DIGEST).sha256
        for path in cache.iterdir():
            path.unlink()
        cache.rmdir()
        cache.write_text("a file where the folder should be")
        with pytest.warns(UserWarning, match="cannot be written .* set NYSTROM_CACHE"):
            data = miniboone(file, sha256=DIGEST)
        assert data.sha256 == expected and not data.X.flags.writeable

    def test_a_full_disk_costs_only_memory(self, file: Path, cache: Path) -> None:
        # A limit on the size of a file fails in the same place as a disk without room.
        code = f"""
import resource, warnings
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
from nystrom_lib.datasets import miniboone
with warnings.catch_warnings(record=True) as caught:
    print(miniboone({str(file)!r}, sha256={DIGEST!r}).sha256)
print(caught[0].message)
"""
        root = Path(__file__).parents[3]
        run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
        digest, warning = run.stdout.splitlines()
        assert "File too large" in warning and "held in memory" in warning
        assert list(cache.iterdir()) == []
        assert miniboone(file, sha256=DIGEST).sha256 == digest

    @pytest.mark.slow
    def test_killed_while_writing(self, tmp_path: Path, cache: Path) -> None:
        """Whenever a process is killed, the next one finds a whole cache or none."""
        file = tmp_path / "MiniBooNE_PID.txt"
        file.write_bytes(miniboone_text.small(4, 1000, 3000))
        code = (
            "import sys; from nystrom_lib.datasets import miniboone; print('ready', flush=True)\n"
            f"print(miniboone({str(file)!r}, sha256=None).sha256)"
        )
        root = Path(__file__).parents[3]
        expected = None
        for delay in (0.0, 0.02, 0.04, 0.08, None):
            process = subprocess.Popen(
                [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=root, env=os.environ
            )
            assert process.stdout and process.stdout.readline() == "ready\n"
            if delay is None:
                expected = process.communicate()[0].strip()
                assert process.returncode == 0
            else:
                time.sleep(delay)
                process.kill()
                process.communicate()
        assert miniboone(file, sha256=None).sha256 == expected

    def test_what_a_killed_process_left_is_swept_after_a_day(self, file: Path, cache: Path) -> None:
        cache.mkdir()
        old, new = cache / "old.npy.1234.part", cache / "new.npy.1234.part"
        for path in (old, new):
            path.write_bytes(b"half")
        folder = cache / "fetch-abcd.part"
        folder.mkdir()
        (folder / "tmp").write_bytes(b"half")
        for path in (old, folder):
            os.utime(path, (time.time() - 2 * 86400,) * 2)
        miniboone(file, sha256=DIGEST)
        assert not old.exists() and not folder.exists() and new.exists()


def check_summary(X: np.ndarray, path: Path) -> None:
    """Compare the columns with a table of their statistics, printed to three decimals."""
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            x = X[:, int(row.pop("column"))]
            quantiles = np.quantile(x, [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0])
            found = dict(zip(STATISTICS, [x.mean(), x.std(ddof=1), *quantiles], strict=True))
            printed = {key: float(value) for key, value in row.items()}
            assert found == pytest.approx(printed, rel=1e-6, abs=6e-4)


STATISTICS = ("mean", "std", "min", "p10", "p25", "p50", "p75", "p90", "max")
SUMMARY_OF_0_TO_4 = (
    "column,mean,std,min,p10,p25,p50,p75,p90,max\n0,2.000,1.581,0.000,0.400,1.000,2.000,3.000,3.600,{}\n"
)


def test_a_summary_tells_right_columns_from_wrong_ones(tmp_path: Path) -> None:
    X, table = np.arange(5.0)[:, None], tmp_path / "summary.csv"
    table.write_text(SUMMARY_OF_0_TO_4.format("4.000"), encoding="utf-8")
    check_summary(X, table)
    table.write_text(SUMMARY_OF_0_TO_4.format("4.002"), encoding="utf-8")
    with pytest.raises(AssertionError):
        check_summary(X, table)


#: Read before the fixtures hide the user's settings.
REAL = os.environ.get("NYSTROM_MINIBOONE")
#: A table of published statistics of the raw columns, if there is one to check a real download with.
SUMMARY = os.environ.get("NYSTROM_MINIBOONE_SUMMARY")


@pytest.mark.skipif(not REAL, reason="the real MiniBooNE file is not here (NYSTROM_MINIBOONE is not set)")
def test_the_real_file() -> None:
    data = miniboone(REAL, stand_in="never")
    assert data.name == "MiniBooNE"
    assert data.X.shape == (129_592, 50)
    assert [count for _, count in data.removed] == [471, 1]
    assert miniboone(REAL, stand_in="never", clean=False, standardise=False).N == 130_064


@pytest.mark.skipif(
    not (REAL and SUMMARY), reason="NYSTROM_MINIBOONE and NYSTROM_MINIBOONE_SUMMARY do not both name a file"
)
def test_the_real_file_has_the_published_statistics() -> None:
    raw = miniboone(REAL, stand_in="never", clean=False, standardise=False)
    check_summary(raw.X, Path(str(SUMMARY)))
