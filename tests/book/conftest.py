"""The book, built once for all tests here, from the notebooks as they are committed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from companion.book.__main__ import build

from .browser import Browser, Tab


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder of the pages, built by the first process of the tests that needs it; the others wait."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "book"
    done, failed = folder / "done", folder / "failed"
    try:
        folder.mkdir()
    except FileExistsError:
        while not (done.exists() or failed.exists()):
            time.sleep(0.5)
        assert done.exists(), f"the book could not be built: {failed.read_text(encoding='utf-8')}"
        return folder / "_build" / "html"
    try:
        page = build(execute=False, out=folder)
    except BaseException as error:
        failed.write_text(str(error), encoding="utf-8")
        raise
    done.touch()
    return page.parent


@pytest.fixture(scope="session")
def pages(built: Path) -> dict[str, BeautifulSoup]:
    """Every page of the book proper, by its name without suffix."""
    found = sorted(path for path in built.rglob("*.html") if "_static" not in path.parts)
    names = {path: path.relative_to(built).with_suffix("").as_posix() for path in found}
    return {
        name: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for path, name in names.items()
        # index.html only sends the reader on to the root page; the other two are made by Sphinx.
        if name not in ("index", "genindex", "search", "py-modindex")
    }


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    opened = browser.tab()
    yield opened
    opened.close()  # what moves on its page would go on moving
