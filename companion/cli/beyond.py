"""``nystrom beyond``: the experiments beyond the paper at full scale, errors at fixed numbers of steps."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import Interrupted
from ..wording import duration
from .base import Command, table, tell
from .folders import check_writable
from .run import JOBS

if TYPE_CHECKING:
    from ..results.table import Results


@click.command("beyond", cls=Command, short_help="recompute the experiments beyond the paper")
@click.argument("names", nargs=-1)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Where the results go, NAME.parquet each; by default results/beyond/ (of the checkout, if there is one).",
)  # fmt: skip
@click.option(
    "--work", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Where finished repetitions are kept; by default .cache/beyond of a checkout, or results/unfinished.",
)  # fmt: skip
@JOBS
@click.option("--list", "only_list", is_flag=True, help="List the experiments and end.")
def beyond(names: tuple[str, ...], out: Path | None, work: Path | None, jobs: int | None, only_list: bool) -> None:
    """Compute the experiments of the part "Beyond the paper" at full scale and store their results.

    With no NAMES all of them; NAMES may be patterns. Each core has an experiment of its own. After Ctrl-C, or a crash,
    the same command goes on where it stopped. Times are another matter: see nystrom arena.

    \b
    Examples:
      nystrom beyond --list
      nystrom beyond 'digits.*' '*.uniform-trace'
    """
    from ..checkout import RESULTS, WORK
    from ..experiments.problems import BEYOND
    from .chosen import chosen

    wanted = chosen(names, BEYOND, "experiment")
    if only_list:
        rows = [[name, str(BEYOND[name].n), BEYOND[name].initial.kind, BEYOND[name].descent.kind] for name in wanted]
        click.echo(table(["experiment", "n", "start", "descent"], rows, right=[1]))
        return
    out, work = out or RESULTS / "beyond", work or WORK / "beyond"
    for option, folder in (("--out", out), ("--work", work)):
        check_writable(option, folder)
    out.mkdir(parents=True, exist_ok=True)
    began, done = time.monotonic(), 0
    try:
        for name in _computed(wanted, out, work, jobs):
            done += 1
            tell(f"{name} ({done} of {len(wanted)}, {duration(time.monotonic() - began)})")
    except KeyboardInterrupt:
        raise Interrupted(
            f"Stopped: {done} of {len(wanted)} experiments are done and saved in {out}, finished repetitions of others "
            f"in {work}; the same command goes on from there."
        ) from None
    click.echo(f"{len(wanted)} experiments in {duration(time.monotonic() - began)}: {out}")


def _computed(names: list[str], out: Path, work: Path, jobs: int | None) -> Iterator[str]:
    """Each name once its results are saved."""
    from ..checkout import RESULTS
    from ..experiments.problems import BEYOND
    from ..results.provenance import cores
    from ..running.runner import several
    from ..running.shared import run_sharing

    threads = jobs or cores()
    at_once = min(threads, len(names))

    def run(name: str) -> Results:
        return run_sharing(BEYOND[name], work, (RESULTS, out), threads=threads // at_once, progress=at_once == 1)

    for name, results in several(run, names, at_once):
        results.save(out / f"{name}.parquet")
        yield name
