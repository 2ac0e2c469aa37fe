"""``nystrom sweep``: a chapter once for each value of a parameter, and one table of the results."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..atomic_write import without_temporary, write_text
from ..errors import CompanionError, ConfigurationError, Interrupted
from ..wording import PLAIN
from . import folders
from .base import Command, table, tell
from .run import DASK, FILE, JOBS, PROFILE, execute_chapter, split

if TYPE_CHECKING:
    import pandas as pd

    from ..chapters import Chapter
    from ..results.table import Results


@dataclass(frozen=True)
class Member:
    """One run of a sweep: its label, the name of its folder, and its parameters."""

    label: str
    folder: str
    parameters: dict[str, Any]


@click.command("sweep", cls=Command, short_help="run a chapter once for each value of a parameter")
@click.argument("name")
@click.option(
    "-p", "--parameter", "pairs", multiple=True, required=True, metavar="KEY=VALUE,VALUE,…",
    help="Values for a parameter, a run for each; with several -p a run for each combination.",
)  # fmt: skip
@PROFILE
@FILE
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="The folder of the sweep; by default the next of runs/NAME-sweep-001, -002, …",
)  # fmt: skip
@JOBS
@DASK
def sweep(
    name: str, pairs: tuple[str, ...], profile: str, file: Path | None, out: Path | None, jobs: int | None,
    dask: str | None,
) -> None:  # fmt: skip
    """Run chapter NAME once for each value and print one table of all results.

    Commas outside brackets separate the values, so a parameter that is a list takes one list in brackets for each
    run. All values are checked before the first run starts. A run that fails does not stop the others; the exit code
    is then 1. Each run leaves a folder (see nystrom run --help); the table is also written to sweep.csv. The same
    command with the --out of a stopped sweep goes on from there: finished runs are kept.

    \b
    Examples:
      nystrom sweep bigaussian --profile quick -p rho=0.25,1,4
      nystrom sweep bigaussian --profile quick -p rho=1,16 -p seed=1,2       four runs
      nystrom sweep bigaussian --profile smoke -p 'n=[5],[5,10]'             lists
    """
    from ..chapters import chapter

    this = chapter(name)
    members = _members(this, profile, file, pairs)
    if out is not None:
        folders.check_writable("--out", out)
    folder = out or folders.next_folder(f"{name}-sweep")
    failed = []
    try:
        for place, member in enumerate(members, start=1):
            tell(f"run {place} of {len(members)}: {member.label}")
            if not _run(this, member, folder, profile=profile, jobs=jobs, dask=dask):
                failed.append(member.label)
    except KeyboardInterrupt:
        raise Interrupted(
            f"Stopped: {place - 1} of {len(members)} runs are done in {folder}; the same command with --out {folder} "
            "goes on from there, and finished repetitions are kept."
        ) from None
    summary = summarise(folder, members)
    write_text(folder / "sweep.csv", summary.to_csv(index=False))
    click.echo(_text(summary))
    click.echo(f"\ntable  {folder / 'sweep.csv'}")
    if failed:
        raise CompanionError(f"{len(failed)} of {len(members)} runs failed: {', '.join(failed)}.")


def values_of(text: str) -> list[str]:
    """The values that commas outside brackets and quotes separate.

    Examples
    --------
    >>> values_of("0.25,1,4"), values_of("[5],[5,10]"), values_of('"a,b",c')
    (['0.25', '1', '4'], ['[5]', '[5,10]'], ['a,b', 'c'])
    """
    parts, depth, quoted = [""], 0, False
    for letter in text:
        quoted ^= letter == '"'
        depth += 0 if quoted else {"[": 1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return [part[1:-1] if len(part) > 1 and part[0] == part[-1] == '"' else part for part in map(str.strip, parts)]


def _members(this: Chapter, profile: str, file: Path | None, pairs: Iterable[str]) -> list[Member]:
    from ..chapters.parameters import read_file

    base = read_file(file) if file is not None else {}
    choices = {key: values_of(text) for key, text in split(pairs).items()}
    varied = [key for key, values in choices.items() if len(values) > 1]
    members = []
    for values in itertools.product(*choices.values()):
        given = dict(zip(choices, values, strict=True))
        settings = this.settings({**base, **given}, profile)
        label = ", ".join(f"{key} = {given[key]}" for key in varied or choices)
        folder = re.sub(r"[^\w.+=-]+", "_", label.replace(" ", ""), flags=re.ASCII)[:80]
        members.append(Member(label, folder, settings.to_plain()))
    for one, other in itertools.combinations(members, 2):
        if one.parameters == other.parameters or one.folder == other.folder:
            raise ConfigurationError("-p", f"asks for the same run twice ({one.label} and {other.label}).")
    return members


def _run(this: Chapter, member: Member, folder: Path, **how: Any) -> bool:
    """Run one member unless it is finished already; False if it failed."""
    from ..notebook.execute import read_record

    record = read_record(folder / member.folder)
    if record is not None and record.get("status") == "finished" and record["parameters"] == member.parameters:
        tell("finished before")
        return True
    try:
        execute_chapter(this, member.parameters, folder / member.folder, resume=record is not None, **how)
    except CompanionError as error:
        tell(" ".join(str(error).split()))
        return False
    return True


def summarise(folder: Path, members: list[Member]) -> pd.DataFrame:
    """A row for each set of results of each run: medians over its repetitions, before and after the descent."""
    import pandas as pd

    from ..results.table import Results

    rows: list[dict[str, Any]] = []
    for member in members:
        for path in without_temporary((folder / member.folder / "results").glob("*.parquet")):
            rows.append({"run": member.label, "results": path.stem, **_medians(Results.load(path))})
    return pd.DataFrame(rows) if rows else pd.DataFrame({"run": [member.label for member in members]})


def _medians(results: Results) -> dict[str, Any]:
    """The medians of the criteria that the run has computed."""
    from ..results.summary import change

    experiment = results.experiment
    row: dict[str, Any] = {"n": experiment.n, "repetitions": len(results.outcomes)}
    for quantity, name in PLAIN.items():
        if quantity in results.table.columns:
            before, after = change(results, quantity).medians
            row |= {f"{name} before": before, f"{name} after": after}
    return row


def _text(summary: pd.DataFrame) -> str:
    numeric = [place for place, name in enumerate(summary.columns) if summary[name].dtype.kind in "if"]
    rows = [[_shown(value) for value in row] for row in summary.itertuples(index=False)]
    return table(list(summary.columns), rows, right=numeric)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}"
    return str(value)
