"""The table of contents names every page and every chapter, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from companion.chapters import CHAPTERS
from companion.checkout import BOOK


def named(part: dict[str, Any]) -> Iterator[str]:
    for key in ("root", "file"):
        if key in part:
            yield part[key]
    for key in ("parts", "chapters", "sections"):
        for inner in part.get(key, []):
            yield from named(inner)


CONTENTS = list(named(yaml.safe_load((BOOK / "_toc.yml").read_text(encoding="utf-8"))))


def test_every_page_is_named_and_every_name_is_a_page() -> None:
    written = {
        path.relative_to(BOOK).with_suffix("").as_posix()
        for path in BOOK.rglob("*.md")
        if not any(part.startswith("_") for part in path.relative_to(BOOK).parts)
    }
    assert {name for name in CONTENTS if not name.startswith("notebooks/")} == written


def test_every_chapter_is_named_in_order() -> None:
    assert [name for name in CONTENTS if name.startswith("notebooks/")] == [
        f"notebooks/{Path(chapter.file).stem}" for chapter in CHAPTERS.values()
    ]


def test_every_notebook_is_a_chapter(root: Path) -> None:
    assert sorted(path.name for path in (root / "notebooks").glob("*.ipynb")) == sorted(
        chapter.file for chapter in CHAPTERS.values()
    )
