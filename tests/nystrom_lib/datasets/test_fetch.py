"""Fetching MiniBooNE, from a server on this machine that behaves well, badly, or not at all."""

from __future__ import annotations

import hashlib
import io
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from nystrom_lib.datasets import FetchError, fetch_miniboone, miniboone
from tests.nystrom_lib.datasets import miniboone_text

TEXT = miniboone_text.small(signal=300, background=500)
DIGEST = hashlib.sha256(TEXT).hexdigest()
ROOT = Path(__file__).parents[3]


def zipped(text: bytes, name: str = "MiniBooNE_PID.txt") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, text)
    return packed.getvalue()


GOOD = zipped(TEXT)


class Server(ThreadingHTTPServer):
    """Answers request after request as the list ``script`` says; its last entry holds for all others."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = ["good"]
        self.requests = 0
        self.release = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/miniboone.zip"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        kind = self.server.script[min(self.server.requests, len(self.server.script) - 1)]
        self.server.requests += 1
        if kind.isdigit():
            self.send_error(int(kind))
            return
        bodies = {
            "other text": zipped(TEXT + b" "),
            "other member": zipped(TEXT, "readme.txt"),
            "plain": TEXT,
        }
        body = bodies.get(kind, GOOD)
        self.send_response(200)
        if kind != "ends early, length unknown":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if kind.startswith("ends early"):
            self.wfile.write(body[: len(body) // 2])
        elif kind == "stalls":
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self.server.release.wait(60)
        else:
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda seconds: None))  # between two attempts
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.05,))
        thread.start()
        yield running
        running.release.set()
        running.shutdown()
        thread.join()


def fetch(server: Server, retries: int = 0, timeout: float = 10.0) -> Path:
    return fetch_miniboone(url=server.url, sha256=DIGEST, retries=retries, timeout=timeout)


@pytest.mark.parametrize("kind", ["good", "plain"])
def test_fetched_checked_and_used(server: Server, cache: Path, kind: str) -> None:
    server.script = [kind]
    path = fetch(server)
    assert path == cache / "MiniBooNE_PID.txt"
    assert path.read_bytes() == TEXT
    assert [found.name for found in cache.iterdir()] == ["MiniBooNE_PID.txt"]
    data = miniboone(sha256=DIGEST, stand_in="never")
    assert data.N == 792 and not data.stand_in


def test_the_network_is_left_alone_when_the_file_is_there(server: Server) -> None:
    fetch(server)
    fetch(server)
    assert server.requests == 1


def test_a_damaged_cached_file_is_fetched_again(server: Server) -> None:
    path = fetch(server)
    path.write_bytes(TEXT[:-1])
    assert fetch(server).read_bytes() == TEXT
    assert server.requests == 2


@pytest.mark.parametrize("kind", ["ends early", "other text", "503"])
def test_a_failed_transfer_is_tried_again(server: Server, kind: str) -> None:
    server.script = [kind, "good"]
    assert fetch(server, retries=1).read_bytes() == TEXT
    assert server.requests == 2


@pytest.mark.parametrize("kind", ["ends early, length unknown", "other member", "404"])
def test_failure_leaves_nothing_and_says_why(server: Server, cache: Path, kind: str) -> None:
    server.script = [kind]
    wanted = r"could not be fetched from http://127.* in 1 attempts: .* can be given as path"
    with pytest.raises(FetchError, match=wanted):
        fetch(server)
    assert list(cache.iterdir()) == []
    assert miniboone().stand_in


def test_a_failed_attempt_keeps_the_file_that_was_there(server: Server, cache: Path) -> None:
    cache.mkdir()
    (cache / "MiniBooNE_PID.txt").write_bytes(b"an older one")
    server.script = ["404"]
    with pytest.raises(FetchError, match="404"):
        fetch(server)
    assert (cache / "MiniBooNE_PID.txt").read_bytes() == b"an older one"


def test_interrupted_in_the_middle(server: Server, cache: Path) -> None:
    server.script = ["stalls", "good"]
    code = f"from nystrom_lib.datasets import fetch_miniboone as f; f(url={server.url!r}, progress=True)"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.PIPE, env=os.environ)
    # The transfer has begun when half the archive is on disk.
    while not any(path.stat().st_size for path in cache.glob("*.zip")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode != 0
    assert not (cache / "MiniBooNE_PID.txt").exists()
    assert list(cache.iterdir()) == []
    assert fetch(server).read_bytes() == TEXT


def test_nothing_else_uses_the_network() -> None:
    code = """
import sys
def watch(event, arguments):
    if event.startswith("socket.") and event != "socket.__new__":
        raise RuntimeError(f"the network was touched: {event}")
sys.addaudithook(watch)
from nystrom_lib.datasets import REGISTRY
for load in REGISTRY.values():
    print(load().name)
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split("\n")[:-1] == ["bi-Gaussian", "Abalone", "MAGIC", "MiniBooNE stand-in"]
