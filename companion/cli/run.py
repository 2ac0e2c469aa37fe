"""``nystrom run``: a chapter again, with other parameters."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import ConfigurationError, Interrupted
from ..wording import duration
from . import folders
from .base import Command, Whole

if TYPE_CHECKING:
    from ..chapters import Chapter

PROFILE = click.option(
    "--profile", type=click.Choice(["paper", "quick", "smoke"]), default="paper", show_default=True,
    help="Where values not given come from: the paper's own, or small ones that take a minute or a few seconds.",
)  # fmt: skip
FILE = click.option(
    "-f", "--file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE.yml",
    help="Values from a YAML file of lines `key: value`; those of -p come over them.",
)  # fmt: skip
JOBS = click.option("--jobs", type=Whole(1), metavar="N", help="Threads to use, by default one per core.")
DASK = click.option(
    "--dask", metavar="ADDRESS", help="Send the repetitions to this Dask scheduler, e.g. tcp://10.0.0.5:8786."
)


@click.command("run", cls=Command, short_help="run a chapter, with other parameters if you like")
@click.argument("name")
@PROFILE
@click.option(
    "-p", "--parameter", "pairs", multiple=True, metavar="KEY=VALUE",
    help="A value for a parameter; may be given many times.",
)  # fmt: skip
@FILE
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR",
    help="The folder of the run, new or empty; by default the next of runs/NAME-001, -002, …",
)  # fmt: skip
@JOBS
@DASK
@click.option(
    "--resume", is_flag=True,
    help="Go on with the run of the same parameters that was stopped: finished repetitions are not done again.",
)  # fmt: skip
def run(
    name: str,
    profile: str,
    pairs: tuple[str, ...],
    file: Path | None,
    out: Path | None,
    jobs: int | None,
    dask: str | None,
    resume: bool,
) -> None:
    """Run chapter NAME, by default exactly as in the book.

    Parameters are checked before anything starts: an unknown name, a value of the wrong type or out of range is
    refused with what is allowed. Values are read as the parameter's type says: -p m=1e3 is a whole number, -p
    rho=0.25,1,4 or -p 'rho=[0.25, 1, 4]' a list where a list is asked for, and there are true, false and null.

    The run leaves a folder with the executed notebook, a page (NAME.html), the figures as SVG and PNG, the results
    with their provenance, run.json and run.log. If a cell fails, the notebook up to there is kept.

    \b
    Examples:
      nystrom run bigaussian                              the stored results, some of them recomputed
      nystrom run bigaussian --profile quick              small, everything computed
      nystrom run bigaussian --profile quick -p rho=16 -p seed=7
      nystrom run abalone -f mine.yml --out runs/mine --jobs 4
      nystrom run abalone -f mine.yml --out runs/mine --resume
    """
    from ..chapters import chapter

    this = chapter(name)
    values = merged(file, pairs)
    settings = this.settings(values, profile)
    parameters = settings.to_plain()
    folder = out or (folders.stopped_folder(name, parameters) if resume else folders.next_folder(name))
    began = time.monotonic()
    execute_chapter(this, values, folder, profile=profile, jobs=jobs, dask=dask, resume=resume)
    click.echo(f"{this.title}: done in {duration(time.monotonic() - began)}.")
    click.echo(_left_behind(folder))


def merged(file: Path | None, pairs: Iterable[str]) -> dict[str, Any]:
    """The values of a file, and over them those of ``-p``."""
    from ..chapters.parameters import read_file

    return {**(read_file(file) if file is not None else {}), **split(pairs)}


def split(pairs: Iterable[str]) -> dict[str, str]:
    """``key=value`` words as a dictionary."""
    values: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        key = key.strip()
        if not equals or not key:
            raise ConfigurationError("-p", f"is {pair!r}; it must have the form KEY=VALUE.")
        if key in values:
            raise ConfigurationError(key, "is given twice.")
        values[key] = value
    return values


def execute_chapter(this: Chapter, values: Mapping[str, Any], folder: Path, **how: Any) -> None:
    """Run a chapter in its folder; Ctrl-C says what is stored there."""
    from ..notebook.execute import execute

    try:
        execute(this, values, folder, **how)
    except KeyboardInterrupt:
        stored = folders.repetitions_stored(folder)
        raise Interrupted(
            f"Stopped: {stored} finished repetitions are stored in {folder}; the same command with "
            f"--out {folder} --resume goes on from there."
        ) from None


def _left_behind(folder: Path) -> str:
    pages = sorted(folder.glob("*.html"))
    rows = [("folder", str(folder))]
    rows += [("page", str(page)) for page in pages]
    for what, pattern in (("figures", "figures/*.svg"), ("results", "results/*.parquet")):
        names = sorted(path.stem for path in folder.glob(pattern))
        if names:
            rows.append((what, ", ".join(names)))
    return "\n".join(f"{what:<8}  {text}" for what, text in rows)
