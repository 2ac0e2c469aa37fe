"""The figure and the numbers of the README, from the results: ``python -m companion.book.readme``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..checkout import RESULTS, ROOT
from ..claims import beyond_answers
from ..results.archive import Archive
from ..studies.large_descent import PAPER_MACHINE, PAPER_SECONDS
from ..studies.timings import stored_threads
from . import landing

README = ROOT / "README.md"
FIGURE = ROOT / "book" / "_assets" / "answer.svg"
BEGIN, END = "<!-- results: written by python -m companion.book.readme -->", "<!-- end of results -->"


def block(results: Path = RESULTS) -> str:
    """The lines between the two marks."""
    archive = Archive(results)
    stored, timings = landing.load(archive), archive.timings()
    lines = [landing.table(stored, links=False), landing.CAPTION]
    if timings is not None:
        lines += [_speed(timings), ""]
    story = beyond_answers.story(beyond_answers.stored_answers(results), arena="chapter 13 of the book")
    return "\n".join([BEGIN, *lines, story, END])


def _speed(timings: dict[str, Any]) -> str:
    ours, plain = timings["ours"], timings["plain_c"]
    times = [
        f"{what} in {_two(ours[name])} s (plain C {_two(plain[name])} s; the paper {PAPER_SECONDS[name]:,g} s)"
        for name, what in (
            ("radial_skd_s", "R"),
            ("trace_s", "a trace norm"),
            ("descent_s", "the whole descent"),
        )
    ]
    data = "a stand-in for MiniBooNE, of the same size" if timings["stand_in"] else "MiniBooNE"
    return (
        f"On {data} ({timings['N']:,} points): {', '.join(times)}. Ours on {stored_threads(timings)} and plain C on "
        f"one, on {timings['machine']}; the paper's on {PAPER_MACHINE}."
    )


def _two(seconds: float) -> str:
    """Two digits, never as a power of ten."""
    return f"{float(f'{seconds:.2g}'):,g}"


def write() -> None:
    """Renew the figure and the block."""
    FIGURE.write_text(landing.figure_svg(landing.load(Archive(RESULTS))), encoding="utf-8")
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    README.write_text(before + block() + after, encoding="utf-8")


if __name__ == "__main__":
    write()
