"""``nystrom sweep``: several runs of a chapter side by side, then one page that compares them."""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..atomic_write import write_text
from ..errors import CompanionError, ConfigurationError, Interrupted
from ..wording import duration
from . import folders
from .base import Command, tell
from .run import DASK, FILE, JOBS, PROFILE, check_cluster, check_extras, execute_chapter, split

if TYPE_CHECKING:
    from ..chapters import Chapter

RECORD = "sweep.json"


@dataclass(frozen=True)
class Member:
    """One run of a sweep.

    Attributes
    ----------
    label : str
        What is particular to it: ``"rho = 0.25"``.
    folder : str
        Its folder, below that of the sweep.
    parameters : dict
        All its parameters.
    status : str
        ``"to do"``, ``"done"``, or why it failed.
    seconds : float
        How long it took.
    """

    label: str
    folder: str
    parameters: dict[str, Any]
    status: str = "to do"
    seconds: float = 0.0


@click.command("sweep", cls=Command, short_help="run a chapter several times and compare the runs")
@click.argument("name")
@click.option(
    "-p", "--parameter", "pairs", multiple=True, required=True, metavar="KEY=VALUE,VALUE,…",
    help="Values for a parameter, a run for each; with several -p a run for each combination.",
)  # fmt: skip
@PROFILE
@FILE
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR",
    help="The folder of the sweep, new or empty; by default the next of runs/NAME-sweep-001, -002, …",
)  # fmt: skip
@JOBS
@DASK
@click.option("--resume", is_flag=True, help="Go on with the sweep in --out: runs that are done are not done again.")
def sweep(
    name: str,
    pairs: tuple[str, ...],
    profile: str,
    file: Path | None,
    out: Path | None,
    jobs: int | None,
    dask: str | None,
    resume: bool,
) -> None:
    """Run chapter NAME several times and compare the runs on one page.

    Commas outside brackets separate the values, so a parameter that is a list takes one list in brackets for each
    run. All values are checked before the first run starts. A run that fails does not stop the others; the page says
    so, and the exit code is 1.

    The sweep leaves a folder for each run (see nystrom run --help), and beside them comparison.html, with the figures
    of all runs next to each other, and comparison.csv, a table of their results.

    \b
    Examples:
      nystrom sweep bigaussian --profile quick -p rho=0.25,1,4
      nystrom sweep bigaussian --profile quick -p rho=1,16 -p seed=1,2       four runs
      nystrom sweep bigaussian --profile smoke -p 'n=[5],[5,10]'             lists
    """
    from ..chapters import chapter

    this = chapter(name)
    check_extras(this, dask)
    members = _members(this, profile, file, pairs)
    check_cluster(this, [this.settings(member.parameters) for member in members], dask)
    if resume and out is None:
        raise ConfigurationError("--resume", "needs --out with the folder of the sweep to go on with.")
    folder = _resumed(out, members) if resume and out is not None else _new(name, out)
    members = _known(folder, members)
    this.source()
    try:
        for place, member in enumerate(members):
            if member.status != "done":
                tell(f"run {place + 1} of {len(members)}: {member.label}")
                members[place] = _one(this, member, folder, profile=profile, jobs=jobs, dask=dask)
                _record(folder, name, members)
    except KeyboardInterrupt:
        done, stored = sum(member.status == "done" for member in members), folders.repetitions_stored(folder)
        raise Interrupted(
            f"Stopped: {done} of {len(members)} runs are done in {folder}, and {stored} repetitions of the next are "
            f"stored; the same command with --out {folder} --resume goes on from there."
        ) from None
    _finish(this, folder, members)


def _finish(this: Chapter, folder: Path, members: list[Member]) -> None:
    from .side_by_side import write

    page, summary = write(folder, f"{this.title} ({this.section})", members)
    click.echo(summary)
    click.echo(f"\npage   {page}\ntable  {page.with_suffix('.csv')}")
    failed = [member.label for member in members if member.status != "done"]
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
    for place, values in enumerate(itertools.product(*choices.values()), start=1):
        given = dict(zip(choices, values, strict=True))
        settings = this.settings({**base, **given}, profile)
        this.ready(settings)
        label = ", ".join(f"{key} = {given[key]}" for key in varied or choices)
        folder = f"{place:02d}_" + re.sub(r"[^\w.+=-]+", "_", label.replace(" ", ""), flags=re.ASCII)[:80]
        members.append(Member(label, folder, settings.to_plain()))
    for one, other in itertools.combinations(members, 2):
        if one.parameters == other.parameters:
            raise ConfigurationError("-p", f"asks for the same run twice ({one.label} and {other.label}).")
    return members


def _one(this: Chapter, member: Member, folder: Path, **how: Any) -> Member:
    from ..notebook.execute import read_record

    began = time.monotonic()
    try:
        begun = read_record(folder / member.folder) is not None
        execute_chapter(this, member.parameters, folder / member.folder, resume=begun, **how)
        status = "done"
    except CompanionError as error:
        status = " ".join(str(error).split())
        tell(status)
    seconds = time.monotonic() - began
    if status == "done":
        tell(f"done in {duration(seconds)}")
    return replace(member, status=status, seconds=seconds)


def _record(folder: Path, name: str, members: list[Member]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    record = {"chapter": name, "runs": [asdict(member) for member in members]}
    write_text(folder / RECORD, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def _recorded(folder: Path) -> list[Mapping[str, Any]]:
    try:
        runs = json.loads((folder / RECORD).read_text(encoding="utf-8"))["runs"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [run for run in runs if isinstance(run, dict)] if isinstance(runs, list) else []


def _new(name: str, out: Path | None) -> Path:
    if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigurationError(
            "--out", f"is {str(out)!r}, which is not an empty folder; go on with a sweep by --resume, or name another."
        )
    if out is not None:
        folders.check_writable("--out", out)
    return out or folders.next_folder(f"{name}-sweep")


def _resumed(out: Path, members: list[Member]) -> Path:
    if not out.is_dir():
        raise ConfigurationError("--out", f"is {str(out)!r}, where there is no sweep to resume.")
    ours = {member.folder for member in members}
    if any(run.get("folder") not in ours for run in _recorded(out)):
        raise ConfigurationError("--out", f"is {str(out)!r}, the folder of another sweep; its values must be the same.")
    return out


def _known(folder: Path, members: list[Member]) -> list[Member]:
    """The members, with what an earlier call has done already."""
    done = {
        run["folder"]: run
        for run in _recorded(folder)
        if run.get("status") == "done" and (folder / str(run.get("folder"))).is_dir()
    }

    def known(member: Member) -> Member:
        earlier = done.get(member.folder)
        if earlier is None or earlier.get("parameters") != json.loads(json.dumps(member.parameters)):
            return member
        return replace(member, status="done", seconds=float(earlier.get("seconds", 0.0)))

    return [known(member) for member in members]
