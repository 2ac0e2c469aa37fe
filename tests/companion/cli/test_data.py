"""``nystrom data``."""

from pathlib import Path

from nystrom_lib import datasets

from .conftest import call, fine, refused


def test_list_names_size_and_source(tmp_path: Path) -> None:
    said = fine(call("data", "list", cwd=tmp_path, NYSTROM_CACHE=str(tmp_path / "cache"), NYSTROM_MINIBOONE=""))
    rows = {line.split()[0]: line for line in said.splitlines()[2:6]}
    assert list(rows) == list(datasets.REGISTRY)
    assert "4,175" in rows["abalone"] and "18,905" in rows["magic"]
    assert "MiniBooNE stand-in" in rows["miniboone"]
    assert str(tmp_path / "cache") in said


def test_check_reads_every_set(tmp_path: Path) -> None:
    said = fine(call("data", "check", "abalone", "magic", "bigaussian", cwd=tmp_path))
    assert [line.split(",")[0] for line in said.splitlines()] == [
        "abalone: intact", "magic: intact", "bigaussian: intact"
    ]  # fmt: skip
    assert datasets.abalone().sha256[:16] in said


def test_miniboone_must_be_here_only_if_it_is_named(tmp_path: Path) -> None:
    away = {"NYSTROM_CACHE": str(tmp_path / "cache"), "NYSTROM_MINIBOONE": ""}
    assert "miniboone: not here; its stand-in is used" in fine(call("data", "check", cwd=tmp_path, **away))
    assert "MiniBooNE is not here" in refused(call("data", "check", "miniboone", cwd=tmp_path, **away), 1)


def test_fetch_without_a_network_says_so(tmp_path: Path) -> None:
    nobody = "http://127.0.0.1:9"
    away = {"NYSTROM_CACHE": str(tmp_path / "cache"), "https_proxy": nobody, "HTTPS_PROXY": nobody, "no_proxy": ""}
    said = refused(call("data", "fetch", "--retries", "0", cwd=tmp_path, **away), 1)
    assert "MiniBooNE could not be fetched" in said and "NYSTROM_MINIBOONE" in said
    assert "abalone: nothing to fetch" in fine(call("data", "fetch", "abalone", cwd=tmp_path))
