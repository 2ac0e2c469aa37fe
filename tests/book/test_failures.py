"""What must stop a build does stop it, with a sentence; and the book by plain Jupyter Book."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from companion import book
from companion.book.rendering import render
from companion.chapters import CHAPTERS
from companion.errors import ChapterError, ConfigurationError

CONFIG = """
title: Small
only_build_toc_files: true
execute: {execute_notebooks: "off"}
latex: {use_jupyterbook_latex: false}
sphinx:
  config:
    extensions: [myst_nb, jupyter_book, sphinx_external_toc, sphinx_book_theme, sphinx_comments]
    nb_ipywidgets_js: {}
    mathjax_path: none.js
    html_static_path: [static]
"""
JUPYTER_BOOK = Path(sys.executable).with_name("jupyter-book")


def small_source(folder: Path, text: str) -> Path:
    (folder / "static").mkdir(parents=True)
    (folder / "static" / "none.js").write_text("", encoding="utf-8")
    (folder / "_toc.yml").write_text("format: jb-book\nroot: index\n", encoding="utf-8")
    (folder / "_config.yml").write_text(CONFIG, encoding="utf-8")
    (folder / "index.md").write_text(text, encoding="utf-8")
    return folder


def test_a_warning_stops_the_build(tmp_path: Path) -> None:
    source = small_source(tmp_path / "source", "# Title\n\nSee {ref}`nowhere`.\n")
    with pytest.raises(book.BookError, match=r"did not build the book:\n.*undefined label: 'nowhere'"):
        render(source, tmp_path, source / "_config.yml")


def test_a_page_that_loads_from_another_host_stops_the_build(tmp_path: Path) -> None:
    text = '# Title\n\n```{raw} html\n<script src="https://cdn.example.org/x.js"></script>\n```\n'
    source = small_source(tmp_path / "source", text)
    with pytest.raises(book.BookError, match=r"index\.html loads https://cdn\.example\.org/x\.js"):
        render(source, tmp_path, source / "_config.yml")


def test_a_broken_notebook_stops_the_build(tmp_path: Path, root: Path) -> None:
    notebooks = shutil.copytree(root / "notebooks", tmp_path / "notebooks")
    for chapter in CHAPTERS.values():
        path = notebooks / chapter.file
        notebook = json.loads(path.read_text(encoding="utf-8"))
        first = next(cell for cell in notebook["cells"] if "parameters" in cell["metadata"].get("tags", []))
        first["source"] = "raise ValueError('broken on purpose')"
        path.write_text(json.dumps(notebook), encoding="utf-8")
    with pytest.raises(ChapterError, match=r"Chapter \w+ stopped at cell \d+.*broken on purpose") as caught:
        book.build(notebooks=notebooks, out=tmp_path, jobs=1, say=lambda _: None)
    assert caught.value.chapter in CHAPTERS and not (tmp_path / "_build" / "html").exists()


def test_missing_results_stop_the_build(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    with pytest.raises(book.BookError, match=r"results/ holds no results of figure-2-n20, .*`make paper`"):
        book.build(False, results=tmp_path / "results", out=tmp_path, say=lambda _: None)


def test_no_cores_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="jobs is 0; it must be at least 1"):
        book.build(jobs=0, out=tmp_path)


def test_jupyter_book_in_the_wrong_folder_says_what_to_type(root: Path) -> None:
    """``jupyter-book build .``"""
    done = subprocess.run([JUPYTER_BOOK, "build", "."], cwd=root, capture_output=True, text=True)
    last = done.stderr.strip().splitlines()[-1]
    assert last == "The book is in the folder book; type: jupyter-book build book --config _config.yml"
    assert done.returncode == 1 and "Traceback" not in done.stderr


@pytest.mark.slow
def test_plain_jupyter_book_builds_the_book_without_warnings(root: Path, tmp_path: Path) -> None:
    """``jupyter-book build book --config _config.yml`` in a checkout with nothing generated."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--shared", root, clone], check=True)
    command = [JUPYTER_BOOK, "build", "book", "--config", "_config.yml", "-W", "-n", "--keep-going"]
    done = subprocess.run(command, cwd=clone, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (clone / "_build" / "html" / "notebooks" / "05_bigaussian.html").read_text(encoding="utf-8")
    assert "Figure 5.1 (the paper's Figure 1)" in page.replace("’", "'")
