"""What a notebook calls: parameters, results, and words, tables and figures that come from the run.

A chapter's first code cell after its parameters is

    from companion import notebook
    page = notebook.begin("bigaussian", globals())
    p = page.parameters

and its last is ``page.foot()``. Everything between asks ``page`` for results and shows them through it, so that a
chapter looks the same in JupyterLab, in the book and in the folder of a run.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Container, Hashable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import nystrom_lib as nl

from ..atomic_write import write_text
from ..chapters import Chapter, chapter
from ..chapters.parameters import written
from ..checkout import RESULTS
from ..errors import ConfigurationError
from ..experiments.config import Experiment
from ..figures import style
from ..results import provenance
from ..settings import Settings, refuse_unknown
from ..wording import markdown, markdown_table, number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ..results.table import Results

#: How the runner tells a notebook where to leave things and what to compute on.
RUN_FOLDER, JOBS, DASK = "NYSTROM_RUN_FOLDER", "NYSTROM_JOBS", "NYSTROM_DASK"

#: So many stored results are named at the foot of a page; of more, the number is told.
_FEW = 8

Key = TypeVar("Key", bound=Hashable)

#: The notebooks that have begun, by their globals.
_begun: list[Mapping[str, Any]] = []


def begin(which: str | Chapter, names: Mapping[str, Any]) -> Page:
    """Check the parameters, set the style of figures, and show the parameters used.

    Parameters
    ----------
    which : str or Chapter
        The chapter, usually by its name.
    names : mapping
        The notebook's ``globals()``: the parameters, and whatever papermill injected after them.

    Returns
    -------
    Page
        What the rest of the notebook works with.
    """
    this = chapter(which) if isinstance(which, str) else which
    declared = this.parameters.names()
    # Only the first time: whoever goes through the cells by hand may come back here with names of their own.
    if not any(names is known for known in _begun):
        refuse_unknown(_foreign(names, declared), declared, f"parameter of {this.name}")
        _begun.append(names)
    page = Page(this, this.settings({name: names[name] for name in declared if name in names}))
    style.use()
    # with a handler, if only this one, the library's log does not come to standard error, which a notebook would keep
    for package in ("nystrom_lib", "companion"):
        logging.getLogger(package).addHandler(logging.NullHandler())
    page._show_parameters()
    return page


def _foreign(names: Mapping[str, Any], declared: list[str]) -> list[str]:
    """Names that neither the notebook's first cells nor IPython put there."""
    own = _ipython_names()
    return [
        name
        for name, value in names.items()
        if name not in declared
        and not name.startswith("_")
        and not isinstance(value, ModuleType)
        and getattr(value, "__module__", None) != "typing"
        and not (name in own and own[name] is value)
        and value is not begin
    ]


def _ipython_names() -> Mapping[str, Any]:
    if "IPython" not in sys.modules:
        return {}
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    return {} if shell is None else shell.user_ns_hidden


class Page:
    """One run of a chapter, as its notebook sees it.

    Parameters
    ----------
    chapter : Chapter
        Which chapter.
    parameters : Settings
        The values it runs with.

    Attributes
    ----------
    folder : Path or None
        The folder of the run, if it has one.
    """

    def __init__(self, chapter: Chapter, parameters: Settings) -> None:
        self.chapter, self.parameters = chapter, parameters
        self._began = time.perf_counter()
        given = os.environ.get(RUN_FOLDER)
        self.folder = Path(given) if given else None
        self.jobs = _jobs(os.environ.get(JOBS, ""))
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
        name: str | None = None,
        about: str = "",
        quiet: bool = False,
        check: Callable[[Results], str] | None = None,
    ) -> Results:
        """The results of an experiment: stored ones, some of them computed again on the spot, or all computed now.

        Parameters
        ----------
        experiment : Experiment
            What is asked.
        recompute : int
            If the experiment is stored at full scale: how many of its repetitions to compute again and compare.
        name : str, optional
            What to call the file in the folder of the run.
        about : str
            Which experiment it is, where a chapter has several: how the table at the foot calls it.
        quiet : bool
            Leave it out of that table?
        check : callable, optional
            For stored repetitions that take too long: how else to check them. It returns what was computed again.

        Returns
        -------
        Results
            All m repetitions.
        """
        from ..running.stored import find

        if recompute < 0:
            raise ConfigurationError("recompute", f"is {recompute}; it must be at least 0.")
        stored = find(experiment, RESULTS)
        if stored is None:
            results, again = self._compute(experiment), ""
        else:
            name = name or stored.name
            results = stored.results
            again = stored.verified(recompute, self.jobs) if check is None else check(results)
            self._stored.setdefault(_made(results), []).append(stored.name)
        if self.folder is not None:
            results.save(self.folder / "results" / f"{name or _file_name(experiment)}.parquet")
        self._results.append(results)
        if not quiet:
            origin = f"{'stored' if stored else 'computed in this run'}{_on(results)}"
            self._origins.append([about or name or experiment.data.kind, f"{experiment.m:,} {origin}", again])
        return results

    def several(
        self, experiments: Mapping[Key, Experiment], *, about: str, again: Container[Key] = (), recompute: int = 1
    ) -> dict[Key, Results]:
        """The results of many experiments, with one line for all of them in the table at the foot.

        Parameters
        ----------
        experiments : mapping
            What is asked, by whatever key.
        about : str
            Which experiments they are: how that table calls them.
        again : container
            The keys of those of which, if they are stored, repetitions are computed again and compared.
        recompute : int
            How many repetitions of each of these.

        Returns
        -------
        dict
            All repetitions of each, by the same keys.
        """
        results, stored, checked = {}, 0, 0
        for key, experiment in experiments.items():
            count = recompute if key in again else 0
            known = self._known()
            results[key] = self.results(experiment, recompute=count, quiet=True)
            if self._known() > known:
                stored, checked = stored + 1, checked + (count > 0)
        computed = len(results) - stored
        origins = [f"{stored} stored"] * (stored > 0) + [f"{computed} computed in this run"] * (computed > 0)
        each = max((experiment.m for experiment in experiments.values()), default=0)
        some = f"{recompute} of each of {checked}" if checked else ""
        self._origins.append([f"{about}: {' and '.join(origins)}", f"{each:,} each", some])
        return results

    def add_origin(self, what: str, repetitions: str, again: str) -> None:
        """Add a line to the table at the foot: stored results that are not those of an experiment."""
        self._origins.append([what, repetitions, again])

    def _known(self) -> int:
        return sum(map(len, self._stored.values()))

    def _compute(self, experiment: Experiment) -> Results:
        from ..running.runner import run

        if self.folder is None:
            with tempfile.TemporaryDirectory(prefix="nystrom-") as folder:
                return run(experiment, folder, threads=self.jobs, cluster=self.dask, progress=False)
        folder = str(self.folder / "repetitions")
        return run(experiment, folder, threads=self.jobs, cluster=self.dask, progress=False)

    # -- showing -----------------------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Show prose (Markdown) whose numbers come from the run."""
        _display({"text/markdown": text, "text/plain": text})

    def table(self, frame: pd.DataFrame, caption: str | None = None, *, digits: int = 4) -> None:
        """Show a table. Floats are rounded to ``digits`` significant digits; text stays as it is."""
        rows = [[_cell(value, digits) for value in row] for row in frame.itertuples(index=False)]
        numeric = [dtype.kind in "iuf" for dtype in frame.dtypes]
        text = markdown_table([str(column) for column in frame.columns], rows, numeric)
        self.say(f"{caption}\n\n{text}" if caption else text)

    def show(self, shown: Figure | style.Picture, name: str = "") -> None:
        """Show a figure and write it as SVG and PNG to the folder of the run, under its own name or the one given.

        The caption and the alternative text of a picture become those of its cell.
        """
        metadata: dict[str, dict[str, str]] = {}
        if isinstance(shown, style.Picture):
            figure, name = shown.figure, name or shown.name
            metadata = {"figure": {"caption": shown.caption, "name": shown.name}, "image": {"alt": shown.alt}}
        else:
            figure = shown
        svg = style.svg(figure, salt=name)
        if self.folder is not None:
            figures = self.folder / "figures"
            figures.mkdir(parents=True, exist_ok=True)
            write_text(figures / f"{name}.svg", svg)
            (figures / f"{name}.png").write_bytes(style.png(figure, dpi=200))
        _display({"image/svg+xml": svg, "text/plain": f"<Figure {name}>"}, metadata)

    def html(self, text: str) -> None:
        """Show HTML that needs nothing from elsewhere."""
        _display({"text/html": text, "text/plain": "<HTML>"})

    def file(self, name: str) -> Path | None:
        """Where to leave a file of one's own in the folder of the run; None if there is no such folder."""
        if self.folder is None:
            return None
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / name

    @property
    def threads(self) -> str:
        """On how many threads this page computes, in words."""
        count = self.jobs or provenance.cores()
        return f"{count} thread{'s' if count != 1 else ''}"

    def foot(self) -> None:
        """Where the numbers come from, how long it took, and the line that does it again."""
        if self._origins:
            table = markdown_table(["Experiment", "Repetitions", "Computed again"], self._origins)
            self.say(f"{self._stored_or_not()}\n\n{table}")
        here = provenance.environment()
        commit = f", commit {here['commit'][:10]}{' with changes' if here['dirty'] else ''}" if here["commit"] else ""
        packages = ", ".join(f"{name} {version}" for name, version in here["packages"].items())
        rows = [
            ["Run", f"{time.perf_counter() - self._began:.1f} s on {self.threads}"],
            ["Machine", f"{here['cpu']}, {here['cores']} cores, {here['system']}"],
            ["Library", f"nystrom_lib {here['library']}{commit}"],
            ["Python", f"{here['python']}; {packages}"],
        ]
        rows += [["Stored results", f"{_names(names)}: {made}"] for made, names in self._stored.items()]
        rows += [["Data", text] for text in sorted({_data(results) for results in self._results})]
        command = self.chapter.command(self.parameters).replace("```", "` ` `")
        again = (
            "To run this chapter again (`nystrom` is in `.venv/bin`; a `-p name=value` after it gives a parameter "
            f"another value):\n\n```\n{command}\n```"
        )
        self.say(f"{markdown_table(['What', 'Where these numbers come from'], rows)}\n\n{again}")

    def _stored_or_not(self) -> str:
        if not self._stored:
            return "Where the numbers of each experiment come from."
        return (
            "The experiments are stored at full scale. The repetitions named in the last column were computed again "
            "in this run and agree with the stored ones within tolerance; had they not, the run would have failed."
        )

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
    """A value as code; one that holds what ends code, or a cell of a table, in Markdown is set in HTML."""
    return f"<code>{markdown(text)}</code>" if set(text) & set("`|\n") else f"`{text}`"


def _cell(value: Any, digits: int) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or getattr(getattr(value, "dtype", None), "kind", "") in ("i", "u"):
        return f"{int(value):,}"
    if isinstance(value, float) or getattr(getattr(value, "dtype", None), "kind", "") == "f":
        return "" if value != value else number(float(value), digits)
    return "" if value is None else str(value)


def _jobs(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ConfigurationError(JOBS, f"is {text!r}; it must be a whole number, at least 1.")
    return int(text)


def _file_name(experiment: Experiment) -> str:
    return f"{experiment.data.kind}-n{experiment.n}-{experiment.fingerprint[:8]}"


def _on(results: Results) -> str:
    return ", on a stand-in for the data" if results.stand_in else ""


def _names(names: list[str]) -> str:
    """All of them, unless there are too many to read."""
    return ", ".join(names) if len(names) <= _FEW else f"{len(names)} experiments"


def _data(results: Results) -> str:
    data = results.provenance["data"]
    kind = " (a stand-in)" if data["stand_in"] and "stand-in" not in data["name"] else ""
    return f"{markdown(data['name'])}{kind}, {data['N']:,} × {data['d']}, sha256 {data['sha256'][:16]}…"


def _made(results: Results) -> str:
    """When, where and by which version stored results were computed, for each machine that had a part in them."""
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


def _display(bundle: Mapping[str, str], mystnb: Mapping[str, Any] | None = None) -> None:
    """Show an output; ``mystnb`` is what the book's renderer is to know of its cell, see :func:`.clean.clean`."""
    from IPython.display import display

    display(dict(bundle), raw=True, metadata={"mystnb": mystnb} if mystnb else None)  # type: ignore[no-untyped-call]
