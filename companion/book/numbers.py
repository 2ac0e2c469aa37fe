"""The numbers of the pages: what ``{{ … }}`` in a Markdown page of the book may name, all from stored results.

Pages are Jinja templates. Each name here is a function without arguments, computed when a page first asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from .. import claims
from ..checkout import RESULTS
from ..claims import beyond
from ..claims import page as claims_page
from ..results.archive import Archive
from ..studies import real_rows
from ..wording import duration, listed, number, percent
from . import equations, lessons

FILTERS: Mapping[str, Callable[..., str]] = {
    "number": number, "percent": percent, "duration": duration, "listed": listed,
    "markup": claims_page.markup, "link": claims_page.link, "commit": claims_page.commit, "cases": claims_page.cases,
}  # fmt: skip


def template(text: str) -> jinja2.Template:
    """A page; a name that does not exist is an error."""
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters.update(FILTERS)
    environment.globals["zip"] = zip
    return environment.from_string(text)


def names(results: Path = RESULTS) -> dict[str, Callable[..., Any]]:
    """What pages may call."""
    archive = Archive(results)
    return {
        "lessons": cache(lambda: lessons.read(archive)),
        "rings": cache(lambda: lessons.rings(archive)),
        "full_size": cache(lambda: lessons.full_size(archive)),
        "real_rows": lambda: real_rows.left(results),
        "paper_experiments": lessons.settings,
        "paper_time": cache(lambda: lessons.time_taken(archive)),
        "large": lambda: archive.file("../benchmarks/results/large.json"),
        "many": lambda: archive.file("../benchmarks/results/many_landmarks.json"),
        "cluster": lambda: archive.file("cluster_timings.json"),
        "equations": lambda: list(equations.read().values()),
        "checks": equations.checks,
        "claims": cache(lambda: claims.judge(archive)),
        "questions": lambda: claims.QUESTIONS.values(),
        "answers": cache(lambda: beyond.stored_answers(results)),
        "declared": lambda: claims.DECLARED,
        "story": lambda: beyond.story(beyond.stored_answers(results)),
    }
