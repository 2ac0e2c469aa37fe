"""The page that compares the runs of a sweep: their parameters, their results, their figures next to each other."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..atomic_write import without_temporary, write_text
from ..wording import PLAIN, duration
from .base import table

if TYPE_CHECKING:
    import pandas as pd

    from ..results.table import Results
    from .sweep import Member

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 100rem; margin: 2rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; } th, td { padding: .3rem .9rem .3rem 0; text-align: left; vertical-align: top; }
thead th { border-bottom: 1px solid #888; } td.number { text-align: right; font-variant-numeric: tabular-nums; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1.5rem; }
figure { margin: 0; } figure img { width: 100%; height: auto; } figcaption { font-size: .9rem; color: #555; }
@media (prefers-color-scheme: dark) { figure img { background: #fff; } }
"""


def write(folder: Path, title: str, members: list[Member]) -> tuple[Path, str]:
    """Write ``comparison.html`` and ``comparison.csv``; give the page and the table as text for a terminal."""
    summary = summarise(folder, members)
    write_text(folder / "comparison.csv", summary.to_csv(index=False))
    page = folder / "comparison.html"
    write_text(page, _page(folder, title, members, summary))
    numeric = [place for place, name in enumerate(summary.columns) if summary[name].dtype.kind in "if"]
    rows = [[_shown(value) for value in row] for row in summary.itertuples(index=False)]
    return page, table(list(summary.columns), rows, right=numeric)


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
    """The medians of what the run has of the criterion and the errors of the approximation."""
    from ..results.summary import change

    experiment = results.experiment
    N = results.provenance["data"]["N"]
    row: dict[str, Any] = {"N": N, "n": experiment.n, "repetitions": len(results.outcomes)}
    for quantity, name in PLAIN.items():
        if quantity in results.table.columns:
            before, after = change(results, quantity).medians
            row |= {f"{name} before": before, f"{name} after": after}
    return row


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}"
    return str(value)


# -- the page --------------------------------------------------------------------------------------------------


def _page(folder: Path, title: str, members: list[Member], summary: pd.DataFrame) -> str:
    parts = [
        f"<h1>{escape(title)}: {len(members)} runs side by side</h1>",
        "<h2>Runs</h2>",
        _runs(folder, members),
        "<h2>Results: medians over the repetitions, before and after the descent</h2>",
        _results(summary),
        '<p>The same as <a href="comparison.csv">a table in CSV</a>.</p>',
        *_figures(folder, members),
    ]
    head = [
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
    ]
    lines = ["<!DOCTYPE html>", '<html lang="en">', "<head>", *head, "</head>", "<body>", *parts, "</body>", "</html>"]
    return "\n".join(lines) + "\n"


def _runs(folder: Path, members: list[Member]) -> str:
    differing = [
        name
        for name in members[0].parameters
        if any(member.parameters[name] != members[0].parameters[name] for member in members)
    ]
    rows = []
    for member in members:
        pages = sorted((folder / member.folder).glob("*.html"))
        target = f"{member.folder}/{pages[0].name}" if pages else f"{member.folder}/"
        cells = [f'<a href="{quote(target)}">{escape(member.label)}</a>']
        cells += [escape(str(member.parameters[name])) for name in differing]
        cells += [escape(member.status), duration(member.seconds)]
        rows.append(cells)
    return _html_table(["run", *map(escape, differing), "status", "time"], rows)


def _results(summary: pd.DataFrame) -> str:
    rows = [[escape(_shown(value)) for value in row] for row in summary.itertuples(index=False)]
    numeric = {place for place, name in enumerate(summary.columns) if summary[name].dtype.kind in "if"}
    return _html_table([escape(str(name)) for name in summary.columns], rows, numeric)


def _html_table(head: list[str], rows: list[list[str]], numeric: set[int] | None = None) -> str:
    columns = "".join(f"<th>{name}</th>" for name in head)
    classes = [' class="number"' if place in (numeric or ()) else "" for place in range(len(head))]
    body = "\n".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(classes, row, strict=True)) + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table>\n<thead><tr>{columns}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def _figures(folder: Path, members: list[Member]) -> list[str]:
    names: dict[str, None] = {}
    for member in members:
        names |= {path.name: None for path in sorted((folder / member.folder / "figures").glob("*.svg"))}
    parts = []
    for name in names:
        shown = [member for member in members if (folder / member.folder / "figures" / name).is_file()]
        pictures = "\n".join(_picture(member, name) for member in shown)
        parts.append(f'<h2>{escape(Path(name).stem)}</h2>\n<div class="figures">\n{pictures}\n</div>')
    return parts


def _picture(member: Member, name: str) -> str:
    source = quote(f"{member.folder}/figures/{name}")
    words = escape(f"{Path(name).stem} with {member.label}", quote=True)
    image = f'<a href="{source}"><img src="{source}" alt="{words}"></a>'
    return f"<figure>{image}<figcaption>{escape(member.label)}</figcaption></figure>"
