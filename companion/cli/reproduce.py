"""``nystrom reproduce``: compute the stored results at full scale."""

from __future__ import annotations

import time
from pathlib import Path

import click

from ..checkout import RESULTS, WORK
from ..errors import ConfigurationError, Interrupted
from ..wording import duration
from .base import DASK, JOBS, Command, folder_option, matching


@click.command(
    "reproduce", cls=Command, short_help="recompute all stored results at full scale", no_args_is_help=True
)
@click.argument("what", type=click.Choice(["paper", "beyond", "arena"]))
@click.argument("names", nargs=-1)
@folder_option("--out", "The folder for the results (default: the project's).")
@folder_option("--work", "The folder for finished repetitions (default: .cache of the project).")
@JOBS
@DASK
@click.option(
    "--long", type=click.IntRange(1, 11), default=11, show_default=True, metavar="M",
    help="Of the arena: repetitions of the budgets above a second, which take most of the time and vary little.",
)  # fmt: skip
def reproduce(
    what: str, names: tuple[str, ...], out: Path | None, work: Path | None, jobs: int | None, dask: str | None,
    long: int,
) -> None:  # fmt: skip
    """Compute stored results at full scale: those of the paper's experiments (Figures 1 to 5), those beyond the paper,
    or the arena. Every finished repetition is stored: after Ctrl-C or a crash the same command continues. NAMES may be
    patterns of experiments, or of problems of the arena; without any, everything is computed.

    Figure 5 uses a labelled stand-in where the MiniBooNE data are not available
    (nystrom_lib.datasets.fetch_miniboone() fetches them).

    The arena times all methods of choosing landmarks, scikit-learn's included, at 0.1, 0.3, 1, 3 and 10 s. Trials run
    one at a time: all eight problems take an hour, or twenty minutes with --long 2. More repetitions than before are
    added to those stored. Faiss takes part if it is installed.

    \b
    Examples:
      nystrom reproduce paper figure-1 'figure-2*'
      nystrom reproduce beyond 'digits.*'
      nystrom reproduce arena --long 2
    """
    from ..experiments.paper import PAPER
    from ..experiments.problems import BEYOND, PROBLEMS
    from ..running import arena
    from ..running.runner import run

    if what == "arena" and (jobs or dask):
        raise ConfigurationError("--jobs" if jobs else "--dask", "is not for the arena: its trials run one at a time.")
    out, work = out or (RESULTS if what == "paper" else RESULTS / "beyond"), work or WORK / what
    began = time.monotonic()
    if what == "arena":
        problems = matching(names, PROBLEMS, "problem")
        budgets = {seconds: long if seconds > 1.0 else arena.REPETITIONS for seconds in arena.BUDGETS}
        try:
            trials = arena.hold(list(arena.trials(problems, budgets)), work, arena.Terms())
        except KeyboardInterrupt:
            raise Interrupted(f"Stopped: finished trials are in {work}; the same command continues.") from None
        path = arena.save(trials, out / "arena.json")
        click.echo(f"{len(trials):,} trials in {duration(time.monotonic() - began)}: {path}")
        return
    known = PAPER if what == "paper" else BEYOND
    wanted = matching(names, known, "experiment")
    for done, name in enumerate(wanted):
        click.echo(f"{name} ({done + 1} of {len(wanted)})", err=True)
        try:
            run(known[name], work, threads=jobs, cluster=dask).save(out / f"{name}.parquet")
        except KeyboardInterrupt:
            raise Interrupted(
                f"Stopped: {done} of {len(wanted)} experiments are saved in {out}; "
                "the same command continues with the rest."
            ) from None
    click.echo(f"{len(wanted)} experiments in {duration(time.monotonic() - began)}: {out}")
