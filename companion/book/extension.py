"""The book's Sphinx extension.

Markdown pages are templates filled with numbers from stored results (:mod:`.numbers`). Formulas, theorems and figures
keep the paper's numbers: ``eq-5`` is Eq. (5), ``thm-2-1`` is Theorem 2.1, and ``figure-2`` says besides its own number
that it is the paper's Figure 2. ``{equation-links} 5`` is the line below Eq. (5). The rest serves the pages of the
library and the repository's own address.
"""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, ForwardRef

from docutils import nodes  # type: ignore[import-untyped, unused-ignore]
from docutils.statemachine import StringList  # type: ignore[import-untyped, unused-ignore]
from sphinx import addnodes
from sphinx.ext.napoleon import Config as NapoleonConfig
from sphinx.ext.napoleon.docstring import NumpyDocstring
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import ReferenceRole, SphinxDirective
from sphinx.util.inspect import stringify_signature

from . import equations, numbers
from .lightening import lighten
from .stacking import stack

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment

# -- pages -----------------------------------------------------------------------------------------------------


def fill_pages(app: Sphinx) -> None:
    """Fill each Markdown page as it is read."""
    names = numbers.names()

    def fill(app: Sphinx, page: str, source: list[str]) -> None:
        if Path(app.env.doc2path(page)).suffix == ".md":
            source[0] = numbers.template(source[0]).render(names)

    app.connect("source-read", fill)


class EquationLinks(SphinxDirective):
    """The line below a formula."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        line = equations.read()[self.arguments[0]].links
        box = nodes.container(classes=["equation-links"])
        self.state.nested_parse(StringList([line], source=self.env.docname), 0, box)
        return [box]


class PlaygroundLink(ReferenceRole):
    """``{playground}`words <n=8&rho=1>``` links to the playground in a state that its script reads from the address."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        page = self.env.app.builder.get_relative_uri(self.env.docname, "playground")
        return [nodes.reference(self.rawtext, self.title, refuri=f"{page}?{self.target}", internal=True)], []


#: The number that an id asks for, by the kind of what is numbered.
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


def number_as_the_paper(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Replace the numbers that Sphinx has just assigned by the paper's."""
    for kinds in env.toc_fignumbers.values():
        for kind, assigned in kinds.items():
            for identifier, ours in assigned.items():
                assigned[identifier] = paper_number(kind, identifier, ours)  # type: ignore[assignment]
    return []


# -- the library's docstrings ----------------------------------------------------------------------------------

_STYLE = NapoleonConfig(napoleon_use_param=False, napoleon_use_rtype=False)
#: "Eq. (5)", "Eq. (11) and (12)", "Eq. (10)–(13)".
_EQUATIONS = re.compile(r"Eq\. \(\d+\)(?:(?:, | and | to |–)\(\d+\))*")


class Docstring(NumpyDocstring):
    """numpydoc's sections, with an Attributes section formatted like the Parameters."""

    def _parse_attributes_section(self, section: str) -> list[str]:
        return self._format_fields("Attributes", self._consume_fields())


def process_docstring(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Convert a docstring in place; equations that it names become links."""
    # napoleon would take "Eq. (14): …" at the head of a property for a type
    kind = "function" if what in ("attribute", "data", "property") else what
    linked = [_EQUATIONS.sub(lambda run: re.sub(r"\((\d+)\)", r":eq:`eq-\1`", run[0]), line) for line in lines]
    lines[:] = Docstring(linked, _STYLE, app, kind, name, obj, options).lines()  # type: ignore[arg-type]


def process_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str, str | None] | None:
    """Write types into a signature as the code has them: autodoc would spell out ``ArrayLike`` in ten lines."""
    if signature is None or what == "exception":
        return None
    try:
        found = inspect.signature(obj)
    except (TypeError, ValueError):
        return None
    own = [each.replace(annotation=_written(each.annotation)) for each in found.parameters.values()]
    if what == "method" and own and own[0].name == "self":
        del own[0]
    # a context manager is annotated as the generator it is made from
    shown = what != "class" and not inspect.isgeneratorfunction(inspect.unwrap(obj))
    empty = inspect.Signature.empty
    found = found.replace(parameters=own, return_annotation=_written(found.return_annotation) if shown else empty)
    arguments, _, returned = stringify_signature(found).partition(" -> ")
    return arguments, returned or None


def _written(annotation: Any) -> Any:
    return annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation


def leave_types(app: Sphinx, env: Any, node: Any, content: nodes.Node) -> nodes.Node | None:
    """A type of a signature that is documented elsewhere, such as NumPy's, is no link."""
    while (node := node.parent) is not None:
        if isinstance(node, addnodes.desc_signature):
            return content
    return None


# -- cells -----------------------------------------------------------------------------------------------------


class CodeBelow(SphinxPostTransform):
    """The output of a cell comes first and its code below, if the code alone is folded."""

    default_priority = 200  # MyST-NB folds at 199
    formats = ("html",)

    def run(self, **_: Any) -> None:
        """Exchange the two."""
        for cell in self.document.findall(nodes.container):
            if cell.get("nb_element") == "cell_code" and len(cell) > 1:
                shown = cell[-1].get("nb_element") == "cell_code_output"
                if shown and "above-input" in cell[0].get("classes", ()):
                    cell.append(cell.pop(0))


# -- the site --------------------------------------------------------------------------------------------------


def own_repository() -> str | None:
    """The address of the repository that CI builds the book of."""
    server, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    return f"{server}/{name}" if server and name else None


def use_own_repository(app: Sphinx, config: Config) -> None:
    """Link to the repository and launch its notebooks, if the address is known."""
    url = own_repository()
    options = config.html_theme_options
    options["repository_url"] = url or ""
    if url is None:
        options.update(use_repository_button=False, launch_buttons={})


def _lighten(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        lighten(Path(app.outdir))
        stack(Path(app.outdir))


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.add_directive("equation-links", EquationLinks)
    app.add_role("playground", PlaygroundLink())
    app.add_post_transform(CodeBelow)
    app.connect("config-inited", use_own_repository)
    app.connect("builder-inited", fill_pages)
    app.connect("autodoc-process-docstring", process_docstring)
    app.connect("autodoc-process-signature", process_signature)
    app.connect("missing-reference", leave_types)
    # after Sphinx's own numbering, which answers the same event
    app.connect("env-get-updated", number_as_the_paper, priority=900)
    app.connect("build-finished", _lighten)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
