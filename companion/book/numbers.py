"""The numbers of the pages: what ``{{ … }}`` in a Markdown page of the book may name, all from stored results.

Pages are Jinja templates. Each name here is a function without arguments, computed when a page first asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from ..checkout import RESULTS
from ..results.archive import Archive
from ..wording import duration, listed, number, percent
from . import equations, lessons
from .pictures import PICTURES, draw

FILTERS: Mapping[str, Callable[..., str]] = {
    "number": number, "percent": percent, "duration": duration, "listed": listed,
}  # fmt: skip


def template(text: str) -> jinja2.Template:
    """A page; a name that does not exist is an error."""
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters.update(FILTERS)
    environment.globals["zip"] = zip
    return environment.from_string(text)


def names(pictures: Path, results: Path = RESULTS) -> dict[str, Callable[..., Any]]:
    """What pages may call.

    Parameters
    ----------
    pictures : Path
        The folder for the pictures that ``picture("name")`` draws; it returns the numbers of the caption.
    results : Path
        The stored results.
    """
    archive = Archive(results)
    return {
        "lessons": cache(lambda: lessons.read(archive)),
        "rings": cache(lambda: lessons.rings(archive)),
        "full_size": cache(lambda: lessons.full_size(archive)),
        "paper_experiments": lessons.settings,
        "paper_time": cache(lambda: lessons.time_taken(archive)),
        "large": archive.large_data,
        "many": archive.many_landmarks,
        "cluster": archive.cluster_timings,
        "equations": lambda: list(equations.read().values()),
        "checks": equations.checks,
        "picture": lambda name: draw(PICTURES[name], pictures / f"{name}.svg"),
        "claims": lambda: _claims(archive),
        "questions": lambda: _questions(results),
        "story": lambda: _story(results),
    }


def _claims(archive: Archive) -> str:
    from .. import claims

    return claims.page(claims.judge(archive))


def _questions(results: Path) -> str:
    from ..claims import beyond_answers

    return beyond_answers.page(beyond_answers.stored_answers(results))


def _story(results: Path) -> str:
    from ..claims import beyond_answers

    return beyond_answers.story(beyond_answers.stored_answers(results))
