"""What nbval does not see: that every cell of every committed notebook was run, compared, and is well formed.

An unrun cell passes nbval without being compared with anything.
"""

import re

import nbformat
import pytest

from companion.chapters import CHAPTERS
from companion.notebook.clean import clean, notebook_text, tags

COMMITTED = [name for name, each in CHAPTERS.items() if each.path.is_file()]
#: The cells whose outputs nbval does not compare, by what is in them, and why not.
UNCOMPARED = {
    "page.foot()": "where, when and how long the chapter ran",
    "costs.against(": "times on this machine",
    "chapter.cost_table(": "powers fitted to times on this machine",
    "costs.exponents(": "powers fitted to times on this machine",
    "chapter.trace_errors(": "the digits that rounding leaves, which differ from processor to processor",
    "chapter.digits_table(": "the digits that rounding leaves, which differ from processor to processor",
    "chapter.descents(p, start, lengths)": "descents beyond stability, in which rounding grows until it shows",
    "chapter.descents_table(": "descents beyond stability, in which rounding grows until it shows",
}
MOST_UNCOMPARED = 5
LONGEST_CELL = 25
#: So many characters fit the box of code on a page of the book.
WIDEST = 75
#: From this chapter on the first open cell is the method in about ten lines, imports and blank lines not counted.
BEYOND, TEN_OR_SO = 10, 20
#: Another notation than the book's (S for 𝒮, a norm's F in italics, ≤ for ⩽), and sentences that a machine wrote.
NOT_OURS = re.compile(r"\bR\(S\)|\\mathbf K_S|\b[ck]_S\b|rVert_F|[≤≥]|\\leq?\b|\(a stand-in\)|: (yes|no)[.;,]")

pytestmark = pytest.mark.parametrize("name", COMMITTED)


def complaints(notebook, chapter) -> list[str]:
    """Everything that is wrong with a committed notebook."""
    found = []
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    counts = [cell.execution_count for cell in code]
    if counts != list(range(1, len(code) + 1)):
        found.append(f"the cells were not all run in order: {counts}")
    for cell in code:
        first = cell.source.splitlines()[0] if cell.source else "(empty)"
        for output in cell.outputs:
            if output.output_type == "error":
                found.append(f"{first}: ended with {output.ename}")
            if output.get("name") == "stderr":
                found.append(f"{first}: wrote to stderr: {output.text[:200]}")
        if "nbval-ignore-output" in tags(cell) and not any(known in cell.source for known in UNCOMPARED):
            found.append(f"{first}: its output is not compared")
        if {"nbval-skip", "raises-exception", "injected-parameters"} & set(tags(cell)) or "NBVAL" in cell.source:
            found.append(f"{first}: must not be here")
        if len(cell.source.splitlines()) > LONGEST_CELL and "parameters" not in tags(cell):
            found.append(f"{first}: {len(cell.source.splitlines())} lines")
    if sum("nbval-ignore-output" in tags(cell) for cell in code) > MOST_UNCOMPARED:
        found.append(f"more than {MOST_UNCOMPARED} cells are not compared")
    parameters = [cell for cell in code if "parameters" in tags(cell)]
    if [cell.source for cell in parameters] != [chapter.cell()]:
        found.append("the parameters cell is not what the chapter's settings say; `make refresh` writes it")
    begin = [cell for cell in code if f'notebook.begin("{chapter.name}", globals())' in cell.source]
    if code[:2] != [*parameters, *begin]:
        found.append("the first two code cells are not the parameters and notebook.begin")
    if code[-1].source.strip() != "page.foot()":
        found.append("the last cell is not page.foot()")
    return found


def test_every_cell_was_run_and_is_compared(name: str) -> None:
    notebook = nbformat.read(CHAPTERS[name].path, as_version=4)
    nbformat.validate(notebook)
    assert complaints(notebook, CHAPTERS[name]) == []


def test_a_notebook_holds_nothing_that_differs_from_run_to_run(name: str) -> None:
    text = CHAPTERS[name].path.read_text(encoding="utf-8")
    assert text == notebook_text(clean(nbformat.reads(text, as_version=4)))
    assert not re.findall(r'"(start_time|end_time|iopub[^"]*|papermill)":', text)


def test_figures_have_a_name_a_caption_and_an_alternative_text(name: str) -> None:
    for cell in nbformat.read(CHAPTERS[name].path, as_version=4).cells:
        if any("image/svg+xml" in output.get("data", {}) for output in cell.get("outputs", [])):
            mystnb = cell.metadata.get("mystnb", {})
            assert mystnb.get("figure", {}).get("name"), cell.source
            assert mystnb.get("figure", {}).get("caption"), cell.source
            assert mystnb.get("image", {}).get("alt"), cell.source


def test_a_chapter_opens_on_its_figure_and_its_open_code_fits_the_page(name: str) -> None:
    """Catches boilerplate before the first figure, and a line that runs out of its box."""
    hidden = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
    code = [cell for cell in nbformat.read(CHAPTERS[name].path, as_version=4).cells if cell.cell_type == "code"]
    unfolded = [cell.source for cell in code if not hidden & set(tags(cell))]
    assert [line for source in unfolded for line in source.splitlines() if len(line) > WIDEST] == []
    assert all(hidden & set(tags(cell)) for cell in code[:3])
    shown = [any("image/svg+xml" in output.get("data", {}) for output in cell.outputs) for cell in code[2:4]]
    assert any(shown), "the first figure comes right after the opening words"
    if CHAPTERS[name].number >= BEYOND and name != "your_data":
        assert "import nystrom_lib as nl" in unfolded[0] and len(unfolded[0].splitlines()) <= TEN_OR_SO


def prose(name: str) -> str:
    """Everything a reader of the chapter reads that is no code."""
    cells = nbformat.read(CHAPTERS[name].path, as_version=4).cells
    words = [cell.source for cell in cells if cell.cell_type == "markdown"]
    words += [output.get("data", {}).get("text/markdown", "") for cell in cells for output in cell.get("outputs", [])]
    words += [cell.metadata.get("mystnb", {}).get("figure", {}).get("caption", "") for cell in cells]
    return re.sub(r"```(python|text)\n.*?```", "", "\n".join(words), flags=re.DOTALL)


def test_one_notation_and_no_machine_prose(name: str) -> None:
    """Catches K_S for K_𝒮, ≤ for ⩽, and sentences that answer themselves with "yes"."""
    assert [found[0] for found in NOT_OURS.finditer(prose(name))] == []
