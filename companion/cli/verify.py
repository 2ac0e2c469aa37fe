"""``nystrom verify``: recompute stored results and compare."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..atomic_write import without_temporary
from ..errors import CompanionError
from ..wording import duration
from .base import Command, Whole, table, tell
from .run import JOBS

if TYPE_CHECKING:
    from ..results.comparing import Comparison


@click.command("verify", cls=Command, short_help="recompute stored results and compare")
@click.argument("names", nargs=-1)
@click.option(
    "--repetitions", "-k", type=Whole(1), default=3, show_default=True, metavar="K",
    help="How many repetitions of each to compute again.",
)  # fmt: skip
@click.option(
    "--seed", type=Whole(0), metavar="S",
    help="Draw the repetitions with this seed; by default they are spread evenly.",
)  # fmt: skip
@click.option(
    "--results", "folder", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR",
    help="Where the results are; by default the project's results/.",
)  # fmt: skip
@click.option("--constants", is_flag=True, help="Compute ‖K‖_F² and the best rank-n errors again, too (slow).")
@click.option("--all-numbers", is_flag=True, help="Show every quantity compared, not only those that differ.")
@JOBS
def verify(
    names: tuple[str, ...],
    repetitions: int,
    seed: int | None,
    folder: Path | None,
    constants: bool,
    all_numbers: bool,
    jobs: int | None,
) -> None:
    """Compute chosen repetitions of the stored results again, from their configurations alone, and compare.

    With no NAMES all stored results; NAMES may be patterns. Each quantity has a tolerance with a reason (they follow
    from rounding, measured over three generations of processors). The exit code is 1 if any number differs by more,
    if a file is damaged, or if the data are not the ones it was made from.

    \b
    Examples:
      nystrom verify
      nystrom verify figure-1 'figure-2*' --repetitions 10
      nystrom verify --seed 7                   another choice of repetitions
    """
    from ..checkout import RESULTS
    from .chosen import chosen

    folder = folder or RESULTS
    there = {path.stem: path for path in without_temporary(folder.glob("*.parquet"))}
    if not there:
        raise CompanionError(f"There are no stored results in {folder}; nystrom paper makes them.")
    wanted = chosen(names, there, "stored result")
    rows, differing, failed = [], [], []
    for name in wanted:
        began = time.monotonic()
        tell(f"{name} …")
        try:
            chosen_ones, comparison = _one(there[name], repetitions, seed, constants, jobs)
        except (CompanionError, OSError, ValueError) as error:
            failed.append(name)
            tell(f"{name}: {' '.join(str(error).split())}")
            rows.append([name, "", "cannot be verified", duration(time.monotonic() - began)])
            continue
        verdict = "agrees" if comparison.agree else "DIFFERS"
        rows.append([name, _listed(chosen_ones), verdict, duration(time.monotonic() - began)])
        if not comparison.agree:
            differing.append(name)
        if all_numbers or not comparison.agree:
            click.echo(f"{name}\n{numbers(comparison, all_numbers)}\n")
    click.echo(table(["results", "repetition no.", "verdict", "time"], rows, right=[3]))
    bad = differing + failed
    if bad:
        raise CompanionError(f"{len(bad)} of {len(wanted)} do not agree: {', '.join(bad)}.")


def _one(
    path: Path, repetitions: int, seed: int | None, constants: bool, jobs: int | None
) -> tuple[list[int], Comparison]:
    from ..results.table import Results
    from ..running.verifying import some_of
    from ..running.verifying import verify as recompute

    stored = Results.load(path)
    which = some_of(sorted(stored.outcomes), repetitions, seed)
    return which, recompute(stored, which, threads=jobs, constants=constants)


def _listed(repetitions: list[int]) -> str:
    shown = ", ".join(map(str, repetitions[:8]))
    return shown + (f", … ({len(repetitions)})" if len(repetitions) > 8 else "")


def numbers(comparison: Comparison, every: bool = True) -> str:
    """The quantities of a comparison, or those beyond their tolerance."""
    rows = [
        [
            row.quantity,
            row.stage,
            str(row.repetitions),
            f"{row.found:.10g}",
            f"{row.stored:.10g}",
            f"{row.difference:.1e}",
            row.tolerance,
            "yes" if row.within else "NO",
        ]
        for row in comparison.table.itertuples()
        if every or not row.within
    ]
    head = ["quantity", "stage", "of", "found", "stored", "differ by", "allowed", "within"]
    return table(head, rows, right=[2, 3, 4, 5])
