"""The exercises of the chapters: every solution is run, and prints what the page says it prints."""

from __future__ import annotations

import re

import nbformat
import pytest

from companion.chapters import CHAPTERS
from tests.printed import agrees, printed_by

WITH = [chapter for chapter in CHAPTERS.values() if chapter.path.is_file()]
LABEL = r"ex-[\w-]+"
SOLUTION = re.compile(
    rf"^````\{{solution\}} ({LABEL})\n:class: dropdown\n\n```python\n(.*?)```\n\n```text\n(.*?)```\n",
    flags=re.DOTALL | re.MULTILINE,
)


def prose(chapter) -> str:
    cells = nbformat.read(chapter.path, as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


SOLUTIONS = {label: (code, printed) for chapter in WITH for label, code, printed in SOLUTION.findall(prose(chapter))}


@pytest.mark.parametrize("chapter", WITH, ids=lambda chapter: chapter.name)
def test_every_exercise_has_a_solution_that_is_run(chapter) -> None:
    """Catches an exercise without a solution, and a block of code that nothing runs."""
    text = prose(chapter)
    asked = re.findall(rf"^````\{{exercise\}}\n:label: ({LABEL})$", text, re.MULTILINE)
    solved = [label for label, _, _ in SOLUTION.findall(text)]
    assert len(asked) >= 2 and asked == solved
    exercises = text[text.index("## Exercises") :]
    assert exercises.count("```python\n") == len(solved)


@pytest.mark.parametrize("label", SOLUTIONS)
def test_a_solution_prints_what_the_page_says(label: str) -> None:
    code, printed = SOLUTIONS[label]
    found = printed_by(code, label)
    assert agrees(found, printed), found
