"""``nystrom arena``: every way to choose landmarks, against the clock."""

from __future__ import annotations

import time
from pathlib import Path

import click

from ..errors import Interrupted
from ..wording import duration
from .base import Command, Whole, bar, tell
from .folders import check_writable


@click.command("arena", cls=Command, short_help="time every way to choose landmarks on eight problems")
@click.argument("names", nargs=-1)
@click.option(
    "--long", "few", type=click.IntRange(1, 11), default=11, show_default=True, metavar="M",
    help="Repetitions of the budgets above a second: they take most of the time, and scatter little.",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Where the table goes; by default results/beyond/arena.json (of the checkout, if there is one).",
)  # fmt: skip
@click.option(
    "--log", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Where finished trials are kept; by default .cache/arena.jsonl of a checkout, or results/unfinished.",
)  # fmt: skip
@click.option("--jobs", type=Whole(1), default=2, show_default=True, help="Trials at a time, a thread each.")
@click.option("--most", type=Whole(100), metavar="N", help="Take no more than N points: for a first look.")
def arena(names: tuple[str, ...], few: int, out: Path | None, log: Path | None, jobs: int, most: int | None) -> None:
    """Time every way to choose landmarks, scikit-learn's included, at 0.1, 0.3, 1, 3 and 10 s, and store the table.

    With no NAMES on all eight problems, which takes half an hour on two cores that have nothing else to do, or ten
    minutes with --long 2. After Ctrl-C the same command goes on where it stopped; asked for more repetitions than
    before, it adds them. Faiss takes part if it is installed.

    \b
    Examples:
      nystrom arena --long 2
      nystrom arena digits abalone --most 500 --out small.json --log small.jsonl
    """
    from ..checkout import RESULTS, WORK
    from ..experiments.problems import PROBLEMS
    from ..running import arena as running
    from .chosen import chosen

    problems = chosen(names, PROBLEMS, "problem")
    began = time.monotonic()
    log, out = log or WORK / "arena.jsonl", out or RESULTS / "beyond" / "arena.json"
    for option, file in (("--log", log), ("--out", out)):
        check_writable(option, file.parent)
    terms = running.Terms(most)
    best = running.known_best(problems, RESULTS) if most is None else running.best_errors(problems, terms)
    budgets = {seconds: few if seconds > 1.0 else running.REPETITIONS for seconds in running.BUDGETS}
    wanted = list(running.trials(problems, budgets))
    tell(f"{len(wanted):,} trials, {jobs} at a time")
    try:
        with bar(total=len(wanted), unit="trial") as shown:
            held = running.hold(
                wanted, best, log, jobs=jobs, terms=terms, progress=lambda done: shown.update(done - shown.n)
            )
    except KeyboardInterrupt:
        raise Interrupted(f"Stopped: finished trials are in {log}; the same command goes on from there.") from None
    path = running.save(held, out, jobs=jobs)
    click.echo(f"{len(held):,} trials in {duration(time.monotonic() - began)}: {path}")
