"""``nystrom verify``: recompute stored results and compare."""

from __future__ import annotations

from pathlib import Path

import click

from ..checkout import RESULTS
from ..errors import CompanionError, VerificationError
from .base import JOBS, Command, matching, table


@click.command("verify", cls=Command, short_help="recompute stored results and compare")
@click.argument("names", nargs=-1)
@click.option(
    "-k", "--repetitions", type=click.IntRange(1), default=3, show_default=True, metavar="K",
    help="Number of repetitions of each to recompute.",
)  # fmt: skip
@click.option(
    "--results", "folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=RESULTS,
    metavar="DIR", help="The folder of the results (default: the project's).",
)  # fmt: skip
@click.option("--constants", is_flag=True, help="Recompute ‖K‖_F² and the best rank-n errors too (slow).")
@JOBS
def verify(names: tuple[str, ...], repetitions: int, folder: Path, constants: bool, jobs: int | None) -> None:
    """Recompute some repetitions of stored results from their configurations, and compare.

    NAMES may be patterns; without any, all results are checked. Each quantity has a tolerance with a reason: they
    follow from rounding errors, measured on three generations of processors. The exit code is 1 if any number differs
    by more, if a file is damaged, or if the data are not those that the result is from.

    \b
    Examples:
      nystrom verify
      nystrom verify figure-1 'figure-2*' --repetitions 10
    """
    from ..results.table import Results
    from ..running.stored import some_of
    from ..running.stored import verify as recompute

    paths = {path.stem: path for path in sorted(folder.glob("[!.]*.parquet"))}
    if not paths:
        raise CompanionError(f"There are no stored results in {folder}; nystrom reproduce computes them.")
    rows, bad = [], []
    for name in matching(names, paths, "stored result"):
        click.echo(f"{name} …", err=True)
        chosen, verdict = [], "agrees"
        try:
            stored = Results.load(paths[name])
            chosen = some_of(sorted(stored.outcomes), repetitions)
            recompute(stored, chosen, threads=jobs, constants=constants)
        except (CompanionError, OSError, ValueError) as error:
            click.echo(f"{name}: {' '.join(str(error).split())}", err=True)
            verdict = "DIFFERS" if isinstance(error, VerificationError) else "cannot be verified"
            bad.append(name)
        rows.append([name, ", ".join(map(str, chosen)), verdict])
    click.echo(table(["results", "repetitions", "verdict"], rows))
    if bad:
        raise CompanionError(f"{len(bad)} of {len(rows)} do not agree: {', '.join(bad)}.")
