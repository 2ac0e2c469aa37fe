"""``nystrom compare``: the numbers of two runs against each other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import CompanionError
from .base import Command
from .folders import results_of
from .verify import numbers

if TYPE_CHECKING:
    from ..results.table import Results

RUN = click.Path(exists=True, path_type=Path)


@click.command("compare", cls=Command, short_help="compare the numbers of two runs")
@click.argument("first", metavar="RUN", type=RUN)
@click.argument("second", metavar="RUN", type=RUN)
def compare(first: Path, second: Path) -> None:
    """Compare two runs, number by number, within the stated tolerances.

    A RUN is the folder that nystrom run leaves, a folder of results, or one results file (.parquet). Results are
    matched by what they are results of: equal experiments first, then equal names. Settings that differ are listed.
    The exit code is 1 if any number differs by more than its tolerance or if there is nothing to compare.

    \b
    Examples:
      nystrom compare runs/bigaussian-001 runs/bigaussian-002
      nystrom compare results/figure-1.parquet runs/mine/results/figure-1.parquet
    """
    from ..results.table import Results

    ours = {name: Results.load(path) for name, path in results_of(first).items()}
    theirs = {name: Results.load(path) for name, path in results_of(second).items()}
    pairs = _pairs(ours, theirs)
    alike = True
    for one, other in pairs:
        title = one if one == other else f"{one} against {other}"
        alike = _shown(title, ours[one], theirs[other]) and alike
    for name in sorted(set(ours) - {one for one, _ in pairs}):
        click.echo(f"{name} is in {first} only")
    for name in sorted(set(theirs) - {other for _, other in pairs}):
        click.echo(f"{name} is in {second} only")
    if not pairs:
        raise CompanionError(f"{first} and {second} have no results in common.")
    if not alike:
        raise CompanionError("The numbers differ by more than their tolerance.")
    click.echo("The results agree.")


def _shown(title: str, ours: Results, theirs: Results) -> bool:
    """Show one comparison; do the two agree?"""
    from ..results.comparing import compare as difference

    if not set(ours.outcomes) & set(theirs.outcomes):
        click.echo(f"{title}: no repetition in common\n")
        return False
    comparison = difference(ours, theirs)
    click.echo(f"{title}: {'agree' if comparison.agree else 'DIFFER'}")
    click.echo(numbers(comparison))
    click.echo("".join(f"  {note}\n" for note in comparison.notes))
    return comparison.agree


def _pairs(ours: Mapping[str, Results], theirs: Mapping[str, Results]) -> list[tuple[str, str]]:
    """Which results to compare: the same experiment, else the same name, else one of each if there is no choice."""

    def same_experiment(one: str, other: str) -> bool:
        return bool(ours[one].provenance["fingerprint"] == theirs[other].provenance["fingerprint"])

    pairs: dict[str, str] = {}
    for alike in (same_experiment, str.__eq__):
        for one in ours:
            left = [name for name in theirs if name not in pairs.values() and alike(one, name)]
            if one not in pairs and left:
                pairs[one] = left[0]
    if not pairs and len(ours) == len(theirs) == 1:
        pairs = dict(zip(ours, theirs, strict=True))
    return list(pairs.items())
