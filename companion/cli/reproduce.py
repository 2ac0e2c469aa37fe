"""``nystrom reproduce``: compute the stored results at full scale."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..checkout import RESULTS, WORK
from ..errors import Interrupted
from ..wording import duration
from .base import DASK, JOBS, Command, folder_option, matching, table, tell

if TYPE_CHECKING:
    from ..experiments.config import Experiment

NAMES = click.argument("names", nargs=-1)
OUT = folder_option("--out", "The folder for the results (default: the project's).")
STORE = folder_option("--work", "The folder for finished repetitions (default: .cache of the project).")
LIST = click.option("--list", "only_list", is_flag=True, help="List the experiments and stop.")


@click.group("reproduce", short_help="recompute all stored results at full scale")
def reproduce() -> None:
    """Compute stored results at full scale. Every finished repetition is stored: after Ctrl-C or a crash the same
    command continues. NAMES may be patterns; without any, everything is computed.

    \b
    Examples:
      nystrom reproduce paper --list
      nystrom reproduce paper figure-1 'figure-2*'
      nystrom reproduce beyond 'digits.*'
      nystrom reproduce arena --long 2
    """


@reproduce.command("paper", cls=Command, short_help="the paper's experiments, Figures 1 to 5")
@NAMES
@OUT
@STORE
@JOBS
@DASK
@LIST
def paper(
    names: tuple[str, ...], out: Path | None, work: Path | None, jobs: int | None, dask: str | None, only_list: bool
) -> None:
    """Compute the paper's experiments (Figures 1 to 5).

    Figure 5 uses a labelled stand-in where the MiniBooNE data are not available
    (nystrom_lib.datasets.fetch_miniboone() fetches them).
    """
    from ..experiments.paper import PAPER

    wanted = _wanted(names, PAPER, only_list)
    _compute(wanted, out or RESULTS, work or WORK / "paper", threads=jobs, cluster=dask)


@reproduce.command("beyond", cls=Command, short_help="the experiments beyond the paper")
@NAMES
@OUT
@STORE
@JOBS
@LIST
def beyond(names: tuple[str, ...], out: Path | None, work: Path | None, jobs: int | None, only_list: bool) -> None:
    """Compute the experiments beyond the paper."""
    from ..experiments.problems import BEYOND

    wanted, out = _wanted(names, BEYOND, only_list), out or RESULTS / "beyond"
    _compute(wanted, out, work or WORK / "beyond", threads=jobs)


@reproduce.command("arena", cls=Command, short_help="all methods against the clock on eight problems")
@NAMES
@click.option(
    "--long", "few", type=click.IntRange(1, 11), default=11, show_default=True, metavar="M",
    help="Repetitions of the budgets above a second, which take most of the time and vary little.",
)  # fmt: skip
@OUT
@STORE
@click.option("--most", type=click.IntRange(100), metavar="N", help="Use at most N points, for a first look.")
def arena(names: tuple[str, ...], few: int, out: Path | None, work: Path | None, most: int | None) -> None:
    """Time all methods of choosing landmarks, scikit-learn's included, at 0.1, 0.3, 1, 3 and 10 s.

    Trials run one at a time: all eight problems take an hour, or twenty minutes with --long 2. More repetitions than
    before are added to those stored. Faiss takes part if it is installed.
    """
    from ..experiments.problems import PROBLEMS
    from ..running import arena as running

    problems = matching(names, PROBLEMS, "problem")
    out, work = out or RESULTS / "beyond", work or WORK / "arena"
    began, terms = time.monotonic(), running.Terms(most)
    budgets = {seconds: few if seconds > 1.0 else running.REPETITIONS for seconds in running.BUDGETS}
    wanted = list(running.trials(problems, budgets))
    try:
        trials = running.hold(wanted, work, terms)
    except KeyboardInterrupt:
        raise Interrupted(f"Stopped: finished trials are in {work}; the same command continues.") from None
    path = running.save(trials, out / "arena.json")
    click.echo(f"{len(trials):,} trials in {duration(time.monotonic() - began)}: {path}")


def _wanted(names: tuple[str, ...], known: Mapping[str, Experiment], only_list: bool) -> dict[str, Experiment]:
    wanted = {name: known[name] for name in matching(names, known, "experiment")}
    if only_list:
        rows = [[name, each.data.kind, str(each.n), str(each.m)] for name, each in wanted.items()]
        click.echo(table(["experiment", "data", "n", "repetitions"], rows, right=[2, 3]))
        raise click.exceptions.Exit
    return wanted


def _compute(wanted: dict[str, Experiment], out: Path, work: Path, **how: Any) -> None:
    from ..running.runner import run

    began = time.monotonic()
    for done, (name, experiment) in enumerate(wanted.items()):
        tell(f"{name} ({done + 1} of {len(wanted)})")
        try:
            run(experiment, work, **how).save(out / f"{name}.parquet")
        except KeyboardInterrupt:
            raise Interrupted(
                f"Stopped: {done} of {len(wanted)} experiments are saved in {out}; "
                "the same command continues with the rest."
            ) from None
    click.echo(f"{len(wanted)} experiments in {duration(time.monotonic() - began)}: {out}")
