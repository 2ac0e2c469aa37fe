"""``nystrom paper``: every experiment of the paper at full scale."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from ..errors import Interrupted
from ..wording import duration
from .base import Command, table, tell
from .folders import check_writable
from .run import DASK, JOBS


@click.command("paper", cls=Command, short_help="recompute the paper's experiments at full scale")
@click.argument("names", nargs=-1)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Where the results go, NAME.parquet each; by default results/ (of the checkout, if there is one).",
)  # fmt: skip
@click.option(
    "--work", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Where finished repetitions are kept; by default .cache/paper of a checkout, or results/unfinished.",
)  # fmt: skip
@JOBS
@DASK
@click.option("--list", "only_list", is_flag=True, help="List the experiments and end.")
def paper(
    names: tuple[str, ...], out: Path | None, work: Path | None, jobs: int | None, dask: str | None, only_list: bool
) -> None:
    """Compute the paper's experiments (Figures 1 to 5) at full scale and store their results.

    With no NAMES all of them, which takes a while; NAMES may be patterns. Every finished repetition is on disk before
    the next begins: after Ctrl-C, or a crash, the same command goes on where it stopped. Figure 5 uses a labelled
    stand-in where the MiniBooNE data are not here (nystrom_lib.datasets.fetch_miniboone() fetches them).

    \b
    Examples:
      nystrom paper --list
      nystrom paper figure-1 'figure-2*'
      nystrom paper --out results --jobs 8
    """
    from ..checkout import RESULTS, WORK
    from ..experiments.paper import PAPER
    from .chosen import chosen

    wanted = chosen(names, PAPER, "experiment")
    if only_list:
        _list(wanted)
        return
    out, work = out or RESULTS, work or WORK / "paper"
    for option, folder in (("--out", out), ("--work", work)):
        check_writable(option, folder)
    rows: list[list[str]] = []
    for place, name in enumerate(wanted):
        tell(f"{name} ({place + 1} of {len(wanted)})")
        try:
            rows.append(_one(name, out, work, jobs, dask))
        except KeyboardInterrupt as stop:
            raise Interrupted(
                f"{place} of {len(wanted)} experiments are done and saved in {out}. {str(stop) or 'Stopped.'}"
            ) from None
    click.echo(table(["experiment", "data", "repetitions", "this time", "in all", "file"], rows, right=[2, 3, 4]))


def _list(names: list[str]) -> None:
    from ..experiments.paper import PAPER

    rows = []
    for name in names:
        each = PAPER[name]
        rows.append([name, each.data.kind, str(each.n), str(each.m), f"{each.descent.steps:,}"])
    click.echo(table(["experiment", "data", "n", "repetitions", "iterations"], rows, right=[2, 3, 4]))


def _one(name: str, out: Path, work: Path, jobs: int | None, dask: str | None) -> list[str]:
    from ..experiments.paper import PAPER
    from ..running.runner import run

    began = time.monotonic()
    results = run(PAPER[name], work, threads=jobs, cluster=dask)
    path = results.save(out / f"{name}.parquet")
    origin = results.provenance
    in_all = sum(session["wall_seconds"] for session in origin["sessions"])
    took = time.monotonic() - began
    shown = os.path.relpath(path)
    return [name, origin["data"]["name"], str(len(results.outcomes)), duration(took), duration(in_all), shown]
