"""What must stop a build stops it; and the book built by plain Jupyter Book."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click import ClickException

from companion.book.__main__ import build, render
from companion.chapters import CHAPTERS

CONFIG = """
title: Small
only_build_toc_files: true
execute: {execute_notebooks: "off"}
latex: {use_jupyterbook_latex: false}
sphinx: {config: {extensions: [myst_nb, jupyter_book, sphinx_external_toc, sphinx_book_theme, sphinx_comments]}}
"""
JUPYTER_BOOK = Path(sys.executable).with_name("jupyter-book")


def test_a_warning_stops_the_build(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "_toc.yml").write_text("format: jb-book\nroot: index\n", encoding="utf-8")
    (source / "_config.yml").write_text(CONFIG, encoding="utf-8")
    (source / "index.md").write_text("# Title\n\nSee {ref}`nowhere`.\n", encoding="utf-8")
    with pytest.raises(ClickException, match=r"did not build the book:\n.*undefined label: 'nowhere'"):
        render(source, tmp_path, source / "_config.yml")


def test_a_chapter_that_fails_stops_the_build(tmp_path: Path, root: Path) -> None:
    notebooks = shutil.copytree(root / "notebooks", tmp_path / "notebooks")
    for chapter in CHAPTERS.values():
        path = notebooks / chapter.file
        notebook = json.loads(path.read_text(encoding="utf-8"))
        first = next(cell for cell in notebook["cells"] if "parameters" in cell["metadata"].get("tags", []))
        first["source"] = "raise ValueError('broken on purpose')"
        path.write_text(json.dumps(notebook), encoding="utf-8")
    with pytest.raises(ClickException, match=r"The chapter \w+.ipynb failed:(.|\n)*broken on purpose"):
        build(notebooks=notebooks, out=tmp_path)
    assert not (tmp_path / "_build" / "html").exists()


@pytest.mark.slow
def test_plain_jupyter_book_builds_the_book_without_warnings(root: Path, tmp_path: Path) -> None:
    """``jupyter-book build book --config _config.yml`` in a clean checkout."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--shared", root, clone], check=True)
    command = [JUPYTER_BOOK, "build", "book", "--config", "_config.yml", "-W", "-n", "--keep-going"]
    done = subprocess.run(command, cwd=clone, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (clone / "_build" / "html" / "notebooks" / "05_bigaussian.html").read_text(encoding="utf-8")
    assert "Figure 5.1 (the paper's Figure 1)" in page.replace("’", "'")
