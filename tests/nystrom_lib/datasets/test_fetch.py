"""Fetching MiniBooNE by a transfer that succeeds, fails or is interrupted."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests

from nystrom_lib.datasets import FetchError, fetch_miniboone, miniboone
from tests.nystrom_lib.datasets import miniboone_text

TEXT = miniboone_text.small()
DIGEST = hashlib.sha256(TEXT).hexdigest()
URL = "http://127.0.0.1/miniboone.zip"


def zipped(text: bytes, name: str = "MiniBooNE_PID.txt") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, text)
    return packed.getvalue()


GOOD = zipped(TEXT)
#: What a transfer writes; an exception is raised after half of a good archive.
TRANSFERS: dict[str, Any] = {
    "good": GOOD,
    "plain": TEXT,
    "ends early": GOOD[: len(GOOD) // 2],
    "other text": zipped(TEXT + b" "),
    "other member": zipped(TEXT, "readme.txt"),
    "refused": requests.ConnectionError("connection refused"),
    "interrupted": KeyboardInterrupt(),
}


class Transfers:
    """Stands in for pooch's downloader: transfer after transfer as ``script`` says, the last for all others."""

    def __init__(self) -> None:
        self.script = ["good"]
        self.count = 0

    def __call__(self, url: str, output_file: str, _: Any) -> None:
        found = TRANSFERS[self.script[min(self.count, len(self.script) - 1)]]
        self.count += 1
        if isinstance(found, BaseException):
            Path(output_file).write_bytes(GOOD[: len(GOOD) // 2])
            raise found
        Path(output_file).write_bytes(found)


@pytest.fixture
def transfers(monkeypatch: pytest.MonkeyPatch) -> Transfers:
    made = Transfers()
    monkeypatch.setattr("pooch.HTTPDownloader", lambda **options: made)
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda seconds: None))  # between two attempts
    return made


def fetch() -> Path:
    return fetch_miniboone(url=URL, sha256=DIGEST)


@pytest.mark.parametrize("kind", ["good", "plain"])
def test_fetched_checked_and_used(transfers: Transfers, cache: Path, kind: str) -> None:
    transfers.script = [kind]
    path = fetch()
    assert path == cache / "MiniBooNE_PID.txt"
    assert path.read_bytes() == TEXT
    assert [found.name for found in cache.iterdir()] == ["MiniBooNE_PID.txt"]
    data = miniboone(sha256=DIGEST, stand_in="never")
    assert data.N == 72 and not data.stand_in


def test_a_cached_file_is_fetched_again_only_if_it_is_damaged(transfers: Transfers) -> None:
    path = fetch()
    fetch()
    assert transfers.count == 1
    path.write_bytes(TEXT[:-1])
    assert fetch().read_bytes() == TEXT and transfers.count == 2


@pytest.mark.parametrize("kind", ["ends early", "other text", "refused"])
def test_a_failed_transfer_is_tried_again(transfers: Transfers, kind: str) -> None:
    transfers.script = [kind, "good"]
    assert fetch().read_bytes() == TEXT and transfers.count == 2


@pytest.mark.parametrize("kind", ["ends early", "other member", "refused"])
def test_failure_leaves_nothing_and_says_why(transfers: Transfers, cache: Path, kind: str) -> None:
    transfers.script = [kind]
    with pytest.raises(FetchError, match=r"could not be fetched from http://127.* in 5 attempts: .* given as path"):
        fetch()
    assert list(cache.iterdir()) == []
    assert miniboone().stand_in


def test_interrupted_in_the_middle(transfers: Transfers, cache: Path) -> None:
    transfers.script = ["interrupted", "good"]
    with pytest.raises(KeyboardInterrupt):
        fetch()
    assert list(cache.iterdir()) == []
    assert fetch().read_bytes() == TEXT


def test_nothing_else_uses_the_network(root: Path) -> None:
    code = """
import sys
def watch(event, arguments):
    if event.startswith("socket.") and event != "socket.__new__":
        raise RuntimeError(f"the network was touched: {event}")
sys.addaudithook(watch)
from nystrom_lib.datasets import abalone, bigaussian, magic, miniboone
for load in (bigaussian, abalone, magic, miniboone):
    print(load().name)
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split("\n")[:-1] == ["bi-Gaussian", "Abalone", "MAGIC", "MiniBooNE stand-in"]
