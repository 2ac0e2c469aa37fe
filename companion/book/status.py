"""The status page: what ran, how long it took, on what machine and with what versions."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..chapters import Chapter
from ..results import provenance
from ..results.table import Results
from ..wording import duration, markdown_table

#: Beyond those that numbers depend on: what makes the pages.
_TOOLS = ("jupyter-book", "sphinx", "sphinx-book-theme", "myst-nb", "papermill", "nbclient", "ipykernel", "matplotlib")


def page(chapters: Sequence[Chapter], notebooks: Path, results: Mapping[str, Results], executed: bool) -> str:
    """The generated part of the page, in Markdown.

    Parameters
    ----------
    chapters : sequence of Chapter
        Which chapters the book has.
    notebooks : Path
        Where their executed notebooks are.
    results : mapping of str to Results
        The stored results.
    executed : bool
        Were the chapters executed for this very build, rather than taken as they are committed?
    """
    how = (
        "Every chapter was executed for this build, and a cell that failed would have stopped it."
        if executed
        else "The chapters are shown as they were executed when they were last committed; `make book` executes them."
    )
    return "\n".join(
        [
            "## Chapters", "", how, "", chapter_table(chapters, notebooks), "",
            "## Stored results", "",
            "The paper's experiments at full scale. Each chapter computes some of these repetitions again and fails if "
            "one differs by more than its tolerance." + compiled(results), "",
            results_table(results), "",
            "## Machines", "",
            "On these the stored results were computed.", "",
            machine_table(results), "",
            "## This build", "",
            build_table(), "",
        ]
    )  # fmt: skip


def chapter_table(chapters: Sequence[Chapter], notebooks: Path) -> str:
    """A row for each chapter: cells run, time, machine, as its own foot says."""
    rows = []
    for chapter in chapters:
        notebook = json.loads((notebooks / chapter.file).read_text(encoding="utf-8"))
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        foot = read_foot(code)
        rows.append(
            [
                f"{{doc}}`/notebooks/{Path(chapter.file).stem}`",
                chapter.section,
                f"{sum(cell['execution_count'] is not None for cell in code)} of {len(code)}",
                foot.get("Run", "not known"),
                foot.get("Library", "not known"),
            ]
        )
    return markdown_table(["Chapter", "About", "Code cells run", "Time", "By"], rows)


def read_foot(code: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The rows of the table at the end of a chapter."""
    outputs = code[-1].get("outputs", []) if code else []
    foot: dict[str, str] = {}
    for output in outputs:
        text = "".join(output.get("data", {}).get("text/markdown", ""))
        foot.update(re.findall(r"^\| (\w+) \| (.*) \|$", text, flags=re.MULTILINE))
    return foot


def results_table(results: Mapping[str, Results]) -> str:
    """A row for each stored file."""
    rows = []
    for name, each in results.items():
        sessions = each.provenance["sessions"]
        data = each.provenance["data"]
        rows.append(
            [
                f"`{name}`",
                data["name"] + (" (a stand-in)" if data["stand_in"] and "stand-in" not in data["name"] else ""),
                f"{data['N']:,}\u00a0×\u00a0{data['d']}",
                f"{each.experiment.n:,}",
                f"{len(each.outcomes):,}",
                duration(sum(session["wall_seconds"] for session in sessions)),
                max(session["started"] for session in sessions)[:10].replace("-", "\u2011"),
                commits(sessions),
            ]
        )
    head = ["Results", "Data", "N × d", "n", "m", "Time", "Date", "Commit"]
    return markdown_table(head, rows, [False, False, True, True, True, True, False, False])


def compiled(results: Mapping[str, Results]) -> str:
    """Whose time holds the compilation of the loops: that of the results which a run began with."""
    began = {name: min(session["started"] for session in each.provenance["sessions"]) for name, each in results.items()}
    if not began:
        return ""
    first = min(began, key=lambda name: began[name])
    return (
        " The time is that of the clock on the wall, and a run compiles its loops as it meets them: "
        f"`{first}`, with which the run began, took longer for that reason than others of its kind."
    )


def commits(sessions: Sequence[Mapping[str, Any]]) -> str:
    """The states of the code that computed something."""
    shown = {f"`{each['commit'][:7]}`{'+' if each['dirty'] else ''}" for each in sessions if each.get("commit")}
    return ", ".join(sorted(shown)) or "not known"


def machine_table(results: Mapping[str, Results]) -> str:
    """A row for each kind of session that computed stored results."""
    machines: dict[tuple[str, ...], list[str]] = {}
    for name, each in results.items():
        for session in each.provenance["sessions"]:
            machines.setdefault(_machine(session), [])
            if name not in machines[_machine(session)]:
                machines[_machine(session)].append(name)
    rows = [[*machine, str(len(names))] for machine, names in machines.items()]
    return markdown_table(["Processor", "System", "Python", "BLAS", "Packages", "Results"], rows)


def _machine(session: Mapping[str, Any]) -> tuple[str, ...]:
    packages = session["packages"]
    shown = ("numpy", "scipy", "numba", "scikit-learn")
    return (
        f"{session['cpu']}, {session['cores']} cores",
        session["system"],
        session["python"],
        "; ".join(session["blas"]),
        ", ".join(f"{name} {packages[name]}" for name in shown if name in packages),
    )


def build_table() -> str:
    """The machine and the versions that made these pages."""
    here = provenance.environment()
    commit = f"{here['commit'][:10]}{' with changes' if here['dirty'] else ''}" if here["commit"] else "not known"
    versions = {**here["packages"], **{name: known for name in _TOOLS if (known := provenance.version(name))}}
    rows = [
        ["Machine", f"{here['cpu']}, {here['cores']} cores, {here['system']}"],
        ["System", platform.platform()],
        ["Python", here["python"]],
        ["nystrom_lib", f"{here['library']}, commit {commit}"],
        *([name, version] for name, version in versions.items()),
    ]
    return markdown_table(["", "Version"], rows)
