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
from .base import DASK, JOBS, Command, folder_option, matching, tell

if TYPE_CHECKING:
    from ..experiments.config import Experiment

NAMES = click.argument("names", nargs=-1)
OUT = folder_option("--out", "The folder for the results (default: the project's).")
STORE = folder_option("--work", "The folder for finished repetitions (default: .cache of the project).")


@click.group("reproduce", short_help="recompute all stored results at full scale")
def reproduce() -> None:
    """Compute stored results at full scale. Every finished repetition is stored: after Ctrl-C or a crash the same
    command continues. NAMES may be patterns; without any, everything is computed.

    \b
    Examples:
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
def paper(names: tuple[str, ...], out: Path | None, work: Path | None, jobs: int | None, dask: str | None) -> None:
    """Compute the paper's experiments (Figures 1 to 5).

    Figure 5 uses a labelled stand-in where the MiniBooNE data are not available
    (nystrom_lib.datasets.fetch_miniboone() fetches them).
    """
    from ..experiments.paper import PAPER

    _compute(names, PAPER, out or RESULTS, work or WORK / "paper", threads=jobs, cluster=dask)


@reproduce.command("beyond", cls=Command, short_help="the experiments beyond the paper")
@NAMES
@OUT
@STORE
@JOBS
def beyond(names: tuple[str, ...], out: Path | None, work: Path | None, jobs: int | None) -> None:
    """Compute the experiments beyond the paper."""
    from ..experiments.problems import BEYOND

    _compute(names, BEYOND, out or RESULTS / "beyond", work or WORK / "beyond", threads=jobs)


@reproduce.command("arena", cls=Command, short_help="all methods against the clock on eight problems")
@NAMES
@click.option(
    "--long", "few", type=click.IntRange(1, 11), default=11, show_default=True, metavar="M",
    help="Repetitions of the budgets above a second, which take most of the time and vary little.",
)  # fmt: skip
@OUT
@STORE
def arena(names: tuple[str, ...], few: int, out: Path | None, work: Path | None) -> None:
    """Time all methods of choosing landmarks, scikit-learn's included, at 0.1, 0.3, 1, 3 and 10 s.

    Trials run one at a time: all eight problems take an hour, or twenty minutes with --long 2. More repetitions than
    before are added to those stored. Faiss takes part if it is installed.
    """
    from ..experiments.problems import PROBLEMS
    from ..running import arena as running

    problems = matching(names, PROBLEMS, "problem")
    out, work = out or RESULTS / "beyond", work or WORK / "arena"
    began = time.monotonic()
    budgets = {seconds: few if seconds > 1.0 else running.REPETITIONS for seconds in running.BUDGETS}
    try:
        trials = running.hold(list(running.trials(problems, budgets)), work)
    except KeyboardInterrupt:
        raise Interrupted(f"Stopped: finished trials are in {work}; the same command continues.") from None
    path = running.save(trials, out / "arena.json")
    click.echo(f"{len(trials):,} trials in {duration(time.monotonic() - began)}: {path}")


def _compute(names: tuple[str, ...], known: Mapping[str, Experiment], out: Path, work: Path, **how: Any) -> None:
    from ..running.runner import run

    wanted = matching(names, known, "experiment")
    began = time.monotonic()
    for done, name in enumerate(wanted):
        tell(f"{name} ({done + 1} of {len(wanted)})")
        try:
            run(known[name], work, **how).save(out / f"{name}.parquet")
        except KeyboardInterrupt:
            raise Interrupted(
                f"Stopped: {done} of {len(wanted)} experiments are saved in {out}; "
                "the same command continues with the rest."
            ) from None
    click.echo(f"{len(wanted)} experiments in {duration(time.monotonic() - began)}: {out}")
