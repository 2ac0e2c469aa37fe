"""Each test has a cache of its own and sees none of the user's settings."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("NYSTROM_CACHE", str(folder))
    monkeypatch.delenv("NYSTROM_MINIBOONE", raising=False)
    return folder
