"""``nystrom list``, ``nystrom run`` and ``nystrom sweep``: the chapters, with other parameters."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ..atomic_write import write_text
from ..errors import CompanionError, ConfigurationError, Interrupted
from ..wording import PLAIN, duration
from .base import DASK, JOBS, Command, folder_option, table

RUNS = Path("runs")

PROFILE = click.option(
    "--profile", type=click.Choice(["paper", "quick", "smoke"]), default="paper", show_default=True,
    help="Values of the other parameters: the paper's, or small ones that take a minute or a few seconds.",
)  # fmt: skip


@click.command("list", cls=Command, short_help="list the chapters, or the parameters of one")
@click.argument("name", required=False)
def list_chapters(name: str | None) -> None:
    """List the chapters, or the parameters of chapter NAME with type, default, range and meaning.

    \b
    Examples:
      nystrom list
      nystrom list bigaussian
    """
    from ..chapters import CHAPTERS, chapter
    from ..chapters.base import written

    if name is None:
        rows = [[str(each.number), each.name, each.section, each.title] for each in CHAPTERS.values()]
        click.echo(table(["", "name", "about", "title"], rows, right=[0]))
        click.echo("\nnystrom list NAME shows the parameters of one, nystrom run NAME runs it.")
        return
    this = chapter(name)
    rows = [
        [key, each.annotation, written(each.default), each.allowed, each.meaning]
        for key, each in this.parameters.declared().items()
    ]
    click.echo(f"{this.number}. {this.title} ({this.section})\n")
    click.echo(table(["name", "type", "default", "range", "meaning"], rows))
    for profile, values in this.profiles.items():
        click.echo(f"\nprofile {profile}: " + ", ".join(f"{key} = {written(value)}" for key, value in values.items()))


@click.command("run", cls=Command, short_help="run a chapter, with other parameters if you like")
@click.argument("name")
@PROFILE
@click.option("-p", "--parameter", "pairs", multiple=True, metavar="KEY=VALUE", help="A value for a parameter.")
@folder_option("--out", "The folder of the run (default: the next of runs/NAME-001, -002, …).")
@JOBS
@DASK
@click.option("--resume", is_flag=True, help="Continue a stopped run in the folder --out; finished work is kept.")
def run(
    name: str, profile: str, pairs: tuple[str, ...], out: Path | None, jobs: int | None, dask: str | None, resume: bool
) -> None:
    """Run chapter NAME (or its number), by default at the paper's parameters.

    The run leaves a folder with the executed notebook, a page (NAME.html), the figures, the results with their
    provenance, run.json and run.log. If a cell fails, the notebook up to that cell is kept.

    \b
    Examples:
      nystrom run bigaussian                              stored results, some of them recomputed
      nystrom run 5 --profile quick                       small, everything computed
      nystrom run bigaussian --profile quick -p 'rho=[1, 16]' -p seed=7
      nystrom run abalone -p rho=2 --out runs/mine --resume
    """
    from ..chapters import chapter
    from ..notebook.execute import execute

    this = chapter(name)
    values = _split(pairs)
    this.settings(values, profile)
    if resume and out is None:
        raise ConfigurationError("--resume", "needs --out, the folder of the run to continue.")
    began = time.monotonic()
    folder = out or _next_folder(this.name)
    execute(this, values, folder, profile=profile, jobs=jobs, dask=dask, resume=resume)
    click.echo(f"{this.title}: done in {duration(time.monotonic() - began)}.\n{folder / this.name}.html")


@click.command("sweep", cls=Command, short_help="run a chapter once for each value of a parameter")
@click.argument("name")
@click.option(
    "-p", "--parameter", "pairs", multiple=True, required=True, metavar="KEY=VALUE,VALUE,…",
    help="Values of a parameter, one run for each; with several -p one run for each combination.",
)  # fmt: skip
@PROFILE
@folder_option("--out", "The folder of the sweep (default: the next of runs/NAME-sweep-001, -002, …).")
@JOBS
@DASK
def sweep(
    name: str, pairs: tuple[str, ...], profile: str, out: Path | None, jobs: int | None, dask: str | None
) -> None:
    """Run chapter NAME once for each value and print one table of all results, which is also written to sweep.csv.

    A run that fails does not stop the others. Each leaves a folder (see nystrom run --help). The same command with
    --out continues a stopped sweep.

    \b
    Examples:
      nystrom sweep bigaussian --profile quick -p rho=0.25,1,4
      nystrom sweep bigaussian --profile quick -p rho=1,16 -p seed=1,2       four runs
      nystrom sweep bigaussian --profile smoke -p 'n=[5],[5,10]'             lists
    """
    import pandas as pd

    from ..chapters import chapter
    from ..notebook.execute import execute, read_record

    this = chapter(name)
    choices = {key: _values(text) for key, text in _split(pairs).items()}
    runs = [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())]
    settings = [this.settings(given, profile) for given in runs]
    folder = out or _next_folder(f"{this.name}-sweep")
    rows, failed = [], []
    for place, (given, one) in enumerate(zip(runs, settings, strict=True)):
        label = ", ".join(f"{key}={value}" for key, value in given.items())
        click.echo(f"run {place + 1} of {len(runs)}: {label}", err=True)
        target = folder / re.sub(r"[^\w.+=-]+", "_", label)
        parameters, record = one.to_plain(), read_record(target)
        try:
            if record is None or (record["status"], record["parameters"]) != ("finished", parameters):
                execute(this, parameters, target, jobs=jobs, dask=dask, resume=record is not None)
        except KeyboardInterrupt:
            raise Interrupted(f"Stopped: the same command with --out {folder} continues with {label}.") from None
        except CompanionError as error:
            click.echo(" ".join(str(error).split()), err=True)
            failed.append(label)
            continue
        rows += [{**{key: str(value) for key, value in given.items()}, **row} for row in _summary(target / "results")]
    if rows:
        frame = pd.DataFrame(rows)
        write_text(folder / "sweep.csv", frame.to_csv(index=False))
        click.echo(f"{frame.to_string(index=False, float_format='{:.4g}'.format)}\n\n{folder / 'sweep.csv'}")
    if failed:
        raise CompanionError(f"{len(failed)} of {len(runs)} runs failed: {'; '.join(failed)}.")


def _split(pairs: Sequence[str]) -> dict[str, str]:
    """``key=value`` words as a dictionary."""
    values: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip() or key.strip() in values:
            raise ConfigurationError("-p", f"is {pair!r}; it must have the form KEY=VALUE, with each key once.")
        values[key.strip()] = value
    return values


def _values(text: str) -> list[Any]:
    """The values between commas outside brackets and quotes.

    Examples
    --------
    >>> _values("0.25,1,4"), _values("[5],[5,10]"), _values("drop,keep")
    ([0.25, 1, 4], [[5], [5, 10]], ['drop', 'keep'])
    """
    from ..chapters.base import literal

    value = literal(text)
    return list(value) if isinstance(value, tuple) else value.split(",") if isinstance(value, str) else [value]


def _next_folder(name: str) -> Path:
    """The next free numbered folder, claimed by creating it."""
    for number in itertools.count(1):
        folder = RUNS / f"{name}-{number:03d}"
        try:
            folder.mkdir(parents=True)
            break
        except FileExistsError:
            continue
    return folder


def _summary(folder: Path) -> list[dict[str, Any]]:
    """For each set of results the medians of the criteria before and after the descent."""
    from ..results.summary import change
    from ..results.table import Results

    rows = []
    for path in sorted(folder.glob("[!.]*.parquet")):
        results = Results.load(path)
        row: dict[str, Any] = {"results": path.stem, "repetitions": len(results.outcomes)}
        for quantity, name in PLAIN.items():
            if quantity in results.table.columns:
                row[f"{name} before"], row[f"{name} after"] = change(results, quantity).medians
        rows.append(row)
    return rows
