"""``python -m companion.claims [ID …]``: judge the claims of the paper and print the verdicts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..checkout import RESULTS
from ..errors import CompanionError
from . import judge, page, plain


def main(given: list[str] | None = None) -> int:
    """Judge, print, and say by the exit code only whether that could be done."""
    parser = argparse.ArgumentParser(prog="python -m companion.claims", description=__doc__)
    parser.add_argument("claims", nargs="*", metavar="ID", help="such as B5; all of them if none is given")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder with the stored results")
    parser.add_argument("--markdown", action="store_true", help="print the page of the book instead")
    options = parser.parse_args(given)
    try:
        verdicts = judge(options.results, options.claims or None)
    except CompanionError as error:
        print(error, file=sys.stderr)
        return 2
    print(page(verdicts) if options.markdown else plain(verdicts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
