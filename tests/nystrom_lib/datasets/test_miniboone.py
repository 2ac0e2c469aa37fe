"""MiniBooNE: layout, cleaning, where it is looked for, and its cache."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from nystrom_lib.datasets import DamagedFileError, miniboone, miniboone_sample
from tests.nystrom_lib.datasets import miniboone_text

TEXT = miniboone_text.small()
DIGEST = hashlib.sha256(TEXT).hexdigest()
ROOT = Path(__file__).parents[3]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "MiniBooNE_PID.txt"
    path.parent.mkdir()
    path.write_bytes(TEXT)
    return path


def test_cleaning(file: Path) -> None:
    everything = miniboone(file, sha256=DIGEST, clean=False, standardise=False)
    kept = miniboone(file, sha256=DIGEST, standardise=False)
    assert (everything.N, kept.N) == (80, 72)
    assert kept.removed == (
        ("rows with missing values (any value at or below -999)", 7),
        ("outlier: feature 19 at or above 1,000,000", 1),
    )
    gone = {1, 5, 6, 32, 33, 37, 39, 50}
    np.testing.assert_array_equal(everything.X, miniboone_text.rows())
    np.testing.assert_array_equal(kept.X, everything.X[[i for i in range(80) if i not in gone]])
    data = miniboone(file, sha256=DIGEST)
    np.testing.assert_array_equal(data.X, (kept.X - kept.X.mean(axis=0)) / kept.X.std(axis=0))


def test_every_field_is_filled(file: Path) -> None:
    data = miniboone(file, sha256=DIGEST)
    assert not data.stand_in
    assert "Roe" in data.citation and "CC BY 4.0" in data.licence
    assert len(data.columns) == data.d == 50
    assert DIGEST in data.source
    # Only the file with the known hash gets the plain name.
    assert data.name == "MiniBooNE (unverified file)"


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


def test_an_archive_will_do(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = miniboone(file, sha256=DIGEST).sha256
    archive = file.parent / "miniboone+particle+identification.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("readme.txt", "something else")
        packed.writestr("MiniBooNE_PID.txt", TEXT)
    assert miniboone(archive, sha256=DIGEST).sha256 == expected
    monkeypatch.setenv("NYSTROM_MINIBOONE", str(archive))
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
    data = miniboone()
    assert data.sha256 == "da6c55996338baa516b5a0833d1287e7f1bed351a253330f331e1147fdf0beef"
    assert data.stand_in and data.name == "MiniBooNE stand-in" and "Roe" not in data.citation and data.removed == ()
    assert data.citation.startswith("Stand-in, not the MiniBooNE data")
    assert all(column.startswith("stand-in") for column in data.columns)
    assert not cache.exists()
    with pytest.raises(FileNotFoundError, match="MiniBooNE is not here: name the file"):
        miniboone(stand_in="never")


def test_another_file_is_refused(file: Path) -> None:
    with pytest.raises(ValueError, match=f"its sha256 is {DIGEST}, not 577ab8bc"):
        miniboone(file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.partition(b"\n")[2], "invalid literal for int"),
        (lambda text: text.replace(b" 30 50", b" 30 51"), "it has 80 rows of 50 numbers, not 81 of 50"),
        (lambda text: text[:-30], "columns"),
        (lambda text: text.replace(b"E+03", b"E+xx", 1), "could not convert"),
    ],
    ids=["no header", "wrong count", "cut short", "no number"],
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
    with pytest.raises(ValueError, match=r"miniboone\.zip is an archive without"):
        miniboone(archive, sha256=None)


def test_a_damaged_fetched_text_is_named(cache: Path) -> None:
    cache.mkdir()
    (cache / "MiniBooNE_PID.txt").write_bytes(TEXT + b"x")
    with pytest.raises(DamagedFileError, match=r"MiniBooNE_PID\.txt is not .* fetch it again"):
        miniboone(sha256=DIGEST)


#: Read before the fixtures hide the user's settings.
REAL = os.environ.get("NYSTROM_MINIBOONE")


@pytest.mark.skipif(not REAL, reason="the real MiniBooNE file is not here (NYSTROM_MINIBOONE is not set)")
def test_the_real_file() -> None:
    data = miniboone(REAL, stand_in="never")
    assert data.name == "MiniBooNE"
    assert data.X.shape == (129_592, 50)
    assert [count for _, count in data.removed] == [471, 1]
    assert miniboone(REAL, stand_in="never", clean=False, standardise=False).N == 130_064


#: The file of the public sample, beside the checkout or named.
SAMPLE = Path(os.environ.get("NYSTROM_MINIBOONE_SAMPLE", ROOT.parent / "shared" / "data" / "miniboone_sample.csv"))


def test_another_sample_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sample.csv").write_text("f1,f2\n1,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"sample\.csv is not the expected file: its sha256 is .*, not 9baba7a4"):
        miniboone_sample(tmp_path / "sample.csv")
    with pytest.raises(FileNotFoundError, match="which is not a file"):
        miniboone_sample(tmp_path / "absent.csv")


@pytest.mark.skipif(not SAMPLE.is_file(), reason="the public sample of MiniBooNE is absent (NYSTROM_MINIBOONE_SAMPLE)")
def test_the_sample(cache: Path) -> None:
    data = miniboone_sample(SAMPLE)
    assert data.X.shape == (5027, 50) and data.removed == (("rows with missing values", 17),)
    assert not data.stand_in and "Roe" in data.citation and len(data.columns) == 50
    np.testing.assert_allclose(data.X.mean(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(data.X.std(axis=0), 1.0, rtol=1e-12)
    assert np.unique(data.X, axis=0).shape == data.X.shape  # the rows without values were copies of one another
    cache.mkdir()
    (cache / "miniboone_sample.csv").write_bytes(SAMPLE.read_bytes())
    assert miniboone_sample().sha256 == data.sha256
