"""The command ``nystrom``: a module for each command.

Nothing heavy is imported before a command needs it: ``nystrom --help`` answers at once.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from .arena import arena
from .base import GROUP, Group, check_locale, end_like_ctrl_c, one_sentence, speak_plainly, tell
from .beyond import beyond
from .listing import list_chapters, params
from .optimise import optimise
from .paper import paper
from .run import run
from .sweep import sweep
from .verify import verify

__all__ = ["main", "nystrom"]


class Nystrom(Group):
    """The group of all commands; an error ends it with one sentence and an exit code."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> NoReturn:
        """Do what the command line says, then exit."""
        sys.exit(_status(list(sys.argv[1:] if args is None else args)))


@click.group("nystrom", cls=Nystrom, **GROUP)
@click.version_option(package_name="nystrom-lib", prog_name="nystrom")
def nystrom() -> None:
    """Nyström samples and their local optimisation: the chapters, experiments and data of arXiv 2203.13284.

    Run a chapter again with your own parameters, try the method on your own file, or check that the stored results
    are what the code computes.

    \b
    Examples:
      nystrom list                                        which chapters there are
      nystrom params bigaussian                           what one of them takes
      nystrom run bigaussian --profile quick -p rho=4     run it again with other values
      nystrom sweep abalone --profile quick -p rho=0.25,1,4
      nystrom optimise measurements.csv -n 100            the method on your own data
      nystrom verify                                      recompute what the book shows
    """


for _command in (list_chapters, params, run, sweep, optimise, verify, paper, beyond, arena):
    nystrom.add_command(_command)


def main() -> None:
    """Do what the command line says, then end the process with its exit code."""
    speak_plainly()
    end_like_ctrl_c()
    nystrom.main()


def _status(words: list[str]) -> int:
    try:
        check_locale(words)
        with nystrom.make_context("nystrom", list(words)) as context:  # click empties the list
            nystrom.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except BaseException as error:
        code, sentence = one_sentence(error)
        if "--debug" in words:
            traceback.print_exception(error)
        if sentence:
            tell(sentence)
        return code
    return 0
