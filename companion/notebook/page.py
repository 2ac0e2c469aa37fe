"""The interface of the notebooks: parameters, results, and prose, tables and figures with numbers of the run.

A chapter's first code cell after its parameters is

    from companion import notebook
    page = notebook.begin("bigaussian", globals())
    p = page.parameters

and its last is ``page.foot()``. The cells between ask ``page`` for results and show them through it, so that a chapter
looks the same in JupyterLab, in the book and in the folder of a run.
"""

from __future__ import annotations

import logging
import os
import tempfile
import time
from collections.abc import Callable, Container, Hashable, Mapping
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import nystrom_lib as nl

from ..atomic_write import write_text
from ..chapters import Chapter, chapter
from ..chapters.base import written
from ..checkout import RESULTS
from ..experiments.config import Experiment
from ..figures import style
from ..results import provenance
from ..settings import Settings, refuse_unknown
from ..wording import markdown, markdown_table, number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ..results.table import Results

#: The environment variables by which a run passes its folder, threads and cluster to the kernel.
RUN_FOLDER, JOBS, DASK = "NYSTROM_RUN_FOLDER", "NYSTROM_JOBS", "NYSTROM_DASK"

#: The foot of a page names at most this many stored results.
_FEW = 8
_BEGUN = "_nystrom_begun"

Key = TypeVar("Key", bound=Hashable)


def begin(which: str | Chapter, names: dict[str, Any]) -> Page:
    """Validate the parameters, set the style of figures, and show a table of the parameters.

    ``names`` are the notebook's ``globals()``: the parameters, and those that papermill injected after them.
    """
    this = chapter(which) if isinstance(which, str) else which
    declared = list(this.parameters.declared())
    if not names.get(_BEGUN):  # whoever runs this cell again by hand may have defined names
        plain = (bool, int, float, str, list, tuple, type(None))
        given = [name for name, value in names.items() if isinstance(value, plain) and not name.startswith("_")]
        refuse_unknown([name for name in given if name not in ("In", "Out")], declared, f"parameter of {this.name}")
    page = Page(this, this.settings({name: names[name] for name in declared if name in names}))
    names[_BEGUN] = True
    style.use()
    for package in ("nystrom_lib", "companion"):  # or their log would be an output of the notebook
        logging.getLogger(package).addHandler(logging.NullHandler())
    page._show_parameters()
    return page


class Page:
    """One run of a chapter, as its notebook sees it; ``folder`` is None for a notebook that is run by hand."""

    def __init__(self, chapter: Chapter, parameters: Settings) -> None:
        self.chapter, self.parameters = chapter, parameters
        self._began = time.perf_counter()
        given = os.environ.get(RUN_FOLDER)
        self.folder = Path(given) if given else None
        self.jobs = int(os.environ.get(JOBS) or 0) or None
        self.dask = os.environ.get(DASK) or None
        self._results: list[Results] = []
        self._stored: dict[str, list[str]] = {}
        self._origins: list[list[str]] = []
        self._open = ExitStack()
        if self.jobs is not None:
            self._open.enter_context(nl.threads(self.jobs))
        if self.folder is not None:
            _log_to(self.folder / "run.log")

    # -- results -----------------------------------------------------------------------------------------------

    def results(
        self,
        experiment: Experiment,
        *,
        recompute: int = 3,
        about: str = "",
        check: Callable[[Results], str] | None = None,
    ) -> Results:
        """The results of an experiment: stored ones, of which some are recomputed and compared, or computed now.

        ``recompute`` is the number of stored repetitions to recompute, ``about`` names the experiment in the table at
        the foot. Where a repetition takes too long, ``check`` checks stored results and returns what was recomputed.
        """
        results, stored, again = self._find_or_compute(experiment, recompute, check)
        origin = "stored" if stored else "computed in this run"
        if results.stand_in:
            origin += ", on a stand-in for the data"
        self.add_origin(about or stored or experiment.data.kind, f"{experiment.m:,} {origin}", again)
        return results

    def several(
        self, experiments: Mapping[Key, Experiment], *, about: str, again: Container[Key] = (), recompute: int = 1
    ) -> dict[Key, Results]:
        """The results of many experiments by key, with one line for all of them in the table at the foot.

        Of those with a key in ``again``, ``recompute`` stored repetitions each are recomputed.
        """
        found = {
            key: self._find_or_compute(experiment, recompute if key in again else 0)
            for key, experiment in experiments.items()
        }
        stored = [key for key, (_, name, _) in found.items() if name]
        checked = sum(key in again for key in stored) if recompute else 0
        origins = {"stored": len(stored), "computed in this run": len(found) - len(stored)}
        shown = " and ".join(f"{count} {origin}" for origin, count in origins.items() if count)
        each = max((experiment.m for experiment in experiments.values()), default=0)
        self.add_origin(f"{about}: {shown}", f"{each:,} each", f"{recompute} of each of {checked}" if checked else "")
        return {key: results for key, (results, _, _) in found.items()}

    def add_origin(self, what: str, repetitions: str, again: str) -> None:
        """Add a line to the table at the foot: stored results that are not those of an experiment."""
        self._origins.append([what, repetitions, again])

    def _find_or_compute(
        self, experiment: Experiment, recompute: int, check: Callable[[Results], str] | None = None
    ) -> tuple[Results, str, str]:
        """The results, the name of stored ones, and which repetitions of these were recomputed."""
        from ..running.stored import find, recomputed

        stored = find(experiment, RESULTS)
        if stored is None:
            results, name, again = self._compute(experiment), "", ""
        else:
            name, results = stored
            again = check(results) if check is not None else recomputed(results, recompute, self.jobs)
            self._stored.setdefault(_made(results), []).append(name)
        if self.folder is not None:
            file = name or f"{experiment.data.kind}-n{experiment.n}-{experiment.fingerprint[:8]}"
            results.save(self.folder / "results" / f"{file}.parquet")
        self._results.append(results)
        return results, name, again

    def _compute(self, experiment: Experiment) -> Results:
        from ..running.runner import run

        kept = None if self.folder is None else self.folder / "repetitions"
        with tempfile.TemporaryDirectory(prefix="nystrom-") if kept is None else nullcontext(kept) as folder:
            return run(experiment, Path(folder), threads=self.jobs, cluster=self.dask)

    # -- showing -----------------------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Show prose (Markdown) with numbers of the run."""
        _display({"text/markdown": text, "text/plain": text})

    def table(self, frame: pd.DataFrame, caption: str | None = None, *, digits: int = 4) -> None:
        """Show a table; numbers are rounded to ``digits`` significant digits."""
        rows = [[_cell(value, digits) for value in row] for row in frame.itertuples(index=False)]
        numeric = [dtype.kind in "iuf" for dtype in frame.dtypes]
        text = markdown_table([str(column) for column in frame.columns], rows, numeric)
        self.say(f"{caption}\n\n{text}" if caption else text)

    def show(self, figure: Figure, name: str) -> None:
        """Show a figure, and write it as SVG and PNG to the folder of the run.

        Its caption and its alternative text are in the metadata of the notebook's cell, where MyST-NB reads them.
        """
        svg = style.svg(figure, salt=name)
        if self.folder is not None:
            figures = self.folder / "figures"
            figures.mkdir(parents=True, exist_ok=True)
            write_text(figures / f"{name}.svg", svg)
            (figures / f"{name}.png").write_bytes(style.png(figure, dpi=200))
        _display({"image/svg+xml": svg, "text/plain": f"<Figure {name}>"})

    def foot(self) -> None:
        """The origin of the numbers, the time taken, and the command that runs the chapter again."""
        if self._origins:
            origin = "Where the numbers of each experiment come from."
            if self._stored:
                origin = (
                    "The experiments are stored at full scale. The repetitions named in the last column were computed "
                    "again in this run and agree with the stored ones within tolerance; had they not, the run would "
                    "have failed."
                )
            self.say(f"{origin}\n\n{markdown_table(['Experiment', 'Repetitions', 'Computed again'], self._origins)}")
        here = provenance.environment()
        commit = f", commit {here['commit'][:10]}{' with changes' if here['dirty'] else ''}" if here["commit"] else ""
        packages = ", ".join(f"{name} {version}" for name, version in here["packages"].items())
        threads = self.jobs or provenance.cores()
        rows = [
            ["Run", f"{time.perf_counter() - self._began:.1f} s on {threads} thread{'s' if threads != 1 else ''}"],
            ["Machine", f"{here['cpu']}, {here['cores']} cores, {here['system']}"],
            ["Library", f"nystrom_lib {here['library']}{commit}"],
            ["Python", f"{here['python']}; {packages}"],
        ]
        for made, names in self._stored.items():
            shown = ", ".join(names) if len(names) <= _FEW else f"{len(names)} experiments"
            rows.append(["Stored results", f"{shown}: {made}"])
        rows += [["Data", text] for text in sorted({_data(results) for results in self._results})]
        command = self.chapter.command(self.parameters).replace("```", "` ` `")
        again = (
            "To run this chapter again (`nystrom` is in `.venv/bin`; a `-p name=value` after it gives a parameter "
            f"another value):\n\n```\n{command}\n```"
        )
        self.say(f"{markdown_table(['What', 'Where these numbers come from'], rows)}\n\n{again}")

    def _show_parameters(self) -> None:
        changed = self.chapter.changed(self.parameters)
        rows = []
        for name, each in self.chapter.parameters.declared().items():
            shown = _code(written(getattr(self.parameters, name)))
            if name in changed:
                shown = f"**{shown}** (paper: `{written(each.default)}`)"
            rows.append([f"`{name}`", shown, each.meaning])
        self.say(markdown_table(["Parameter", "Value used", "Meaning"], rows))


def _code(text: str) -> str:
    """A value as code; in HTML if it contains what ends code or a cell of a table in Markdown."""
    return f"<code>{markdown(text)}</code>" if set(text) & set("`|\n") else f"`{text}`"


def _cell(value: Any, digits: int) -> str:
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or kind in ("i", "u"):
        return f"{int(value):,}"
    if isinstance(value, float) or kind == "f":
        return "" if value != value else number(float(value), digits)
    return "" if value is None else str(value)


def _data(results: Results) -> str:
    data = results.provenance["data"]
    kind = " (a stand-in)" if data["stand_in"] and "stand-in" not in data["name"] else ""
    return f"{markdown(data['name'])}{kind}, {data['N']:,} × {data['d']}, sha256 {data['sha256'][:16]}…"


def _made(results: Results) -> str:
    """When, where and by which version stored results were computed."""
    parts = []
    for session in results.provenance["sessions"]:
        commit = f" at commit {session['commit'][:10]}" if session.get("commit") else ""
        parts.append(
            f"{session['started'][:10]}, {session['cpu']}, {session['cores']} cores, "
            f"nystrom_lib {session['library']}{commit}"
        )
    return "computed " + "; ".join(dict.fromkeys(parts))


def _log_to(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    for package in ("nystrom_lib", "companion"):
        logging.getLogger(package).addHandler(handler)
        logging.getLogger(package).setLevel(logging.INFO)


def _display(bundle: Mapping[str, str]) -> None:
    from IPython.display import display

    display(dict(bundle), raw=True)  # type: ignore[no-untyped-call]
