"""What the book asks of Sphinx beyond its settings: our docstrings, the repository's own address, what other sites
are told about a page, and what its search looks through.

Sphinx's napoleon takes "Eq. (14): …" at the head of a property for a type and links every word of it; and it turns
the types of an Attributes section into links to pages that are in other manuals. Both are undone here. autodoc would
spell out what ``ArrayLike`` stands for, in ten lines; here signatures have their types as the code has them.
"""

from __future__ import annotations

import html
import inspect
import os
import re
import textwrap
from typing import Any, ForwardRef

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.ext.napoleon import Config as NapoleonConfig
from sphinx.ext.napoleon.docstring import NumpyDocstring
from sphinx.util.inspect import stringify_signature

_STYLE = NapoleonConfig(napoleon_use_param=False, napoleon_use_rtype=False)


class Docstring(NumpyDocstring):
    """numpydoc's sections, with an Attributes section that looks like the Parameters."""

    def _parse_attributes_section(self, section: str) -> list[str]:
        return self._format_fields("Attributes", self._consume_fields())


def process_docstring(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Rewrite a docstring in place."""
    kind = "function" if what in ("attribute", "data", "property") else what
    lines[:] = Docstring(list(lines), _STYLE, app, kind, name, obj, options).lines()


def process_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str, str | None] | None:
    """Put the types, as they are written, into a signature."""
    if signature is None or what == "exception":
        return None
    try:
        found = inspect.signature(obj)
    except (TypeError, ValueError):
        return None
    own = [each.replace(annotation=_written(each.annotation)) for each in found.parameters.values()]
    if what == "method" and own and own[0].name == "self":
        del own[0]
    # what is decorated as a context manager gives no iterator
    told = what != "class" and not inspect.isgeneratorfunction(inspect.unwrap(obj))
    empty = inspect.Signature.empty
    found = found.replace(parameters=own, return_annotation=_written(found.return_annotation) if told else empty)
    arguments, _, returned = stringify_signature(found).partition(" -> ")
    return arguments, returned or None


def _written(annotation: Any) -> Any:
    return annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation


def leave_types(app: Sphinx, env: Any, node: Any, content: nodes.Node) -> nodes.Node | None:
    """A type of a signature that is in another manual, such as NumPy's, is a word and no link."""
    above = node.parent
    while above is not None and not isinstance(above, addnodes.desc_signature):
        above = above.parent
    return None if above is None else content


def use_own_repository(app: Sphinx, config: Config) -> None:
    """A link to the repository and buttons that launch its notebooks, where the build knows a repository."""
    url = os.environ.get("NYSTROM_REPOSITORY")
    options = config.html_theme_options
    if url:
        options["repository_url"] = url
    else:
        options.update(repository_url="", use_repository_button=False, launch_buttons={})


#: What makes letters of a formula into a formula.
_FORMULA = re.compile(r"\\[A-Za-z]+ ?|[{}]")


def describe(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """The first words of a page, for search engines and for whoever shares a link to it."""
    if doctree is None:
        return
    # a paragraph of the page's own text, not one in a table or a box
    plain = (p.astext() for p in doctree.findall(nodes.paragraph) if isinstance(p.parent, nodes.section))
    words = _FORMULA.sub("", next(plain, app.config.html_title or app.config.project))
    words = textwrap.shorten(words, 200, placeholder=" …")
    told = {
        "og:type": "article",
        "og:site_name": app.config.html_title,
        "og:title": context["title"],
        "og:description": words,
    }
    tags = [f'<meta name="description" content="{html.escape(words)}" />']
    # Sphinx's titles are HTML already
    told = {name: html.unescape(re.sub(r"<[^>]+>", "", value)) for name, value in told.items()}
    tags += [f'<meta property="{name}" content="{html.escape(value)}" />' for name, value in told.items()]
    context["metatags"] = "\n".join([context.get("metatags", ""), *tags])


def search_prose(app: Sphinx) -> None:
    """Keep code out of the search index: a word would be found in every chapter that has it in a folded cell."""
    builder: Any = app.builder
    index = getattr(builder, "index_page", None)
    if index is None:
        return

    def index_page(page: str, doctree: nodes.document, title: str) -> None:
        prose = doctree.deepcopy()
        for block in list(prose.findall(nodes.literal_block)):
            block.parent.remove(block)
        index(page, prose, title)

    builder.index_page = index_page


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx calls this."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", process_docstring)
    app.connect("autodoc-process-signature", process_signature)
    app.connect("missing-reference", leave_types)
    app.connect("config-inited", use_own_repository)
    app.connect("html-page-context", describe)
    app.connect("builder-inited", search_prose)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
