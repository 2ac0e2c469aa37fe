"""The command ``nystrom``. Heavy packages are imported where they are needed, so that ``--help`` is quick."""

from __future__ import annotations

import logging
import signal

import click

from .chapters import list_chapters, run, sweep
from .optimise import optimise
from .reproduce import reproduce
from .verify import verify

__all__ = ["main", "nystrom"]

EPILOG = """\b
Exit codes:
  0    success; everything compared agrees
  1    failure: a cell or a computation failed, or numbers differ
  2    usage error: an unknown command, chapter, parameter or value
  130  stopped by Ctrl-C or SIGTERM; the last line says where finished work is stored
"""


@click.group(
    "nystrom", epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="nystrom-lib", prog_name="nystrom")
def nystrom() -> None:
    """Local optimisation of Nyström samples: chapters, experiments and data of arXiv 2203.13284.

    \b
    Examples:
      nystrom list                                      the chapters
      nystrom list bigaussian                           the parameters of one
      nystrom run bigaussian --profile quick -p rho=4   run it with other values
      nystrom sweep abalone --profile quick -p rho=0.25,1,4
      nystrom optimise measurements.csv -n 100          landmarks for your own data
      nystrom verify                                    recompute what the book shows
    """


for _command in (list_chapters, run, sweep, optimise, verify, reproduce):
    nystrom.add_command(_command)


def main() -> None:
    """Run the command line; SIGTERM stops it as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    logging.basicConfig(format="%(message)s")
    for package in ("nystrom_lib", "companion"):
        logging.getLogger(package).setLevel(logging.INFO)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # after Ctrl-C it complains of the kernel it has lost
    nystrom()
