"""References: every citation has its entry, and every entry what a reader needs to find the work."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pybtex.database import BibliographyData, parse_file

CITATION = re.compile(r"\{cite:\w+\}`([^`]+)`")


@pytest.fixture(scope="module")
def entries(root: Path) -> BibliographyData:
    return parse_file(str(root / "book" / "references.bib"))


def prose(root: Path) -> dict[str, str]:
    """The text of every page and of every notebook's prose, by file."""
    found = {
        str(path.relative_to(root)): path.read_text(encoding="utf-8")
        for path in sorted((root / "book").rglob("*.md"))
        if not {"notebooks", "_build"} & set(path.relative_to(root / "book").parts)
    }
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        found[path.name] = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return found


def cited(text: str) -> set[str]:
    return {key.strip() for keys in CITATION.findall(text) for key in keys.split(",")}


def test_every_citation_has_an_entry(root: Path, entries: BibliographyData) -> None:
    """Catches a citation of nothing, which a reader would meet as a question mark."""
    citations = {page: cited(text) for page, text in prose(root).items()}
    assert set().union(*citations.values()), "no page cites anything"
    unknown = {page: keys - set(entries.entries) for page, keys in citations.items()}
    assert {page: keys for page, keys in unknown.items() if keys} == {}


def test_every_entry_can_be_found_by_a_reader(entries: BibliographyData) -> None:
    """Catches an entry without author, title or year, or an article without its journal."""
    lacking = {
        key: [name for name in ("title", "year") if not entry.fields.get(name)]
        + ([] if entry.persons.get("author") else ["author"])
        + (["journal"] if entry.type == "article" and not entry.fields.get("journal") else [])
        for key, entry in entries.entries.items()
    }
    assert {key: what for key, what in lacking.items() if what} == {}
    assert len(entries.entries) >= 20
