"""A Sphinx extension: the paper's own numbers in the book, and what stands below and behind each formula.

Sphinx numbers formulas, theorems and figures as they come. Here the label decides: ``eq-5`` is Eq. (5), ``thm-2-1``
Theorem 2.1 and ``rem-1-1`` Remark 1.1, on whatever page they are. A figure keeps the number it has in its chapter, and
``figure-2`` says besides that it is the paper's Figure 2.

``{equation-links} 5`` writes the line below Eq. (5): computed by, checked by, used in. ``{equation-index}`` is the
table of all of them, ``{equation-tests}`` shows the tests the lines point to; all three read :mod:`.equations`.
``{paper-experiments}`` is the table of the paper's experiments, from :mod:`.experiments`. On the pages of the library
every "Eq. (5)" of a docstring leads to the formula.

What a folded cell of a chapter shows stands above its code, "c_S" in prose becomes a letter with a subscript, and no
line ends within a number or before the comma after a formula.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes  # type: ignore[import-untyped, unused-ignore]
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

from ..chapters import CHAPTERS, chapter
from ..checkout import RESULTS, ROOT
from ..experiments.config import Experiment
from ..experiments.paper import PAPER
from ..wording import DATA, number, unbroken
from . import equations
from .equations import EQUATIONS, Equation
from .generating import generate
from .rendering import STAGED

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment

__all__ = ["setup"]

#: How an id says its number, by the kind of what is numbered.
_NUMBERS = {
    "displaymath": re.compile(r"equation-eq-([0-9a-z]+)"),
    "theorem": re.compile(r"thm-(\d+-\d+)"),
    "remark": re.compile(r"rem-(\d+-\d+)"),
    "figure": re.compile(r"figure-(\d+)"),
}


def paper_number(kind: str, identifier: str, ours: tuple[int, ...] = ()) -> tuple[str | int, ...]:
    """The number that an id asks for in place of ours, as Sphinx keeps numbers: one entry for each level.

    Examples
    --------
    >>> paper_number("displaymath", "equation-eq-5", (7,)), paper_number("theorem", "thm-2-1", (7,))
    (('5',), ('2', '1'))
    >>> paper_number("figure", "figure-2", (5, 4)), paper_number("figure", "fig-surface", (2, 1))
    ((5, "4 (the paper's Figure 2)"), (2, 1))
    """
    pattern = _NUMBERS.get(kind)
    match = pattern.fullmatch(identifier) if pattern else None
    if match is None:
        return ours
    if kind == "figure":
        return *ours[:-1], f"{ours[-1]} (the paper's Figure {match[1]})"
    return tuple(match[1].upper().split("-"))


def _number_as_the_paper(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Put the paper's numbers over those that Sphinx has just given out."""
    for kinds in env.toc_fignumbers.values():
        for kind, numbers in kinds.items():
            for identifier, ours in numbers.items():
                numbers[identifier] = paper_number(kind, identifier, ours)  # type: ignore[assignment]
    return []


# -- links -----------------------------------------------------------------------------------------------------


def _reference(domain: str, kind: str, target: str, text: str, docname: str, **more: Any) -> addnodes.pending_xref:
    """A link that Sphinx resolves when all pages are known, and complains about if it cannot."""
    content = nodes.literal(text, text) if domain == "py" else nodes.inline(text, text)
    return addnodes.pending_xref(
        "", content, refdomain=domain, reftype=kind, reftarget=target, refdoc=docname, refwarn=True, refexplicit=True,
        **more,
    )  # fmt: skip


def _to_function(name: str, docname: str) -> nodes.Node:
    # refspecific: found by the end of its name, whichever module the reference lists it under
    return _reference("py", "obj", name, name, docname, refspecific=True)


def _to_test(name: str, docname: str) -> nodes.Node:
    return _reference("std", "ref", _test_label(name), name.partition("::")[2], docname)


def _to_chapter(name: str, docname: str) -> nodes.Node:
    this = chapter(name)
    return _reference("std", "doc", f"/notebooks/{Path(this.file).stem}", f"{this.number}. {this.title}", docname)


def _to_equation(equation: Equation, docname: str) -> nodes.Node:
    return _reference("math", "eq", equation.label, f"({equation.number})", docname)


def _test_label(name: str) -> str:
    """The anchor of a test on the index page."""
    return str(nodes.make_id(name.replace("tests/", "").replace(".py::", " ")))


def _between(items: list[nodes.Node], separator: str) -> Iterator[nodes.Node]:
    for place, item in enumerate(items):
        if place:
            yield nodes.Text(separator)
        yield item


#: A cell of a table: its lines, each a row of words and links.
Cell = list[list[nodes.Node]]


# -- directives ------------------------------------------------------------------------------------------------


class EquationLinks(SphinxDirective):
    """The line below a formula."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        equation = equations.equation(self.arguments[0])
        here = self.env.docname
        line = nodes.paragraph(classes=["equation-links"])
        parts = (
            ("Computed by ", [_to_function(name, here) for name in equation.functions]),
            (" · checked by ", [_to_test(name, here) for name in equation.tests]),
            (" · used in ", [_to_chapter(name, here) for name in equation.chapters]),
        )
        for words, links in parts:
            line += nodes.Text(words)
            line.extend(_between(links, ", "))
        return [line]


class EquationIndex(SphinxDirective):
    """The table of all formulas."""

    def run(self) -> list[nodes.Node]:
        head = ("Eq.", "What it says", "Paper", "Function → test → chapter")
        return [_table("equation-index", head, [self._cells(equation) for equation in EQUATIONS])]

    def _cells(self, equation: Equation) -> list[Cell]:
        here = self.env.docname
        lines = (
            ("Computed by ", [_to_function(name, here) for name in equation.functions]),
            ("Checked by ", [_to_test(name, here) for name in equation.tests]),
            ("Used in ", [_to_chapter(name, here) for name in equation.chapters]),
        )
        return [
            [[_to_equation(equation, here)]],
            [[nodes.Text(equation.what)]],
            [[nodes.Text(equation.where)]],
            [[nodes.Text(words), *_between(links, ", ")] for words, links in lines],
        ]


def _table(name: str, head: tuple[str, ...], rows: list[list[Cell]]) -> nodes.Node:
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in head), cols=len(head))
    group += nodes.thead("", _row([[[nodes.Text(title)]] for title in head]))
    group += nodes.tbody("", *(_row(cells) for cells in rows))
    return nodes.table("", group, classes=[name, "colwidths-auto"])


def _row(cells: list[Cell]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", *(nodes.paragraph("", "", *line) for line in cell)) for cell in cells))


class EquationTests(SphinxDirective):
    """The tests that the lines point to: what each would catch, and its code, folded."""

    def run(self) -> list[nodes.Node]:
        names = dict.fromkeys(name for equation in EQUATIONS for name in equation.tests)
        return [nodes.definition_list("", *(self._item(name) for name in names))]

    def _item(self, name: str) -> nodes.Node:
        check = equations.check(name, ROOT)
        file, _, short = name.partition("::")
        self.env.note_dependency(str(ROOT / file))
        label = _test_label(name)
        std = self.env.get_domain("std")
        std.note_hyperlink_target(label, self.env.docname, label, short)  # type: ignore[attr-defined]
        return nodes.definition_list_item(
            "",
            nodes.term("", "", nodes.literal(short, short), nodes.Text(f" in {file}"), ids=[label]),
            nodes.definition(
                "",
                nodes.paragraph("", check.catches),
                nodes.raw("", f"<details><summary>The code of {short}</summary>", format="html"),
                nodes.literal_block(check.source, check.source, language="python"),
                nodes.raw("", "</details>", format="html"),
            ),
        )


class PaperExperiments(SphinxDirective):
    """The table of the paper's experiments."""

    def run(self) -> list[nodes.Node]:
        head = ("Name", "Data", "ρ", "n", "b", "γ", "T", "m")
        rows = [
            [[[nodes.literal(name, name)]], *([[nodes.Text(text)]] for text in _settings(experiment))]
            for name, experiment in PAPER.items()
        ]
        return [_table("paper-experiments", head, rows)]


def _settings(experiment: Experiment) -> tuple[str, ...]:
    descent = experiment.descent.to_plain()
    return (
        DATA[experiment.data.kind],
        f"{experiment.kernel.to_plain()['rho']:g}",
        f"{experiment.n:,}",
        f"{descent['batch_size']:,}" if "batch_size" in descent else "–",
        number(descent["step"]),
        f"{descent['iterations']:,}",
        f"{experiment.m:,}",
    )


# -- equations that docstrings name ----------------------------------------------------------------------------

#: "Eq. (5)", "Eq. (11) and (12)", "Eq. (10)–(13)": each number in brackets is one of ours.
_NAMED = re.compile(r"Eq\. \(\d+\)(?:(?:, | and | to |–)\(\d+\))*")
_BRACKETS = re.compile(r"\((\d+)\)")


def named_equations(text: str) -> Iterator[tuple[str, str | None]]:
    """The pieces of a text, each with the number of the equation it names, or None.

    Examples
    --------
    >>> list(named_equations("By Eq. (11) and (12)."))
    [('By Eq. ', None), ('(11)', '11'), (' and ', None), ('(12)', '12'), ('.', None)]
    """
    done = 0
    for run in _NAMED.finditer(text):
        for match in _BRACKETS.finditer(text, run.start(), run.end()):
            if match.start() > done:
                yield text[done : match.start()], None
            yield match[0], match[1]
            done = match.end()
    if done < len(text):
        yield text[done:], None


def _link_equations(app: Sphinx, doctree: nodes.document) -> None:
    """On the pages of the library, "Eq. (5)" is a link to the formula."""
    page = app.env.docname
    if not page.startswith("api/"):
        return
    for text in list(doctree.findall(nodes.Text)):
        pieces = list(named_equations(str(text)))
        if any(number for _, number in pieces) and not _verbatim(text):
            text.parent.replace(text, [_piece(words, number, page) for words, number in pieces])


def _piece(words: str, number: str | None, page: str) -> nodes.Node:
    return nodes.Text(words) if number is None else _reference("math", "eq", f"eq-{number}", words, page)


class Unbroken(SphinxPostTransform):
    """No line ends between a number and its unit, nor within one, nor before what follows a formula."""

    default_priority = 900

    def run(self, **_: Any) -> None:
        """In prose alone: code and formulas stay as they are."""
        for formula in list(self.document.findall(nodes.math)):
            _keep_stops(formula)
        for text in list(self.document.findall(nodes.Text)):
            words = unbroken(text)
            if words != text and not _verbatim(text):
                text.parent.replace(text, nodes.Text(words))


_STOPS = re.compile(r"[.,;:!?)’”]+")


def _keep_stops(formula: nodes.math) -> None:
    """A full stop or comma stays with the formula before it: browsers would let a line begin with it."""
    parent, place = formula.parent, formula.parent.index(formula)
    after = parent[place + 1] if place + 1 < len(parent) else None
    if isinstance(after, nodes.Text) and (match := _STOPS.match(after)):
        together = nodes.inline("", "", formula.deepcopy(), nodes.Text(match[0]), classes=["unbroken"])
        parent[place : place + 2] = [together, nodes.Text(after[match.end() :])]


# -- subscripts ------------------------------------------------------------------------------------------------

_SUBSCRIPT = re.compile(r"(?:(?<=\b[A-Za-z])|(?<=‖))_(tr|sp|F|S|k)(?![A-Za-z_])")


class Subscripts(SphinxPostTransform):
    """What docstrings and tables write as c_S or ‖K‖_F."""

    default_priority = 890

    def run(self, **_: Any) -> None:
        """In prose alone."""
        for text in list(self.document.findall(nodes.Text)):
            pieces = _SUBSCRIPT.split(text)
            if len(pieces) > 1 and not _verbatim(text):
                text.parent.replace(text, [_lowered(piece, place % 2 == 1) for place, piece in enumerate(pieces)])


def _lowered(piece: str, low: bool) -> nodes.Node:
    return nodes.subscript("", piece) if low else nodes.Text(piece)


# -- folded code -----------------------------------------------------------------------------------------------


class CodeBelow(SphinxPostTransform):
    """What a cell shows comes first, and below it the code, if that is folded."""

    default_priority = 200  # MyST-NB folds at 199
    formats = ("html",)

    def run(self, **_: Any) -> None:
        """Where the code alone is folded: an output that is folded, too, stays below."""
        for cell in self.document.findall(nodes.container):
            if cell.get("nb_element") == "cell_code" and len(cell) > 1:
                shown = cell[-1].get("nb_element") == "cell_code_output"
                if shown and "above-input" in cell[0].get("classes", ()):
                    cell.append(cell.pop(0))


def _verbatim(node: nodes.Node) -> bool:
    above = node.parent
    while above is not None:
        if isinstance(above, (nodes.literal, nodes.FixedTextElement, nodes.math, nodes.math_block, nodes.raw)):
            return True
        above = above.parent
    return False


# -- plain Jupyter Book ----------------------------------------------------------------------------------------


def _check_folder(app: Sphinx, config: Config) -> None:
    """End a build of the whole checkout with one sentence, and without Jupyter Book's traceback."""
    if Path(app.srcdir) == ROOT:
        sys.exit("The book is in the folder book; type: jupyter-book build book --config _config.yml")


def _generate(app: Sphinx, config: Config) -> None:
    """Write the pages that come from results, unless ``nystrom book`` has done so."""
    source = Path(app.srcdir)
    if not os.environ.get(STAGED) and (source / "notebooks").is_dir():
        generate(source, RESULTS, list(CHAPTERS.values()), executed=False)


def setup(app: Sphinx) -> dict[str, Any]:
    """What Sphinx calls."""
    app.connect("config-inited", _check_folder, priority=100)
    # before sphinx-external-toc lists the files to leave out
    app.connect("config-inited", _generate, priority=200)
    app.add_directive("equation-links", EquationLinks)
    app.add_directive("equation-index", EquationIndex)
    app.add_directive("equation-tests", EquationTests)
    app.add_directive("paper-experiments", PaperExperiments)
    for transform in (CodeBelow, Subscripts, Unbroken):
        app.add_post_transform(transform)
    app.connect("doctree-read", _link_equations)
    # after Sphinx's own numbering, which answers the same event
    app.connect("env-get-updated", _number_as_the_paper, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
