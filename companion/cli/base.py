"""What several commands share: exit codes, options, names by pattern, tables and progress."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click

from ..errors import CompanionError, ConfigurationError
from ..wording import did_you_mean


class Command(click.Command):
    """A command that reports expected errors in one sentence; any other error is a bug and has a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            click.echo(f"Error: {str(error) or 'Stopped.'}", err=True)
            return ctx.exit(128 + signal.SIGINT)
        except ConfigurationError as error:
            raise click.UsageError(str(error), ctx) from error
        except BrokenPipeError:  # click ends quietly
            raise
        except OSError as error:
            known = [error.filename, error.strerror] if error.strerror else [error]
            raise click.ClickException(": ".join(map(str, filter(None, known)))) from error
        except (CompanionError, ImportError) as error:  # ImportError: of numba's settings, or a package that is missing
            raise click.ClickException(str(error)) from error


JOBS = click.option("--jobs", type=click.IntRange(1), metavar="N", help="Number of threads (default: one per core).")
DASK = click.option("--dask", metavar="ADDRESS", help="Compute on this Dask cluster, e.g. tcp://10.0.0.5:8786.")


def folder_option(name: str, help: str) -> Callable[[Any], Any]:
    """An option for a folder; one that cannot be written to is refused."""

    def writable(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
        place = value.absolute() if value else Path.cwd()
        while value and not place.exists():
            place = place.parent
        if value and not (place.is_dir() and os.access(place, os.W_OK)):
            raise click.BadParameter(f"{str(place)!r} cannot be written to.")
        return value

    kind = click.Path(file_okay=False, path_type=Path)
    return click.option(name, type=kind, metavar="DIR", help=help, callback=writable)


def matching(patterns: Sequence[str], known: Iterable[str], what: str) -> list[str]:
    """The known names that match any of the patterns, in order; all of them if there are no patterns.

    Examples
    --------
    >>> matching(["figure-2*"], ["figure-1", "figure-2-n20", "figure-2-n50"], "experiment")
    ['figure-2-n20', 'figure-2-n50']
    """
    known = list(known)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            raise ConfigurationError("", f"There is no {what} {pattern!r}{did_you_mean(pattern, known)}.")
    return [name for name in known if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)]


def progress_bar(**how: Any) -> Any:
    """A progress bar; where there is no terminal, an update every ten seconds."""
    from tqdm import tqdm

    return tqdm(delay=0.1, mininterval=0.1 if sys.stderr.isatty() else 10.0, **how)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Text in aligned columns; those numbered in ``right`` are flush right."""
    rows = list(rows)
    lines = [head, ["─" * len(name) for name in head], *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:{'>' if k in right else '<'}{widths[k]}}" for k, cell in enumerate(line)).rstrip()
        for line in lines
    )
