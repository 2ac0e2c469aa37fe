"""Abalone and MAGIC: the counts of the paper, the hashes of the values, damage."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from nystrom_lib.datasets import DamagedFileError, Dataset, _packaged, abalone, magic, sha256_of

FILES = _packaged.FILES

RAW = {
    "abalone.data.gz": (191_873, "de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f"),
    "magic04.data.gz": (1_477_391, "e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a"),
}
#: Of the columns before they are standardised.
SEVEN_ALL = "ba8437b59b9ec236e084e48e4be7f33de64f7781c51495a954b762fceda50097"
SEVEN_KEPT = "5c8008674f2df43760a01f5db032df48c8e4be2679dd0e657c4e5ae77e0abe29"
RINGS_ALL = "35ae826d2c93c66ac2d1de8b4305d564ca9e70cc7d0fed2adb494a02d8c38edf"
RINGS_KEPT = "19a4ceab0e7a4a3173941d0db0a486ccea6b9444c5830fb4c6bd755ae07cf925"
MAGIC_ALL = "a187636bde656beea2c6c1c8a509e8d3afb74f9ec454493000d391e56aa061a4"
MAGIC_KEPT = "2521fc7abb3d2bfe55b24d5e0375c0cad7adfa2a3f58d54324d21a8959704a76"


@pytest.mark.parametrize("name", RAW)
def test_the_packaged_files_are_the_repositorys(name: str) -> None:
    raw = gzip.decompress((FILES / name).read_bytes())
    assert (len(raw), hashlib.sha256(raw).hexdigest()) == RAW[name]


def test_the_licence_is_beside_the_files() -> None:
    text = (FILES / "LICENCE.txt").read_text(encoding="utf-8")
    for wanted in ("CC BY 4.0", "10.24432/C55C7W", "10.24432/C52C8B", *(digest for _, digest in RAW.values())):
        assert wanted in text


def test_abalone_before_standardising() -> None:
    everything, kept = abalone(clean=False, standardise=False), abalone(standardise=False)
    assert (everything.N, kept.N, kept.d) == (4177, 4175, 8)
    assert everything.removed == ()
    assert kept.removed == (("outliers: height above 0.5", 2),)
    assert sha256_of(everything.X[:, 1:]) == SEVEN_ALL
    assert sha256_of(kept.X[:, 1:]) == SEVEN_KEPT
    # F, I, M = 1, 2, 3; the file has 1,307, 1,342 and 1,528 of them.
    assert np.unique(everything.X[:, 0], return_counts=True)[1].tolist() == [1307, 1342, 1528]
    assert everything.X[[0, 2, 4], 0].tolist() == [3.0, 1.0, 2.0]
    # The two rows of height 0 stay, the two highest go.
    height = kept.X[:, kept.columns.index("height")]
    assert (height == 0).sum() == 2 and height.max() <= 0.5
    assert sorted(everything.X[[1417, 2051], 3]) == [0.515, 1.13]


def test_abalone_with_rings() -> None:
    assert abalone("rings", clean=False, standardise=False).sha256 == RINGS_ALL
    kept = abalone("rings", standardise=False)
    assert kept.sha256 == RINGS_KEPT
    assert kept.columns[-1] == "rings" and "sex" not in kept.columns
    assert "rings" in kept.name


def test_magic_before_standardising() -> None:
    everything, kept = magic(clean=False, standardise=False), magic(standardise=False)
    assert (everything.N, kept.N, kept.d) == (19_020, 18_905, 10)
    assert kept.removed == (("repeats of an earlier row", 115),)
    assert everything.sha256 == MAGIC_ALL
    assert kept.sha256 == MAGIC_KEPT


@pytest.mark.parametrize(
    ("data", "digest"),
    [
        (abalone(), "f913afd8cea8361e4069c19d42c25bb61dc74d36b9748e606b2ea028b45b3a73"),
        (abalone("rings"), "c675a5c776bda67a73e1cd1c281ce286edbeb02129f0fd78e43542112a5e0c32"),
        (magic(), "3872028a2346a01dca4ee887dbccf9e28cb596c19ba1fea6739de91433133128"),
    ],
    ids=["abalone", "rings", "magic"],
)
def test_the_result_is_fixed_to_the_last_bit(data: Dataset, digest: str) -> None:
    assert data.sha256 == digest == sha256_of(data.X)


def test_the_points_cannot_be_changed() -> None:
    X = abalone().X
    with pytest.raises(ValueError, match="read-only"):
        X[0, 0] = 1.0
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        X.flags.writeable = True


@pytest.mark.parametrize("kind", ["one digit", "cut short"])
def test_a_damaged_file_is_named(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_packaged, "FILES", tmp_path)
    raw = (FILES / "abalone.data.gz").read_bytes()
    changed = gzip.compress(gzip.decompress(raw).replace(b"0.455", b"0.456", 1), mtime=0)
    (tmp_path / "abalone.data.gz").write_bytes(changed if kind == "one digit" else raw[: len(raw) // 2])
    with pytest.raises(DamagedFileError, match=r"abalone\.data\.gz is missing or damaged"):
        abalone()
    with pytest.raises(DamagedFileError, match=r"magic04\.data\.gz is missing or damaged"):
        magic()
