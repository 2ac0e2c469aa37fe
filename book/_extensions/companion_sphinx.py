"""What the book asks of Sphinx beyond its settings: our docstrings, the repository's own address, what other sites
are told about a page, and what its search looks through.

Sphinx's napoleon takes "Eq. (14): …" at the head of a property for a type and links every word of it; and it turns
the types of an Attributes section into links to pages that are in other manuals. Both are undone here.
"""

from __future__ import annotations

import html
import os
import re
import textwrap
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.ext.napoleon import Config as NapoleonConfig
from sphinx.ext.napoleon.docstring import NumpyDocstring

_STYLE = NapoleonConfig(napoleon_use_param=False, napoleon_use_rtype=False)


class Docstring(NumpyDocstring):
    """numpydoc's sections, with an Attributes section that looks like the Parameters."""

    def _parse_attributes_section(self, section: str) -> list[str]:
        return self._format_fields("Attributes", self._consume_fields())


def process_docstring(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Rewrite a docstring in place."""
    kind = "function" if what in ("attribute", "data", "property") else what
    lines[:] = Docstring(list(lines), _STYLE, app, kind, name, obj, options).lines()


def use_own_repository(app: Sphinx, config: Config) -> None:
    """Launch buttons lead to the repository the book is built from, where the build knows it."""
    url = os.environ.get("NYSTROM_REPOSITORY")
    if url:
        config.html_theme_options["repository_url"] = url


def describe(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """The first words of a page, for search engines and for whoever shares a link to it."""
    if doctree is None:
        return
    # a paragraph of the page's own text, not one in a table or a box
    plain = (p.astext() for p in doctree.findall(nodes.paragraph) if isinstance(p.parent, nodes.section))
    words = textwrap.shorten(next(plain, app.config.html_title or app.config.project), 200, placeholder=" …")
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
    app.connect("config-inited", use_own_repository)
    app.connect("html-page-context", describe)
    app.connect("builder-inited", search_prose)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
