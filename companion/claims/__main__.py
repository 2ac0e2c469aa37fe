"""``python -m companion.claims [ID …]``: decide the claims of the paper and print the verdicts."""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path

from ..checkout import RESULTS
from ..errors import CompanionError
from . import Verdict, judge


def plain(verdict: Verdict) -> str:
    """A verdict as text."""
    claim, lines = verdict.claim, [f"{verdict.claim.id} (paper {verdict.claim.section})"]
    texts = {
        "paper": claim.says,
        "by the rule written beforehand": f"{verdict.finding}. {verdict.first.summary}",
        "our reading now": f"{verdict.reading.verdict}. {verdict.reading.why}",
    }
    if verdict.later:
        texts["a later check"] = f"{verdict.later.finding}. {verdict.later.summary}"
    for label, text in texts.items():
        lines.append(textwrap.fill(f"{label}: {text}", 100, initial_indent="  ", subsequent_indent="    "))
    return "\n".join(lines)


def main(given: list[str] | None = None) -> int:
    """Decide and print; the exit code says only whether that could be done."""
    parser = argparse.ArgumentParser(prog="python -m companion.claims", description=__doc__)
    parser.add_argument("claims", nargs="*", metavar="ID", help="such as B5; by default all")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder with the stored results")
    options = parser.parse_args(given)
    try:
        verdicts = judge(options.results, options.claims or None)
    except CompanionError as error:
        print(error, file=sys.stderr)
        return 2
    print("\n\n".join(map(plain, verdicts)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
