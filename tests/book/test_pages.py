"""The built pages: what is on them for people who read, listen, search or download."""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup, Tag

import nystrom_lib as nl
from companion.book import lessons
from companion.book.extension import own_repository
from companion.chapters import CHAPTERS
from companion.checkout import RESULTS
from companion.results.table import Results
from companion.wording import number

Pages = dict[str, BeautifulSoup]
CHAPTER_PAGES = [f"notebooks/{Path(chapter.file).stem}" for chapter in CHAPTERS.values()]


def article(page: BeautifulSoup) -> Tag:
    found = page.select_one("article.bd-article")
    assert found is not None
    return found


def address(tag: Tag, attribute: str) -> str:
    value = tag.get(attribute)
    assert isinstance(value, str)
    return value


def test_the_figures_of_the_paper_keep_their_numbers(pages: Pages) -> None:
    """Catches a heading called "Figure 3", which takes the figure's id and with it the paper's number."""
    theirs = []
    for chapter, name in enumerate(CHAPTER_PAGES, start=1):
        captions = [tag.get_text().strip() for tag in pages[name].select("figure .caption-number")]
        numbers = [caption.partition(" (")[0] for caption in captions]
        assert numbers == [f"Figure {chapter}.{place}" for place in range(1, len(captions) + 1)], name
        theirs += [caption.partition(" (")[2] for caption in captions if "(" in caption]
    assert theirs == [f"the paper's Figure {number})" for number in range(1, 6)]


#: Several sections in a row, of which the first is said to be the paper's.
ROW = re.compile(r"([Pp]aper §[\d.–]+)(?:(?:,| and|, and) §[\d.–]+)+")
OLD = re.compile(r"(?<![Pp]aper )(?<!paper \()(?<!\bits )§ ?\d|\bSections? \d|(?<!paper['’]s )\bFigures? \d+\b(?!\.\d)")


def old_forms(page: Tag) -> list[str]:
    """Sections and figures of the paper that could be taken for the book's; a column headed "paper" says whose."""
    page = copy.copy(page)
    for table in page.select("table"):
        heads = [head.get_text().strip().lower() for head in table.select("thead th")]
        for row in table.select("tbody tr") if "paper" in heads else ():
            row.select("td")[heads.index("paper")].decompose()
    for code in page.select("pre"):
        code.decompose()
    text = ROW.sub(r"\1", " ".join(page.get_text().split()))
    return [text[max(0, found.start() - 30) : found.end() + 10] for found in OLD.finditer(text)]


def test_sections_and_figures_of_the_paper_are_called_the_papers(pages: Pages) -> None:
    found = {name: old_forms(article(page)) for name, page in pages.items()}
    assert {name: forms for name, forms in found.items() if forms} == {}


def test_every_picture_has_words_in_its_place(pages: Pages) -> None:
    bare = []
    for name, page in pages.items():
        bare += [f"{name}: {image}" for image in article(page).select("img") if len(str(image.get("alt", ""))) < 20]
        drawn = article(page).select("svg:not([aria-hidden=true])")
        bare += [f"{name}: {svg.get('class')}" for svg in drawn if not svg.get("aria-label") and not svg.find("title")]
    assert bare == []


def test_headings_are_in_order(pages: Pages) -> None:
    disordered = []
    for name, page in pages.items():
        levels = [int(tag.name[1]) for tag in article(page).select("h1, h2, h3, h4, h5, h6")]
        if levels[:1] != [1] or levels.count(1) != 1 or any(b > a + 1 for a, b in itertools.pairwise(levels)):
            disordered.append((name, levels))
    assert disordered == []


def test_no_page_has_an_id_twice(pages: Pages) -> None:
    for name, page in pages.items():
        # sphinx-proof gives all proofs of a page the same two, sphinx-exercise all exercises and solutions one
        theirs = "#proof, #proof-content, #exercise-content, #solution-content"
        ids = [element["id"] for element in page.select(f"[id]:not({theirs})")]
        assert [found for found, count in Counter(ids).items() if count > 1] == [], name


# -- chapters --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHAPTER_PAGES)
def test_a_chapter_begins_with_its_parameters_and_ends_with_where_it_comes_from(pages: Pages, name: str) -> None:
    words = " ".join(article(pages[name]).text.split())
    heads = [" ".join(row.text.split()) for row in article(pages[name]).select("table thead tr")]
    # the opening words may hold a table of their own
    assert "Parameter Value used Meaning" in heads[:2] and heads[-1] == "What Where these numbers come from"
    assert re.search(rf"nystrom run {name.partition('_')[2]}\b", words[words.index("Where these numbers come from") :])


@pytest.mark.parametrize("name", CHAPTER_PAGES)
def test_no_chapter_shows_an_error_or_an_injected_cell(pages: Pages, name: str) -> None:
    page = article(pages[name])
    assert not page.select(".output.stderr, .output.traceback, .tag_injected-parameters, .tag_papermill-error-cell-tag")
    assert "Traceback" not in page.text


@pytest.mark.parametrize("name", CHAPTER_PAGES)
def test_a_chapter_can_be_downloaded_and_opened_elsewhere(pages: Pages, built: Path, name: str) -> None:
    links = [address(link, "href") for link in pages[name].select("a[href]")]
    (download,) = {link for link in links if link.endswith(".ipynb") and not urlsplit(link).netloc}
    notebook = json.loads((built / name).parent.joinpath(download).resolve().read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4 and len(notebook["cells"]) > 3
    file = f"{name}.ipynb"
    launched = [
        any("mybinder.org" in link and unquote(link).endswith(file) for link in links),
        any("colab.research.google.com" in link and link.endswith(f"/blob/main/{file}") for link in links),
    ]
    assert launched == [own_repository() is not None] * 2


# -- pages that come from results ------------------------------------------------------------------------------


def test_the_landing_page_shows_a_figure_and_the_result_of_each_experiment(pages: Pages) -> None:
    page = article(pages["intro"])
    (image,) = page.select("img")
    text, alt = " ".join(page.text.split()), str(image["alt"])
    assert " experiments the error falls for every initial sample" in text
    for rho, name in (("1", "figure-2-n50"), ("16", "figure-2-n50-rho16")):
        table = Results.load(RESULTS / f"{name}.parquet").table
        stages = (table.loc[table["stage"] == stage, "E_tr"].median() for stage in ("initial", "optimised"))
        medians = [number(median) for median in stages]
        assert f"bi-Gaussian, ρ = {rho}, n = 50: {' to '.join(medians)}" in alt
        assert " → ".join(medians) in text
    assert alt.count(" to ") == len(lessons.NAMES)


def test_no_placeholder_is_left(pages: Pages) -> None:
    written = {name: page for name, page in pages.items() if not name.startswith("notebooks/")}
    assert [name for name, page in written.items() if re.search(r"\{[{%]", article(page).get_text())] == []


# -- the reference ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "module", "names"),
    [
        ("api/library", "nystrom_lib", sorted(set(nl.__all__) - {"datasets"})),
        ("api/datasets", "nystrom_lib.datasets", sorted(nl.datasets.__all__)),
    ],
)
def test_the_reference_has_every_public_name(pages: Pages, page: str, module: str, names: list[str]) -> None:
    there = {str(tag["id"]) for tag in article(pages[page]).select("dt[id]")}
    assert [name for name in names if f"{module}.{name}" not in there] == []
