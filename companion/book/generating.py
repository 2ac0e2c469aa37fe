"""The parts of the book that come from results: landing page, claims, what was learned, status; and the pictures."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from ..chapters import Chapter
from ..results.archive import Archive
from . import landing, status

#: Below the book's sources; pages include what is in here.
GENERATED = "_generated"


def generate(source: Path, results: Path, chapters: Sequence[Chapter], executed: bool) -> Path:
    """Write every generated part into ``source``; what was there is deleted.

    Parameters
    ----------
    source : Path
        The book's sources, with the executed notebooks in ``notebooks``.
    results : Path
        The folder of the stored results.
    chapters : sequence of Chapter
        The chapters of the book.
    executed : bool
        Were they executed for this build?
    """
    from .. import claims
    from ..claims import beyond_answers
    from . import large, learned, pictures

    folder = source / GENERATED
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    archive = Archive(results)
    stored = landing.load(archive)
    verdicts = claims.judge(archive)
    answers = beyond_answers.stored_answers(results)
    parts = {
        "answer.svg": landing.figure_svg(stored),
        "answer.md": landing.figure_block(landing.alt_text(stored)),
        "verdict.md": landing.answer(stored),
        "numbers.md": f"{landing.table(stored)}\n{landing.CAPTION}",
        "citation.md": landing.citation(),
        "claims.md": claims.page(verdicts),
        "learned.md": learned.page(stored),
        "beyond.md": beyond_answers.page(answers),
        "story.md": beyond_answers.story(answers),
        "status.md": status.page(chapters, source / "notebooks", stored, executed),
        **large.parts(archive),
        **pictures.parts(),
    }
    for name, text in parts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder
